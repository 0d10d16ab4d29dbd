//! KYAML, the dialect of YAML that `kubectl -o kyaml` prints (KEP-5295), is read as kubectl reads it, and `pull` keeps it.

use std::fs;

use serde_json::json;

use super::{TIDY, is_settled, patched, text};
use crate::control_plane::Workspace;

/// Keys and values that only quotes keep apart, a text of several lines, and empty values.
const ODD: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: odd
  labels: {"on": "yes", "1": "1.0", a: ""}
data:
  "no": "null"
  plain: value
  number: "0x10"
  text: |
    first: 1
      indented "quoted" \ back
    # no comment

    last
  trailing: "blank \n"
  long: "{{ .Values.a }}, [x], - y: z # and more"
"#;

/// The manifests as kubectl prints them in KYAML, without what the server adds.
fn kyaml(ws: &Workspace, manifest: &str) -> String {
    ws.write("plain/manifest.yaml", manifest);
    let printed = ws.kubectl(["create", "-f", "plain", "--dry-run=client", "-o", "kyaml"]).exits_with(0).stdout.clone();
    fs::remove_dir_all(ws.folder().join("plain")).unwrap();
    assert!(printed.starts_with("---\n{\n"), "{printed}");
    printed
}

/// The text with each of these places in another wording; each is there once.
fn edited(text: String, edits: &[(&str, &str)]) -> String {
    edits.iter().fold(text, |text, (old, new)| {
        assert_eq!(text.matches(old).count(), 1, "{old} in\n{text}");
        text.replace(old, new)
    })
}

#[test]
fn kyaml_is_read_as_kubectl_reads_it() {
    let ws = Workspace::new();
    for manifest in [TIDY, ODD] {
        ws.write("manifests.yaml", &kyaml(&ws, manifest));
        ws.reconcile(["apply", "-f", "manifests.yaml", "--validate=strict"]).exits_with(0);
        ws.reconcile(["diff", "-f", "manifests.yaml"]).exits_with(0);
        ws.write("manifests.yaml", manifest);
        ws.reconcile(["diff", "-f", "manifests.yaml"]).exits_with(0);
    }
}

#[test]
fn a_pull_keeps_every_byte_of_kyaml_around_the_values() {
    let ws = Workspace::new();
    let manifests = format!("{}# a comment between the documents\n{}", kyaml(&ws, TIDY), kyaml(&ws, ODD));
    ws.write("manifests.yaml", &manifests);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    patched(
        &ws,
        "deployment/web",
        &json!([
            {"op": "replace", "path": "/spec/replicas", "value": 5},
            {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "shop/web:1.3"},
            {"op": "replace", "path": "/spec/template/spec/containers/0/env/0/value", "value": "no"},
        ]),
    );
    patched(
        &ws,
        "configmap/odd",
        &json!([
            {"op": "replace", "path": "/data/no", "value": "true"},
            {"op": "replace", "path": "/data/plain", "value": "a\nb \"c\" # d\n"},
            {"op": "replace", "path": "/metadata/labels/1", "value": "2.0"},
        ]),
    );
    ws.reconcile(["pull", "-f", "manifests.yaml"]).exits_with(0);
    let edits = [
        ("replicas: 2,", "replicas: 5,"),
        ("image: \"shop/web:1.2\",", "image: \"shop/web:1.3\","),
        ("value: \"info\",", "value: \"no\","),
        ("\"no\": \"null\",", "\"no\": \"true\","),
        ("plain: \"value\",", "plain: \"a\\nb \\\"c\\\" # d\\n\","),
        ("\"1\": \"1.0\",", "\"1\": \"2.0\","),
    ];
    assert_eq!(text(&ws), edited(manifests, &edits));
    is_settled(&ws, &[("deployment", "web"), ("configmap", "odd")]);
}

#[test]
fn an_item_and_a_key_that_hands_added_are_pulled_into_kyaml() {
    let ws = Workspace::new();
    let manifests = kyaml(&ws, TIDY);
    ws.write("manifests.yaml", &manifests);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    patched(
        &ws,
        "deployment/web",
        &json!([
            {"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "TZ", "value": "UTC"}},
            {"op": "add", "path": "/metadata/labels/on", "value": "yes"},
        ]),
    );
    ws.reconcile(["pull", "-f", "manifests.yaml", "--class", "unmanaged"]).exits_with(0);
    let edits = [
        ("      tier: \"front\",\n", "      tier: \"front\",\n      \"on\": \"yes\",\n"),
        (
            "            value: \"en\",\n          }],\n",
            "            value: \"en\",\n          }, {\n            name: \"TZ\",\n            value: \"UTC\",\n          }],\n",
        ),
    ];
    assert_eq!(text(&ws), edited(manifests, &edits));
    is_settled(&ws, &[("deployment", "web")]);
    // kubectl reads the same out of it.
    ws.kubectl(["apply", "--server-side", "--dry-run=server", "--force-conflicts", "-f", "manifests.yaml"])
        .exits_with(0);
}
