//! Where the commands of a document run: a namespace that the documents call `shop`, a folder with `testdata/docs`, and kubectl with
//! the plugin.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::markdown::{Block, Language};
use crate::control_plane::{ControlPlane, Workspace, kubectl};

/// A block that takes longer hangs.
const DEADLINE: Duration = Duration::from_mins(2);
/// How long the controllers may take for what a block did.
const SETTLING: Duration = Duration::from_mins(1);
/// Separates what the commands of a block print.
const MARK: &str = "@@next-command@@";
/// The exit codes of the plugin that are results; the others are mistakes of the document, unless it shows them.
const RESULTS: [&str; 3] = ["0", "1", "5"];

pub struct Scene {
    workspace: Workspace,
    /// The workspace whose namespace `prod-us` leads to, so that it is another cluster to the reader.
    second: Workspace,
    kubeconfig: PathBuf,
    programs: PathBuf,
}

impl Scene {
    pub fn new() -> Scene {
        let workspace = Workspace::on(&ControlPlane::full());
        let second = Workspace::on(&ControlPlane::full());
        let folder = workspace.folder();
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/docs"), &folder);
        fs::create_dir(folder.join(".git")).expect("a folder that looks like a repository");
        symlink(&workspace.plane().audit().0, folder.join("audit.log")).expect("a link to the audit log");
        let kubeconfig = workspace.stdin("").kubeconfig();
        let programs = workspace.home().join("bin");
        fs::create_dir(&programs).expect("a folder for programs");
        symlink(kubectl(), programs.join("kubectl")).expect("a link to kubectl");
        // The plugin, and a note of how it ended.
        let plugin = programs.join("kubectl-reconcile");
        let program = env!("CARGO_BIN_EXE_kubectl-reconcile");
        let log = workspace.home().join("codes");
        let script =
            format!("#!/bin/sh\n'{program}' \"$@\"\ncode=$?\necho \"$code $*\" >> '{}'\nexit $code\n", log.display());
        fs::write(&plugin, script).expect("the plugin");
        fs::set_permissions(&plugin, fs::Permissions::from_mode(0o755)).expect("the plugin can be run");
        let scene = Scene { workspace, second, kubeconfig, programs };
        let first = scene.workspace.namespace();
        let second = scene.second.namespace();
        for (context, namespace) in [("prod-eu", first), ("prod-us", second), ("staging", first)] {
            let set = format!(
                "kubectl config set-context {context} --cluster \"$(kubectl config view -o jsonpath='{{.contexts[0].context.cluster}}')\" \
                 --user \"$(kubectl config view -o jsonpath='{{.contexts[0].context.user}}')\" --namespace {namespace}"
            );
            scene.run(&set).unwrap_or_else(|problem| panic!("{problem}"));
        }
        scene.run("kubectl config use-context staging").unwrap_or_else(|problem| panic!("{problem}"));
        scene
    }

    /// Runs a block; returns a console block with what its commands really print.
    pub fn play(&self, block: &Block) -> Result<String, String> {
        if block.language != Language::Console {
            let printed = self.run(&format!("{}\n:", block.text))?;
            self.codes_are_results(&printed, false)?;
            return Ok(String::new());
        }
        self.settle();
        let commands = commands(&block.text);
        let mut script = String::new();
        for command in &commands {
            let command = command.replace("\n> ", "\n");
            let _ = write!(script, "(exit ${{code:-0}})\n{command}\ncode=$?\necho {MARK}\n");
        }
        let printed = self.run(&format!("{script}:"))?;
        self.codes_are_results(&printed, true)?;
        let mut text = String::new();
        for (command, output) in commands.iter().zip(printed.split(&format!("{MARK}\n"))) {
            let _ = writeln!(text, "$ {command}");
            let output = self.as_documented(output);
            text += &output;
            text += if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
        }
        Ok(text)
    }

    /// Waits until each Deployment has its Pods: the reader is slower than the controllers, which count what an apply restarts.
    fn settle(&self) {
        let path = format!("/apis/apps/v1/namespaces/{}/deployments", self.workspace.namespace());
        let started = Instant::now();
        let is_settled = |deployment: &Value| {
            let replicas = &deployment["spec"]["replicas"];
            let status = &deployment["status"];
            let counts = ["replicas", "updatedReplicas", "readyReplicas"];
            status["observedGeneration"] == deployment["metadata"]["generation"]
                && (*replicas == 0 || counts.iter().all(|count| status[count] == *replicas))
        };
        while started.elapsed() < SETTLING {
            let list = self.workspace.plane().api().find(&path).expect("the Deployments");
            if list["items"].as_array().expect("a list").iter().all(is_settled) {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// A code such as 2 or 3 is a mistake of the document, unless the reader sees it happen.
    fn codes_are_results(&self, printed: &str, is_shown: bool) -> Result<(), String> {
        let log = self.workspace.home().join("codes");
        let codes = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(log);
        let unexpected = codes.lines().find(|line| !RESULTS.contains(&line.split(' ').next().unwrap_or_default()));
        match unexpected {
            Some(line) if !is_shown => Err(format!("exit code and arguments `{line}`:\n{printed}")),
            Some(line) if line.starts_with("2 ") && printed.contains("Usage:") => Err(format!("`{line}`:\n{printed}")),
            _ => Ok(()),
        }
    }

    fn run(&self, script: &str) -> Result<String, String> {
        let out = self.workspace.home().join("output");
        let file = fs::File::create(&out).expect("a file for the output");
        let path = format!("{}:{}", self.programs.display(), std::env::var("PATH").unwrap_or_default());
        let mut child = Command::new("bash")
            .args(["-c", &self.as_run(script)])
            .current_dir(self.workspace.folder())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.workspace.home())
            .env("KUBECONFIG", &self.kubeconfig)
            .env("COLUMNS", "100")
            .env("TZ", "UTC")
            .stdin(Stdio::null())
            .stdout(file.try_clone().expect("the file"))
            .stderr(file)
            .spawn()
            .expect("bash");
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("the state of a child") {
                break status;
            }
            if started.elapsed() > DEADLINE {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("does not end: {}", fs::read_to_string(&out).unwrap_or_default()));
            }
            thread::sleep(Duration::from_millis(10));
        };
        let printed = String::from_utf8_lossy(&fs::read(&out).expect("the output")).into_owned();
        let is_broken = ["command not found", "syntax error", "No such file or directory"];
        if !status.success() || is_broken.iter().any(|sign| printed.contains(sign)) {
            return Err(format!("fails: {printed}"));
        }
        Ok(printed)
    }

    /// A script with the namespace in the place of `shop`.
    fn as_run(&self, script: &str) -> String {
        let namespace = self.workspace.namespace();
        let mut script = script.to_owned();
        for (before, after) in [
            ("-n shop", "-n {}"),
            ("--namespace shop", "--namespace {}"),
            ("namespace: shop", "namespace: {}"),
            ("serviceaccount:shop", "serviceaccount:{}"),
            ("ServiceAccount:shop", "ServiceAccount:{}"),
            ("serviceaccount shop", "serviceaccount {}"),
        ] {
            script = script.replace(before, &after.replace("{}", namespace));
        }
        script
    }

    /// An output as documents show it: with `shop` in the place of the namespace, and always at the same time.
    fn as_documented(&self, output: &str) -> String {
        let text = output.replace(self.workspace.namespace(), "shop").replace(self.second.namespace(), "shop");
        let text = text.replace(self.workspace.plane().url(), "https://cluster.example.com");
        let lines = text.lines().map(|line| without_ids(&with_fixed_times(line)).trim_end().to_owned() + "\n");
        lines.collect()
    }
}

/// The commands behind `$ `, with the lines that continue them behind `> `.
fn commands(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut continues = false;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push(command.to_owned());
            continues = true;
        } else if let (true, Some(last), true) = (continues, commands.last_mut(), line.starts_with("> ")) {
            last.push('\n');
            last.push_str(line);
        } else {
            continues = false;
        }
    }
    commands
}

/// Replaces times such as `2026-11-22T01:51:45Z`.
fn with_fixed_times(line: &str) -> String {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00Z";
    let is_time = |bytes: &[u8]| {
        bytes.iter().zip(SHAPE).all(|(byte, shape)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape })
    };
    let bytes = line.as_bytes();
    let mut text = String::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes.len() - at >= SHAPE.len() && is_time(&bytes[at..at + SHAPE.len()]) {
            text += "2026-11-20T10:00:00Z";
            at += SHAPE.len();
        } else {
            let end = (at + 1..=bytes.len()).find(|end| line.is_char_boundary(*end)).unwrap_or(bytes.len());
            text += &line[at..end];
            at = end;
        }
    }
    text
}

/// The id of an apply set depends on the namespace.
fn without_ids(line: &str) -> String {
    let Some((before, rest)) = line.split_once("applyset-") else { return line.to_owned() };
    match rest.split_once("-v1") {
        Some((id, after)) if id.len() == 43 => format!("{before}applyset-…-v1{}", without_ids(after)),
        _ => format!("{before}applyset-{}", without_ids(rest)),
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry of a folder");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir_all(&target).expect("a folder");
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file");
        }
    }
}
