//! Hints for commands, flags and values that other tools have and this program does not ([`familiar`](super::familiar)), and for
//! manifests without `-f`.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use reconcile_core::text::similar;

use super::familiar::{COMMANDS, FLAGS, FLAGS_OF_COMMANDS, OTHER_COMMANDS, VALUES};

/// A hint for a command that may lack a flag that it names: comparisons are the same in several commands, and their hints name the flags of
/// `apply`.
pub(crate) fn hint_for(hint: &str, command: &Command) -> String {
    let has = |flag: &str| command.get_arguments().any(|arg| arg.get_long() == Some(flag));
    let named = hint.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
    let mut flags = named.filter_map(|word| word.strip_prefix("--")?.split('=').next());
    match flags.find(|flag| !flag.is_empty() && !has(flag)) {
        Some(flag) => format!("{hint} (`--{flag}` is a flag of `kubectl reconcile apply`)"),
        None => hint.to_owned(),
    }
}

/// Adds a hint for flags and commands that kubectl or another tool has and for missing arguments, and drops suggestions that are not similar.
pub(super) fn explained(mut error: clap::Error, arguments: &[OsString], program: &Command) -> clap::Error {
    match error.kind() {
        ErrorKind::UnknownArgument => unknown_argument(&mut error, arguments, program),
        ErrorKind::InvalidSubcommand => unknown_command(&mut error),
        ErrorKind::MissingRequiredArgument => no_manifests(&mut error, arguments, program),
        ErrorKind::InvalidValue => value_of_kubectl(&mut error),
        ErrorKind::ValueValidation => flag_of_terraform(&mut error, arguments),
        _ => {}
    }
    error
}

fn unknown_argument(error: &mut clap::Error, arguments: &[OsString], program: &Command) {
    let Some(typed) = text(error, ContextKind::InvalidArg) else { return };
    if !typed.starts_with('-') {
        if let Some(hint) = manifest(&typed, arguments, program) {
            error.remove(ContextKind::Usage);
            tip(error, hint);
        }
        return;
    }
    let Some(command) = arguments.get(1).and_then(|command| command.to_str()) else { return };
    if command.starts_with('-') {
        let path = paths(arguments).into_iter().next();
        if let (Some(path), "-f" | "--filename") = (path, typed.as_str()) {
            error.remove(ContextKind::SuggestedArg);
            tip(error, format!("a command comes first: `kubectl reconcile diff -f {path}`"));
        }
        return;
    }
    let of_command = FLAGS_OF_COMMANDS.iter().find(|(name, flag, _)| *name == command && *flag == typed);
    let familiar = FLAGS.iter().find(|(flag, _)| *flag == typed).map(|(_, instead)| *instead);
    let familiar = familiar.or(of_command.map(|(_, _, instead)| *instead));
    let suggested = text(error, ContextKind::SuggestedArg);
    let is_mistyped = suggested.is_some_and(|suggested| is_mistyped(&typed, &suggested));
    if familiar.is_some() || !is_mistyped {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
    }
    if let Some(instead) = familiar {
        tip(error, instead.to_owned());
    }
}

/// Returns true if one may have typed a name and meant the other: a letter or two differ, or the end is missing.
fn is_mistyped(typed: &str, meant: &str) -> bool {
    meant.starts_with(typed) || similar(typed, std::iter::once(meant)).is_some()
}

/// Names every way to select manifests where there are none.
fn no_manifests(error: &mut clap::Error, arguments: &[OsString], program: &Command) {
    const FILENAME: &str = "--filename <PATH>";
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return };
    let command = arguments.get(1).and_then(|typed| program.find_subcommand(typed));
    let (true, Some(command)) = (missing.iter().any(|missing| missing == FILENAME), command) else { return };
    let mut ways = vec!["-f, --filename <PATH>", "-k, --kustomize <DIR>"];
    ways.extend((!NEVER_STORED.contains(&command.get_name())).then_some("--from <SOURCE>"));
    ways.extend(command.get_positionals().next().map(|_| "<TYPE/NAME>"));
    let ways = |missing: &String| if missing == FILENAME { ways.join(" | ") } else { missing.clone() };
    let missing = missing.iter().map(ways).collect();
    error.insert(ContextKind::InvalidArg, ContextValue::Strings(missing));
    error.remove(ContextKind::Usage);
}

/// The commands that refuse manifests that the cluster keeps (`run::reading::stored::refuse_stored`).
const NEVER_STORED: [&str; 3] = ["apply", "pull", "resolve"];

/// Returns true for what names an object rather than a file: `TYPE/NAME`, if there is no such file.
fn is_object(typed: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && !name.contains('/') && !name.starts_with('.');
    let is_manifest = [".yaml", ".yml", ".json"].iter().any(|end| typed.ends_with(end));
    let parts = typed.split_once('/');
    parts.is_some_and(|(kind, name)| is_name(kind) && is_name(name)) && !is_manifest && !Path::new(typed).exists()
}

/// The hint for a file without a flag.
fn manifest(typed: &str, arguments: &[OsString], program: &Command) -> Option<String> {
    let command = reader(arguments, program)?;
    let has = |flags: [&str; 2]| arguments.iter().any(|argument| flags.iter().any(|flag| argument == flag));
    if has(["-k", "--kustomize"]) || has(["--from", "--from"]) {
        return None;
    }
    if is_object(typed) {
        return Some(match command.as_str() {
            "pull" => format!("`--object {typed}` chooses it among the manifests of `-f`"),
            _ => format!(
                "`{command}` takes manifests, which `-f` names; `kubectl reconcile status {typed}` and \
                 `kubectl reconcile blame {typed}` take an object"
            ),
        });
    }
    Some(match paths(arguments).pop() {
        Some(before) => format!("repeat `-f`: `-f {before} -f {typed}`, or quote the glob"),
        None => format!("manifests are named with `-f`: `kubectl reconcile {command} -f {typed}`"),
    })
}

/// The values of `-f`.
fn paths(arguments: &[OsString]) -> Vec<String> {
    let mut paths = Vec::new();
    let mut rest = arguments.iter().filter_map(|argument| argument.to_str());
    while let Some(argument) = rest.next() {
        let path = match argument.strip_prefix("--filename").or(argument.strip_prefix("-f")) {
            Some("") => rest.next(),
            Some(path) => Some(path.strip_prefix('=').unwrap_or(path)),
            None => None,
        };
        paths.extend(path.map(str::to_owned));
    }
    paths
}

fn unknown_command(error: &mut clap::Error) {
    let Some(typed) = text(error, ContextKind::InvalidSubcommand) else { return };
    let other = OTHER_COMMANDS.iter().find(|(command, _)| *command == typed).map(|(_, hint)| (*hint).to_owned());
    let same = COMMANDS.iter().find(|(command, _)| *command == typed);
    let same = same.map(|(_, meant)| format!("the command is `kubectl reconcile {meant}`"));
    let is_path = typed.contains(['/', '.']);
    let path = is_path
        .then(|| format!("a command comes first, and `-f` names manifests: `kubectl reconcile diff -f {typed}`"));
    if let Some(hint) = same.or(other).or(path) {
        error.remove(ContextKind::SuggestedSubcommand);
        tip(error, hint);
    } else if let Some(ContextValue::Strings(suggested)) = error.get(ContextKind::SuggestedSubcommand) {
        let meant: Vec<String> = suggested.iter().filter(|meant| is_mistyped(&typed, meant)).cloned().collect();
        if meant.is_empty() {
            error.remove(ContextKind::SuggestedSubcommand);
        } else {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(meant));
        }
    }
}

/// `--validate=true` and others, as kubectl has them.
fn value_of_kubectl(error: &mut clap::Error) {
    let (Some(arg), Some(value)) = (text(error, ContextKind::InvalidArg), text(error, ContextKind::InvalidValue))
    else {
        return;
    };
    let flag = arg.split([' ', '[']).next().unwrap_or_default();
    if let Some((_, _, here)) = VALUES.iter().find(|(name, typed, _)| *name == flag && *typed == value) {
        tip(error, format!("kubectl's `{flag}={value}` is `{flag}={here}` here"));
    }
}

/// `-out=plan`, which is read as `--output ut=plan`.
fn flag_of_terraform(error: &mut clap::Error, arguments: &[OsString]) {
    let typed = |flag: &str| {
        arguments.iter().filter_map(|argument| argument.to_str()).any(|typed| typed.split('=').next() == Some(flag))
    };
    if let Some((_, instead)) = FLAGS.iter().find(|(flag, _)| flag.starts_with("-o") && typed(flag)) {
        tip(error, (*instead).to_owned());
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    }
}

fn tip(error: &mut clap::Error, text: String) {
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(text)]));
}

/// The command that was typed, if it reads manifests.
fn reader(arguments: &[OsString], program: &Command) -> Option<String> {
    let typed = arguments.get(1)?.to_str()?;
    let command = program.find_subcommand(typed)?;
    let reads = command.get_arguments().any(|arg| arg.get_long() == Some("filename"));
    (reads && !command.has_subcommands() && command.get_positionals().next().is_none()).then(|| typed.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::commands::Cli;

    fn message(arguments: &[&str]) -> String {
        let all: Vec<OsString> = ["kubectl-reconcile"].iter().chain(arguments).map(OsString::from).collect();
        explained(Cli::try_parse_from(&all).unwrap_err(), &all, &Cli::command()).to_string()
    }

    #[test]
    fn a_flag_of_another_tool_is_explained() {
        let tip = "\n  tip: every apply is a server-side apply: leave the flag out\n";
        for command in ["apply", "diff"] {
            let message = message(&[command, "-f", "x", "--server-side"]);
            assert!(message.contains(tip) && !message.contains("--server <URL>"), "{message}");
        }
        assert!(message(&["apply", "-y", "-f", "x"]).contains("`--confirm` only"));
        assert!(message(&["apply", "--force=true", "-f", "x"]).contains("--replace=immutable"));
    }

    #[test]
    fn manifests_without_a_flag_and_commands_of_other_tools_are_explained() {
        let said = message(&["diff", "m/"]);
        assert!(said.contains("`kubectl reconcile diff -f m/`") && !said.contains("Usage"), "{said}");
        assert!(!message(&["version", "m/"]).contains("-f"));
        let said = message(&["plan", "-f", "m/"]);
        assert!(said.contains("`kubectl reconcile diff`") && !said.contains("'man'"), "{said}");
        let said = message(&["dif"]);
        assert!(said.contains("'diff'"), "{said}");
        for (flag, value, here) in VALUES {
            let said = message(&["apply", "-f", "m", &format!("{flag}={value}")]);
            assert!(said.contains(&format!("tip: kubectl's `{flag}={value}` is `{flag}={here}` here\n")), "{said}");
        }
        assert!(!message(&["diff", "-f", "m", "--sort=true"]).contains("kubectl's"));
        assert!(message(&["apply", "-f", "m", "--record"]).contains("managedFields"));
    }

    #[test]
    fn commands_of_other_tools_do_not_exist_and_those_named_instead_do() {
        let program = Cli::command();
        for (command, meant) in COMMANDS {
            assert!(program.find_subcommand(command).is_none(), "{command}");
            assert!(program.find_subcommand(meant.split(' ').next().unwrap()).is_some(), "{meant}");
        }
        for (command, _) in OTHER_COMMANDS {
            assert!(program.find_subcommand(command).is_none(), "{command}");
            assert!(message(&[command, "-f", "m/"]).contains("tip: `kubectl delete -f`"));
        }
    }

    #[test]
    fn a_hint_says_whose_flag_it_names() {
        let program = Cli::command();
        let of = |command: &str, hint: &str| hint_for(hint, program.find_subcommand(command).unwrap());
        let hint = "add a manifest for it, or pass `--create-namespace`";
        assert_eq!((of("apply", hint), of("resolve", hint)), (hint.to_owned(), hint.to_owned()));
        assert_eq!(of("pull", hint), format!("{hint} (`--create-namespace` is a flag of `kubectl reconcile apply`)"));
        assert_eq!(
            of("pull", "use `-n NAME` or `--field=spec` -- or not"),
            "use `-n NAME` or `--field=spec` -- or not"
        );
        assert!(
            of("resolve", "name the set with `--prune --applyset`")
                .ends_with("(`--prune` is a flag of `kubectl reconcile apply`)")
        );
    }

    #[test]
    fn an_object_instead_of_manifests_is_explained() {
        let said = message(&["pull", "deploy/web"]);
        assert!(said.contains("`--object deploy/web`") && !said.contains("-f deploy/web"), "{said}");
        for command in ["diff", "apply", "resolve", "snapshot"] {
            let said = message(&[command, "deploy/web"]);
            assert!(said.contains("`kubectl reconcile status deploy/web`") && !said.contains("--object"), "{said}");
        }
        for file in ["src/cli", "deploy/web.yaml", "./web", "a/b/c", "deploy/"] {
            assert!(message(&["diff", file]).contains(&format!("-f {file}`")), "{file}");
        }
    }

    #[test]
    fn every_way_to_select_manifests_is_named() {
        for (command, others) in [
            ("diff", &["--from <SOURCE>"][..]),
            ("access", &["--from <SOURCE>"]),
            ("status", &["--from <SOURCE>", "<TYPE/NAME>"]),
            ("blame", &["--from <SOURCE>", "<TYPE/NAME>"]),
            ("apply", &[]),
            ("pull", &[]),
            ("resolve", &[]),
        ] {
            let ways = [&["-f, --filename <PATH>", "-k, --kustomize <DIR>"], others].concat().join(" | ");
            let said = message(&[command]);
            assert!(said.contains(&format!("\n  {ways}\n")), "{said}");
        }
    }

    #[test]
    fn several_files_after_one_flag_are_explained() {
        for flags in [&["-f", "a.yaml"][..], &["-fa.yaml"], &["--filename", "a.yaml"], &["--filename=a.yaml"]] {
            let said = message(&[&["diff"], flags, &["b.yaml", "c.yaml"]].concat());
            assert!(said.contains("tip: repeat `-f`: `-f a.yaml -f b.yaml`, or quote the glob\n"), "{said}");
        }
        for said in [message(&["diff", "-k", "k", "b.yaml"]), message(&["diff", "--from", "last-applied", "web"])] {
            assert!(!said.contains("tip"), "{said}");
        }
    }

    #[test]
    fn a_missing_command_is_explained() {
        for arguments in [&["m/"][..], &["m/", "-n", "shop"], &["web.yaml"], &["./m"]] {
            let said = message(arguments);
            assert!(said.contains(&format!("`kubectl reconcile diff -f {}`", arguments[0])), "{said}");
        }
        for arguments in [&["-f", "m/"][..], &["--filename=m/"]] {
            let said = message(arguments);
            assert!(said.contains("a command comes first: `kubectl reconcile diff -f m/`"), "{said}");
        }
    }

    #[test]
    fn flags_of_terraform_and_of_a_command_that_needs_none_are_explained() {
        for plan in [&["--out", "plan"][..], &["--out=plan"], &["-out=plan"]] {
            let said = message(&[&["diff", "-f", "m"], plan].concat());
            assert!(said.contains("tip: `diff --save-plan=FILE` saves the plan"), "{said}");
        }
        for (flag, instead) in
            [("--no-color", "`--color=never`"), ("--no-colour", "`--color=never`"), ("--save-config", "managedFields")]
        {
            let said = message(&["apply", "-f", "m", flag]);
            assert!(said.contains(instead) && !said.contains("--no-config"), "{said}");
        }
        let program = Cli::command();
        for (command, flag, instead) in FLAGS_OF_COMMANDS {
            assert!(message(&[command, "-f", "m", flag]).contains(instead));
            let mut flags = program.find_subcommand(command).unwrap().get_arguments().filter_map(clap::Arg::get_long);
            assert!(flags.all(|long| format!("--{long}") != *flag), "{command} {flag}");
        }
    }

    #[test]
    fn what_was_mistyped_is_still_suggested() {
        assert!(message(&["diff", "--force-conflict", "-f", "x"]).contains("'--force-conflicts'"));
        assert!(message(&["diff", "--fail", "drift", "-f", "x"]).contains("'--fail-on'"), "the end is missing");
        for other in ["--overwrites", "--stats"] {
            assert!(!message(&["diff", other, "-f", "x"]).contains("similar"), "{other}");
        }
        assert!(!message(&["comparison"]).contains("similar"));
    }

    #[test]
    fn what_is_explained_does_not_exist_and_what_is_named_instead_does() {
        let command = Cli::command();
        let flags: Vec<String> = (command.get_subcommands().flat_map(clap::Command::get_arguments))
            .filter_map(|arg| Some(format!("--{}", arg.get_long()?)))
            .collect();
        for (flag, instead) in FLAGS {
            assert!(!flags.contains(&(*flag).to_owned()), "{flag}");
            for named in instead.split('`').flat_map(str::split_whitespace).filter(|word| word.starts_with("--")) {
                let name = named.split('=').next().unwrap().to_owned();
                assert!(flags.contains(&name), "{name}");
            }
        }
    }
}
