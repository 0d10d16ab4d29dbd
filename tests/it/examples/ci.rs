//! The recipes for pipelines: their steps are taken from the files and run.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::example;
use super::pod::Ended;
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
