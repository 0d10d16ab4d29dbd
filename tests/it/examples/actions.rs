//! The action for GitHub: its scripts as its steps run them, with a release that a local server has and an API that plays GitHub.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::ci::{Pipeline, yaml};
use super::github::GitHub;
use super::pod::Ended;
use super::{example, project};
use crate::control_plane::Workspace;
use crate::packaging::{Release, VERSION};

const TOKEN: &str = "token-of-the-job";

/// The first line of the comment about `deploy`.
const MARK: &str = "<!-- kubectl-reconcile ";

impl Pipeline<'_> {
    /// Runs the script of a step of the action.
    fn action(&self, script: &str, variables: &[(&str, &str)]) -> Ended {
        let script = project("packaging/github-action").join(script).display().to_string();
        self.step(&["bash", &script], variables)
    }

    /// Runs a script that talks to GitHub, which never fails the job.
    fn tell(&self, github: &GitHub, script: &str, variables: &[(&str, &str)]) -> Ended {
        let url = github.url();
        let ended = self.action(script, &[&[("GITHUB_API_URL", url.as_str()), ("TOKEN", TOKEN)], variables].concat());
        assert_eq!(ended.code, 0, "{script}: {ended:?}");
        assert!(!format!("{ended:?}").contains(TOKEN), "{script}: {ended:?}");
        ended
    }

    fn comment(&self, github: &GitHub) -> Ended {
        self.tell(github, "comment.sh", &[("PULL_REQUEST", "12")])
    }

    /// Runs the program as the action does, and returns the exit code that the step puts out.
    fn run(&self, ws: &Workspace, command: &str, flags: &str) -> String {
        let _ = fs::remove_file(ws.home().join("output"));
        let ended = self.action("run.sh", &[("COMMAND", command), ("MORE_FLAGS", flags)]);
        assert_eq!(ended.code, 0, "{ended:?}");
        self.file("output").trim().strip_prefix("exit-code=").unwrap().to_owned()
    }

    /// The output of the step that looks at the event.
    fn origin(&self, ws: &Workspace, event: &Value) -> String {
        let _ = fs::remove_file(ws.home().join("output"));
        let path = ws.write("event.json", &event.to_string()).display().to_string();
        let ended = self.action("origin.sh", &[("GITHUB_EVENT_PATH", &path)]);
        assert_eq!(ended.code, 0, "{ended:?}");
        self.file("output").trim().to_owned()
    }
}

#[test]
fn a_report_is_one_comment_that_is_updated() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    assert_eq!(pipeline.run(&ws, "diff", "--evidence=read-only --no-config"), "1");
    assert!(pipeline.file("summary").contains("ConfigMap"), "{}", pipeline.file("summary"));
    // Ours is on the second page, and a person has copied its mark.
    let first = GitHub::with_comments(Vec::new());
    pipeline.comment(&first);
    let ours = first.comments().remove(0);
    assert!(ours.starts_with(MARK) && ours.contains("ConfigMap"), "{ours}");
    let person = ("User", ours.clone());
    let others = std::iter::repeat_n(("User", "thanks".to_owned()), 120);
    let github = GitHub::with_comments(std::iter::once(person).chain(others).collect());
    pipeline.comment(&github);
    assert_eq!(github.comments().len(), 122);

    ws.write("deploy/b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: second}, data: {a: b}}\n");
    assert_eq!(pipeline.run(&ws, "diff", ""), "1");
    pipeline.comment(&github);
    let comments = github.comments();
    assert!(comments.len() == 122 && comments[121].contains("second"), "{comments:?}");
    assert_eq!(comments[0], ours, "the comment of a person is not replaced");
    let is_patch = |request: &String| request == "PATCH /repos/example/shop/issues/comments/121";
    assert_eq!(github.requests().iter().filter(|request| is_patch(request)).count(), 1);

    // The same manifests compared with another cluster have a comment of their own.
    pipeline.tell(&github, "comment.sh", &[("PULL_REQUEST", "12"), ("NAME", "staging")]);
    assert_eq!(github.comments().len(), 123);
    let again = pipeline.file("kubectl-reconcile/comment.md");
    assert!(again.starts_with(MARK) && again.lines().next() != comments[121].lines().next(), "{again}");
}

#[test]
fn flags_may_be_on_several_lines() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    // A proposed configuration that is read ends the run with 2.
    ws.write("deploy/.kubectl-reconcile.yaml", "ignore: [");
    for flags in [
        "--evidence=read-only\n--no-config",
        "--evidence=read-only\n--no-config\n",
        "\n  --no-config",
        "--no-config\r\n".trim(),
    ] {
        assert_eq!(pipeline.run(&ws, "diff", flags), "1", "{flags:?}");
    }
    assert_eq!(pipeline.run(&ws, "diff", ""), "2");
}

/// A step that ends without a report says nothing, and not what an earlier step said.
#[test]
fn the_report_of_an_earlier_step_is_not_shown_again() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    assert_eq!(pipeline.run(&ws, "diff", ""), "1");
    fs::remove_file(ws.home().join("summary")).unwrap();
    assert_eq!(pipeline.run(&ws, "diff", "--no-such-flag"), "2");
    assert_eq!(pipeline.file("summary"), "");
    let github = GitHub::with_comments(Vec::new());
    pipeline.comment(&github);
    pipeline.tell(&github, "issue.sh", &[("EXIT_CODE", "1")]);
    pipeline.tell(&github, "sarif.sh", &[]);
    assert_eq!((github.comments().len(), github.issue(), github.uploads().len()), (0, None, 0));
}

#[test]
fn an_issue_is_open_while_there_is_drift() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    let github = GitHub::with_comments(Vec::new());
    let issue = |code: &str| pipeline.tell(&github, "issue.sh", &[("EXIT_CODE", code)]);
    assert_eq!(pipeline.run(&ws, "diff", ""), "1");
    issue("1");
    assert_eq!(github.issue().unwrap().0, "Drift in deploy");
    ws.write("deploy/b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: second}, data: {a: b}}\n");
    assert_eq!(pipeline.run(&ws, "diff", ""), "1");
    issue("1");
    assert!(github.issue().unwrap().1.contains("second"));
    assert_eq!(pipeline.run(&ws, "apply", "--wait --timeout=10s"), "0");
    assert_eq!(pipeline.run(&ws, "diff", ""), "0");
    issue("0");
    assert_eq!(github.issue(), None);
    let before = github.requests().len();
    issue("0");
    assert_eq!(github.requests().len(), before + 1, "an issue that is closed stays as it is");
    ws.write("deploy/c.yaml", "a: [");
    assert_eq!(pipeline.run(&ws, "diff", ""), "2");
    issue("2");
    assert_eq!((github.issue(), github.requests().len()), (None, before + 1), "an error is no drift");
}

/// GitHub takes 65,536 characters.
#[test]
fn a_large_report_fits_into_a_comment() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    let lines = format!("    {}\n", "ü".repeat(26)).repeat(90);
    for number in 0..60 {
        let manifest =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m-{number}}}\ndata:\n  text: |\n{lines}");
        ws.write(format!("deploy/m-{number}.yaml"), &manifest);
    }
    assert_eq!(pipeline.run(&ws, "diff", "--full"), "1");
    let whole = pipeline.file("kubectl-reconcile/report.json");
    assert!(whole.len() > 200_000, "{}", whole.len());
    let github = GitHub::with_comments(Vec::new());
    let ended = pipeline.comment(&github);
    assert!(!ended.stdout.contains("::warning"), "{ended:?}");
    let comment = github.comments().remove(0);
    let length = comment.chars().count();
    assert!(length > 60_000 && comment.starts_with(MARK), "{length}: {ended:?}");
    assert_eq!(comment.matches("<details").count(), comment.matches("</details>").count());
    pipeline.tell(&github, "issue.sh", &[("EXIT_CODE", "1")]);
    assert!(github.issue().is_some());
}

#[test]
fn differences_are_uploaded_to_code_scanning() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    assert_eq!(pipeline.run(&ws, "diff", ""), "1");
    let github = GitHub::with_comments(Vec::new());
    pipeline.tell(&github, "sarif.sh", &[]);
    let upload = github.uploads().remove(0);
    assert_eq!([&upload["commit_sha"], &upload["ref"]], ["c0ffee", "refs/pull/12/merge"]);
    let unpacked = format!("printf %s '{}' | base64 -d | gunzip", upload["sarif"].as_str().unwrap());
    let sarif = Command::new("sh").args(["-c", &unpacked]).output().unwrap();
    assert_eq!(String::from_utf8(sarif.stdout).unwrap(), pipeline.file("kubectl-reconcile/report.sarif"));
}

/// The job has the result of the comparison, whatever GitHub says.
#[test]
fn a_permission_that_is_missing_is_named_and_fails_nothing() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    assert_eq!(pipeline.run(&ws, "diff", ""), "1");
    let github = GitHub::with_comments(Vec::new());
    github.forbid();
    for (script, permission) in
        [("comment.sh", "pull-requests: write"), ("issue.sh", "issues: write"), ("sarif.sh", "security-events: write")]
    {
        let ended = pipeline.tell(&github, script, &[("PULL_REQUEST", "12"), ("EXIT_CODE", "1")]);
        assert!(ended.stdout.contains("::warning::") && ended.stdout.contains(permission), "{script}: {ended:?}");
    }
    let url = github.url();
    drop(github);
    let gone =
        pipeline.action("comment.sh", &[("GITHUB_API_URL", url.as_str()), ("TOKEN", TOKEN), ("PULL_REQUEST", "12")]);
    assert!(gone.code == 0 && gone.stdout.contains("::warning::"), "{gone:?}");
}

/// GitHub gives secrets to some events of forks; the event says where a commit is from.
#[test]
fn a_pull_request_from_a_fork_gets_no_credentials() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    let from = |repository: Value| json!({"pull_request": {"number": 12, "head": {"repo": repository}}});
    for event in [
        from(json!({"full_name": "somebody/shop"})),
        from(json!({"full_name": "example/shop\nexample/shop2"})),
        from(Value::Null),
        json!({"workflow_run": {"head_repository": {"full_name": "somebody/shop"}}}),
        json!({"issue": {"number": 12, "pull_request": {"url": "x"}}, "comment": {}}),
    ] {
        assert_eq!(pipeline.origin(&ws, &event), "trusted=false", "{event}");
    }
    assert!(pipeline.file("summary").contains("from a fork"));
    for event in [
        from(json!({"full_name": "example/shop"})),
        json!({"ref": "refs/heads/main"}),
        json!({"schedule": "17 3 * * *"}),
        json!({"workflow_run": {"head_repository": {"full_name": "example/shop"}}}),
        json!({"issue": {"number": 12}, "comment": {}}),
    ] {
        assert_eq!(pipeline.origin(&ws, &event), "trusted=true", "{event}");
    }
    // Nothing but this step runs then, and this step has no secret.
    let action = yaml(&project("action.yml"));
    let steps = action["runs"]["steps"].as_array().unwrap();
    assert_eq!(steps[0]["id"], "origin");
    assert_eq!(steps[0].get("env"), None);
    for step in &steps[1..] {
        let condition = step["if"].as_str().unwrap_or_default();
        assert!(condition.starts_with("${{ steps.origin.outputs.trusted == 'true'"), "{step}");
        assert!(!condition.contains("||"), "{step}");
    }
}

#[test]
fn a_kubeconfig_of_a_secret_is_a_file_as_long_as_the_program_runs() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    let content = fs::read_to_string(ws.as_user("admin").kubeconfig()).unwrap();
    let script = project("packaging/github-action/run.sh").display().to_string();
    let variables = [("COMMAND", "diff"), ("KUBECONFIG_CONTENT", content.as_str()), ("KUBECONFIG", "/nowhere")];
    let ended = pipeline.step(&["bash", &script], &variables);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(pipeline.file("output").contains("exit-code=1"), "{ended:?}");
    assert!(!ws.home().join("kubectl-reconcile/kubeconfig").exists());
}

/// A release is installed if its archive has the checksum of the workflow, or of its own `SHA256SUMS`.
#[test]
fn a_released_version_is_installed_by_its_checksum() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    let release = Release::new();
    let setup = |checksums: &str| {
        let _ = fs::remove_dir_all(ws.home().join("kubectl-reconcile"));
        let _ = fs::remove_file(ws.home().join("path"));
        let variables = [("VERSION", VERSION), ("RELEASES", release.url.as_str()), ("CHECKSUMS", checksums)];
        pipeline.action("setup.sh", &variables)
    };
    let program = ws.home().join("kubectl-reconcile/bin/kubectl-reconcile");
    for checksums in ["", &release.checksum_line()] {
        let ended = setup(checksums);
        assert!(ended.code == 0 && program.exists(), "{ended:?}");
        assert_eq!(pipeline.file("path").trim(), program.parent().unwrap().to_str().unwrap());
    }
    let line = release.checksum_line();
    for (checksums, message) in [
        (format!("{}{}", "0".repeat(64), &line[64..]), "is not what was released"),
        (line.replace(VERSION, "9.9.9"), "has no checksum"),
    ] {
        let ended = setup(&checksums);
        assert!(ended.code == 1 && ended.stderr.contains(message) && !program.exists(), "{ended:?}");
        assert_eq!(pipeline.file("path"), "");
    }
    let without = [("VERSION", ""), ("RELEASES", ""), ("CHECKSUMS", "")];
    assert_eq!(pipeline.action("setup.sh", &without).code, 0, "the program is on PATH");
    let missing = [&without[..], &[("PATH", "/usr/bin:/bin")]].concat();
    let ended = pipeline.action("setup.sh", &missing);
    assert!(ended.code == 1 && ended.stdout.contains("::error::"), "{ended:?}");
    let ended = pipeline.action("setup.sh", &[("VERSION", VERSION), ("RELEASES", ""), ("CHECKSUMS", "")]);
    assert!(ended.code == 1 && ended.stdout.contains("::error::"), "{ended:?}");
}

/// The inputs that the workflows set are those of the action, and no step contains what somebody else may write.
#[test]
fn the_workflows_fit_the_action() {
    let action = yaml(&project("action.yml"));
    let inputs = action["inputs"].as_object().unwrap();
    for name in ["pull-request", "apply", "nightly"] {
        let workflow = yaml(&example(&format!("github-actions/workflows/{name}.yml")));
        let jobs = workflow["jobs"].as_object().unwrap();
        let steps: Vec<&Value> = jobs.values().flat_map(|job| job["steps"].as_array().unwrap()).collect();
        let ours: Vec<&&Value> = steps.iter().filter(|step| step["uses"] == "OWNER/NAME@v0.1.0").collect();
        assert_eq!(ours.len(), 1, "{name}");
        let with = ours[0]["with"].as_object().unwrap();
        assert!(with.keys().all(|input| inputs.contains_key(input)), "{name}: {with:?}");
        assert!(["version", "releases", "checksums"].iter().all(|input| with.contains_key(*input)), "{name}");
        assert!(workflow["permissions"].is_object(), "{name}");
        let flags = with.get("flags").and_then(Value::as_str).unwrap_or_default();
        for flag in ["--no-config", "--since=origin/${{ github.base_ref }}"] {
            assert_eq!(flags.contains(flag), name == "pull-request", "{name}: {flags}");
        }
        assert_eq!(flags.contains("--fail-on=cluster,either"), name == "nightly", "{name}: {flags}");
        for step in steps.iter().chain(&action["runs"]["steps"].as_array().unwrap().iter().collect::<Vec<_>>()) {
            assert!(!step["run"].as_str().unwrap_or_default().contains("${{"), "{name}: {step}");
        }
    }
}

/// Where there is a `shellcheck`, it finds nothing.
#[test]
fn scripts_are_clean() {
    let scripts = fs::read_dir(project("packaging/github-action")).unwrap().map(|entry| entry.unwrap().path());
    let scripts: Vec<_> = scripts.filter(|path| path.extension().is_some_and(|extension| extension == "sh")).collect();
    assert_eq!(scripts.len(), 7, "{scripts:?}");
    for path in scripts {
        let syntax = Command::new("bash").arg("-n").arg(&path).output().unwrap();
        assert!(syntax.status.success(), "{syntax:?}");
        if let Ok(found) = Command::new("shellcheck").arg("-x").arg(&path).output() {
            assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stdout));
        }
    }
}
