//! What a label, or a list that somebody else wrote, is not enough for: other people's objects stay.

use std::sync::Arc;

use serde_json::{Value, json};

use super::kept::is_kept;
use super::{PART_OF, applied, config_map, label, lists, remove, run, run_allowed, through};
use crate::control_plane::{ANY_FIELDS, Fault, Proxy, Replaced, Run, Workspace, definition};

const RECOVER: [&str; 3] = ["--prune", "--applyset=set", "--applyset-recover"];

fn recover(ws: &Workspace, command: &str) -> Run {
    ws.reconcile([&[command, "-f", "."][..], &RECOVER].concat())
}

/// The namespace of another team, with an object that `mallory` labels as a member, and one that a person does.
fn finance(ws: &Workspace, id: &Value) -> String {
    let finance = ws.fill_in("$NS-finance");
    ws.apply_as("gitops", "{apiVersion: v1, kind: Namespace, metadata: {name: $NS-finance, labels: {team: finance}}}");
    for name in ["payroll", "ledger"] {
        ws.apply_as(
            "gitops",
            &format!(
                "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, namespace: {finance}}}, data: {{a: b}}}}"
            ),
        );
    }
    let labels = json!({"metadata": {"labels": {PART_OF: id}}}).to_string();
    for (manager, object) in [("mallory", "configmap/payroll"), ("kubectl-label", "configmap/ledger")] {
        let patch = ["patch", "-n", &finance, object, "--type=merge", "--field-manager", manager, "-p", &labels];
        ws.kubectl(patch).exits_with(0);
    }
    ws.patch_as("kubectl-label", &format!("namespace/{finance}"), &json!({"metadata": {"labels": {PART_OF: id}}}));
    finance
}

#[track_caller]
fn exists(ws: &Workspace, namespace: &str, name: &str) -> bool {
    let found = ws.kubectl(["get", "configmap", "-n", namespace, name, "--ignore-not-found", "-o", "name"]);
    !found.exits_with(0).stdout.is_empty()
}

#[track_caller]
fn is_alive(ws: &Workspace, namespace: &str) {
    assert!(ws.get("Namespace", namespace)["metadata"].get("deletionTimestamp").is_none());
}

/// What the parent's annotations are set to by another manager.
fn annotate(ws: &Workspace, manager: &str, annotations: &[(&str, Value)]) {
    let annotations: serde_json::Map<String, Value> =
        annotations.iter().map(|(name, value)| (format!("applyset.kubernetes.io/{name}"), value.clone())).collect();
    ws.patch_as(manager, "secret/set", &json!({"metadata": {"annotations": annotations}}));
}

#[test]
fn without_a_parent_the_cluster_is_searched_and_nothing_in_it_deleted() {
    let ws = applied();
    let id = label(&ws.get("ConfigMap", "a")).clone();
    let finance = finance(&ws, &id);
    ws.kubectl(["delete", "secret", "set"]).exits_with(0);
    let apply = run(&ws, "apply").exits_with(0);
    is_kept(&apply, "ConfigMap", "payroll", "the label was set by `mallory`");
    is_kept(&apply, "ConfigMap", "ledger", "(`--applyset-recover` deletes it)");
    is_kept(&apply, "Namespace", &finance, "no parent of the apply set lists it");
    // It is not listed from then on, or the next pass would delete it.
    lists(&ws, "ConfigMap", "");
    let again = run(&ws, "apply").exits_with(0);
    assert_eq!((again.writes(), again.each("outcome").len()), (0, 2), "{again}");
    assert!(exists(&ws, &finance, "payroll") && exists(&ws, &finance, "ledger"));
    is_alive(&ws, &finance);
}

#[test]
fn a_recovery_deletes_what_people_labelled_and_no_namespace_and_says_where() {
    let ws = applied();
    let id = label(&ws.get("ConfigMap", "a")).clone();
    let finance = finance(&ws, &id);
    let labels = format!("example.com, labels: {{{PART_OF}: {}}}}}", id.as_str().unwrap());
    let widget = definition("Widget", ANY_FIELDS).replaced("example.com}", &labels);
    ws.stdin(&widget).kubectl(["create", "-f", "-"]).exits_with(0);
    let definition = ws.fill_in("widgets.$NS.example.com");
    let diff = recover(&ws, "diff").exits_with(1);
    assert_eq!(diff.object("ConfigMap", "ledger")["action"], "delete");
    is_kept(&diff, "ConfigMap", "payroll", "the label was set by `mallory`");
    is_kept(&diff, "Namespace", &finance, "a Namespace is only deleted if it does");
    is_kept(&diff, "CustomResourceDefinition", &definition, "a CustomResourceDefinition is only deleted if it does");
    let elsewhere = format!("; deletions in namespace `{finance}`, which no manifest names");
    assert!(diff.stdout.contains(&elsewhere), "{diff}");
    assert_eq!(diff.report()["applySet"]["deletesIn"], json!([finance]));

    let confirm = |answer: &str| {
        let flags = [&["apply", "-f", ".", "--confirm"][..], &RECOVER].concat();
        ws.as_user("admin").stdin(answer).on_terminal().reconcile(flags)
    };
    let no = confirm("n\n").exits_with(1);
    let question = format!("with deletions in namespace `{finance}`, which no manifest names? [y/N]");
    assert!(no.stderr.contains(&question), "{no}");
    assert!(no.stdout.contains("nothing was applied: 1 to delete, 3 kept; 2 in sync"), "{no}");
    assert!(exists(&ws, &finance, "ledger"));
    let yes = confirm("y\n").exits_with(0);
    assert!(yes.stdout.contains("1 deleted, 2 unchanged, 3 kept") && yes.stdout.contains(&elsewhere), "{yes}");
    assert!(exists(&ws, &finance, "payroll") && !exists(&ws, &finance, "ledger"));
    is_alive(&ws, &finance);
    assert!(ws.find("CustomResourceDefinition", &definition).is_some());
    lists(&ws, "ConfigMap", "");
}

#[test]
fn a_parent_that_lists_nothing_any_more_is_searched_beyond_and_nothing_deleted() {
    let ws = applied();
    let id = label(&ws.get("ConfigMap", "a")).clone();
    let finance = finance(&ws, &id);
    remove(&ws, "b");
    annotate(&ws, "mallory", &[("contains-group-kinds", Value::Null)]);
    let diff = run(&ws, "diff").exits_with(0);
    is_kept(&diff, "ConfigMap", "b", "the apply set's parent does not list it yet");
    let apply = run(&ws, "apply").exits_with(0);
    assert!(apply.each("outcome").iter().all(|outcome| outcome.ends_with(": unchanged")), "{apply}");
    assert!(ws.find("ConfigMap", "b").is_some() && exists(&ws, &finance, "ledger"));
    is_alive(&ws, &finance);
    lists(&ws, "ConfigMap", "");
}

#[test]
fn a_parent_without_its_label_or_its_tool_is_no_parent() {
    for stripped in ["id", "tooling"] {
        let ws = applied();
        remove(&ws, "b");
        let name = format!("applyset.kubernetes.io/{stripped}-");
        let verb = if stripped == "id" { "label" } else { "annotate" };
        ws.kubectl([verb, "secret", "set", &name]).exits_with(0);
        let before = ws.all_resource_versions();
        for command in ["diff", "apply"] {
            for run in [run(&ws, command), recover(&ws, command)] {
                let run = run.exits_with(2);
                assert!(run.stderr.contains("is not the parent of an apply set: it has no "), "{run}");
                assert!(run.stderr.contains(&format!("`applyset.kubernetes.io/{stripped}: ")), "{run}");
            }
        }
        assert_eq!(ws.all_resource_versions(), before);
    }
}

#[test]
fn what_somebody_else_adds_to_the_list_is_not_deleted_and_does_not_stay_in_it() {
    for manager in ["mallory", "kubectl-edit"] {
        let ws = applied();
        let id = label(&ws.get("ConfigMap", "a")).clone();
        let finance = finance(&ws, &id);
        ws.apply_as(
            "gitops",
            "{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, labels: {team: finance}}}",
        );
        ws.kubectl(["label", "serviceaccount", "robot", &format!("{PART_OF}={}", id.as_str().unwrap())]).exits_with(0);
        remove(&ws, "b");
        annotate(
            &ws,
            manager,
            &[
                ("contains-group-kinds", json!("ConfigMap,Namespace,Nonsense.example.com,ServiceAccount")),
                ("additional-namespaces", json!(format!("{finance},kube-system"))),
            ],
        );
        let diff = run(&ws, "diff").exits_with(1);
        // What the manifests name as well is the set's.
        assert_eq!(diff.object("ConfigMap", "b")["action"], "delete");
        let reason = format!("`{manager}` changed what the apply set's parent lists");
        is_kept(&diff, "ConfigMap", "ledger", &reason);
        is_kept(&diff, "ConfigMap", "payroll", "the label was set by `mallory`");
        is_kept(&diff, "ServiceAccount", "robot", &reason);
        is_kept(&diff, "Namespace", &finance, &reason);
        run(&ws, "apply").exits_with(0);
        assert!(ws.find("ConfigMap", "b").is_none());
        assert!(exists(&ws, &finance, "payroll") && exists(&ws, &finance, "ledger"));
        assert!(ws.find("ServiceAccount", "robot").is_some());
        is_alive(&ws, &finance);
        lists(&ws, "ConfigMap", "");
        let again = run(&ws, "apply").exits_with(0);
        assert_eq!((again.writes(), again.each("action")), (0, vec!["ConfigMap a: none".to_owned()]));
    }
}

#[test]
fn a_list_that_somebody_makes_longer_during_the_pass_is_not_taken_over() {
    let ws = Arc::new(applied());
    ws.write("role.yaml", super::ROLE);
    let proxy = Proxy::new(&ws);
    let other = Arc::clone(&ws);
    let event = move || {
        annotate(
            &other,
            "mallory",
            &[("contains-group-kinds", json!("ConfigMap,Namespace")), ("additional-namespaces", json!("kube-system"))],
        );
    };
    proxy.inject(1, "PATCH", "secrets/set", Fault::After(Arc::new(event)));
    through(&ws, &proxy, "apply").exits_with(0);
    lists(&ws, "ConfigMap,Role.rbac.authorization.k8s.io", "");
}

#[test]
fn an_object_that_somebody_creates_meanwhile_does_not_become_the_parent() {
    let ws = Arc::new(Workspace::new());
    config_map(&ws, "a");
    let proxy = Proxy::new(&ws);
    let other = Arc::clone(&ws);
    let event = move || drop(other.kubectl(["create", "secret", "generic", "set", "--from-literal=a=b"]).exits_with(0));
    proxy.inject(1, "PATCH", "secrets/set", Fault::After(Arc::new(event)));
    let apply = through(&ws, &proxy, "apply").exits_with(4);
    assert!(apply.stderr.contains("is not the parent of an apply set"), "{apply}");
    assert_eq!(apply.object("ConfigMap", "a")["outcome"], "skipped");
    let secret = ws.get("Secret", "set");
    assert_eq!((secret["metadata"].get("labels"), secret["metadata"].get("annotations")), (None, None));
}

#[test]
fn a_restored_parent_is_ours_again_after_one_pass() {
    let ws = applied();
    let mut parent = ws.get("Secret", "set");
    for name in ["managedFields", "uid", "resourceVersion", "creationTimestamp"] {
        parent["metadata"].as_object_mut().unwrap().remove(name);
    }
    ws.kubectl(["delete", "secret", "set"]).exits_with(0);
    ws.stdin(&parent.to_string()).kubectl(["create", "--field-manager=velero-server", "-f", "-"]).exits_with(0);
    let apply = run(&ws, "apply").exits_with(0);
    assert_eq!(apply.writes(), 1, "the list becomes ours");
    assert_eq!(run(&ws, "apply").exits_with(0).writes(), 0);
    remove(&ws, "b");
    let apply = run(&ws, "apply").exits_with(0);
    assert_eq!(apply.object("ConfigMap", "b")["outcome"], "deleted");
}

#[test]
fn a_member_whose_label_somebody_else_sets_while_it_is_deleted_stays() {
    let ws = Arc::new(applied());
    let id = label(&ws.get("ConfigMap", "b")).clone();
    remove(&ws, "b");
    let proxy = Proxy::new(&ws);
    let other = Arc::clone(&ws);
    let event = move || {
        for value in [&Value::Null, &id] {
            other.patch_as("mallory", "configmap/b", &json!({"metadata": {"labels": {PART_OF: value}}}));
        }
    };
    proxy.inject(1, "DELETE", "configmaps/b", Fault::After(Arc::new(event)));
    let apply = through(&ws, &proxy, "apply").exits_with(0);
    is_kept(&apply, "ConfigMap", "b", "the label was set by `mallory`");
    assert!(ws.find("ConfigMap", "b").is_some());
}

#[test]
fn a_label_that_nobody_is_recorded_to_have_set_makes_no_member() {
    let ws = applied();
    ws.kubectl(["patch", "configmap", "b", "--type=merge", "-p", r#"{"metadata":{"managedFields":[{}]}}"#])
        .exits_with(0);
    remove(&ws, "b");
    is_kept(&run(&ws, "apply").exits_with(0), "ConfigMap", "b", "`managedFields` does not record who set the label");
    assert!(ws.find("ConfigMap", "b").is_some());
}

#[test]
fn a_namespace_of_the_set_stays_with_what_others_put_in_it_under_the_label() {
    let ws = applied();
    let id = label(&ws.get("ConfigMap", "a")).clone();
    ws.write(
        "data.yaml",
        "{apiVersion: v1, kind: Namespace, metadata: {name: $NS-data}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: ours, namespace: $NS-data}}",
    );
    run(&ws, "apply").exits_with(0);
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs", "namespace": "$NS-data", "labels": {PART_OF: id}}});
    ws.apply_as("gitops", &theirs.to_string());
    remove(&ws, "data");
    let apply = run_allowed(&ws, "apply").exits_with(0);
    is_kept(&apply, "ConfigMap", "theirs", "the label was set by `gitops`");
    is_kept(
        &apply,
        "Namespace",
        &ws.fill_in("$NS-data"),
        "ConfigMap $NS-data/theirs is in it".replaced("$NS", ws.namespace()).as_str(),
    );
    assert_eq!(apply.object("ConfigMap", "ours")["outcome"], "deleted");
    is_alive(&ws, &ws.fill_in("$NS-data"));
}

/// A service account of this name in this namespace; with the label if there is an id.
fn robot(ws: &Workspace, namespace: &str, name: &str, id: Option<&Value>) -> String {
    let labels = id.map(|id| format!(", labels: {{{PART_OF}: {id}}}")).unwrap_or_default();
    ws.fill_in(&format!(
        "{{apiVersion: v1, kind: ServiceAccount, metadata: {{name: {name}, namespace: {namespace}{labels}}}}}"
    ))
}

#[test]
fn a_member_where_the_set_grows_to_is_shown_before_it_is_deleted() {
    let ws = applied();
    let id = label(&ws.get("ConfigMap", "a")).clone();
    ws.apply_as("gitops", "{apiVersion: v1, kind: Namespace, metadata: {name: $NS-second}}");
    ws.apply_as("gitops", "{apiVersion: v1, kind: Namespace, metadata: {name: $NS-third}}");
    // Copies of members: of a kind that the list does not have yet, and in a namespace that it does not have yet.
    for (namespace, kind) in [("$NS", "ServiceAccount"), ("$NS-second", "ConfigMap"), ("$NS-third", "ServiceAccount")] {
        let copy = robot(&ws, namespace, "copy", Some(&id)).replace("ServiceAccount", kind);
        ws.stdin(&copy).kubectl(["create", "-f", "-"]).exits_with(0);
    }
    ws.write("grown.yaml", &robot(&ws, "$NS-second", "robot", None));
    for command in ["diff", "apply"] {
        let run = run(&ws, command).exits_with(i32::from(command == "diff"));
        for kind in ["ServiceAccount", "ConfigMap"] {
            is_kept(&run, kind, "copy", "the apply set's parent does not list it yet");
        }
        assert_eq!(run.each("action").iter().filter(|action| action.contains(" copy: ")).count(), 2, "{run}");
    }
    lists(&ws, "ConfigMap,ServiceAccount", &ws.fill_in("$NS-second"));
    for kind in ["ServiceAccount", "ConfigMap"] {
        assert_eq!(run(&ws, "diff").exits_with(1).object(kind, "copy")["action"], "delete");
    }
}
