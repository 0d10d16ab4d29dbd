//! The help: complete, true, and the same in `--help`, the manual pages and `docs/cli.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command as Process, Output};

use clap::{Arg, Command, CommandFactory as _, Parser as _};
use kubectl_reconcile::commands::Cli;

use crate::reference::reference;
use crate::shells::not_tested;

/// The commands that people see, each with its name as it is typed after `kubectl`.
pub fn commands() -> Vec<(String, Command)> {
    let mut program = Cli::command().name("reconcile");
    program.build();
    let mut all = Vec::new();
    collect("", &program, &mut all);
    all
}

fn collect(before: &str, command: &Command, all: &mut Vec<(String, Command)>) {
    let name = format!("{before} {}", command.get_name()).trim().to_owned();
    all.push((name.clone(), command.clone()));
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        collect(&name, sub, all);
    }
}

fn run(arguments: &[&str]) -> Output {
    Process::new(env!("CARGO_BIN_EXE_kubectl-reconcile")).args(arguments).env("COLUMNS", "100").output().unwrap()
}

fn after_help(command: &Command) -> String {
    command.get_after_long_help().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn help_is_a_command_as_well() {
    let stdout = |arguments: &[&str]| {
        let output = run(arguments);
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(stdout(&["help"]), stdout(&["--help"]));
    assert_eq!(stdout(&["help", "diff"]), stdout(&["diff", "--help"]));
    assert_eq!(stdout(&["help", "report", "merge"]), stdout(&["report", "merge", "--help"]));
    assert_eq!(run(&["help", "nothing"]).status.code(), Some(2));
}

#[test]
fn every_command_has_exit_codes_and_examples() {
    for (name, command) in commands() {
        let after = after_help(&command);
        assert!(after.contains("Exit codes"), "`{name} --help` says nothing of exit codes");
        assert!(after.contains("Examples:\n  # "), "`{name} --help` has no example");
        assert!(command.get_about().is_some(), "`{name}`");
    }
}

/// `docs/exit-codes.md` says what each code means, and which ones each command returns; the help of each command lists the same. A
/// command with subcommands lists those of all of them.
#[test]
fn the_exit_codes_of_each_command_are_those_of_the_document() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/exit-codes.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    let number = |text: &str| text.trim().parse::<u8>().ok();
    let meant: BTreeSet<u8> = rows.clone().filter_map(|(code, _)| number(code)).collect();
    let listed: BTreeMap<&str, BTreeSet<u8>> = rows
        .filter_map(|(command, codes)| Some((command.strip_prefix('`')?.split_once('`')?.0, codes)))
        .map(|(command, codes)| (command, codes.split(',').map(|code| number(code).expect(codes)).collect()))
        .collect();
    let mut checked = BTreeSet::new();
    for (name, command) in commands() {
        let name = name.trim_start_matches("reconcile").trim();
        let after = after_help(&command);
        let section = after.split("\n\n").find(|section| section.starts_with("Exit codes")).unwrap();
        let said = section.lines().filter_map(|line| number(line.strip_prefix("  ")?.split_once(' ')?.0)).collect();
        let expected: BTreeSet<u8> = match command.get_subcommands().any(|sub| !sub.is_hide_set()) {
            true if name.is_empty() => meant.clone(),
            true => {
                listed.iter().filter(|(sub, _)| sub.starts_with(name)).flat_map(|(_, codes)| codes).copied().collect()
            }
            false => listed.get(name).unwrap_or_else(|| panic!("docs/exit-codes.md has no row for `{name}`")).clone(),
        };
        assert_eq!(expected, said, "`{name} --help`");
        checked.insert(name.to_owned());
    }
    assert!(listed.keys().all(|name| checked.contains(*name)) && meant.len() > 7, "{listed:?}");
    let all: BTreeSet<u8> = listed.into_values().flatten().chain([101]).collect();
    assert_eq!(all, meant);
}

/// The lines of the examples that run the plugin.
fn examples(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let found =
        lines.flat_map(|line| line.split('|')).filter_map(|part| part.trim().strip_prefix("kubectl reconcile "));
    found.map(|line| line.split(" > ").next().unwrap_or_default()).collect()
}

#[test]
fn examples_are_commands_of_the_program() {
    let mut checked = 0;
    for (name, command) in commands() {
        for example in examples(&after_help(&command)) {
            if example.ends_with("--help") {
                continue;
            }
            let words = std::iter::once("kubectl-reconcile").chain(example.trim_end_matches(')').split_whitespace());
            if let Err(error) = Cli::try_parse_from(words) {
                panic!("an example of `{name}` cannot be run: {example}\n{error}");
            }
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn every_flag_is_in_a_group_and_has_help() {
    for (name, command) in commands() {
        for arg in command.get_arguments().filter(|arg| !arg.is_positional()) {
            if ["help", "version"].contains(&arg.get_id().as_str()) {
                continue;
            }
            let flag = arg.get_long().unwrap_or_default();
            assert!(arg.get_help_heading().is_some(), "--{flag} of `{name}` is in no group");
            assert!(arg.get_help().is_some(), "--{flag} of `{name}` has no help");
        }
    }
}

/// Each variable that the code reads is in the help, and each one there is read.
#[test]
fn environment_variables_are_in_the_help() {
    let help = after_help(&commands()[0].1);
    let section = help.split("Environment variables:").nth(1).unwrap().split("Examples:").next().unwrap();
    let is_name = |word: &&str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let listed = section.lines().filter_map(|line| line.trim_start().split("   ").next());
    let listed: Vec<&str> = listed.flat_map(|names| names.split(", ")).map(str::trim).filter(is_name).collect();
    let mut sources = Vec::new();
    read_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut sources);
    let code = sources.concat();
    let mut read: Vec<&str> = Vec::new();
    for call in ["env::var_os(\"", "env::var(\"", "set(\"", "variable(&[\""] {
        for found in code.split(call).skip(1) {
            let end = if call.starts_with("variable") { "]" } else { "\"" };
            let names = found.split(end).next().unwrap().split("\", \"");
            read.extend(names.map(|name| name.trim_matches('"')).filter(is_name));
        }
    }
    // A name in a constant.
    for found in ["env::var_os(", "env::var("].into_iter().flat_map(|call| code.split(call).skip(1)) {
        let constant = found.split(')').next().unwrap();
        if is_name(&constant) {
            let definition = format!("const {constant}: &str = \"");
            read.extend(code.split(&definition).skip(1).map(|rest| rest.split('"').next().unwrap()).filter(is_name));
        }
    }
    assert!(read.len() > 10, "{read:?}");
    for name in &read {
        assert!(listed.contains(name), "`--help` says nothing of {name}: {listed:?}");
    }
    for name in &listed {
        assert!(*name == "HOME" || read.contains(name), "nothing reads {name}");
    }
}

fn read_sources(folder: &Path, sources: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("tests") {
            continue;
        }
        if path.is_dir() {
            read_sources(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn typing_mistakes_are_recognised() {
    for (arguments, meant) in [
        (&["dif"][..], "'diff'"),
        (&["config", "vew"], "'view'"),
        (&["diff", "-f", ".", "--evidense", "auto"], "'--evidence'"),
        (&["diff", "-f", ".", "--evidence", "servr"], "'server'"),
        (&["diff", "-f", ".", "--fail-on", "drft"], "'drift'"),
        (&["diff", "-f", ".", "-o", "jsn"], "`json`"),
        (&["man", "aply"], "`apply`"),
        (&["completion", "fsh"], "'fish'"),
        (&["version", "-o", "jsn"], "'json'"),
    ] {
        let output = run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(meant), "{arguments:?}: {stderr}");
    }
}

/// One page for each command, which `man` can show; where mandoc is installed, it finds nothing wrong with them.
#[test]
fn manual_pages_are_written_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("man1");
    assert_eq!(run(&["man", "--dir", target.to_str().unwrap()]).status.code(), Some(0));
    let mut written: Vec<String> =
        fs::read_dir(&target).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let mut expected: Vec<String> =
        commands().iter().map(|(name, _)| format!("kubectl-{}.1", name.replace(' ', "-"))).collect();
    written.sort();
    expected.sort();
    assert_eq!(written, expected);
    for name in &written {
        let page = fs::read_to_string(target.join(name)).unwrap();
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH \"EXIT CODES", ".SH \"EXAMPLES\""] {
            assert!(page.contains(section), "{name} has no {section}");
        }
        match Process::new("mandoc").args(["-W", "error", "-T", "utf8"]).arg(target.join(name)).output() {
            Ok(shown) => {
                let text = String::from_utf8_lossy(&shown.stdout);
                let stderr = String::from_utf8_lossy(&shown.stderr);
                assert_eq!(stderr, "", "{name}");
                assert!(text.contains("kubectl reconcile"), "{text}");
            }
            Err(_) => not_tested(&format!("mandoc is not installed: {name} was not rendered")),
        }
    }
    let single = run(&["man", "config", "view"]);
    let title = format!(
        ".TH kubectl-reconcile-config-view 1 \"\" \"kubectl-reconcile {}\" \"User Commands\"",
        env!("CARGO_PKG_VERSION")
    );
    assert!(String::from_utf8_lossy(&single.stdout).lines().any(|line| line.trim_end() == title), "{title}");
    assert_eq!(single.stdout, fs::read(target.join("kubectl-reconcile-config-view.1")).unwrap());
    assert_eq!(run(&["man", "__complete"]).status.code(), Some(2));
    assert_eq!(run(&["man", "--dir", "/proc/nowhere"]).status.code(), Some(2));
}

/// `UPDATE_REFERENCE=1 cargo test --test it help` writes it.
#[test]
fn the_reference_is_that_of_the_definitions() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md");
    let text = reference(&commands());
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == text, "docs/cli.md is out of date: run `UPDATE_REFERENCE=1 cargo test --test it help`");
}

/// An argument as it is typed: `-o, --output <FORMAT>`.
pub fn spelling(arg: &Arg) -> String {
    let values: Vec<String> =
        arg.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>")).collect();
    let values = if arg.get_action().takes_values() { values.join(" ") } else { String::new() };
    let is_optional = arg.get_num_args().is_some_and(|count| count.min_values() == 0);
    let value = match () {
        () if values.is_empty() => String::new(),
        () if arg.is_require_equals_set() && is_optional => format!("[={values}]"),
        () if arg.is_require_equals_set() => format!("={values}"),
        () if is_optional => format!(" [{values}]"),
        () => format!(" {values}"),
    };
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}{value}"),
        (None, Some(long)) => format!("--{long}{value}"),
        (Some(short), None) => format!("-{short}{value}"),
        (None, None) => value.trim().to_owned(),
    }
}
