//! The recipes for pipelines: their steps are taken from the files and run.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::pod::Ended;
use super::{example, project};
use crate::control_plane::{Workspace, program};
use crate::packaging::{Release, VERSION};

/// A workspace with manifests.
pub struct Pipeline<'w> {
    ws: &'w Workspace,
}

impl<'w> Pipeline<'w> {
    pub fn new(ws: &'w Workspace) -> Self {
        ws.write("deploy/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}}\n");
        Self { ws }
    }

    pub fn file(&self, name: &str) -> String {
        fs::read_to_string(self.ws.home().join(name)).unwrap_or_default()
    }

    /// Runs a step in the folder of the manifests.
    pub fn step(&self, words: &[&str], variables: &[(&str, &str)]) -> Ended {
        let path = |name: &str| self.ws.home().join(name).display().to_string();
        let programs = program("kubectl-reconcile").parent().unwrap().display().to_string();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.ws.folder()).env_clear();
        command.env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap_or_default()));
        command.env("HOME", self.ws.home()).env("KUBECONFIG", self.ws.as_user("admin").kubeconfig());
        command.env("LC_ALL", "C.UTF-8").env("RUNNER_TEMP", self.ws.home());
        command.env("GITHUB_STEP_SUMMARY", path("summary")).env("GITHUB_OUTPUT", path("output"));
        command.env("GITHUB_PATH", path("path")).env("GITHUB_SERVER_URL", "https://github.example.com");
        command.env("GITHUB_RUN_ID", "42").env("GITHUB_SHA", "c0ffee").env("GITHUB_REF", "refs/pull/12/merge");
        command.env("GITHUB_REPOSITORY", "example/shop").env("MANIFESTS", "deploy").env("MORE_FLAGS", "");
        command.env("NAME", "").env("WORKSPACE_TMP", &programs).env("tools", &programs);
        command.envs(variables.iter().copied());
        command.output().unwrap_or_else(|error| panic!("{words:?}: {error}")).into()
    }
}

pub fn yaml(path: &Path) -> Value {
    let stream = kube_yaml::read(&fs::read(path).unwrap(), kube_yaml::Validation::Strict);
    assert!(stream.diagnostics.is_empty(), "{}: {:?}", path.display(), stream.diagnostics);
    stream.documents.into_iter().next().unwrap().value
}

#[test]
fn the_steps_of_other_pipelines_run_as_they_are_written() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    let shell = |line: &str| pipeline.step(&["bash", "-c", line], &[]);
    let gitlab = yaml(&example("gitlab/.gitlab-ci.yml"));
    let script = |job: &str| lines(&gitlab[job]["script"]);
    let jenkins = fs::read_to_string(example("jenkins/Jenkinsfile")).unwrap();
    let jenkins = jenkins.split("script: '''").nth(1).unwrap().split("'''").next().unwrap().to_owned();
    let hook = hook();
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
    origin(&ws);
    ws.write("deploy/.kubectl-reconcile.yaml", "ignore: [");
    for (line, number, target) in [
        (script("compare"), "CI_MERGE_REQUEST_IID", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
        (compare[1].clone(), "CHANGE_ID", "CHANGE_TARGET"),
    ] {
        let proposed = pipeline.step(&["bash", "-c", &line], &[(number, "7"), (target, "main")]);
        assert_eq!((proposed.code, shell(&line).code), (0, 2), "{line}: {proposed:?}");
    }
    fs::remove_file(ws.folder().join("deploy/.kubectl-reconcile.yaml")).unwrap();
    fs::write(ws.folder().join("live.yaml"), ws.reconcile(["snapshot", "-f", "deploy"]).stdout).unwrap();
    assert_eq!(shell(&hook).code, 0);
    ws.write("deploy/a.yaml", "kind: [");
    assert_eq!(shell(&hook).code, 2);
    assert_eq!(json!(gitlab["compare"]["allow_failure"]["exit_codes"]), json!([1]));
}

/// The lines of a script, which run in one shell that ends with the first that fails.
fn lines(script: &Value) -> String {
    let lines: Vec<&str> = script.as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    format!("set -e\n{}", lines.join("\n"))
}

/// The command of the hook in the example, with the arguments that it sets.
fn hook() -> String {
    let config = yaml(&example("pre-commit/.pre-commit-config.yaml"));
    let used = &config["repos"][0]["hooks"][0];
    let hooks = yaml(&project(".pre-commit-hooks.yaml"));
    let hook = hooks.as_array().unwrap().iter().find(|hook| hook["id"] == used["id"]).expect("a hook of this name");
    assert!(hook["name"].is_string() && hook["language"] == "system" && hook["pass_filenames"] == false, "{hook}");
    let arguments = used["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    let entry = hook["entry"].as_str().unwrap();
    std::iter::once(entry).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Makes a repository of the workspace, which is its own remote with a branch `main`.
fn origin(ws: &Workspace) {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(arguments).current_dir(ws.folder());
        let done = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    git(&["add", "deploy"]);
    git(&["commit", "--quiet", "--message=Deploy"]);
    git(&["remote", "add", "origin", "."]);
}

/// The components for GitLab run as they are written, and what somebody gives as an input is never code.
#[test]
fn components_run_with_their_inputs_as_values() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    let stream = |name: &str| {
        let text = fs::read(project("templates").join(name)).unwrap();
        let stream = kube_yaml::read(&text, kube_yaml::Validation::Strict);
        assert!(stream.diagnostics.is_empty(), "{name}: {:?}", stream.diagnostics);
        stream.documents.into_iter().map(|document| document.value).collect::<Vec<Value>>()
    };
    let run = |name: &str, manifests: &str, flags: &str| {
        let documents = stream(name);
        let [header, jobs] = &documents[..] else { panic!("{name}: two documents") };
        let inputs = header["spec"]["inputs"].as_object().unwrap();
        let text = jobs.to_string();
        let used: Vec<&str> = text.split("$[[ inputs.").skip(1).map(|rest| rest.split(' ').next().unwrap()).collect();
        assert!(inputs.keys().all(|input| used.contains(&input.as_str())), "{name}: {used:?}");
        assert!(used.iter().all(|input| inputs.contains_key(*input)), "{name}: {used:?}");
        assert!(inputs.values().all(|input| input["description"].is_string()), "{name}");
        let job = jobs.as_object().unwrap().values().next().unwrap();
        for part in ["before_script", "script"] {
            assert!(!job[part].to_string().contains("$[["), "{name}: {}", job[part]);
        }
        let variables = job["variables"].as_object().unwrap();
        assert!(variables.values().filter(|one| one.is_object()).all(|one| one["expand"] == false), "{variables:?}");
        let values = [("RECONCILE_MANIFESTS", manifests), ("RECONCILE_FLAGS", flags)];
        assert!(values.iter().all(|(variable, _)| variables.contains_key(*variable)), "{variables:?}");
        pipeline.step(&["bash", "-c", &lines(&job["script"])], &values)
    };
    assert_eq!(run("diff.yml", "deploy", "--evidence=read-only").code, 1);
    for (manifests, flags) in
        [("deploy; touch traces", ""), ("deploy", "; touch traces"), ("$(touch traces)", "`touch traces`")]
    {
        let ended = run("diff.yml", manifests, flags);
        assert_eq!(ended.code, 2, "{ended:?}");
    }
    assert!(!ws.folder().join("traces").exists());
    assert_eq!(run("apply.yml", "deploy", "--wait --timeout=10s").code, 0);
    assert_eq!(run("diff.yml", "deploy", "").code, 0);
}

/// What a marketplace asks of an action.
#[test]
fn the_action_is_where_the_marketplace_looks() {
    let action = yaml(&project("action.yml"));
    for key in ["name", "description", "branding"] {
        assert!(!action[key].is_null(), "{key}");
    }
    assert!(action["description"].as_str().unwrap().len() <= 125, "what the marketplace shows");
    for step in action["runs"]["steps"].as_array().unwrap() {
        let run = step["run"].as_str().unwrap();
        let script = run.strip_prefix("bash \"$GITHUB_ACTION_PATH/").and_then(|rest| rest.strip_suffix('"'));
        assert!(run.starts_with("exit ") || script.is_some_and(|path| project(path).exists()), "{run}");
    }
}

/// What GitLab and Jenkins install is what was released: another archive than the one of the checksum ends the job.
#[test]
fn pipelines_install_a_released_binary_by_its_checksum() {
    let ws = Workspace::new();
    let pipeline = Pipeline::new(&ws);
    let gitlab = yaml(&example("gitlab/.gitlab-ci.yml"));
    let before = gitlab["default"]["before_script"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
    // The lines of GitLab run in one shell, which ends with the first that fails, as that of Jenkins does.
    let of_gitlab = before.collect::<Vec<_>>().join("\n");
    let jenkins = fs::read_to_string(example("jenkins/Jenkinsfile")).unwrap();
    let of_jenkins = jenkins.split("'''").nth(1).unwrap().to_owned();
    let release = Release::new();
    let line = release.checksum_line();
    let sum = line.split(' ').next().unwrap();
    // What a pull request brings along is not run, and not written through.
    let outside = ws.home().join("outside");
    let [folder, traces] = ["tmp", "traces"].map(|name| ws.home().join(name).display().to_string());
    for program in ["curl", "wget", "sha256sum", "tar", "kubectl-reconcile", "kubectl"] {
        for name in [program.to_owned(), format!(".tools/{program}"), format!("bin/{program}")] {
            let path = ws.write(name, &format!("#!/bin/sh\necho {program} >>'{traces}'\n"));
            Command::new("chmod").arg("+x").arg(path).status().unwrap();
        }
    }
    let archive = format!("kubectl-reconcile-v{VERSION}-x86_64-unknown-linux-musl.tar.gz");
    std::os::unix::fs::symlink(&outside, ws.folder().join(archive)).unwrap();
    let installed = |folder: &str| {
        let found = Command::new("find").args([folder, "-name", "kubectl-reconcile", "-type", "f"]).output().unwrap();
        !found.stdout.is_empty()
    };
    for script in [of_gitlab, of_jenkins] {
        for (sum, code) in [(sum, 0), (&"0".repeat(64), 1)] {
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir(&folder).unwrap();
            let variables = [("RELEASES", release.url.as_str()), ("VERSION", VERSION), ("SHA256", sum)];
            let variables = [&variables[..], &[("WORKSPACE_TMP", folder.as_str()), ("TMPDIR", &folder)]].concat();
            let ended = pipeline.step(&["sh", "-e", "-c", &script], &variables);
            assert_eq!((ended.code, installed(&folder)), (code, code == 0), "{script}: {ended:?}");
        }
    }
    assert!(!outside.exists() && !Path::new(&traces).exists());
    for text in [jenkins.as_str(), &gitlab.to_string()] {
        assert!(!text.contains("PATH=") && !text.contains("PATH =") && !text.contains(".tools"), "{text}");
    }
    assert!(jenkins.contains("VERSION = '") && gitlab["variables"]["SHA256"].as_str().unwrap().len() == 64);
}
