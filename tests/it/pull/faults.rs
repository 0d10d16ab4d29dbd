//! Whatever goes wrong while manifests are written: each file is the old or the new one as a whole, and the next run is not misled.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Write as _, stdout};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::kustomize::{BASE, overlay_of, replaced};
use super::pulled;
use crate::control_plane::{Caller, Replaced, Run, Workspace};
use crate::fault_matrix::in_shell;

const KILLED: i32 = -9;
/// The modes of the files, of which none is the usual one.
const MODES: [(&str, u32); 2] = [("a.yaml", 0o640), ("sub/b.json", 0o664)];

/// Compiles the library that counts the calls that write, and lets one of them go wrong. Its head describes the variables.
fn compile(library: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/pull/writes.c");
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(library).arg(&source).status();
    assert!(compiled.expect("the C compiler, which also links this test").success());
}

/// Says which test did not take place.
fn left_out(reason: &str) {
    writeln!(stdout(), "left out: {reason}").expect("standard output");
}

/// Two files with a drift each.
struct Drifted {
    ws: Workspace,
    old: BTreeMap<&'static str, String>,
    new: BTreeMap<&'static str, String>,
}

impl Drifted {
    fn new() -> Self {
        let ws = Workspace::new();
        let padding = "# A comment that makes the file longer than a block\n".repeat(60);
        let yaml = format!("{padding}apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{v: old}}\n");
        let json = "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"b\"}, \"data\": {\"v\": \"old\"}}";
        let old = BTreeMap::from([("a.yaml", yaml), ("sub/b.json", json.to_owned())]);
        let new = old.iter().map(|(name, text)| (*name, text.replaced("old", "new"))).collect();
        let drifted = Self { ws, old, new };
        drifted.reset();
        compile(&drifted.ws.home().join("writes.so"));
        drifted.ws.reconcile(["apply", "-f", ".", "-R"]).exits_with(0);
        for name in ["a", "b"] {
            drifted.ws.patch_as("kubectl-edit", &format!("configmap/{name}"), &json!({"data": {"v": "new"}}));
        }
        drifted
    }

    /// The files as they were before all runs, without what killed runs left.
    fn reset(&self) {
        let folder = self.ws.folder();
        fs::remove_dir_all(&folder).unwrap();
        fs::create_dir_all(folder.join("sub")).unwrap();
        for (name, mode) in MODES {
            let path = folder.join(name);
            fs::write(&path, &self.old[name]).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.ws.folder().join(name)).unwrap()
    }

    fn pull(&self) -> Run {
        self.ws.reconcile(["pull", "-f", ".", "-R"])
    }

    /// Runs `pull` with a fault at one of the calls that write.
    fn pull_with(&self, fault: &str, at: usize) -> Run {
        self.faulty()
            .env("FAULT", fault)
            .env("FAULT_AT", &at.to_string())
            .reconcile(["pull", "-f", ".", "-R", "-o", "json"])
    }

    fn faulty(&self) -> Caller<'_> {
        let folder = self.ws.folder().canonicalize().unwrap();
        let preloaded = self.ws.env("LD_PRELOAD", &self.ws.home().join("writes.so").display().to_string());
        preloaded.env("FAULT_FOLDER", &folder.display().to_string())
    }

    /// The calls that write in a run without a fault.
    fn calls(&self) -> Vec<String> {
        let log = self.ws.home().join("calls");
        let run = self.faulty().env("FAULT_LOG", &log.display().to_string()).reconcile(["pull", "-f", ".", "-R"]);
        let calls = fs::read_to_string(&log).unwrap_or_else(|error| panic!("{error}: {run}"));
        let calls: Vec<String> = calls.lines().map(ToOwned::to_owned).collect();
        assert_eq!(calls.iter().filter(|call| *call == "rename").count(), MODES.len(), "{calls:?}");
        self.reset();
        calls
    }

    /// The files of the folders, apart from the manifests.
    fn others(&self) -> Vec<String> {
        let names = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names(self.ws.folder()).chain(names(self.ws.folder().join("sub")));
        let names = names.map(|name| name.to_string_lossy().into_owned());
        names.filter(|name| !["a.yaml", "sub", "b.json"].contains(&name.as_str())).collect()
    }

    /// Each file is the old or the new one as a whole, with its mode. Returns the number of new ones.
    #[track_caller]
    fn check_whole(&self, context: &str) -> usize {
        let is_new = |(name, mode): (&str, u32)| {
            let text = self.text(name);
            let path = self.ws.folder().join(name);
            assert!(text == self.old[name] || text == self.new[name], "{name} after {context}:\n{text}");
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o7777, mode, "{name} after {context}");
            text == self.new[name]
        };
        MODES.into_iter().filter(|file| is_new(*file)).count()
    }
}

#[test]
fn a_pull_that_is_killed_at_any_write_leaves_whole_files() {
    let drifted = Drifted::new();
    let calls = drifted.calls();
    let mut done = Vec::new();
    for (at, call) in (1..).zip(&calls) {
        for moment in ["before", "half", "after"] {
            if moment == "half" && call != "write" {
                continue;
            }
            let context = format!("{moment} {call} {at}");
            let run = drifted.pull_with(moment, at);
            assert_eq!(run.code, KILLED, "{context}: {run}");
            done.push(drifted.check_whole(&context));
            // One draft may stay: hidden, and not called a manifest.
            let others = drifted.others();
            let is_draft =
                |name: &String| name.starts_with('.') && Path::new(name).extension().is_some_and(|end| end == "tmp");
            assert!(others.len() <= 1 && others.iter().all(is_draft), "{context}: {others:?}");
            let run = drifted.pull().exits_with(0);
            assert!(!run.stdout.contains(".tmp") && run.stderr.is_empty(), "{context}: {run}");
            assert_eq!(drifted.check_whole(&context), MODES.len(), "{run}");
            drifted.ws.reconcile(["diff", "-f", ".", "-R"]).exits_with(0);
            drifted.reset();
        }
    }
    assert!(done.is_sorted() && done.first() == Some(&0) && done.last() == Some(&MODES.len()), "{done:?}");
}

#[test]
fn a_write_that_fails_leaves_its_file_alone_and_the_others_are_written() {
    let drifted = Drifted::new();
    let calls = drifted.calls();
    let first = calls.iter().position(|call| call == "rename").unwrap() + 1;
    for (errno, reason) in [(28, "no space left on device"), (5, "input/output error"), (122, "quota")] {
        for (at, call) in (1..=first).zip(&calls) {
            let context = format!("{reason} at {call} {at}");
            let run = drifted.pull_with(&errno.to_string(), at).exits_with(4);
            let report = pulled(&run);
            assert_eq!((report["exitCode"].as_u64(), drifted.check_whole(&context)), (Some(4), 1), "{context}: {run}");
            assert_eq!(drifted.text("a.yaml"), drifted.old["a.yaml"], "{context}");
            let change = &report["objects"][0]["changes"][0];
            let shown = change["reason"].as_str().unwrap_or_default();
            assert_eq!(change["accepted"], false, "{context}: {run}");
            assert!(shown.contains("the file cannot be written") && shown.contains(reason), "{context}: {shown}");
            assert_eq!(report["files"].as_array().map(Vec::len), Some(1), "{context}: {run}");
            assert_eq!(drifted.others(), [""; 0], "{context}");
            drifted.reset();
        }
    }
}

#[test]
fn a_full_disk_leaves_the_manifests_as_they_were() {
    let drifted = Drifted::new();
    // Files of one block at most, and no signal about it: what a quota or a full disk does. The second file fits.
    let output = in_shell(&drifted.ws, "trap '' XFSZ; ulimit -f 1; $RUN", &["pull", "-f", ".", "-R"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert_eq!(text.matches("not pulled: ").count(), 1, "{text}");
    assert!(
        text.contains("data.v: the file cannot be written: ") && text.contains("pulled 1 change into 1 file"),
        "{text}"
    );
    assert_eq!(drifted.check_whole("a full disk"), 1);
    assert_eq!((drifted.text("a.yaml"), drifted.others()), (drifted.old["a.yaml"].clone(), Vec::new()));
    drifted.pull().exits_with(0);
    assert_eq!(drifted.check_whole("the next run"), 2);
}

#[test]
fn folders_and_files_that_may_only_be_read_are_left_alone() {
    let drifted = Drifted::new();
    let folder = drifted.ws.folder();
    // Root may write everywhere.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let script = if is_root { "setpriv --reuid=65534 --regid=65534 --clear-groups $RUN" } else { "$RUN" };
    let owned = [folder.parent().unwrap().to_owned(), folder.clone(), folder.join("sub")];
    let own = || {
        for path in owned.iter().cloned().chain(MODES.map(|(name, _)| folder.join(name))).filter(|_| is_root) {
            std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
        }
    };
    let limit = |name: &str, mode| fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
    for (name, mode, usual) in [("a.yaml", 0o440, 0o640), (".", 0o555, 0o755)] {
        drifted.reset();
        own();
        limit(name, mode);
        let output = in_shell(&drifted.ws, script, &["pull", "-f", ".", "-R"]);
        limit(name, usual);
        if output.status.code() == Some(127) {
            left_out("there is no `setpriv` to run as another user");
            return;
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(4), "{name}: {output:?}");
        assert!(
            text.contains(
                "ConfigMap $NS/a data.v: the file cannot be written: permission denied"
                    .replace("$NS", drifted.ws.namespace())
                    .as_str()
            ),
            "{name}: {text}"
        );
        assert_eq!((drifted.check_whole(name), drifted.others()), (1, Vec::new()), "{text}");
    }
}

#[test]
fn a_folder_that_takes_no_new_patch_holds_nothing_else_back() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {sessionAffinity: ClientIP}\n";
    let overlay = "resources:\n- ../base\npatches:\n- path: patches/service.yaml\n";
    let base = [BASE, "---\n", &service.replaced("spec", "spec: {ports: [{port: 80}]}\n# ")].concat();
    let ws = overlay_of(&[("web.yaml", &base)], overlay);
    ws.write("prod/patches/service.yaml", service);
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    replaced(&ws, "deployment/web", "/spec/revisionHistoryLimit", &json!(7));
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:2"]).exits_with(0);
    let folder = ws.folder();
    // Root may write everywhere.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let script = if is_root { "setpriv --reuid=65534 --regid=65534 --clear-groups $RUN" } else { "$RUN" };
    for name in ["..", ".", "prod", "prod/kustomization.yaml", "prod/patches", "prod/patches/service.yaml"] {
        if is_root {
            std::os::unix::fs::chown(folder.join(name), Some(65534), Some(65534)).unwrap();
        }
    }
    let limit = |mode| fs::set_permissions(folder.join("prod/patches"), fs::Permissions::from_mode(mode)).unwrap();
    limit(0o555);
    let output = in_shell(&ws, script, &["pull", "-k", "prod", "--add-patches"]);
    limit(0o755);
    if output.status.code() == Some(127) {
        left_out("there is no `setpriv` to run as another user");
        return;
    }
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(shown.contains("revisionHistoryLimit: the file cannot be written: permission denied"), "{shown}");
    let kustomization = fs::read_to_string(folder.join("prod/kustomization.yaml")).unwrap();
    assert!(kustomization.contains("newTag: \"2\"") && !kustomization.contains("deployment.yaml"), "{kustomization}");
}

#[test]
fn a_file_that_changes_during_the_run_is_not_overwritten() {
    let drifted = Drifted::new();
    let calls = drifted.calls();
    let rename = calls.iter().position(|call| call == "rename").unwrap() + 1;
    let path = drifted.ws.folder().canonicalize().unwrap().join("a.yaml");
    let edited = format!("{}# edited\n", drifted.old["a.yaml"]);
    for at in 1..rename {
        let run = drifted.pull_with(&format!("!echo '# edited' >> {}", path.display()), at).exits_with(4);
        let change = &pulled(&run)["objects"][0]["changes"][0];
        assert_eq!(change["reason"], "the file has changed since it was read: run again", "{at}: {run}");
        assert_eq!((drifted.text("a.yaml"), drifted.others()), (edited.clone(), Vec::new()), "{at}: {run}");
        assert_eq!(drifted.text("sub/b.json"), drifted.new["sub/b.json"], "{at}: {run}");
        drifted.reset();
    }
}

#[test]
fn a_file_that_becomes_a_link_during_the_run_leads_to_no_other_file() {
    let drifted = Drifted::new();
    let calls = drifted.calls();
    let rename = calls.iter().position(|call| call == "rename").unwrap() + 1;
    let outside = tempfile::tempdir().unwrap();
    let (victim, path) =
        (outside.path().join("victim.yaml"), drifted.ws.folder().canonicalize().unwrap().join("a.yaml"));
    for at in 1..=rename {
        fs::write(&victim, &drifted.old["a.yaml"]).unwrap();
        let run = drifted.pull_with(&format!("!ln -sf {} {}", victim.display(), path.display()), at);
        assert_eq!(fs::read_to_string(&victim).unwrap(), drifted.old["a.yaml"], "{at}: {run}");
        if at < rename {
            let change = &pulled(&run.exits_with(4))["objects"][0]["changes"][0];
            assert_eq!(change["reason"], "the file has changed since it was read: run again", "{at}");
            assert!(fs::symlink_metadata(&path).unwrap().is_symlink(), "{at}");
        }
        assert_eq!(drifted.others(), [""; 0], "{at}");
        drifted.reset();
    }
}

/// Only root can give files away.
#[test]
fn a_file_keeps_its_owner() {
    let drifted = Drifted::new();
    let path = drifted.ws.folder().join("a.yaml");
    if std::os::unix::fs::chown(&path, Some(4242), Some(4243)).is_err() {
        left_out("only root can give files away");
        return;
    }
    drifted.pull().exits_with(0);
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.uid(), metadata.gid(), drifted.check_whole("a pull")), (4242, 4243, 2));
}

/// The new configuration of `resolve` is there as a whole, or not at all.
#[test]
fn a_new_configuration_is_whole_whatever_goes_wrong() {
    let drifted = Drifted::new();
    let config = drifted.ws.folder().join(".kubectl-reconcile.yaml");
    let answers = "i\nset by hand\ni\nset by hand\ny\n";
    let resolve = |fault: &[(&str, &str)]| {
        let folder = drifted.ws.folder().canonicalize().unwrap().display().to_string();
        let library = drifted.ws.home().join("writes.so").display().to_string();
        let mut caller = drifted.ws.as_user("admin").stdin(answers).on_terminal();
        caller = caller.env("LD_PRELOAD", &library).env("FAULT_FOLDER", &folder);
        for (name, value) in fault {
            caller = caller.env(name, value);
        }
        caller.reconcile(["resolve", "-R", "-f", &folder])
    };
    let log = drifted.ws.home().join("calls");
    resolve(&[("FAULT_LOG", &log.display().to_string())]).exits_with(0);
    let whole = fs::read_to_string(&config).unwrap();
    let calls: Vec<String> = fs::read_to_string(&log).unwrap().lines().map(ToOwned::to_owned).collect();
    assert!(calls.contains(&"link".to_owned()) && !calls.contains(&"rename".to_owned()), "{calls:?}");
    for (at, call) in (1..).zip(&calls) {
        for fault in ["before", "after", "half", "28"] {
            if fault == "half" && call != "write" || fault == "28" && call == "unlink" {
                continue;
            }
            drifted.reset();
            let run = resolve(&[("FAULT", fault), ("FAULT_AT", &at.to_string())]);
            let text = fs::read_to_string(&config).ok();
            assert!(text.as_ref().is_none_or(|text| *text == whole), "{fault} {call} {at}: {run}");
            if fault == "28" {
                assert_eq!(
                    (text.is_some(), run.code),
                    (call == "link", if call == "link" { 0 } else { 4 }),
                    "{at}: {run}"
                );
            }
        }
    }
    drifted.reset();
    let theirs = format!("!echo theirs > {}", config.display());
    let link = calls.iter().position(|call| call == "link").unwrap() + 1;
    let run = resolve(&[("FAULT", &theirs), ("FAULT_AT", &link.to_string())]).exits_with(4);
    assert!(run.stderr.contains("somebody else has created the file in the meantime"), "{run}");
    assert_eq!(fs::read_to_string(&config).unwrap(), "theirs\n");
    drifted.reset();
}
