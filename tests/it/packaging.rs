//! What a release publishes: archives, manifests of package managers, and a script that installs nothing that was not released.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

use serde_json::Value;

use crate::shells::not_tested;

pub const VERSION: &str = env!("CARGO_PKG_VERSION");
const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-reconcile");
const TARGETS: [&str; 4] =
    ["aarch64-apple-darwin", "aarch64-unknown-linux-musl", "x86_64-apple-darwin", "x86_64-unknown-linux-musl"];

fn packaging(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging").join(name)
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Makes the archive of a program that calls ours: with symbols, ours takes seconds to pack.
fn archive(folder: &Path, target: &str) -> PathBuf {
    let stub = folder.join("stub");
    fs::write(&stub, format!("#!/bin/sh\nexec '{PROGRAM}' \"$@\"\n")).unwrap();
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
    let script = packaging("archive.sh");
    let output = run(Command::new("bash").arg(script).args([VERSION, target]).arg(&stub).arg(folder));
    assert!(output.status.success(), "{}", text(&output.stderr));
    fs::remove_file(stub).unwrap();
    folder.join(format!("kubectl-reconcile-v{VERSION}-{target}.tar.gz"))
}

fn sha256(file: &Path) -> String {
    let output = run(Command::new("sha256sum").arg(file));
    text(&output.stdout).split(' ').next().unwrap_or_default().to_owned()
}

/// A release of this program for every platform, in a folder that is served.
pub struct Release {
    folder: tempfile::TempDir,
    /// The URL of the folder. Those of the folder `v0.1.0` below it are the same files.
    pub url: String,
}

impl Release {
    pub fn new() -> Release {
        let folder = tempfile::tempdir().unwrap();
        let first = archive(folder.path(), TARGETS[0]);
        let mut sums = String::new();
        for target in TARGETS {
            let name = format!("kubectl-reconcile-v{VERSION}-{target}.tar.gz");
            if target != TARGETS[0] {
                fs::copy(&first, folder.path().join(&name)).unwrap();
            }
            let _ = writeln!(sums, "{}  {name}", sha256(&first));
        }
        fs::write(folder.path().join("SHA256SUMS"), sums).unwrap();
        let url = serve(folder.path());
        Release { folder, url }
    }

    fn fill(&self, template: &str) -> String {
        let output = run(Command::new("bash")
            .arg(packaging("fill.sh"))
            .arg(packaging(template))
            .args([VERSION, &self.url, "https://example.com/plugin"])
            .arg(self.folder.path().join("SHA256SUMS")));
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Installs into a new folder, with the script as it is published.
    fn install(&self, environment: &[(&str, &str)]) -> (Output, tempfile::TempDir) {
        let home = tempfile::tempdir().unwrap();
        let script = home.path().join("install.sh");
        fs::write(&script, self.fill("install.sh")).unwrap();
        let output = run(Command::new("sh")
            .arg(&script)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.path())
            .envs(environment.iter().copied()));
        (output, home)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The line of the archive for Linux on x86-64 in `SHA256SUMS`.
    pub fn checksum_line(&self) -> String {
        let sums = fs::read_to_string(self.file("SHA256SUMS")).unwrap();
        sums.lines().find(|line| line.ends_with("-x86_64-unknown-linux-musl.tar.gz")).unwrap().to_owned()
    }
}

/// Serves the files of a folder, one connection after another.
fn serve(folder: &Path) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let folder = folder.to_owned();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
                request.push(byte[0]);
            }
            let request = text(&request);
            let name = request.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
            let name = name.strip_prefix(&format!("v{VERSION}/")).unwrap_or(name).to_owned();
            let (status, body) = match fs::read(folder.join(name)) {
                Ok(body) => ("200 OK", body),
                Err(_) => ("404 Not Found", Vec::new()),
            };
            let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    url
}

fn can_download() -> bool {
    let found = ["curl", "wget"].iter().any(|name| Command::new(name).arg("--version").output().is_ok());
    if !found {
        not_tested("neither curl nor wget is installed: the script that installs a release was not tested");
    }
    found
}

fn installed(home: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(home.join(".local/bin")) else { return Vec::new() };
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_script_installs_what_was_released() {
    if !can_download() {
        return;
    }
    let release = Release::new();
    let (output, home) = release.install(&[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(installed(home.path()), ["kubectl-reconcile", "kubectl_complete-reconcile"]);
    let program = home.path().join(".local/bin/kubectl-reconcile");
    assert_eq!(fs::metadata(&program).unwrap().permissions().mode() & 0o777, 0o755);
    let version = run(Command::new(program).args(["version", "--client", "-o", "json"]));
    let version: Value = serde_json::from_slice(&version.stdout).unwrap();
    assert_eq!(version["client"]["version"], VERSION);
    assert!(text(&output.stdout).contains("to PATH"), "{}", text(&output.stdout));

    let elsewhere = tempfile::tempdir().unwrap();
    let folder = elsewhere.path().join("a folder/bin");
    let (output, home) = release.install(&[("KUBECTL_RECONCILE_DIR", folder.to_str().unwrap())]);
    assert!(output.status.success() && folder.join("kubectl-reconcile").exists(), "{}", text(&output.stderr));
    assert_eq!(installed(home.path()), [""; 0]);
}

/// What somebody does to a release.
type Tampering<'t> = &'t dyn Fn(&Release);

#[test]
fn the_script_refuses_what_was_not_released() {
    if !can_download() {
        return;
    }
    let sums = "SHA256SUMS";
    let change = |name: &'static str, with: fn(&mut Vec<u8>)| {
        move |release: &Release| {
            let mut bytes = fs::read(release.file(name)).unwrap();
            with(&mut bytes);
            fs::write(release.file(name), bytes).unwrap();
        }
    };
    let each = |with: fn(&Path)| {
        move |release: &Release| {
            for target in TARGETS {
                with(&release.file(&format!("kubectl-reconcile-v{VERSION}-{target}.tar.gz")));
            }
        }
    };
    let wrong_sum = change(sums, |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        *bytes = text.lines().map(|line| "0".repeat(64) + &line[64..]).collect::<Vec<_>>().join("\n").into_bytes();
    });
    let no_sum = change(sums, Vec::clear);
    let short_sum = change(sums, |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        *bytes = text.lines().map(|line| &line[60..]).collect::<Vec<_>>().join("\n").into_bytes();
    });
    let two_sums = change(sums, |bytes| bytes.extend(bytes.clone()));
    let other = each(|file| fs::write(file, "another archive").unwrap());
    let cut = each(|file| {
        let bytes = fs::read(file).unwrap();
        fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
    });
    let gone = each(|file| fs::remove_file(file).unwrap());
    let no_file = |release: &Release| fs::remove_file(release.file("SHA256SUMS")).unwrap();
    let cases: [(Tampering<'_>, &str); 8] = [
        (&wrong_sum, "is not what was released"),
        (&no_sum, "has no checksum"),
        (&short_sum, "has no checksum"),
        (&two_sums, "has no checksum"),
        (&other, "is not what was released"),
        (&cut, "is not what was released"),
        (&gone, "cannot download"),
        (&no_file, "cannot download"),
    ];
    for (tamper, message) in cases {
        let release = Release::new();
        tamper(&release);
        let (output, home) = release.install(&[]);
        assert_eq!(output.status.code(), Some(1), "{message}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(message), "{message}: {}", text(&output.stderr));
        assert_eq!(installed(home.path()), [""; 0], "{message}");
    }

    // The release is consistent, and is not the one that somebody has reviewed.
    let release = Release::new();
    let reviewed = release.file("reviewed");
    fs::write(&reviewed, release.checksum_line().replace(|c: char| c.is_ascii_hexdigit(), "0")).unwrap();
    let (output, home) = release.install(&[("KUBECTL_RECONCILE_SHA256SUMS", reviewed.to_str().unwrap())]);
    assert!(text(&output.stderr).contains("has no checksum"), "{}", text(&output.stderr));
    let line = release.checksum_line();
    fs::write(&reviewed, format!("{}{}", "0".repeat(64), &line[64..])).unwrap();
    let (output, _) = release.install(&[("KUBECTL_RECONCILE_SHA256SUMS", reviewed.to_str().unwrap())]);
    assert!(text(&output.stderr).contains("is not what was released"), "{}", text(&output.stderr));
    assert_eq!(installed(home.path()), [""; 0]);

    let release = Release::new();
    let (output, _) = release.install(&[("KUBECTL_RECONCILE_RELEASE", "http://example.com/releases")]);
    assert!(text(&output.stderr).contains("does not begin with https://"), "{}", text(&output.stderr));
    let template = run(Command::new("sh").arg(packaging("install.sh")));
    assert!(text(&template.stderr).contains("belongs to no release"), "{}", text(&template.stderr));
    assert!(!fs::read_to_string(packaging("install.sh")).unwrap().contains("sudo"));
}

#[test]
fn an_archive_is_the_same_each_time_and_has_what_belongs_in_it() {
    let one = tempfile::tempdir().unwrap();
    let two = tempfile::tempdir().unwrap();
    let first = archive(one.path(), TARGETS[3]);
    assert_eq!(fs::read(&first).unwrap(), fs::read(archive(two.path(), TARGETS[3])).unwrap());
    let listed = text(&run(Command::new("tar").arg("-tzf").arg(&first)).stdout);
    for name in [
        "LICENSE",
        "README.md",
        "completions/_kubectl-reconcile",
        "kubectl-reconcile",
        "kubectl_complete-reconcile",
        "man1/kubectl-reconcile-diff.1",
    ] {
        assert!(listed.lines().any(|line| line == name), "{name}: {listed}");
    }
}

#[test]
fn manifests_of_package_managers_are_filled_in() {
    let release = Release::new();
    let krew = release.fill("krew/plugins/reconcile.yaml");
    let documents = kube_yaml::read(krew.as_bytes(), kube_yaml::Validation::Strict).documents;
    let manifest = &documents[0].value;
    assert_eq!(manifest["metadata"]["name"], "reconcile");
    assert_eq!(manifest["spec"]["version"], format!("v{VERSION}"));
    let platforms = manifest["spec"]["platforms"].as_array().unwrap();
    assert_eq!(platforms.len(), TARGETS.len());
    for platform in platforms {
        let uri = platform["uri"].as_str().unwrap();
        let name = uri.strip_prefix(&format!("{}/", release.url)).unwrap_or_else(|| panic!("{uri}"));
        assert_eq!(platform["sha256"], sha256(&release.file(name)), "{name}");
    }
    let formula = release.fill("homebrew/kubectl-reconcile.rb");
    for text in [&krew, &formula, &release.fill("install.sh")] {
        assert!(!text.contains("@VERSION@") && !text.contains("@SHA") && !text.contains("@RELEASES@"), "{text}");
    }
    let file = release.file("formula.rb");
    fs::write(&file, formula).unwrap();
    match Command::new("ruby").arg("-c").arg(&file).output() {
        Ok(output) => assert!(output.status.success(), "{}", text(&output.stderr)),
        Err(_) => not_tested("ruby is not installed: the formula was not parsed"),
    }

    fs::write(release.file("SHA256SUMS"), "").unwrap();
    let output = run(Command::new("bash")
        .arg(packaging("fill.sh"))
        .arg(packaging("krew/plugins/reconcile.yaml"))
        .args([VERSION, "https://r", "https://h"])
        .arg(release.file("SHA256SUMS")));
    assert!(!output.status.success() && text(&output.stderr).contains("has no checksum"));
}

/// The archives that a release has are those that `cargo binstall`, krew, Homebrew and the script ask for.
#[test]
fn all_ways_to_install_name_the_same_archives() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let workflow = read(".github/workflows/release.yml");
    for target in TARGETS {
        assert!(workflow.contains(&format!("target: {target}")), "{target} is not built");
        for file in ["packaging/krew/plugins/reconcile.yaml", "packaging/homebrew/kubectl-reconcile.rb"] {
            assert!(read(file).contains(&format!("-v@VERSION@-{target}.tar.gz")), "{target} is not in {file}");
        }
    }
    assert!(read("Cargo.toml").contains("/{ name }-v{ version }-{ target }.tar.gz"));
}

/// A release can do no more than it needs, and runs no action that somebody can exchange.
#[test]
fn the_release_workflow_is_pinned_and_has_few_permissions() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/workflows/release.yml");
    let workflow = fs::read_to_string(file).unwrap();
    let documents = kube_yaml::read(workflow.as_bytes(), kube_yaml::Validation::Ignore).documents;
    let parsed = &documents[0].value;
    assert_eq!(parsed["permissions"], serde_json::json!({}));
    assert_eq!(parsed["jobs"]["build"]["permissions"], serde_json::json!({"contents": "read"}));
    let uses: Vec<&str> =
        workflow.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: ")).collect();
    assert!(uses.len() >= 4, "{uses:?}");
    for action in uses {
        let commit = action.split('@').nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{action}");
        assert!(action.contains(" # v"), "{action}: of which release?");
    }
    let expressions =
        workflow.lines().filter(|line| line.trim_start().starts_with("run:") && line.contains("github.event"));
    assert_eq!(expressions.count(), 0, "text from outside is no part of a script");
}

/// What is published depends on crates that are published, too.
#[test]
fn dependencies_of_published_crates_have_versions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let (dependencies, _) = manifest.split_once("[package]").unwrap();
    for line in dependencies.lines().filter(|line| line.contains("path = ")) {
        let is_for_tests = line.starts_with("test-control-plane");
        assert!(is_for_tests || line.contains("version = "), "{line}");
    }
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(folder.join("Cargo.toml")) else { continue };
        let is_published = !text.contains("publish = false");
        assert!(!is_published || text.contains("description = ") && text.contains("license"), "{}", folder.display());
        let needed = text.split("[dev-dependencies]").next().unwrap_or_default();
        let needed = needed.split("[dependencies]").nth(1).unwrap_or_default();
        assert!(!is_published || !needed.contains("test-control-plane"), "{}", folder.display());
        assert!(!needed.contains("path = "), "{}: use the version of the workspace", folder.display());
    }
}
