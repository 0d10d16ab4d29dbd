//! Whose change it is: the exact claim counts, and what the server counts up or copies is nobody's.

use serde_json::{Value, json};

use crate::control_plane::{ANY_FIELDS, Run, Workspace};

/// Path, class and managers of each change of the first object.
fn changes(run: &Run) -> Vec<(String, String, Vec<String>)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let managers = |change: &Value| {
        let managers = change["managers"].as_array().cloned().unwrap_or_default();
        managers.iter().map(|owner| text(&owner["manager"])).collect()
    };
    let changes = run.report()["objects"][0]["changes"].as_array().unwrap().clone();
    changes.iter().map(|change| (text(&change["path"]), text(&change["class"]), managers(change))).collect()
}

fn change(path: &str, class: &str, managers: &[&str]) -> (String, String, Vec<String>) {
    (path.to_owned(), class.to_owned(), managers.iter().map(|name| (*name).to_owned()).collect())
}

#[test]
fn an_exact_claim_beats_one_on_the_map_around_it() {
    let ws = Workspace::new();
    ws.define("Beat", ANY_FIELDS);
    let manifest =
        "{apiVersion: $NS.example.com/v1, kind: Beat, metadata: {name: g}, spec: {pod: {context: {user: 0}}}}";
    ws.write("beat.yaml", manifest);
    ws.reconcile(["apply", "-f", "beat.yaml"]).exits_with(0);
    let object = ws.fill_in("beats.$NS.example.com/g");
    let path = "spec.pod.context.user";
    for more in [&[][..], &["--evidence=read-only"]] {
        let diff = || ws.reconcile([&["diff", "-f", "beat.yaml"], more].concat());
        ws.patch_as("kubectl-patch", &object, &json!({"spec": {"pod": {"context": {"user": 7}}}}));
        let run = diff().exits_with(1);
        assert_eq!(changes(&run), [change(path, "changedByOther", &["kubectl-patch"])], "{run}");
        assert!(run.report()["objects"][0]["changes"][0]["managers"][0]["time"].is_string(), "{run}");
        ws.reconcile(["apply", "-f", "beat.yaml"]).exits_with(0);

        ws.patch_as("kubectl-patch", &object, &json!({"spec": {"pod": {"context": {"user": null}}}}));
        let run = diff().exits_with(1);
        assert_eq!(changes(&run), [change(path, "absent", &[])], "{run}");
        ws.reconcile(["apply", "-f", "beat.yaml"]).exits_with(0);

        ws.patch_as("controller", &object, &json!({"spec": {"pod": {"context": {"user": 8}}}}));
        let run = diff().exits_with(1);
        assert_eq!(changes(&run), [change(path, "conflict", &["controller"])], "{run}");
        assert_eq!(run.report()["objects"][0]["conflicts"][0]["manager"], "controller", "{run}");
        ws.reconcile(["apply", "-f", "beat.yaml", "--force-conflicts"]).exits_with(0);
    }
}

#[test]
fn what_the_server_counts_up_or_copies_is_no_change() {
    let ws = Workspace::new();
    let agent = |metadata: &str| {
        format!(
            "
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: agent{metadata}}}
spec:
  selector: {{matchLabels: {{app: agent}}}}
  template:
    metadata: {{labels: {{app: agent}}}}
    spec: {{serviceAccountName: one, containers: [{{name: agent, image: 'agent:1'}}]}}
"
        )
    };
    ws.write("ds.yaml", &agent(""));
    ws.reconcile(["apply", "-f", "ds.yaml"]).exits_with(0);
    let spec = json!({"serviceAccountName": "two", "serviceAccount": "two"});
    ws.patch_as("kubectl-patch", "daemonset/agent", &json!({"spec": {"template": {"spec": spec}}}));
    let shown = [change("spec.template.spec.serviceAccountName", "changedByOther", &["kubectl-patch"])];
    for more in [&[][..], &["--evidence=read-only"]] {
        let run = ws.reconcile([&["diff", "-f", "ds.yaml"], more].concat()).exits_with(1);
        assert_eq!(changes(&run), shown, "{run}");
    }
    ws.reconcile(["apply", "-f", "ds.yaml"]).exits_with(0);
    // What `kubectl get -o yaml` once printed of it says nothing either.
    ws.write("ds.yaml", &agent(", annotations: {deprecated.daemonset.template.generation: '1'}"));
    ws.reconcile(["apply", "-f", "ds.yaml"]).exits_with(0);
    let run = ws.reconcile(["diff", "-f", "ds.yaml"]).exits_with(0);
    assert_eq!(changes(&run), [], "{run}");
}

#[test]
fn null_and_empty_rules_are_the_same() {
    let ws = Workspace::new();
    let role = |rules: &str| {
        format!("{{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {{name: it}}, rules: {rules}}}")
    };
    ws.write("role.yaml", &role("[]"));
    ws.reconcile(["apply", "-f", "role.yaml"]).exits_with(0);
    for evidence in ["auto", "server", "read-only"] {
        let run = ws.reconcile(["diff", "-f", "role.yaml", "--evidence", evidence]).exits_with(0);
        assert_eq!(changes(&run), [], "{run}");
    }
    assert_eq!(ws.reconcile(["apply", "-f", "role.yaml"]).exits_with(0).report()["requests"]["write"], 0);
    ws.write("role.yaml", &role("[{apiGroups: [''], resources: [pods], verbs: [get]}]"));
    ws.reconcile(["diff", "-f", "role.yaml"]).exits_with(1);
}
