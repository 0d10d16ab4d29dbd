//! The recipes for pipelines: their steps are taken from the files and run, with a `gh` that keeps comments and issues in files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::example;
use super::pod::Ended;
use crate::control_plane::{Workspace, program};

/// A program that behaves like `gh` for one comment and one issue.
const GH: &str = r#"#!/usr/bin/env bash
set -euo pipefail
echo "$*" >>"$STORE/calls"
value() { # NAME ARGUMENTS…: the argument behind a flag
  local name=$1; shift
  while [[ $# -gt 0 ]]; do if [[ $1 == "$name" ]]; then echo "$2"; return; fi; shift; done
}
case "$1 ${2:-}" in
  "api --paginate") if [[ -f "$STORE/comment" ]]; then jq -rn --rawfile body "$STORE/comment" '[{id: 7, user: {type: "Bot"}, body: $body}, {id: 8, user: {type: "User"}, body: $body}]' | jq -r "$(value --jq "$@")"; fi ;;
  "api --method") field=$(value --field "$@"); cp "${field#body=@}" "$STORE/comment" ;;
  "issue list") if [[ -f "$STORE/issue" ]]; then jq -n --arg title "$(head -n 1 "$STORE/issue")" '[{number: 9, title: "other"}, {number: 3, title: $title}]' | jq -r "$(value --jq "$@")"; fi ;;
  "issue create") { value --title "$@"; cat "$(value --body-file "$@")"; } >"$STORE/issue" ;;
  "issue edit") [[ $3 == 3 ]]; { head -n 1 "$STORE/issue"; cat "$(value --body-file "$@")"; } >"$STORE/edited"; mv "$STORE/edited" "$STORE/issue" ;;
  "issue close") [[ $3 == 3 ]]; rm "$STORE/issue" ;;
  *) exit 64 ;;
esac
"#;

/// A workspace with manifests, and a folder with `gh`.
struct Pipeline<'w> {
    ws: &'w Workspace,
    bin: PathBuf,
}

impl<'w> Pipeline<'w> {
    fn new(ws: &'w Workspace) -> Self {
        let bin = ws.home().join("bin");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("gh"), GH).unwrap();
        fs::set_permissions(bin.join("gh"), fs::Permissions::from_mode(0o755)).unwrap();
        ws.write("deploy/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}}\n");
        Self { ws, bin }
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.ws.home().join(name)).unwrap_or_default()
    }

    /// Runs a step in the folder of the manifests.
    fn step(&self, words: &[&str], variables: &[(&str, &str)]) -> Ended {
        let path = |name: &str| self.ws.home().join(name).display().to_string();
        let programs = program("kubectl-reconcile").parent().unwrap().display().to_string();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.ws.folder()).env_clear();
        command.env("PATH", format!("{}:{programs}:{}", self.bin.display(), std::env::var("PATH").unwrap_or_default()));
        command.env("HOME", self.ws.home()).env("KUBECONFIG", self.ws.as_user("admin").kubeconfig());
        command.env("LC_ALL", "C.UTF-8").env("STORE", self.ws.home()).env("RUNNER_TEMP", self.ws.home());
        command.env("GITHUB_STEP_SUMMARY", path("summary")).env("GITHUB_OUTPUT", path("output"));
        command.env("GITHUB_REPOSITORY", "example/shop").env("MANIFESTS", "deploy").env("MORE_FLAGS", "");
        command.envs(variables.iter().copied());
        command.output().unwrap_or_else(|error| panic!("{words:?}: {error}")).into()
    }

    /// Runs the script of a step of the action, and returns the exit code that it puts out.
    fn action(&self, script: &str, variables: &[(&str, &str)]) -> Ended {
        let script = example("github-actions").join(script).display().to_string();
        let ended = self.step(&["bash", &script], variables);
        assert_eq!(ended.code, 0, "{ended:?}");
        ended
    }
}

fn yaml(path: &Path) -> Value {
    let stream = kube_yaml::read(&fs::read(path).unwrap(), kube_yaml::Validation::Strict);
    assert!(stream.diagnostics.is_empty(), "{}: {:?}", path.display(), stream.diagnostics);
    stream.documents.into_iter().next().unwrap().value
}

#[test]
fn the_action_comments_on_pull_requests_and_keeps_an_issue() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    let run = |command: &str, flags: &str| {
        let _ = fs::remove_file(ws.home().join("output"));
        pipeline.action("run.sh", &[("COMMAND", command), ("MORE_FLAGS", flags)]);
        pipeline.file("output").trim().strip_prefix("exit-code=").unwrap().to_owned()
    };
    let pull_request = [("PULL_REQUEST", "12")];
    assert_eq!(run("diff", "--evidence=read-only --no-config"), "1");
    assert!(pipeline.file("summary").contains("ConfigMap"), "{}", pipeline.file("summary"));
    pipeline.action("comment.sh", &pull_request);
    let first = pipeline.file("comment");
    assert!(first.starts_with("<!-- kubectl-reconcile ") && first.contains("ConfigMap"), "{first}");
    pipeline.action("issue.sh", &[("EXIT_CODE", "1")]);
    assert!(pipeline.file("issue").starts_with("Drift in deploy\n"));

    // The same comment and the same issue, with another report.
    ws.write("deploy/b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: second}, data: {a: b}}\n");
    assert_eq!(run("diff", ""), "1");
    pipeline.action("comment.sh", &pull_request);
    pipeline.action("issue.sh", &[("EXIT_CODE", "1")]);
    assert!(pipeline.file("comment").contains("second") && pipeline.file("issue").contains("second"));
    let calls = pipeline.file("calls");
    assert!(calls.contains("api --method PATCH repos/example/shop/issues/comments/7 "), "{calls}");
    assert_eq!((calls.matches("--method POST").count(), calls.matches("issue create").count()), (1, 1), "{calls}");

    assert_eq!(run("apply", "--wait --timeout=10s"), "0");
    assert_eq!(run("diff", ""), "0");
    pipeline.action("issue.sh", &[("EXIT_CODE", "0")]);
    pipeline.action("issue.sh", &[("EXIT_CODE", "0")]);
    assert_eq!(pipeline.file("calls").matches("issue close 3").count(), 1);
    ws.write("deploy/c.yaml", "a: [");
    assert_eq!(run("diff", ""), "2");
}

/// The inputs that the workflows set are those of the action, and no step contains what somebody else may write.
#[test]
fn the_workflows_fit_the_action() {
    let action = yaml(&example("github-actions/action.yml"));
    let inputs = action["inputs"].as_object().unwrap();
    for name in ["pull-request", "apply", "nightly"] {
        let workflow = yaml(&example(&format!("github-actions/workflows/{name}.yml")));
        let jobs = workflow["jobs"].as_object().unwrap();
        let steps: Vec<&Value> = jobs.values().flat_map(|job| job["steps"].as_array().unwrap()).collect();
        let ours: Vec<&&Value> = steps.iter().filter(|step| step["uses"] == "./examples/github-actions").collect();
        assert_eq!(ours.len(), 1, "{name}");
        for input in ours[0]["with"].as_object().unwrap().keys() {
            assert!(inputs.contains_key(input), "{name}: {input}");
        }
        assert!(workflow["permissions"].is_object(), "{name}");
        let flags = ours[0]["with"]["flags"].as_str().unwrap_or_default();
        assert_eq!(flags.contains("--no-config"), name == "pull-request", "{name}: {flags}");
        for step in steps.iter().chain(&action["runs"]["steps"].as_array().unwrap().iter().collect::<Vec<_>>()) {
            assert!(!step["run"].as_str().unwrap_or_default().contains("${{"), "{name}: {step}");
        }
    }
}

#[test]
fn the_steps_of_other_pipelines_run_as_they_are_written() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    let shell = |line: &str| pipeline.step(&["bash", "-c", line], &[]);
    let gitlab = yaml(&example("gitlab/.gitlab-ci.yml"));
    let script = |job: &str| gitlab[job]["script"][0].as_str().unwrap().to_owned();
    let jenkins = fs::read_to_string(example("jenkins/Jenkinsfile")).unwrap();
    let jenkins = jenkins.split("script: '").nth(1).unwrap().split('\'').next().unwrap().to_owned();
    let hook = yaml(&example("pre-commit/.pre-commit-config.yaml"));
    let hook = hook["repos"][0]["hooks"][0]["entry"].as_str().unwrap().to_owned();
    let workflow = yaml(&example("argo-workflows/workflow.yaml"));
    let step = |name: &str| {
        let templates = workflow["spec"]["templates"].as_array().unwrap();
        let container = &templates.iter().find(|template| template["name"] == name).unwrap()["container"];
        let words = ["command", "args"].iter().flat_map(|part| container[*part].as_array().unwrap());
        words
            .map(|word| word.as_str().unwrap())
            .collect::<Vec<_>>()
            .join(" ")
            .replace("--filename=manifests", "--filename=deploy")
    };
    let compare = [script("compare"), jenkins, step("diff")];
    for line in &compare {
        let ended = shell(line);
        assert_eq!(ended.code, 1, "{line}: {ended:?}");
    }
    let quality: Value =
        serde_json::from_str(&fs::read_to_string(ws.folder().join("gl-code-quality-report.json")).unwrap()).unwrap();
    assert!(quality.to_string().contains("deploy/a.yaml"), "{quality}");
    assert!(fs::read_to_string(ws.folder().join("drift.xml")).unwrap().contains("<testsuite"));
    for line in [step("apply"), script("apply")] {
        let ended = shell(&line);
        assert_eq!(ended.code, 0, "{line}: {ended:?}");
    }
    for line in &compare {
        assert_eq!(shell(line).code, 0, "{line}");
    }
    // A proposed configuration is not even read.
    ws.write("deploy/.kubectl-reconcile.yaml", "ignore: [");
    for (line, variable) in [(script("compare"), "CI_MERGE_REQUEST_IID"), (compare[1].clone(), "CHANGE_ID")] {
        let proposed = pipeline.step(&["bash", "-c", &line], &[(variable, "7")]);
        assert_eq!((proposed.code, shell(&line).code), (0, 2), "{line}: {proposed:?}");
    }
    fs::remove_file(ws.folder().join("deploy/.kubectl-reconcile.yaml")).unwrap();
    fs::write(ws.folder().join("live.yaml"), ws.reconcile(["snapshot", "-f", "deploy"]).stdout).unwrap();
    assert_eq!(shell(&hook).code, 0);
    ws.write("deploy/a.yaml", "kind: [");
    assert_eq!(shell(&hook).code, 2);
    assert_eq!(json!(gitlab["compare"]["allow_failure"]["exit_codes"]), json!([1]));
}

/// Where there is a `shellcheck`, it finds nothing.
#[test]
fn scripts_are_clean() {
    for script in ["run.sh", "comment.sh", "issue.sh"] {
        let path = example("github-actions").join(script);
        let syntax = Command::new("bash").arg("-n").arg(&path).output().unwrap();
        assert!(syntax.status.success(), "{syntax:?}");
        if let Ok(found) = Command::new("shellcheck").arg(&path).output() {
            assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stdout));
        }
    }
}
