//! Where the values of an encrypted manifest come back: in what policies say, in conditions, in counts and in paths. `Workspace::secret` makes
//! every run fail that shows one of them.

use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::control_plane::{ANY_FIELDS, Replaced, Workspace};
use crate::sops::{FORMATS, SOPS, object, program, with_sops};

/// A policy of the namespace that repeats a value.
const POLICY: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NS-NAME}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [OPERATION], resources: [configmaps]}]
  matchConditions: [{name: first, expression: '!request.dryRun && has(OBJECT.data) && \"a\" in OBJECT.data'}]
  validations: [{expression: 'false', messageExpression: '\"not nice: \" + OBJECT.data.a'}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: $NS-NAME}
spec: {policyName: $NS-NAME, validationActions: [ACTION]}
";

fn policy(ws: &Workspace, (operation, action, object): (&str, &str, &str)) -> String {
    let name = format!("{operation}-{action}").to_lowercase();
    let text = POLICY.replaced("NAME", &name).replaced("OPERATION", operation);
    ws.stdin(&text.replaced("OBJECT", object).replaced("ACTION", action))
        .kubectl(["apply", "--server-side", "-f", "-"])
        .exits_with(0);
    name
}

/// Waits until a policy takes effect.
fn wait_for(mut is_in_force: impl FnMut() -> bool) {
    let tries = (0..200).any(|_| {
        thread::sleep(Duration::from_millis(100));
        is_in_force()
    });
    assert!(tries, "the policy takes effect");
}

fn encrypted(name: &str, rest: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n{rest}\nsops: {{mac: 'ENC[1]', version: 3.11.0}}\n"
    )
}

#[test]
fn what_a_policy_says_of_a_decrypted_object_is_left_out_whatever_is_done_to_it() {
    let ws = Workspace::new();
    program(&ws, "bin/sops", SOPS);
    ws.secret("columbine");
    ws.write("given.yaml", &encrypted("given", "data: {a: 'ENC[columbine]'}"));
    ws.write("fixed.yaml", &encrypted("fixed", "immutable: true\ndata: {a: 'ENC[columbine]'}"));
    let apply = ["apply", "-f", "given.yaml,fixed.yaml", "--decrypt=sops", "--prune", "--applyset", "all"];
    with_sops(&ws).reconcile(apply).exits_with(0);

    // It is deleted, and created again, or pruned.
    policy(&ws, ("DELETE", "Deny", "oldObject"));
    let probe = "{apiVersion: v1, kind: ConfigMap, metadata: {name: probe}, data: {a: b}}";
    wait_for(|| {
        ws.stdin(probe).kubectl(["apply", "--server-side", "-f", "-"]).exits_with(0);
        ws.kubectl(["delete", "configmap", "probe"]).code != 0
    });
    ws.write("fixed.yaml", &encrypted("fixed", "immutable: true\ndata: {a: 'ENC[columbine]', b: 'ENC[more]'}"));
    let replace = ["apply", "-f", "fixed.yaml", "--decrypt=sops", "--replace=immutable"];
    let run = with_sops(&ws).reconcile(replace).exits_with(4);
    assert_eq!(object(&run, "fixed")["outcome"], "failed", "{run}");
    ws.write("rest.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: rest}\n");
    for base in [&["--base", "given.yaml", "--decrypt=sops"][..], &["--base", "given.yaml"]] {
        for format in FORMATS {
            let flags = ["diff", "-f", "rest.yaml,fixed.yaml", "--prune", "--applyset", "all", "--full", "-o", format];
            with_sops(&ws).reconcile([&flags[..], base].concat());
        }
        let prune = ["apply", "-f", "rest.yaml", "--prune", "--applyset", "all", "--prune-allow", "most"];
        let base = [base, &["--base", "fixed.yaml"]].concat();
        let run = with_sops(&ws).reconcile([&prune[..], &base].concat()).exits_with(4);
        assert_eq!(object(&run, "given")["outcome"], "failed", "{run}");
    }

    // Owners are given to another manager.
    let own = |manager: &str| {
        let flags = ["own", "-f", "given.yaml", "--decrypt=sops", "--field-manager", manager];
        with_sops(&ws).reconcile(flags)
    };
    policy(&ws, ("UPDATE", "Warn", "object"));
    let mut managers = 0..;
    wait_for(|| {
        let run = own(&format!("warned-{}", managers.next().unwrap())).exits_with(0);
        run.stdout.contains("the text is left out")
    });
    policy(&ws, ("UPDATE", "Deny", "object"));
    wait_for(|| own(&format!("denied-{}", managers.next().unwrap())).code == 4);
}

#[test]
fn conditions_counts_and_paths_repeat_no_decrypted_value() {
    let ws = Workspace::new();
    program(&ws, "bin/sops", SOPS);
    let values = ["columbine", "larkspurs", "snapdragons", "123454321", "864197532", "delphinium"];
    for value in values {
        ws.secret(value);
    }
    ws.define("Note", ANY_FIELDS);
    let sops = "sops: {mac: 'ENC[1]', version: 3.11.0}";
    ws.write(
        "note.yaml",
        &format!("apiVersion: $NS.example.com/v1\nkind: Note\nmetadata: {{name: note}}\nspec: {{a: 'ENC[columbine]'}}\n{sops}\n"),
    );
    let web = |replicas: &str, image: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: 'ENC[snapdragons]', uid: 'ENC[delphinium]'}}]}}\nspec:\n  replicas: ENC[{replicas}]\n  paused: true\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec: {{containers: [{{name: 'ENC[larkspurs]', image: '{image}'}}]}}\n{sops}\n"
        )
    };
    ws.write("web.yaml", &web("10", "a"));
    let files = ["-f", "note.yaml,web.yaml", "--decrypt=sops"];
    let run = |words: &[&str]| with_sops(&ws).reconcile([words, &files[..]].concat());
    run(&["apply"]).exits_with(0);
    let note = ws.fill_in("notes.$NS.example.com/note");
    let patch = json!({"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Bad", "message": "cannot log in with columbine"}]}});
    ws.kubectl(["patch", &note, "--type=merge", "-p", &patch.to_string()]).exits_with(0);
    for format in ["text", "json", "yaml", "jsonl", "markdown"] {
        let status = run(&["status", "-o", format]).exits_with(5);
        assert!(format != "text" || status.stdout.contains("may quote a secret value"), "{status}");
    }
    ws.write("web.yaml", &web("123454321", "b").replace("paused: true", "paused: false"));
    for format in FORMATS {
        let diff = run(&["diff", "--full", "-o", format]).exits_with(1);
        assert!(format != "text" || diff.stdout.contains("restarts its Pods"), "{diff}");
    }
    // An entry that cannot be read is not repeated either.
    ws.write(
        "depends.yaml",
        &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x, annotations: {{config.kubernetes.io/depends-on: 'ENC[columbine]'}}}}\n{sops}\n"),
    );
    with_sops(&ws).reconcile(["diff", "-f", "depends.yaml", "--decrypt=sops"]).exits_with(2);
}

#[test]
fn records_of_owners_in_a_snapshot_name_no_decrypted_value() {
    let ws = Workspace::new();
    program(&ws, "bin/sops", SOPS);
    ws.define(
        "Shelf",
        "properties:\n  set: {type: array, x-kubernetes-list-type: set, items: {type: string}}\n  keyed: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}, v: {type: string}}}}",
    );
    for value in ["columbine", "larkspurs", "delphinium"] {
        ws.secret(value);
    }
    ws.write(
        "shelf.yaml",
        "apiVersion: $NS.example.com/v1\nkind: Shelf\nmetadata: {name: shelf, finalizers: ['ENC[example.com/delphinium]']}\nspec: {set: ['ENC[columbine]'], keyed: [{k: 'ENC[larkspurs]', v: 'ENC[1]'}]}\nsops: {mac: 'ENC[1]', version: 3.11.0}\n",
    );
    let files = ["-f", "shelf.yaml", "--decrypt=sops"];
    with_sops(&ws).reconcile([&["apply"][..], &files].concat()).exits_with(0);
    let snapshot = with_sops(&ws).reconcile([&["snapshot"][..], &files].concat()).exits_with(0);
    assert!(
        snapshot.stdout.contains("v:\"(secret)\"") && snapshot.stdout.contains(r#"k:{\"k\":\"(secret)\"}"#),
        "{snapshot}"
    );
    ws.write("live.yaml", &snapshot.stdout);
    let offline = [&["diff", "--live", "live.yaml", "-n", "$NS"][..], &files].concat();
    let offline = with_sops(&ws).reconcile(offline).exits_with(4);
    assert_eq!(object(&offline, "shelf")["error"]["reason"], "ValuesWithheld", "{offline}");
    let name = ws.fill_in("shelfs.$NS.example.com/shelf");
    ws.kubectl(["patch", &name, "--type=merge", "-p", r#"{"metadata":{"finalizers":null}}"#]).exits_with(0);
    // Rules, and what others keep.
    let patch = json!({"spec": {"keyed": [{"k": "larkspurs", "v": "2"}]}});
    ws.patch_as("agent", &name, &patch);
    ws.write("config.yaml", "apiVersion: kubectl-reconcile/v1\nkind: Config\nignore:\n- target: {kind: Shelf}\n  fields: ['spec.keyed[*].v']\n  reason: theirs\n");
    for format in FORMATS {
        let flags = ["diff", "--config", "config.yaml", "--explain-ignores", "-o", format];
        with_sops(&ws).reconcile([&flags[..], &files].concat());
    }
}

#[test]
fn mistakes_and_dependencies_repeat_no_decrypted_value() {
    let ws = Workspace::new();
    program(&ws, "bin/sops", SOPS);
    for value in ["columbine", "larkspurs", "snapdragons", "delphinium", "marigolds", "buttercup", "cornflower"] {
        ws.secret(value);
    }
    let sops = "sops: {mac: 'ENC[1]', version: 3.11.0}";
    let web = |name: &str, containers: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n      containers:\n{containers}{sops}\n"
        )
    };
    let [repeated, text, unknown, nested] = [
        "      - {name: 'ENC[columbine]', image: a}\n      - {name: 'ENC[columbine]', image: b}\n",
        "      - {name: a, image: a, ports: [{containerPort: 'ENC[larkspurs]'}]}\n",
        "      - {name: 'ENC[marigolds]', image: a, imagee: b}\n",
        "      - {name: 'ENC[buttercup]', image: a, replicas: 1}\n",
    ]
    .map(|containers| web("web", containers));
    let owned = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: owned, ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: a, uid: 'ENC[snapdragons]', kindd: x}}]}}\n{sops}\n"
    );
    for (manifest, said) in [
        (repeated, "`spec.template.spec.containers` has [name=\"(secret)\"] twice"),
        (text, "ports[containerPort=\"(secret)\",protocol=\"(secret)\"].containerPort`: expected a number"),
        (unknown, "unknown field `imagee` in `spec.template.spec.containers[name=\"(secret)\"]`"),
        (nested, "unknown field `replicas` in `spec.template.spec.containers[name=\"(secret)\"]`"),
        (owned, "unknown field `kindd` in `metadata.ownerReferences[uid=\"(secret)\"]`"),
    ] {
        ws.write("m.yaml", &manifest);
        for format in FORMATS {
            let run = with_sops(&ws).reconcile(["diff", "-f", "m.yaml", "--decrypt=sops", "-o", format]).exits_with(4);
            assert!(format != "text" || run.stdout.contains(said), "{said}: {run}");
        }
    }
    let depends = |on: &str| {
        encrypted("waits", "").replace(
            "{name: waits}",
            &format!("{{name: waits, annotations: {{config.kubernetes.io/depends-on: '{on}'}}}}"),
        )
    };
    ws.write("m.yaml", &depends("/namespaces/$NS/ConfigMap/ENC[delphinium]"));
    let run = with_sops(&ws).reconcile(["diff", "-f", "m.yaml", "--decrypt=sops"]).exits_with(1);
    let said = "`config.kubernetes.io/depends-on` names an object that is not in the input: nothing waits for it";
    assert!(run.to_string().contains(said), "{run}");
    ws.write("m.yaml", &depends("/namespaces/ENC[cornflower]/ConfigMap/a"));
    with_sops(&ws).reconcile(["apply", "-f", "m.yaml", "--decrypt=sops"]).exits_with(0);
}
