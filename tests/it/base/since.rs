//! `--since`: the same files as they are in a revision of their git repository.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::control_plane::Workspace;

fn map(name: &str, text: &str) -> String {
    format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{text: '{text}'}}}}\n")
}

/// Runs git in the folder of a workspace. Returns what it prints.
fn git(ws: &Workspace, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(ws.folder())
        .args(["-c", "user.name=shop", "-c", "user.email=shop@example.com", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(ws: &Workspace) -> String {
    git(ws, &["add", "--all", "."]);
    git(ws, &["commit", "--quiet", "--allow-empty", "-m", "next"]);
    git(ws, &["rev-parse", "HEAD"])
}

/// A repository whose branch `main` was applied, and a branch `next` on which a ConfigMap changes.
fn proposed() -> Workspace {
    let ws = Workspace::new();
    ws.write("deploy/a.yaml", &map("a", "1"));
    ws.write("deploy/b.yaml", &map("b", "1"));
    ws.write("deploy/sub/c.yaml", &map("c", "1"));
    git(&ws, &["init", "--quiet"]);
    commit(&ws);
    ws.kubectl(["create", "-R", "-f", "deploy"]).exits_with(0);
    git(&ws, &["checkout", "--quiet", "-b", "next"]);
    ws.write("deploy/a.yaml", &map("a", "2"));
    ws
}

/// Names of ConfigMaps, with the side that changed.
type Expected<'a> = &'a [(&'a str, &'a str)];

#[test]
fn a_revision_is_the_base_of_the_same_files() {
    let ws = proposed();
    let main = git(&ws, &["rev-parse", "main"]);
    ws.patch_as("kubectl-edit", "configmap/b", &json!({"data": {"text": "hand"}}));
    let (a, b, c) = (("a", "manifest"), ("b", "cluster"), ("c", ""));
    let inputs: [(&[&str], Expected<'_>); 6] = [
        (&["-f", "deploy"], &[a, b]),
        (&["-R", "-f", "deploy"], &[a, b, c]),
        (&["-f", "deploy/a.yaml", "-f", "deploy/b.yaml"], &[a, b]),
        (&["-f", "deploy/*.yaml"], &[a, b]),
        (&["-f", "dep*"], &[a, b]),
        (&["-f", "./deploy/../deploy/", "-f", "deploy/sub"], &[a, b, c]),
    ];
    for (input, objects) in inputs {
        let diff = ws.reconcile([&["diff"], input, &["--since", "main"]].concat()).exits_with(1);
        assert_eq!(diff.report()["base"], json!({"from": "main", "revision": main}), "{diff}");
        assert_eq!(diff.objects().len(), objects.len(), "{diff}");
        for (name, side) in objects {
            let object = diff.object("ConfigMap", name);
            assert_eq!(object.get("side").map_or("", |side| side.as_str().unwrap()), *side, "{input:?} {name}: {diff}");
            assert_eq!(object["base"], if *name == "a" { "differs" } else { "same" });
        }
    }
    // A tag, an abbreviated commit, and what is only in the working directory.
    git(&ws, &["tag", "v1"]);
    for name in ["v1", &main[..10], "HEAD", "main~0"] {
        let diff = ws.reconcile(["diff", "-f", "deploy", "--since", name]).exits_with(1);
        assert_eq!(diff.object("ConfigMap", "a")["side"], "manifest", "{name}: {diff}");
    }
    // What the revision does not have is new.
    ws.write("deploy/new.yaml", &map("new", "1"));
    let diff = ws.reconcile(["diff", "-f", "deploy", "--since", "main"]).exits_with(1);
    assert_eq!(
        (&diff.object("ConfigMap", "new")["base"], &diff.object("ConfigMap", "new")["side"]),
        (&json!("absent"), &json!("manifest"))
    );
    let only_new = ws.reconcile(["diff", "-f", "deploy/new.yaml", "--since", "main"]).exits_with(1);
    assert_eq!(only_new.object("ConfigMap", "new")["base"], "absent");
}

/// Files that were moved are new files.
#[test]
fn a_revision_that_has_none_of_the_files_is_told() {
    let ws = proposed();
    git(&ws, &["mv", "deploy", "moved"]);
    let warning = "warning: main has none of these files, so that every object counts as new";
    let diff = ws.reconcile(["diff", "--exit-zero", "--since", "main", "-R", "-f", "."]).exits_with(0);
    assert!(!diff.stderr.contains(warning), "{diff}");
    ws.write("over/kustomization.yaml", "resources: [d.yaml]");
    ws.write("over/d.yaml", &map("d", "1"));
    for input in [&["-f", "moved"][..], &["-f", "moved/a.yaml", "-f", "moved/b.yaml"], &["-k", "over"]] {
        let diff = ws.reconcile([&["diff", "--exit-zero", "--since", "main"], input].concat()).exits_with(0);
        assert!(diff.stderr.contains(warning) && diff.stderr.contains("`--base`"), "{diff}");
        let reported = diff.report()["warnings"].to_string();
        assert!(reported.contains("main has none of these files"), "{diff}");
    }
}

/// The content of files is fetched when git needs it, and nothing is fetched here.
#[test]
fn a_partial_clone_without_the_files_says_so() {
    let ws = proposed();
    commit(&ws);
    ws.write("deploy/a.yaml", &map("a", "9"));
    commit(&ws);
    git(&ws, &["config", "uploadpack.allowFilter", "true"]);
    let source = format!("file://{}", ws.folder().display());
    git(&ws, &["clone", "-q", "--filter=blob:none", &source, "partial"]);
    let diff = || ws.reconcile(["diff", "-f", "partial/deploy", "--since", "HEAD~1"]);
    let refused = diff().exits_with(2);
    assert!(refused.stderr.contains("this is a partial clone"), "{refused}");
    let hint = refused.stderr.split("hint: run `git ").nth(1).and_then(|text| text.split(" >").next());
    let fetch: Vec<&str> = hint.unwrap_or_default().split(' ').collect();
    let partial = ws.folder().join("partial").display().to_string();
    git(&ws, &[&["-C", &partial][..], &fetch].concat());
    diff().exits_with(1);
}

#[test]
fn auto_is_where_the_branch_began() {
    let ws = proposed();
    let refused = ws.reconcile(["diff", "-f", "deploy", "--since", "auto"]).exits_with(2);
    assert!(refused.stderr.contains("this repository has no remote"), "{refused}");
    let began = git(&ws, &["rev-parse", "main"]);
    commit(&ws);
    // The branch that it is to be merged into goes on.
    git(&ws, &["checkout", "--quiet", "main"]);
    ws.write("deploy/b.yaml", &map("b", "2"));
    let main = commit(&ws);
    git(&ws, &["checkout", "--quiet", "next"]);
    git(&ws, &["remote", "add", "origin", "https://example.com/shop.git"]);
    git(&ws, &["update-ref", "refs/remotes/origin/main", &main]);
    // Only a clone writes down the default branch. One of the usual names is it, two are none.
    git(&ws, &["update-ref", "refs/remotes/origin/master", &main]);
    let refused = ws.reconcile(["diff", "-f", "deploy", "--since", "auto"]).exits_with(2);
    assert!(refused.stderr.contains("git remote set-head origin --auto"), "{refused}");
    let base = |ws: &Workspace| {
        let diff = ws.reconcile(["diff", "-f", "deploy", "--since", "auto"]).exits_with(1);
        assert_eq!(diff.object("ConfigMap", "a")["side"], "manifest", "{diff}");
        diff.report()["base"].clone()
    };
    git(&ws, &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    assert_eq!(base(&ws), json!({"from": "auto", "revision": began}));
    git(&ws, &["symbolic-ref", "--delete", "refs/remotes/origin/HEAD"]);
    git(&ws, &["update-ref", "-d", "refs/remotes/origin/master"]);
    assert_eq!(base(&ws), json!({"from": "auto", "revision": began}));
    // The upstream of its own name is not what it is merged into, and another one is.
    git(&ws, &["update-ref", "refs/remotes/origin/next", "next"]);
    git(&ws, &["branch", "--set-upstream-to=origin/next"]);
    assert_eq!(base(&ws), json!({"from": "auto", "revision": began}));
    git(&ws, &["branch", "--set-upstream-to=origin/main"]);
    assert_eq!(base(&ws), json!({"from": "auto", "revision": began}));
}

#[test]
fn what_is_in_no_revision_is_refused_with_what_to_do() {
    let ws = proposed();
    let outside = Workspace::new();
    outside.write("deploy/a.yaml", &map("a", "1"));
    let other = outside.folder().join("deploy").to_string_lossy().into_owned();
    let refused = |arguments: &[&str], message: &str| {
        let run = ws.stdin(&map("a", "1")).reconcile([&["diff"], arguments].concat()).exits_with(2);
        assert!(run.stderr.contains(message) && run.stderr.contains("--base"), "{run}");
    };
    refused(&["-f", "-", "--since", "main"], "standard input is none");
    refused(&["-f", "https://example.com/a.yaml", "--since", "main"], "a URL is none");
    refused(&["-f", "deploy", "--since", "nowhere"], "has no revision `nowhere`");
    refused(&["-f", "deploy", "--since", "mian"], "did you mean `main`?");
    refused(&["-f", "deploy", "--since=--output=owned"], "has no revision `--output=owned`");
    refused(&["-f", "deploy", "--since=-h"], "has no revision `-h`");
    refused(&["-f", "deploy", "--since", "main:deploy"], "has no revision `main:deploy`");
    if !other.contains("/target/") {
        refused(&["-f", &other, "--since", "main"], "is in none");
    }
    for both in [["--since", "main", "--base", "deploy"], ["--since", "main", "--from", "last-applied"]] {
        ws.reconcile([&["diff", "-f", "deploy"][..], &both].concat()).exits_with(2);
    }
    ws.write(".kubectl-reconcile.yaml", "{apiVersion: kubectl-reconcile/v1, kind: Config, defaults: {since: main}}");
    let configured = ws.reconcile(["diff", "-f", "deploy"]).exits_with(2);
    assert!(configured.stderr.contains("since"), "{configured}");
}

/// A repository in which everything that git could run leaves a file behind.
#[test]
fn nothing_of_a_hostile_repository_runs() {
    let ws = proposed();
    let trap = ws.folder().join("trapped");
    let command = format!("touch {}; cat", trap.display());
    ws.write(".gitattributes", "*.yaml filter=trap diff=trap text eol=crlf ident export-ignore\n");
    for name in ["post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"] {
        let hook = ws.write(format!(".git/hooks/{name}"), &format!("#!/bin/sh\n{command}\n"));
        let executable = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        fs::set_permissions(hook, executable).unwrap();
    }
    git(&ws, &["-c", "filter.trap.clean=cat", "-c", "core.hooksPath=/dev/null", "add", "deploy"]);
    git(&ws, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-m", "attributes"]);
    let hostile = [
        ("filter.trap.smudge", command.as_str()),
        ("filter.trap.clean", &command),
        ("filter.trap.process", &command),
        ("diff.trap.textconv", &command),
        ("diff.trap.command", &command),
        ("core.fsmonitor", &command),
        ("core.pager", &command),
        ("core.sshCommand", &command),
        ("core.gitProxy", &command),
        ("core.alternateRefsCommand", &command),
        ("gpg.program", &command),
        ("remote.origin.url", &format!("ext::sh -c '{command}'")),
        ("remote.origin.promisor", "true"),
        ("extensions.partialClone", "origin"),
        ("protocol.ext.allow", "always"),
        ("alias.cat-file", &format!("!{command}")),
    ];
    for (key, value) in hostile {
        git(&ws, &["config", key, value]);
    }
    // A folder of the content that looks like a repository.
    ws.write("deploy/HEAD", "ref: refs/heads/main\n");
    ws.write(
        "deploy/config",
        &format!("[core]\n repositoryformatversion = 0\n bare = true\n fsmonitor = \"{command}\"\n"),
    );
    fs::create_dir_all(ws.folder().join("deploy/objects")).unwrap();
    fs::create_dir_all(ws.folder().join("deploy/refs")).unwrap();
    for name in ["main", "HEAD", "--upload-pack=touch trapped", "ext::sh -c touch% trapped"] {
        ws.reconcile(["diff", "-f", "deploy", "--since", name]);
        assert!(!trap.exists(), "{name}");
    }
    let diff = ws.reconcile(["diff", "-f", "deploy", "--since", "main"]).exits_with(1);
    assert_eq!(diff.object("ConfigMap", "a")["side"], "manifest", "{diff}");
    // An object that is missing is not fetched.
    let blob = git(&ws, &["rev-parse", "main:deploy/b.yaml"]);
    fs::remove_file(ws.folder().join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    let missing = ws.reconcile(["diff", "-f", "deploy", "--since", "main"]).exits_with(2);
    assert!(missing.stderr.contains("its content is not in this clone of the repository"), "{missing}");
    assert!(!trap.exists());
}

/// What a hook or a pipeline has in its environment leads to no other repository, objects or settings.
#[test]
fn the_environment_leads_to_no_other_repository() {
    let ws = proposed();
    let other = proposed();
    let theirs = other.folder();
    let place = |path: &str| theirs.join(path).to_string_lossy().into_owned();
    let trap = ws.folder().join("trapped");
    let command = format!("touch {}", trap.display());
    let variables = [
        ("GIT_DIR", place(".git")),
        ("GIT_WORK_TREE", place("")),
        ("GIT_COMMON_DIR", place(".git")),
        ("GIT_INDEX_FILE", place(".git/index")),
        ("GIT_OBJECT_DIRECTORY", place(".git/objects")),
        ("GIT_ALTERNATE_OBJECT_DIRECTORIES", place(".git/objects")),
        ("GIT_NAMESPACE", "theirs".to_owned()),
        ("GIT_REPLACE_REF_BASE", "refs/heads/".to_owned()),
        ("GIT_SHALLOW_FILE", place("deploy/a.yaml")),
        ("GIT_GRAFT_FILE", place("deploy/a.yaml")),
        ("GIT_PREFIX", "deploy/".to_owned()),
        ("GIT_EXEC_PATH", place("deploy")),
        ("GIT_CEILING_DIRECTORIES", "/".to_owned()),
        ("GIT_EXTERNAL_DIFF", command.clone()),
        ("GIT_PAGER", command.clone()),
        ("GIT_SSH_COMMAND", command.clone()),
        ("GIT_ASKPASS", command.clone()),
        ("GIT_CONFIG_COUNT", "1".to_owned()),
        ("GIT_CONFIG_KEY_0", "core.fsmonitor".to_owned()),
        ("GIT_CONFIG_VALUE_0", command.clone()),
    ];
    let expected = git(&ws, &["rev-parse", "main"]);
    let caller =
        variables.iter().fold(ws.env("LC_ALL", "de_DE.UTF-8"), |caller, (name, value)| caller.env(name, value));
    let diff = caller.reconcile(["diff", "-f", "deploy", "--since", "main"]).exits_with(1);
    assert_eq!(diff.report()["base"], json!({"from": "main", "revision": expected}), "{diff}");
    assert_eq!(diff.object("ConfigMap", "a")["side"], "manifest", "{diff}");
    assert!(!trap.exists());
}

/// Objects may be in another repository (`git clone --shared`), and a replacement of a commit is not believed.
#[test]
fn objects_are_those_that_the_revision_names() {
    let ws = proposed();
    let shared = Workspace::new();
    let from = ws.folder().to_string_lossy().into_owned();
    git(&shared, &["clone", "--quiet", "--shared", "--no-checkout", &from, "clone"]);
    shared.write("clone/deploy/b.yaml", &map("b", "2"));
    shared.kubectl(["create", "-R", "-f", &format!("{from}/deploy/b.yaml")]).exits_with(0);
    let diff = shared.reconcile(["diff", "-f", "clone/deploy", "--since", "origin/main"]).exits_with(1);
    assert_eq!(diff.object("ConfigMap", "b")["side"], "manifest", "{diff}");

    ws.write("deploy/b.yaml", &map("b", "forged"));
    let forged = commit(&ws);
    git(&ws, &["replace", "main", &forged]);
    ws.write("deploy/b.yaml", &map("b", "1"));
    ws.patch_as("kubectl-edit", "configmap/b", &json!({"data": {"text": "forged"}}));
    let diff = ws.reconcile(["diff", "-f", "deploy", "--since", "main"]).exits_with(1);
    assert_eq!(diff.object("ConfigMap", "b")["side"], "cluster", "{diff}");
}

#[test]
fn a_submodule_is_refused_where_its_files_are_read() {
    let ws = proposed();
    let inner = git(&ws, &["rev-parse", "HEAD"]);
    git(&ws, &["update-index", "--add", "--cacheinfo", &format!("160000,{inner},deploy/vendor")]);
    git(&ws, &["commit", "--quiet", "-m", "submodule"]);
    // It is not checked out, or its files are not read.
    ws.reconcile(["diff", "-R", "-f", "deploy", "--since", "HEAD"]).exits_with(1);
    ws.write("deploy/vendor/d.yaml", &map("d", "1"));
    ws.reconcile(["diff", "-f", "deploy", "--since", "HEAD"]).exits_with(1);
    for input in [&["-R", "-f", "deploy"][..], &["-f", "deploy/vendor"]] {
        let refused = ws.reconcile([&["diff"], input, &["--since", "HEAD"]].concat()).exits_with(2);
        assert!(refused.stderr.contains("HEAD:deploy/vendor: is a submodule"), "{refused}");
        assert!(refused.stderr.contains("`--base`"), "{refused}");
    }
}

/// Git trusts a repository of somebody else only if the settings of this user or of the system say so.
#[cfg(unix)]
#[test]
fn a_repository_of_somebody_else_is_refused_unless_the_user_trusts_it() {
    let ws = proposed();
    let folder = ws.folder();
    if std::os::unix::fs::chown(&folder, Some(54_321), Some(54_321)).is_err() {
        return; // Only root gives files away.
    }
    let diff = ["diff", "-f", "deploy", "--since", "main"];
    let refused = ws.reconcile(diff).exits_with(2);
    assert!(refused.stderr.contains("git does not trust the repository"), "{refused}");
    assert!(refused.stderr.contains("git config --global --add safe.directory"), "{refused}");
    let trusting = ws.home().join("trusting");
    fs::write(&trusting, format!("[safe]\n directory = {}\n", folder.canonicalize().unwrap().display())).unwrap();
    for variable in ["GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"] {
        ws.env(variable, &trusting.to_string_lossy()).reconcile(diff).exits_with(1);
    }
    let pipeline =
        ws.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "safe.directory").env("GIT_CONFIG_VALUE_0", "*");
    pipeline.reconcile(diff).exits_with(1);
}

/// A tree may be written with names that no checkout makes.
#[test]
fn names_that_lead_out_of_a_copy_are_refused() {
    let ws = Workspace::new();
    ws.write("k/kustomization.yaml", "resources: [a.yaml]\n");
    ws.write("k/a.yaml", &map("a", "1"));
    git(&ws, &["init", "--quiet"]);
    commit(&ws);
    let list = git(&ws, &["ls-tree", "HEAD"]);
    let blob = git(&ws, &["rev-parse", "HEAD:k/a.yaml"]);
    let folder = ws.plane().kubectl().parent().unwrap().to_string_lossy().into_owned();
    for name in ["..", ".git", ".GIT", "a\\b"] {
        let inner = tree(&ws, &format!("100644 blob {blob}\tout.yaml"));
        let whole = tree(&ws, &format!("{list}\n040000 tree {inner}\t{name}"));
        let forged = git(&ws, &["commit-tree", "-m", "forged", &whole]);
        let caller = ws.env("PATH", &format!("{folder}:/usr/bin:/bin"));
        let refused = caller.reconcile(["diff", "-k", "k", "--since", &forged]).exits_with(2);
        assert!(refused.stderr.contains("impossible name"), "{name}: {refused}");
        assert!(!ws.folder().join("../out.yaml").exists());
    }
}

/// Writes a tree with the lines of `git ls-tree`.
fn tree(ws: &Workspace, lines: &str) -> String {
    use std::io::Write as _;
    use std::process::Stdio;
    let mut command = Command::new("git");
    command.arg("-C").arg(ws.folder()).arg("mktree").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{lines}\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[cfg(unix)]
#[test]
fn links_of_a_revision_stay_in_it() {
    use std::os::unix::fs::symlink;
    let ws = proposed();
    let secret = ws.secret("outside-4711");
    ws.write("../outside.yaml", &map("outside", &secret));
    ws.write("shared/d.yaml", &map("d", "1"));
    symlink("../shared/d.yaml", ws.folder().join("deploy/d.yaml")).unwrap();
    git(&ws, &["checkout", "--quiet", "main"]);
    commit(&ws);
    ws.kubectl(["create", "-f", "shared/d.yaml"]).exits_with(0);
    ws.write("shared/d.yaml", &map("d", "2"));
    let diff = ws.reconcile(["diff", "-f", "deploy", "--since", "HEAD"]).exits_with(1);
    assert_eq!(diff.object("ConfigMap", "d")["side"], "manifest", "{diff}");
    for (name, target) in [("out", "../../outside.yaml"), ("absolute", "/etc/passwd"), ("round", "round.yaml")] {
        symlink(target, ws.folder().join(format!("deploy/{name}.yaml"))).unwrap();
    }
    commit(&ws);
    for name in ["out", "absolute", "round"] {
        fs::remove_file(ws.folder().join(format!("deploy/{name}.yaml"))).unwrap();
    }
    let refused = ws.reconcile(["diff", "-f", "deploy", "--since", "HEAD"]).exits_with(2);
    assert!(
        refused.stderr.contains("HEAD:deploy/out.yaml: cannot be read: a link leads out of the repository"),
        "{refused}"
    );
    assert!(refused.stderr.contains("HEAD:deploy/absolute.yaml") && !refused.stderr.contains("root:"), "{refused}");
}

/// Folders of this program for temporary files.
fn temporary(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_kustomization_is_built_from_a_private_copy_that_is_removed() {
    let ws = Workspace::new();
    ws.write("base/kustomization.yaml", "resources: [a.yaml]\n");
    ws.write("base/a.yaml", &map("a", "1"));
    ws.write("overlays/prod/kustomization.yaml", "resources: [../../base]\nlabels: [{pairs: {env: prod}}]\n");
    git(&ws, &["init", "--quiet"]);
    commit(&ws);
    let folder = ws.plane().kubectl().parent().unwrap().to_string_lossy().into_owned();
    let temp = ws.folder().join("temp");
    fs::create_dir(&temp).unwrap();
    let caller = || ws.env("PATH", &format!("{folder}:/usr/bin:/bin")).env("TMPDIR", &temp.to_string_lossy());
    let built = caller().kubectl(["kustomize", "overlays/prod"]).exits_with(0).stdout;
    ws.stdin(&built).kubectl(["create", "-f", "-"]).exits_with(0);
    ws.write("base/a.yaml", &map("a", "2"));
    let diff = caller().reconcile(["diff", "-k", "overlays/prod", "--since", "HEAD"]).exits_with(1);
    let object = diff.object("ConfigMap", "a");
    assert_eq!((&object["base"], &object["side"]), (&json!("differs"), &json!("manifest")), "{diff}");
    assert_eq!(object["changes"].as_array().unwrap().len(), 1, "{diff}");
    assert_eq!(temporary(&temp), 0);
    // A new overlay is new as a whole.
    ws.write("overlays/test/kustomization.yaml", "resources: [../../base]\nnamePrefix: test-\n");
    let new = caller().reconcile(["diff", "-k", "overlays/test", "--since", "HEAD"]).exits_with(1);
    assert_eq!(new.object("ConfigMap", "test-a")["base"], "absent", "{new}");
    // What kustomize says of the copy names the revision.
    ws.write("base/kustomization.yaml", "resources: [gone.yaml]\n");
    commit(&ws);
    ws.write("base/kustomization.yaml", "resources: [a.yaml]\n");
    let broken = caller().reconcile(["diff", "-k", "overlays/prod", "--since", "HEAD"]).exits_with(2);
    assert!(broken.stderr.contains("HEAD:overlays/prod") && broken.stderr.contains("gone.yaml"), "{broken}");
    assert!(!broken.stderr.contains("kubectl-reconcile-"), "{broken}");
    assert_eq!(temporary(&temp), 0);
}

/// Killed while kustomize reads the copy, the program leaves nothing behind.
#[cfg(unix)]
#[test]
fn a_copy_is_removed_also_when_the_program_is_killed() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::time::{Duration, Instant};
    let ws = Workspace::new();
    ws.write("k/kustomization.yaml", "resources: [a.yaml]\n");
    ws.write("k/a.yaml", &map("a", "1"));
    git(&ws, &["init", "--quiet"]);
    commit(&ws);
    let (temp, programs) = (ws.folder().join("temp"), ws.folder().join("programs"));
    fs::create_dir(&temp).unwrap();
    let waiting = ws.folder().join("waiting");
    let script =
        format!("#!/bin/sh\n[ -e {0} ] || {{ touch {0}; exit 1; }}\ntouch {0}.copy; sleep 5\n", waiting.display());
    let program = ws.write("programs/kustomize", &script);
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    // The first build is that of the base.
    fs::write(&waiting, "").unwrap();
    let path = format!("{}:/usr/bin:/bin", programs.display());
    for signal in ["KILL", "TERM"] {
        let _ = fs::remove_file(waiting.with_extension("copy"));
        let caller = ws.env("PATH", &path).env("TMPDIR", &temp.to_string_lossy());
        let mut run = caller.start_reconcile(["diff", "-k", "k", "--since", "HEAD"]);
        let begun = Instant::now();
        while !waiting.with_extension("copy").exists() {
            assert!(begun.elapsed() < Duration::from_secs(30), "kustomize was not run");
            std::thread::sleep(Duration::from_millis(20));
        }
        let copy = fs::read_dir(&temp).unwrap().next().expect("a copy").unwrap();
        assert_eq!(copy.metadata().unwrap().mode() & 0o777, 0o700);
        if signal == "KILL" {
            run.kill();
        } else {
            run.terminate();
        }
        let begun = Instant::now();
        while temporary(&temp) > 0 {
            assert!(begun.elapsed() < Duration::from_secs(10), "the copy stays after SIG{signal}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
