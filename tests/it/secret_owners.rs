//! The owners of the values of Secrets: `data` and `stringData` are two ways to write the same value.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::control_plane::{Workspace, base64};

/// A Secret with `p` under `field`: as text in `stringData`, encoded in `data`.
fn secret(name: &str, field: &str, value: &str) -> String {
    let value = if field == "data" { base64(value.as_bytes()) } else { value.to_owned() };
    format!("{{apiVersion: v1, kind: Secret, metadata: {{name: {name}}}, {field}: {{p: '{value}'}}}}")
}

#[test]
fn a_value_of_another_applier_is_a_conflict_however_either_is_written() {
    let ws = Workspace::new();
    let (ours, theirs) = (ws.secret("the-value-of-the-manifest"), ws.secret("the-value-of-flux"));
    let mut names = Vec::new();
    for (written, by_us) in [("stringData", "stringData"), ("data", "stringData"), ("stringData", "data")] {
        for was_ours in [true, false] {
            let name = format!("{written}-{by_us}-{was_ours}").to_lowercase();
            ws.write(format!("{name}.yaml"), &secret(&name, by_us, &ours));
            if was_ours {
                ws.reconcile(["apply", "-f", &format!("{name}.yaml")]).exits_with(0);
            }
            ws.apply_as("flux", &secret(&name, written, &theirs));
            names.push(name);
        }
    }
    for flags in [&[][..], &["--force-conflicts=none"], &["--evidence=read-only"]] {
        let diff = ws.reconcile([&["diff", "-f", ".", "--fail-on=conflict"], flags].concat()).exits_with(1);
        for name in &names {
            assert_eq!(diff.changes("Secret", name), ["conflict data.p"], "{name} {flags:?}");
            assert_eq!(diff.change("Secret", name, "data.p")["managers"][0]["manager"], "flux", "{name} {flags:?}");
            assert_eq!(diff.object("Secret", name)["conflicts"][0]["path"], "data.p", "{name} {flags:?}");
        }
    }
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(apply.writes(), 0, "{apply}");

    let apply = ws.reconcile(["apply", "-f", ".", "--force-conflicts"]).exits_with(0);
    assert_eq!(apply.writes(), names.len() as u64, "{apply}");
    for name in &names {
        assert_eq!(ws.get("Secret", name)["data"]["p"], base64(ours.as_bytes()), "{name}");
    }
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn a_controller_that_writes_a_key_of_string_data_has_it() {
    let ws = Workspace::new();
    let (ours, theirs) = (ws.secret("a-password-in-the-manifest"), ws.secret("a-password-that-was-rotated"));
    ws.write("it.yaml", &secret("it", "stringData", &ours));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.patch_as("operator", "secret/it", &json!({"data": {"p": base64(theirs.as_bytes())}}));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Secret", "it"), ["conflict data.p"]);
    ws.reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(ws.get("Secret", "it")["data"]["p"], base64(theirs.as_bytes()));
}

#[test]
fn a_manual_change_is_one_also_where_others_apply_string_data() {
    let ws = Workspace::new();
    let (ours, theirs) = (ws.secret("wanted-by-the-manifest"), ws.secret("wanted-by-flux-before"));
    let (edited, next) = (ws.secret("typed-into-an-editor"), ws.secret("wanted-by-the-next-manifest"));
    for name in ["ours", "theirs"] {
        ws.write(format!("{name}.yaml"), &secret(name, "stringData", &ours));
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.apply_as("flux", &secret("theirs", "stringData", &theirs));
    for name in ["ours", "theirs"] {
        ws.patch_as("kubectl-edit", &format!("secret/{name}"), &json!({"data": {"p": base64(edited.as_bytes())}}));
    }
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    for name in ["ours", "theirs"] {
        assert_eq!(diff.changes("Secret", name), ["changedByOther data.p"]);
        assert_eq!(diff.change("Secret", name, "data.p")["managers"][0]["manager"], "kubectl-edit");
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.get("Secret", "theirs")["data"]["p"], base64(ours.as_bytes()));

    // What is ours stays a change of the manifest.
    ws.write("new.yaml", &secret("new", "stringData", &ours));
    ws.reconcile(["apply", "-f", "new.yaml"]).exits_with(0);
    ws.write("new.yaml", &secret("new", "stringData", &next));
    let diff = ws.reconcile(["diff", "-f", "new.yaml"]).exits_with(1);
    assert_eq!(diff.changes("Secret", "new"), ["pending data.p"]);
}

#[test]
fn string_data_that_is_applied_later_is_the_value_of_its_applier() {
    let ws = Workspace::new();
    let (ours, theirs) = (ws.secret("comes-after-the-creation"), ws.secret("applied-after-the-creation"));
    let first = ws.secret("set-at-the-creation");
    ws.stdin(&secret("it", "stringData", &first)).kubectl(["create", "-f", "-"]).exits_with(0);
    // Records of owners have times in whole seconds.
    sleep(Duration::from_millis(1100));
    ws.apply_as("flux", &secret("it", "stringData", &theirs));
    ws.write("it.yaml", &secret("it", "stringData", &ours));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Secret", "it"), ["conflict data.p"]);
    ws.reconcile(["apply", "-f", "."]).exits_with(4);

    let fields = ws.reconcile(["blame", "secret/it"]).exits_with(0);
    assert!(fields.stdout.contains("flux"), "{fields}");

    // A key that is gone has no owner.
    ws.kubectl(["patch", "secret/it", "--type=json", "-p", r#"[{"op": "remove", "path": "/data/p"}]"#]).exits_with(0);
    ws.reconcile(["diff", "-f", ".", "--fail-on=conflict"]).exits_with(0);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
}

#[test]
fn what_only_the_manifest_drops_is_not_removed_from_under_an_applier() {
    let ws = Workspace::new();
    let (ours, theirs) = (ws.secret("dropped-from-the-manifest"), ws.secret("still-applied-by-flux"));
    let both = format!(
        "{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, data: {{p: {0}, q: {0}}}}}",
        base64(ours.as_bytes())
    );
    ws.write("it.yaml", &both);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.apply_as("flux", &secret("it", "stringData", &theirs));
    let left =
        format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, data: {{q: {}}}}}", base64(ours.as_bytes()));
    ws.write("it.yaml", &left);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Secret", "it"), ["conflict data.p"]);
    ws.reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(ws.get("Secret", "it")["data"]["p"], base64(theirs.as_bytes()));
}

#[test]
fn an_adopted_manager_gives_up_the_values_of_string_data() {
    let ws = Workspace::new();
    let (first, second) = (ws.secret("installed-by-a-release"), ws.secret("the-next-value-of-it"));
    let manifest = |value: &str| secret("it", "stringData", value);
    ws.stdin(&manifest(&first)).kubectl(["create", "--field-manager=helm", "-f", "-"]).exits_with(0);
    ws.write("it.yaml", &manifest(&first));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let adopting = ws.reconcile(["diff", "-f", ".", "--adopt=helm"]).exits_with(0);
    assert_eq!(adopting.changes("Secret", "it"), ["adopted"]);
    ws.reconcile(["apply", "-f", ".", "--adopt=helm"]).exits_with(0);
    assert_eq!(ws.get("Secret", "it")["data"]["p"], base64(first.as_bytes()));
    assert_eq!(ws.reconcile(["apply", "-f", ".", "--adopt=helm"]).exits_with(0).writes(), 0);
    ws.write("it.yaml", &manifest(&second));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.get("Secret", "it")["data"]["p"], base64(second.as_bytes()));
}

/// The record of a manual change outlives the apply that overruled it, as the server does not see that `stringData` is `data`.
#[test]
fn a_healed_value_is_ours_again() {
    let ws = Workspace::new();
    let [first, theirs, second] = ["a-password-of-the-manifest", "a-password-set-by-hand", "the-next-of-the-manifest"]
        .map(|value| ws.secret(value));
    let manifest =
        |rest: &str| format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, stringData: {{z: keep{rest}}}}}");
    let next_second = || sleep(Duration::from_millis(1100));
    ws.write("it.yaml", &manifest(&format!(", p: '{first}'")));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    next_second();
    ws.patch_as("kubectl-patch", "secret/it", &json!({"stringData": {"p": theirs}}));
    let diff = ws.reconcile(["diff", "-f", ".", "--fail-on", "cluster"]).exits_with(1);
    assert_eq!(diff.changes("Secret", "it"), ["changedByOther data.p"]);
    next_second();
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", &manifest(&format!(", p: '{second}'")));
    for evidence in ["auto", "server", "read-only"] {
        let diff = ws.reconcile(["diff", "-f", ".", "--evidence", evidence]).exits_with(1);
        assert_eq!(diff.changes("Secret", "it"), ["pending data.p"], "{evidence}: {diff}");
        ws.reconcile(["diff", "-f", ".", "--fail-on", "cluster,either", "--evidence", evidence]).exits_with(0);
    }
    // It was ours, and was not added by hand.
    ws.write("it.yaml", &manifest(""));
    let diff = ws.reconcile(["diff", "-f", ".", "--show-unmanaged"]).exits_with(0);
    assert_eq!(diff.changes("Secret", "it"), ["released data.p"], "{diff}");
}
