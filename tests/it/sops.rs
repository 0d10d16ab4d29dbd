//! Manifests that SOPS has encrypted: never used as they stand, and decrypted in memory on demand.
//!
//! The `sops` of these tests takes `ENC[…]` off the values and the metadata out. As the real one, it refuses documents that were encrypted
//! together and come without the others: the code `ENC[2]` is that of two documents.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::control_plane::{ANY_FIELDS, Caller, Run, Workspace, definition};

pub const SOPS: &str = r#"#!/bin/sh
text=$(cat)
count=$(printf '%s\n' "$text" | grep -c 'sops"\{0,1\}: *{')
together=$(printf '%s\n' "$text" | sed -n 's/.*ENC\[\([0-9]\)\].*/\1/p' | head -1)
[ "$count" = "$together" ] || exit 51
printf '%s\n' "$text" | sed -e '/^sops:/d' -e 's/,"sops":{[^}]*}//' -e 's/"sops":{[^}]*},//' -e 's/ENC\[\([^]]*\)\]/\1/g'
"#;

pub fn program(ws: &Workspace, name: &str, script: &str) {
    let path = ws.write(name, script);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Calls with the `sops` of the folder `bin` first on PATH.
pub fn with_sops(ws: &Workspace) -> Caller<'_> {
    ws.env("PATH", &format!("{}:/usr/bin:/bin", ws.folder().join("bin").display()))
}

pub fn object<'r>(run: &'r Run, name: &str) -> &'r Value {
    run.report()["objects"].as_array().unwrap().iter().find(|object| object["name"] == name).unwrap()
}

fn error<'r>(run: &'r Run, name: &str) -> &'r str {
    assert_eq!(object(run, name)["action"], "unknown", "{run}");
    object(run, name)["error"]["message"].as_str().unwrap()
}

/// Formats that show values.
pub const FORMATS: [&str; 10] =
    ["text", "unified", "json", "yaml", "jsonl", "markdown", "junit", "sarif", "gitlab", "html"];
const SECRET: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: 'ENC[hunter-of-two]'}\nsops: {mac: 'ENC[1]', version: 3.11.0}\n";
const PLAIN: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: open}\ndata: {colour: green}\n";
const TOGETHER: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: first, labels: {team: 'ENC[moonlight]'}}\ndata: {a: 'ENC[sunflower]'}\nsops: {mac: 'ENC[2]', version: 3.11.0}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: second}\ndata: {b: 'ENC[marigold]'}\nsops: {mac: 'ENC[2]', version: 3.11.0}\n";

#[test]
fn what_is_encrypted_is_unknown_and_the_others_go_on() {
    let ws = Workspace::new();
    ws.write("m.yaml", &format!("{SECRET}---\n{PLAIN}---\n{TOGETHER}"));
    let run = ws.reconcile(["diff", "-f", "m.yaml"]).exits_with(4);
    for name in ["db", "first", "second"] {
        assert_eq!(error(&run, name), "encrypted with SOPS");
        assert_eq!(object(&run, name)["error"]["reason"], "Encrypted");
        assert!(object(&run, name)["error"]["hint"].as_str().unwrap().contains("--decrypt=sops"), "{run}");
    }
    assert_eq!(object(&run, "open")["action"], "create");
    assert!(!run.to_string().contains("ENC["), "{run}");
    let run = ws.reconcile(["apply", "-f", "m.yaml"]).exits_with(4);
    assert!(!run.to_string().contains("ENC["), "{run}");
    assert!(ws.find("Secret", "db").is_none() && ws.find("ConfigMap", "first").is_none());
    assert!(ws.find("ConfigMap", "open").is_some());
    for command in ["status", "snapshot", "pull", "blame"] {
        let run = ws.reconcile([command, "-f", "m.yaml"]);
        assert!(!run.to_string().contains("ENC["), "{command}: {run}");
    }
}

#[test]
fn decrypted_values_are_applied_and_never_shown() {
    let ws = Workspace::new();
    ws.define("Note", ANY_FIELDS);
    program(&ws, "bin/sops", SOPS);
    for value in ["hunter-of-two", "moonlight", "sunflower", "marigold", "buttercup", "cornflower", "daffodil"] {
        ws.secret(value);
    }
    let custom = "apiVersion: $NS.example.com/v1\nkind: Note\nmetadata: {name: note}\nspec: {text: 'ENC[buttercup]', list: [{name: x, v: 'ENC[cornflower]'}]}\nsops: {mac: 'ENC[1]', version: 3.11.0}\n";
    ws.write("m.yaml", &format!("{SECRET}---\n{PLAIN}---\n{TOGETHER}"));
    ws.write("c.yaml", custom);
    let list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: third}\n  sops: {mac: 'ENC[1]', version: 3.11.0}\n  data: {c: 'ENC[daffodil]'}\n";
    ws.write("l.yaml", list);
    let flags = ["-f", "m.yaml,c.yaml,l.yaml", "--decrypt=sops"];
    for format in FORMATS {
        with_sops(&ws).reconcile(["diff", "-o", format].iter().chain(&flags)).exits_with(1);
    }
    with_sops(&ws).reconcile(["apply"].iter().chain(&flags)).exits_with(0);
    assert_eq!(ws.get("configmaps", "first")["data"]["a"], "sunflower");
    assert_eq!(ws.get("configmaps", "first")["metadata"]["labels"]["team"], "moonlight");
    assert_eq!(ws.get("configmaps", "second")["data"]["b"], "marigold");
    assert_eq!(ws.get("configmaps", "third")["data"], json!({"c": "daffodil"}));
    with_sops(&ws).reconcile(["diff"].iter().chain(&flags)).exits_with(0);

    ws.patch_as(
        "kubectl-edit",
        "configmap/first",
        &json!({"data": {"a": "moonlight"}, "metadata": {"labels": {"team": "sunflower"}}}),
    );
    ws.patch_as("kubectl-edit", "configmap/open", &json!({"data": {"colour": "red"}}));
    for format in FORMATS {
        with_sops(&ws).reconcile(["diff", "--full", "-o", format].iter().chain(&flags)).exits_with(1);
    }
    let before = fs::read_to_string(ws.folder().join("m.yaml")).unwrap();
    with_sops(&ws).reconcile(["pull"].iter().chain(&flags));
    let after = fs::read_to_string(ws.folder().join("m.yaml")).unwrap();
    assert_eq!(after, before.replace("green", "red"), "nothing encrypted was touched");
    let run = with_sops(&ws).reconcile(["snapshot"].iter().chain(&flags)).exits_with(0);
    assert!(run.to_string().contains("redacted"), "{run}");
    with_sops(&ws).reconcile(["blame"].iter().chain(&flags)).exits_with(0);
}

#[test]
fn a_document_that_is_encrypted_as_a_whole_is_named_by_its_line_and_prunes_nothing() {
    let ws = Workspace::new();
    program(&ws, "bin/sops", SOPS);
    let whole = "apiVersion: 'ENC[v1]'\nkind: 'ENC[ConfigMap]'\nmetadata: {name: 'ENC[whole]', labels: {a: 'ENC[b]'}}\ndata: {x: 'ENC[y]'}\nsops: {mac: 'ENC[1]', version: 3.11.0}\n";
    ws.write("m.yaml", &format!("{PLAIN}---\n{whole}"));
    let run = ws.reconcile(["diff", "-f", "m.yaml"]).exits_with(4);
    assert_eq!(error(&run, "line-6"), "encrypted with SOPS");
    let apply = ["apply", "-f", "m.yaml", "--applyset", "all", "--prune", "--decrypt=sops"];
    with_sops(&ws).reconcile(apply).exits_with(0);
    assert_eq!(ws.get("configmaps", "whole")["data"]["x"], "y");
    ws.reconcile(&apply[..6]).exits_with(2);
    assert!(ws.find("ConfigMap", "whole").is_some());
}

#[test]
fn what_a_build_prints_is_decrypted_too() {
    let ws = Workspace::new();
    program(&ws, "bin/sops", SOPS);
    ws.secret("hunter-of-two");
    let kustomize = format!("#!/bin/sh\ncat {}\n", ws.folder().join("built").display());
    program(&ws, "bin/kustomize", &kustomize);
    ws.write("built", SECRET);
    ws.write("k/kustomization.yaml", "resources: []\n");
    with_sops(&ws).reconcile(["apply", "-k", "k"]).exits_with(4);
    with_sops(&ws).reconcile(["apply", "-k", "k", "--decrypt=sops"]).exits_with(0);
    assert!(ws.find("Secret", "db").is_some());
    // A build that changes anything that the `mac` covers is named as the cause.
    program(&ws, "bin/sops", "#!/bin/sh\nexit 51\n");
    let run = with_sops(&ws).reconcile(["diff", "-k", "k", "--decrypt=sops"]).exits_with(4);
    assert!(error(&run, "db").ends_with("because its `mac` does not match what the kustomization builds"), "{run}");
    assert!(object(&run, "db")["error"]["hint"].as_str().unwrap().contains("with `-f`"), "{run}");
}

/// What is secret is called so, whatever kind of object has it.
#[test]
fn values_of_encrypted_objects_are_not_called_values_of_secrets() {
    let ws = Workspace::new();
    program(&ws, "bin/sops", SOPS);
    for value in ["sunflower", "marigold", "moonlight"] {
        ws.secret(value);
    }
    ws.write("m.yaml", &format!("{TOGETHER}---\n{PLAIN}"));
    with_sops(&ws).reconcile(["apply", "-f", "m.yaml", "--decrypt=sops"]).exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/first", &json!({"data": {"a": "tulip"}}));
    ws.patch_as("kubectl-edit", "configmap/open", &json!({"data": {"colour": "red"}}));
    let run = with_sops(&ws).reconcile(["pull", "-f", "m.yaml", "--decrypt=sops", "--dry-run"]);
    assert!(run.stdout.contains("1 secret value differs, and secret values are not pulled"), "{run}");
    assert!(!run.to_string().contains("of a Secret"), "{run}");
}

#[test]
fn a_sops_that_fails_makes_its_objects_unknown() {
    let ws = Workspace::new();
    ws.secret("hunter-of-two");
    ws.write("m.yaml", &format!("{SECRET}---\n{PLAIN}"));
    for (script, expected, hint) in [
        ("exit 128", "`sops` has no key that decrypts it", "SOPS_AGE_KEY_FILE"),
        (
            "exit 51",
            "`sops` refuses it, because its `mac` does not match: it was changed after it was encrypted",
            "undo the change, or encrypt it again",
        ),
        (
            "exit 25",
            "one of its values cannot be decrypted: it was changed or moved after it was encrypted",
            "undo the change, or encrypt it again",
        ),
        ("echo hunter-of-two >&2; exit 1", "`sops` failed with exit code 1", "`sops --decrypt FILE`"),
        ("kill -9 $$", "`sops` was killed by a signal", "`sops --decrypt FILE`"),
        ("true", "`sops` printed nothing", "`sops --decrypt FILE`"),
        ("echo hunter-of-two", "what `sops` printed is not a Kubernetes object", "`sops --decrypt FILE`"),
        ("echo '{hunter-of-two'", "what `sops` printed is not valid YAML", "`sops --decrypt FILE`"),
        ("echo 'kind: hunter-of-two'", "the decrypted manifest has no valid `apiVersion`", "`sops edit FILE`"),
        (
            "echo '{apiVersion: v1, kind: Secret, metadata: {name: db, labels: {hunter-of-two: [a]}}}'",
            "the server would refuse the name, the labels or the annotations of the decrypted manifest",
            "`sops edit FILE`",
        ),
        ("echo '{kind: List, items: []}'", "`sops` printed a list of objects instead of one object", "`sops"),
        ("cat", "`sops` printed a document that is still encrypted", "`sops --decrypt FILE`"),
        ("cat; echo; echo ---; cat <<E\nkind: x\nE", "`sops` printed 2 documents instead of 1", "`sops"),
        ("yes hunter-of-two | head -c 70000000", "`sops` printed more than 64 MiB", "`sops --decrypt FILE`"),
    ] {
        program(&ws, "bin/sops", &format!("#!/bin/sh\n{script}\n"));
        let run = with_sops(&ws).reconcile(["diff", "-f", "m.yaml", "--decrypt", "sops"]).exits_with(4);
        assert_eq!(error(&run, "db"), format!("encrypted with SOPS: {expected}"), "{script}");
        assert!(object(&run, "db")["error"]["hint"].as_str().unwrap().contains(hint), "{script}: {run}");
        assert_eq!(object(&run, "open")["action"], "create", "{script}");
    }
}

#[test]
fn a_sops_of_the_working_directory_never_runs() {
    let ws = Workspace::new();
    program(&ws, "sops", "#!/bin/sh\ntouch ran\n");
    ws.write("m.yaml", SECRET);
    let link = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(ws.folder(), link.path().join("here")).unwrap();
    let absolute = [ws.folder().display().to_string(), format!("/nowhere:{}/", ws.folder().display())];
    let linked = link.path().join("here").display().to_string();
    let paths = ["/nowhere", ".", "", ":/nowhere", "/nowhere:", "./", &absolute[0], &absolute[1], &linked];
    for path in paths {
        let run = ws.env("PATH", path).reconcile(["diff", "-f", "m.yaml", "--decrypt=sops"]).exits_with(2);
        let error = &run.report()["errors"][0];
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("encrypted with SOPS, and `--decrypt=sops` needs `sops`: "), "{run}");
        assert_eq!((&error["file"], &error["line"]), (&"m.yaml".into(), &1.into()), "{run}");
        assert!(!ws.folder().join("ran").exists(), "{path}");
    }
    // Nothing is encrypted: nothing is needed.
    ws.write("m.yaml", PLAIN);
    ws.env("PATH", "/nowhere").reconcile(["diff", "-f", "m.yaml", "--decrypt=sops"]).exits_with(1);
}

#[test]
fn members_of_sets_of_an_encrypted_object_are_no_parts_of_paths() {
    let ws = Workspace::new();
    program(&ws, "bin/sops", SOPS);
    let tags = "properties:\n  tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}";
    ws.write("crd.yaml", &definition("Crate", tags));
    ws.reconcile(["apply", "-f", "crd.yaml", "--wait"]).exits_with(0);
    ws.wait_for_types();
    let head = "apiVersion: $NS.example.com/v1\nkind: Crate\nmetadata: {name: box}\nspec: {tags: [";
    for value in ["bluebell", "foxglove"] {
        ws.secret(value);
    }
    ws.write("box.yaml", &format!("{head}'ENC[bluebell]']}}\nsops: {{mac: 'ENC[1]', version: 3.11.0}}\n"));
    with_sops(&ws).reconcile(["apply", "-f", "box.yaml", "--decrypt=sops"]).exits_with(0);
    ws.patch_as("kubectl-edit", &ws.fill_in("crates.$NS.example.com/box"), &json!({"spec": {"tags": ["foxglove"]}}));
    for format in FORMATS {
        let flags = ["diff", "--full", "--show-unmanaged", "-o", format, "-f", "box.yaml", "--decrypt=sops"];
        let diff = with_sops(&ws).reconcile(flags).exits_with(1);
        assert!(format != "json" || diff.stdout.contains("(secret)"), "{diff}");
    }
}

/// A manifest may be encrypted in the base only, or in the manifests only: its values are secret in any case.
#[test]
fn a_value_that_is_encrypted_on_one_side_is_secret_on_the_other() {
    let ws = Workspace::new();
    program(&ws, "bin/sops", SOPS);
    let plain = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: first}\ndata: {a: bluebell}\n";
    let encrypted = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: first}\ndata: {a: 'ENC[foxglove]'}\nsops: {mac: 'ENC[1]', version: 3.11.0}\n";
    for value in ["bluebell", "foxglove", "snowdrop"] {
        ws.secret(value);
    }
    ws.write("plain.yaml", plain);
    ws.write("encrypted.yaml", encrypted);
    ws.stdin(&plain.replace("bluebell", "snowdrop")).kubectl(["create", "-f", "-"]).exits_with(0);
    for (manifest, base) in [("plain.yaml", "encrypted.yaml"), ("encrypted.yaml", "plain.yaml")] {
        for format in FORMATS {
            let flags = ["diff", "--full", "-o", format, "-f", manifest, "--base", base];
            let diff = with_sops(&ws).reconcile([&flags[..], &["--decrypt=sops"]].concat()).exits_with(1);
            assert!(format != "json" || object(&diff, "first")["side"] == "both", "{diff}");
            let closed = ws.reconcile(flags).exits_with(4);
            assert!(format != "json" || error(&closed, "first") == "encrypted with SOPS", "{closed}");
        }
    }
    // What only the base has is told by its name.
    ws.write("other.yaml", PLAIN);
    with_sops(&ws).reconcile(["diff", "-f", "other.yaml", "--base", "encrypted.yaml", "--decrypt=sops"]).exits_with(1);
}
