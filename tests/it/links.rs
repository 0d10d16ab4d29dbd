//! Links among the manifests: those to files of the same repository count, and none of the others is read unless it is named.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::control_plane::{Run, Workspace};
use crate::inputs::{config_map, messages, names};

/// A repository with a folder of manifests, and manifests outside of it.
fn repository() -> Workspace {
    let ws = Workspace::new();
    ws.write(".git/HEAD", "ref: refs/heads/main\n");
    ws.write("deploy/own.yaml", &config_map("own"));
    ws.write("base/app.yaml", &config_map("app"));
    fs::create_dir(ws.home().join("other")).unwrap();
    fs::write(ws.home().join("other/app.yaml"), config_map("other")).unwrap();
    ws
}

fn link(ws: &Workspace, to: impl AsRef<Path>, name: &str) {
    symlink(to, ws.folder().join(name)).unwrap();
}

/// The error about a link, by what it leads to.
fn leads_out(ws: &Workspace, link: &str, target: &Path) -> String {
    let target = target.canonicalize().unwrap();
    let root = ws.folder().canonicalize().unwrap();
    format!("{link}: the link leads to {}, which is not part of the repository {}", target.display(), root.display())
}

#[track_caller]
fn is_refused(ws: &Workspace, arguments: &[&str], message: &str) -> Run {
    let before = ws.all_resource_versions();
    for command in ["diff", "apply"] {
        let run = ws.reconcile([&[command][..], arguments].concat()).exits_with(2);
        assert_eq!(messages(&run), [message], "{run}");
        assert!(run.stderr.contains("hint: name the link itself with `-f` to read its target"), "{run}");
    }
    assert_eq!(ws.all_resource_versions(), before);
    ws.reconcile([&["diff"][..], arguments].concat())
}

#[test]
fn a_link_to_a_file_outside_the_repository_is_an_error() {
    let ws = repository();
    let target = ws.home().join("other/app.yaml");
    link(&ws, &target, "deploy/x.yaml");
    for arguments in [&["-f", "deploy"][..], &["-f", "deploy", "-R"], &["-f", "deploy/*.yaml"], &["-f", ".", "-R"]] {
        let shown = if arguments.contains(&".") { "./deploy/x.yaml" } else { "deploy/x.yaml" };
        is_refused(&ws, arguments, &leads_out(&ws, shown, &target));
    }
    let named = ws.reconcile(["diff", "-f", "deploy/own.yaml", "-f", "deploy/x.yaml"]).exits_with(1);
    assert_eq!(names(&named), ["other", "own"], "a link that is named was chosen");
}

#[test]
fn a_directory_outside_the_repository_is_not_entered() {
    let ws = repository();
    link(&ws, "/", "deploy/all");
    is_refused(&ws, &["-f", "deploy", "-R"], &leads_out(&ws, "deploy/all", Path::new("/")));
    let flat = ws.reconcile(["diff", "-f", "deploy"]).exits_with(1);
    assert_eq!(names(&flat), ["own"], "without `-R`, subdirectories do not count");
    fs::remove_file(ws.folder().join("deploy/all")).unwrap();

    let other = ws.home().join("other");
    link(&ws, &other, "deploy/other");
    for pattern in ["deploy/*/app.yaml", "deploy/oth*"] {
        let (shown, target) = if pattern.ends_with('*') {
            ("deploy/other", other.clone())
        } else {
            ("deploy/other/app.yaml", other.join("app.yaml"))
        };
        is_refused(&ws, &["-f", pattern], &leads_out(&ws, shown, &target));
    }
    assert_eq!(names(&ws.reconcile(["diff", "-f", "deploy/other"]).exits_with(1)), ["other"]);
}

/// Its first line has a token, and a message would show it.
#[test]
fn nothing_of_a_file_outside_the_repository_is_shown() {
    let ws = repository();
    let token = ws.secret("token-of-the-runner-4711");
    let kubeconfig = format!(r#"{{"kind": "Config", "users": [{{"user": {{"token": "{token}"}}}}], "apiVersion": 1}}"#);
    fs::write(ws.home().join("config"), kubeconfig).unwrap();
    link(&ws, ws.home().join("config"), "deploy/x.json");
    is_refused(&ws, &["-f", "deploy"], &leads_out(&ws, "deploy/x.json", &ws.home().join("config")));
}

#[test]
fn links_inside_the_repository_count() {
    let ws = repository();
    link(&ws, "../base/app.yaml", "deploy/app.yaml");
    assert_eq!(names(&ws.reconcile(["diff", "-f", "deploy"]).exits_with(1)), ["app", "own"]);
    assert_eq!(names(&ws.reconcile(["diff", "-f", "deploy/a*"]).exits_with(1)), ["app"]);
    fs::remove_file(ws.folder().join("deploy/app.yaml")).unwrap();
    link(&ws, "../base", "deploy/base");
    link(&ws, "..", "deploy/up");
    assert_eq!(names(&ws.reconcile(["diff", "-f", "deploy", "-R"]).exits_with(1)), ["app", "own"]);
    assert_eq!(names(&ws.reconcile(["diff", "-f", "deploy/*/app.yaml"]).exits_with(1)), ["app"]);
}

#[test]
fn another_checkout_and_the_repository_itself_are_no_part_of_the_work_tree() {
    let ws = repository();
    ws.write("checkout/.git", "gitdir: ../.git/modules/checkout\n");
    ws.write("checkout/app.yaml", &config_map("checkout"));
    link(&ws, "../checkout/app.yaml", "deploy/x.yaml");
    is_refused(&ws, &["-f", "deploy"], &leads_out(&ws, "deploy/x.yaml", &ws.folder().join("checkout/app.yaml")));
    fs::remove_file(ws.folder().join("deploy/x.yaml")).unwrap();
    let config = ws.write(".git/config", "[http]\n\textraheader = AUTHORIZATION: basic eDp5\n");
    link(&ws, "../.git/config", "deploy/x.yaml");
    is_refused(&ws, &["-f", "deploy"], &leads_out(&ws, "deploy/x.yaml", &config));
}

#[test]
fn without_a_repository_links_stay_below_the_named_directory() {
    let ws = Workspace::new();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for (name, text) in [("d/base/app.yaml", config_map("app")), ("other.yaml", config_map("other"))] {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), text).unwrap();
    }
    symlink("base/app.yaml", root.join("d/app.yaml")).unwrap();
    let named = root.join("d").display().to_string();
    assert_eq!(names(&ws.reconcile(["diff", "-f", &named]).exits_with(1)), ["app"]);
    symlink("../other.yaml", root.join("d/x.yaml")).unwrap();
    let run = ws.reconcile(["diff", "-f", &named]).exits_with(2);
    let other = root.join("other.yaml").display().to_string();
    assert_eq!(
        messages(&run),
        [format!("{named}/x.yaml: the link leads to {other}, which is not part of the directory {named}")]
    );
    // The directory itself may be a link, as somebody chose it.
    symlink("d", root.join("named")).unwrap();
    fs::remove_file(root.join("d/x.yaml")).unwrap();
    assert_eq!(names(&ws.reconcile(["diff", "-f", &root.join("named").display().to_string()]).exits_with(1)), ["app"]);
}

/// kustomize follows links as well, and reads no file outside of the directory of the kustomization.
#[test]
fn a_kustomization_reads_no_file_outside_of_its_directory() {
    let ws = repository();
    let path = ws.plane().kubectl().parent().unwrap().display().to_string();
    ws.write("k/kustomization.yaml", "resources: [x.yaml]\n");
    link(&ws, ws.home().join("other/app.yaml"), "k/x.yaml");
    let run = ws.env("PATH", &path).reconcile(["diff", "-k", "k"]).exits_with(2);
    let message = messages(&run).remove(0);
    assert!(message.starts_with("k: `kubectl kustomize` failed: ") && message.contains("is not in or below"), "{run}");
}
