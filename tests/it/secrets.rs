//! Secret values leave no trace: every run of these scenarios fails as soon as one stands in any output.

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace};

/// A manifest with this value under `key`, in `data` or `stringData`.
fn secret(field: &str, key: &str, value: &str) -> String {
    format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, {field}: {{{key}: '{value}'}}}}")
}

/// Runs everything that shows something of a Secret, at every verbosity; the harness looks for the values.
fn show_in_every_way(ws: &Workspace) -> Run {
    for flags in [&["-v", "9"][..], &["--show-unmanaged"], &["-o", "json"], &["--color=always"], &["--force-conflicts"]]
    {
        let run = ws.reconcile([&["diff", "-f", "."][..], flags].concat());
        assert_ne!(run.code, 101, "{run}");
    }
    ws.reconcile(["snapshot", "-f", ".", "-v", "9"]);
    ws.reconcile(["diff", "-f", "."])
}

fn redacted(value: &Value) -> &str {
    value["redacted"].as_str().unwrap_or_else(|| panic!("{value} is not redacted"))
}

#[test]
fn new_changed_removed_and_pruned_values_are_numbers() {
    let ws = Workspace::new();
    let first = ws.secret("the-first-of-the-values");
    let second = ws.secret("the-second-of-the-values");
    let third = ws.secret("the-third-of-the-values");
    ws.write("it.yaml", &secret("stringData", "key", &first));
    let diff = show_in_every_way(&ws).exits_with(1);
    assert_eq!(redacted(&diff.object("Secret", "it")["changes"][0]["desired"]["stringData"]["key"]), "#1");
    ws.reconcile(["apply", "-f", ".", "-v", "9"]).exits_with(0);

    ws.patch_as("kubectl-edit", "secret/it", &json!({"stringData": {"key": second, "extra": third}}));
    let diff = show_in_every_way(&ws).exits_with(1);
    let change = diff.change("Secret", "it", "data.key");
    assert_ne!(redacted(&change["live"]), redacted(&change["desired"]));
    assert!(diff.stdout.contains("(secret #1) → (secret #2)"), "{diff}");

    ws.write("it.yaml", &secret("stringData", "other", &third));
    show_in_every_way(&ws).exits_with(1);
    ws.reconcile(["apply", "-f", ".", "-v", "9"]).exits_with(0);

    let patch = json!([{"op": "remove", "path": "/data/other"}]).to_string();
    ws.kubectl(["patch", "secret/it", "--type=json", "-p", &patch]).exits_with(0);
    show_in_every_way(&ws).exits_with(1);
    ws.reconcile(["apply", "-f", ".", "-v", "9"]).exits_with(0);
}

#[test]
fn keys_in_data_are_pruned_without_their_values() {
    let ws = Workspace::new();
    let value = ws.secret("goes-with-the-manifest");
    let encoded = ws.stdin(&value).kubectl([
        "create",
        "secret",
        "generic",
        "x",
        "--dry-run=client",
        "-o",
        "jsonpath={.data.a}",
        "--from-file=a=/dev/stdin",
    ]);
    let encoded = encoded.exits_with(0).stdout;
    let both =
        format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, data: {{a: '{encoded}', b: '{encoded}'}}}}");
    ws.write("it.yaml", &both);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", &secret("data", "a", &encoded));
    let diff = show_in_every_way(&ws).exits_with(1);
    assert_eq!(diff.changes("Secret", "it"), ["pruned data.b"]);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.get("Secret", "it")["data"], json!({"a": encoded}));
}

#[test]
fn equal_values_share_a_number_within_a_run() {
    let ws = Workspace::new();
    let one = ws.secret("shared-by-two-secrets");
    let two = ws.secret("known-to-one-of-them");
    let manifest = format!(
        "{{apiVersion: v1, kind: Secret, metadata: {{name: a}}, stringData: {{k1: '{one}', k2: '{two}'}}}}\n---\n\
         {{apiVersion: v1, kind: Secret, metadata: {{name: b}}, stringData: {{k3: '{one}'}}}}"
    );
    ws.write("it.yaml", &manifest);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let of = |name: &str, key: &str| {
        redacted(&diff.object("Secret", name)["changes"][0]["desired"]["stringData"][key]).to_owned()
    };
    assert_eq!(of("a", "k1"), of("b", "k3"));
    assert_ne!(of("a", "k1"), of("a", "k2"));
}

#[test]
fn the_copy_of_client_side_apply_is_never_shown() {
    let ws = Workspace::new();
    let before = ws.secret("kept-in-an-annotation");
    let after = ws.secret("replaced-in-the-manifest");
    ws.write("it.yaml", &secret("stringData", "key", &before));
    ws.kubectl(["apply", "-f", "it.yaml"]).exits_with(0);
    show_in_every_way(&ws).exits_with(0);
    ws.write("it.yaml", &secret("stringData", "key", &after));
    show_in_every_way(&ws).exits_with(1);
    // With the annotation in the manifest, as `kubectl get -o yaml` prints it.
    let printed = ws.kubectl(["get", "secret/it", "-o", "yaml"]).exits_with(0).stdout;
    ws.write("it.yaml", &printed.replaced("key: ", "key2: "));
    show_in_every_way(&ws);
    ws.reconcile(["apply", "-f", ".", "-v", "9"]);
}

#[test]
fn refusals_of_the_server_lose_the_values_that_they_quote() {
    let ws = Workspace::new();
    let value = ws.secret("not-base64-at-all!");
    let other = ws.secret("1234567890123");
    for (name, manifest) in [
        ("not base64", secret("data", "key", &value)),
        ("a number", format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, stringData: {{key: {other}}}}}")),
        (
            "a map",
            format!(
                "{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, stringData: {{key: {{deep: '{value}'}}}}}}"
            ),
        ),
        ("a list", format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, data: ['{value}']}}")),
        ("a text", format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, data: '{value}'}}")),
        ("a bad key", secret("stringData", "'bad key!'", &value)),
        (
            "an unknown field",
            format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, dta: {{key: '{value}'}}}}"),
        ),
        (
            "a part in the wrong place",
            format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it, stringData: {{key: '{value}'}}}}}}"),
        ),
        (
            "a bad type",
            format!(
                "{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, type: kubernetes.io/tls, stringData: {{tls.crt: '{value}'}}}}"
            ),
        ),
        (
            "a bad docker config",
            format!(
                "{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, type: kubernetes.io/dockerconfigjson, stringData: {{.dockerconfigjson: '{value}'}}}}"
            ),
        ),
    ] {
        ws.write("it.yaml", &manifest);
        let diff = show_in_every_way(&ws);
        assert_eq!(diff.code, 4, "{name}: {diff}");
        let error = &diff.object("Secret", "it")["error"];
        assert!(!error["message"].as_str().unwrap().is_empty(), "{name}: {error}");
        ws.reconcile(["apply", "-f", ".", "-v", "9"]).exits_with(4);
    }
}

#[test]
fn a_secret_in_broken_yaml_is_not_quoted() {
    let ws = Workspace::new();
    let value = ws.secret("in-a-broken-document");
    for broken in [
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: it}}\nstringData:\n  key: {value}\n key2: {value}\n"),
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: it}}\nstringData:\n  key: {value}\n  key: {value}\n"),
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: it}}\nstringData:\n\tkey: {value}\n"),
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: it}}\nstringData: {{key: \"{value}\n"),
        format!("{{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"stringData\": {{\"key\": \"{value}\" \"x\": 1}}}}"),
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: it}}\nstringData: &{value} {{key: *{value}x}}\n"),
    ] {
        ws.write("it.yaml", &broken);
        let run = ws.reconcile(["diff", "-f", ".", "-v", "9"]).exits_with(2);
        assert!(run.stderr.contains("it.yaml"), "{run}");
    }
}

#[test]
fn what_was_set_through_string_data_stays_and_is_said_to() {
    let ws = Workspace::new();
    let one = ws.secret("stays-behind-in-data");
    let two = ws.secret("still-in-the-manifest");
    let both =
        format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, stringData: {{a: '{one}', b: '{two}'}}}}");
    ws.write("it.yaml", &both);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", &secret("stringData", "b", &two));
    let diff = show_in_every_way(&ws).exits_with(0);
    assert!(diff.object("Secret", "it")["warnings"][0].as_str().unwrap().contains("data.a"), "{diff}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert!(ws.get("Secret", "it")["data"].get("a").is_some(), "the API removes nothing from `stringData`");
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
}

#[test]
fn copies_that_others_keep_in_annotations_are_never_shown() {
    let ws = Workspace::new();
    let value = ws.secret("copied-into-an-annotation");
    let manifest = format!(
        "{{apiVersion: v1, kind: Secret, metadata: {{name: it, annotations: {{team: payments}}}}, stringData: {{key: {value}}}}}"
    );
    ws.write("it.yaml", &manifest);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let copy = json!({"stringData": {"key": value}}).to_string();
    let annotations = json!({
        "kapp.k14s.io/original": copy,
        "objectset.rio.cattle.io/applied": crate::control_plane::base64(copy.as_bytes()),
        "example.com/anything": format!("was {value}"),
        "helm.sh/hook": format!("pre-install,{value}"),
        "meta.helm.sh/release-name": "shop",
    });
    ws.patch_as("kapp", "secret/it", &json!({"metadata": {"annotations": annotations}}));
    show_in_every_way(&ws).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", ".", "--show-unmanaged"]).exits_with(0);
    let live = |key: &str| diff.change("Secret", "it", &format!("metadata.annotations[\"{key}\"]"))["live"].clone();
    assert_eq!(live("meta.helm.sh/release-name"), "shop");
    for key in ["kapp.k14s.io/original", "objectset.rio.cattle.io/applied", "example.com/anything", "helm.sh/hook"] {
        redacted(&live(key));
    }
    let snapshot = ws.reconcile(["snapshot", "-f", "."]).exits_with(0).stdout;
    assert!(snapshot.contains("team: payments") && snapshot.contains("release-name: shop"), "{snapshot}");
    // The manifest as `kubectl get -o yaml` exports it.
    let exported = ws.kubectl(["get", "secret/it", "-o", "yaml"]).exits_with(0).stdout;
    ws.write("it.yaml", &exported);
    show_in_every_way(&ws);
    ws.delete("secret/it");
    show_in_every_way(&ws);
}

#[test]
fn what_was_meant_to_be_a_secret_is_treated_as_one() {
    let ws = Workspace::new();
    let wanted = ws.secret("wanted-in-a-misspelt-type");
    let live = ws.secret("captured-in-a-misspelt-type");
    for (api_version, kind) in [
        ("v1", "secret"),
        ("v1", "Secrets"),
        ("v1", "Secert"),
        ("v1", "secretlist"),
        ("core/v1", "Secret"),
        ("/v1", "Secret"),
        ("V1", "Secret"),
        ("example.com/v1", "Vault"),
        ("bitnami.com/v1alpha1", "SealedSecret"),
    ] {
        let text = |value: &str| {
            format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: it}}\nstringData:\n  key: {value}\n")
        };
        ws.write("it.yaml", &text(&wanted));
        ws.write("live/live.yaml", &text(&live));
        for flags in [&["-o", "text"][..], &["-o", "json"], &["--show-unmanaged"]] {
            let diff = ws.reconcile([&["diff", "-f", "it.yaml", "--live", "live/live.yaml"][..], flags].concat());
            assert!(diff.code == 1 || diff.code == 4, "{diff}");
            let diff = ws.reconcile([&["diff", "-f", "it.yaml", "--live", "/dev/null"][..], flags].concat());
            // A kind that is not built in is new, or unknown.
            assert!(diff.code == 1 || diff.code == 4, "{diff}");
        }
        ws.reconcile(["diff", "-f", "it.yaml", "-v", "9"]);
        for broken in [
            text(&wanted).replaced("  key: ", "  key: \""),
            text(&wanted).replaced("  key: ", "\tkey: "),
            text(&wanted).replaced("name: it", "nme: it"),
            text(&format!("{wanted}\n  key: {wanted}")),
            text(&wanted).replaced("name: it", "name: [it"),
            text(&wanted).replaced("kind: ", "kind: {{ .Values.kind }}"),
        ] {
            ws.write("it.yaml", &broken);
            ws.reconcile(["diff", "-f", "it.yaml", "--live", "/dev/null"]).exits_with(2);
        }
    }
}

/// The map goes with the last of its entries that the manifest had, no matter who set the others; then come the texts.
#[test]
fn texts_in_the_place_of_data_are_compared_alike_with_and_without_the_server() {
    let ws = Workspace::new();
    let secret = |rest: &str| format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, {rest}}}");
    ws.write("it.yaml", &secret("data: {a: Yg==}, stringData: {c: d}"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", &secret("stringData: {a: b}"));
    for evidence in ["auto", "server", "read-only"] {
        let diff = ws.reconcile(["diff", "-f", ".", &format!("--evidence={evidence}")]).exits_with(1);
        assert_eq!(diff.changes("Secret", "it"), ["pruned data.c"], "{diff}");
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.get("Secret", "it")["data"], serde_json::json!({"a": "Yg=="}));
    for evidence in ["auto", "server", "read-only"] {
        ws.reconcile(["diff", "-f", ".", &format!("--evidence={evidence}")]).exits_with(0);
    }
}
