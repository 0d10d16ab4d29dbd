//! Completion in real shells, where they are installed: what a person types, and what stands on the line after TAB.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::completions::installed;
use crate::control_plane::{expanding_completion, kubectl, terminal};

/// A shell that does nothing for this long hangs.
const PATIENCE: Duration = Duration::from_mins(1);

/// A folder with the program on `PATH`, and a kubeconfig with these contexts.
struct Place {
    folder: tempfile::TempDir,
    path: String,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let path = installed(folder.path());
        std::os::unix::fs::symlink(kubectl(), folder.path().join("kubectl")).unwrap();
        let contexts = ["prod-eu", "staging", "arn:aws:eks:1:cluster/shop", "odd name"].into_iter().chain(COMMANDS);
        let contexts: Vec<String> =
            contexts.map(|name| format!("{{name: {name:?}, context: {{cluster: c}}}}")).collect();
        let contexts = contexts.join(", ");
        let config = format!("{{apiVersion: v1, kind: Config, contexts: [{contexts}]}}");
        fs::write(folder.path().join("config"), config).unwrap();
        fs::create_dir(folder.path().join("deploy")).unwrap();
        fs::write(folder.path().join("report.txt"), "").unwrap();
        Place { folder, path }
    }

    fn command(&self, shell: &str) -> Command {
        let mut command = Command::new(shell);
        command.current_dir(self.folder.path()).env_clear().env("PATH", &self.path).env("HOME", self.folder.path());
        command.env("KUBECONFIG", self.folder.path().join("config")).env("TERM", "dumb").env("PS1", "READY>");
        command
    }
}

/// Says what a test needs that is not here.
#[expect(clippy::print_stderr, reason = "the harness shows it")]
pub fn not_tested(why: &str) {
    eprintln!("{why}");
}

fn is_installed(shell: &str) -> bool {
    let found = Command::new(shell).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let found = found.is_ok_and(|status| status.success());
    if !found {
        not_tested(&format!("{shell} is not installed: completion in it was not tested"));
    }
    found
}

fn script(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("completions").join(name).display().to_string()
}

/// What is typed after the program, and the words that it becomes.
const LINES: [(&str, &[&str]); 8] = [
    ("dif\t", &["diff"]),
    ("diff --evid\t", &["diff", "--evidence"]),
    ("diff --color=n\t", &["diff", "--color=never"]),
    ("diff --fail-on manu\t", &["diff", "--fail-on", "manual"]),
    ("diff --context pr\t", &["diff", "--context", "prod-eu"]),
    ("diff --context arn:aws:e\t", &["diff", "--context", "arn:aws:eks:1:cluster/shop"]),
    ("diff -k dep\t", &["diff", "-k", "deploy/"]),
    ("diff -f rep\t", &["diff", "-f", "report.txt"]),
];

/// Names of contexts that a shell would run if it expanded them.
const COMMANDS: [&str; 6] =
    ["$(touch ran)", "`touch ran`", "x;touch ran", "x\ntouch ran", "${x:-$(touch ran)}", "staging$(touch ran)"];

/// A shell on a terminal.
struct Shell {
    child: Child,
    keys: fs::File,
    shown: Receiver<Vec<u8>>,
    text: String,
}

impl Shell {
    fn start(command: &mut Command) -> Shell {
        let (ours, theirs) = terminal::open().expect("a terminal");
        let end = || Stdio::from(theirs.try_clone().unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("the shell starts");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        drop(theirs);
        let (sender, shown) = channel();
        let mut screen = ours.try_clone().unwrap();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read) = screen.read(&mut bytes) {
                if read == 0 || sender.send(bytes[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Shell { child, keys: ours, shown, text: String::new() }
    }

    /// Types, and waits until something is shown; returns what was shown until then, and the rest of its line.
    fn type_until(&mut self, keys: &str, wanted: &str) -> String {
        self.keys.write_all(keys.as_bytes()).unwrap();
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.text.find(wanted)
                && let Some(end) = self.text[at..].find('\n')
            {
                let line = self.text[at + wanted.len()..at + end].trim().to_owned();
                self.text.drain(..=at + end);
                return line;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.shown.recv_timeout(left) {
                Ok(bytes) => self.text += &String::from_utf8_lossy(&bytes),
                Err(error) => panic!("`{wanted}` is not shown ({error}), but {:?}", self.text),
            }
        }
    }

    /// The words that typing results in: they are printed, and not run.
    fn words(&mut self, program: &str, typed: &str) -> String {
        // Ctrl-A goes to the beginning of the line.
        self.type_until(&format!("{program} {typed}\u{1}show \n"), &format!("<{program}>"))
    }

    /// Checks all lines.
    fn completes(&mut self, shell: &str) {
        for (typed, words) in LINES {
            let expected = format!("<{}>", words.join("><"));
            assert_eq!(self.words("kubectl-reconcile", typed), expected, "{typed:?} in {shell}");
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// TAB runs nothing from the working directory, even if that is what was typed.
fn lay_trap(place: &Place) -> std::path::PathBuf {
    let trap = place.folder.path().join("trap");
    fs::create_dir(&trap).unwrap();
    let program = trap.join("kubectl-reconcile");
    fs::write(&program, "#!/bin/sh\ntouch ran\n").unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place.folder.path().join("ran")
}

/// TAB offers the names that are harmless, and runs none of the others, in whatever state the line is.
fn runs_no_name(shell: &mut Shell, place: &Place, program: &str, before: &str) {
    for typed in ["\t\t", "stag\t", "staging\t", "\\$\t", "\\`\t", "x\t\t", "arn:\t"] {
        shell.words(program, &format!("{before}diff --context {typed}\u{5}"));
    }
    let words = shell.words(program, &format!("{before}diff --context pr\t"));
    assert!(words.ends_with("<diff><--context><prod-eu>"), "{words}");
    assert!(!place.folder.path().join("ran").exists(), "{program}");
}

const SHOW: &str = "show() { printf '<%s>' \"$@\"; echo; }\n";

#[test]
fn bash_completes() {
    if !is_installed("bash") {
        return;
    }
    let place = Place::new();
    let mut shell = Shell::start(place.command("bash").args(["--noprofile", "--norc", "-i"]));
    shell.type_until(&format!("{SHOW}source {}; echo sour''ced\n", script("kubectl-reconcile.bash")), "sourced");
    shell.completes("bash");
    runs_no_name(&mut shell, &place, "kubectl-reconcile", "");
    let ran = lay_trap(&place);
    assert_eq!(shell.words("trap/kubectl-reconcile", "dif\t"), "<diff>");
    assert!(!ran.exists());
}

/// The scripts of kubectl, with cobra before 1.9 and now. They use two functions of the package bash-completion.
#[test]
fn bash_runs_no_name_through_any_kubectl() {
    const WORDS: &str =
        "_get_comp_words_by_ref() { words=(\"${COMP_WORDS[@]}\") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]}; }\n";
    if !is_installed("bash") {
        return;
    }
    let own = Command::new(kubectl()).args(["completion", "bash"]).output().expect("kubectl runs").stdout;
    for (script, expands) in [(expanding_completion(), true), (String::from_utf8(own).unwrap(), false)] {
        let place = Place::new();
        let ran = place.folder.path().join("ran");
        fs::write(place.folder.path().join("kubectl.bash"), script).unwrap();
        let mut shell = Shell::start(place.command("bash").args(["--noprofile", "--norc", "-i"]));
        shell.type_until(&format!("{SHOW}{WORDS}source kubectl.bash; echo sour''ced\n"), "sourced");
        // The script itself, where somebody offers such a name.
        shell.type_until("kubectl() { echo '$(touch ran)'; echo :4; }; echo def''ined\n", "defined");
        shell.words("kubectl", "reconcile \t\u{5}");
        assert_eq!(ran.exists(), expands);
        let _ = fs::remove_file(&ran);
        shell.type_until("unset -f kubectl; echo und''efined\n", "undefined");
        runs_no_name(&mut shell, &place, "kubectl", "reconcile ");
    }
}

#[test]
fn zsh_completes_with_and_without_kubectl() {
    if !is_installed("zsh") {
        return;
    }
    let place = Place::new();
    let mut shell = Shell::start(place.command("zsh").args(["-f", "-i"]));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
    let setup = format!(
        "fpath=({} $fpath); setopt no_auto_remove_slash; autoload -Uz compinit; compinit -u -D; echo sour''ced\n",
        folder.display()
    );
    shell.type_until(&format!("{SHOW}{setup}"), "sourced");
    shell.completes("zsh");
    runs_no_name(&mut shell, &place, "kubectl-reconcile", "");
    let ran = lay_trap(&place);
    assert_eq!(shell.words("trap/kubectl-reconcile", "dif\t"), "<diff>");
    assert!(!ran.exists());

    shell.type_until("source <(kubectl completion zsh); echo sour''ced\n", "sourced");
    assert_eq!(shell.words("kubectl", "reconcile dif\t"), "<reconcile><diff>");
    assert_eq!(shell.words("kubectl", "reconcile diff --color=n\t"), "<reconcile><diff><--color=never>");
    runs_no_name(&mut shell, &place, "kubectl", "reconcile ");
}

/// fish says itself what it would offer.
#[test]
fn fish_completes_with_and_without_kubectl() {
    if !is_installed("fish") {
        return;
    }
    let place = Place::new();
    let offered = |setup: &str, line: &str| {
        let mut command = place.command("fish");
        let ask = format!("{setup}; complete -C '{line}'");
        let output = command.args(["--no-config", "-c", &ask]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let own = format!("source {}", script("kubectl-reconcile.fish"));
    for (typed, words) in LINES {
        let expected = vec![(*words.last().unwrap()).to_owned()];
        assert_eq!(offered(&own, &format!("kubectl-reconcile {}", typed.trim_end())), expected, "{typed:?}");
    }
    let through_kubectl = "kubectl completion fish | source";
    assert_eq!(offered(through_kubectl, "kubectl reconcile dif"), ["diff"]);
    assert_eq!(offered(through_kubectl, "kubectl reconcile diff --context pr"), ["prod-eu"]);
    assert_eq!(offered(through_kubectl, "kubectl reconcile diff --color=n"), ["--color=never"]);
    let harmless = ["arn:aws:eks:1:cluster/shop", "prod-eu", "staging"];
    for (setup, program) in [(own.as_str(), "kubectl-reconcile"), (through_kubectl, "kubectl reconcile")] {
        assert_eq!(offered(setup, &format!("{program} diff --context ")), harmless);
    }
    assert!(!place.folder.path().join("ran").exists());
}
