//! Hints for commands, flags and values that kubectl, git or Terraform have and this program does not, and for manifests without `-f`.

use std::ffi::OsString;

use clap::CommandFactory as _;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Cli;

/// Flags of other tools, each with its hint.
const FAMILIAR: &[(&str, &str)] = &[
    ("--server-side", "every apply is a server-side apply: leave the flag out"),
    (
        "--force",
        "`--force-conflicts` takes fields from other managers, `--replace=immutable` recreates what cannot be changed",
    ),
    ("--overwrite", "manual changes are undone without a flag; `--show-unmanaged` lists what others have added"),
    ("--record", "`metadata.managedFields` records who changed each field and when: leave the flag out"),
    ("--yes", CONFIRM),
    ("-y", CONFIRM),
    ("--auto-approve", CONFIRM),
    ("--exit-code", "drift has the exit code 1 without a flag"),
    ("--detailed-exitcode", "drift has the exit code 1 without a flag"),
    ("--field-validation", "the flag is `--validate`"),
    ("--prune-allowlist", PRUNE),
    ("--prune-whitelist", PRUNE),
    ("--all", PRUNE),
    ("--cascade", "objects are deleted in the background, which is the default of kubectl"),
    ("--grace-period", "objects are deleted with the grace period that they have themselves"),
    ("--concurrency", "the number of requests under way adapts to the server"),
    ("--parallelism", "the number of requests under way adapts to the server"),
];

/// Commands of other tools, each with the one that does the same here.
const FAMILIAR_COMMANDS: &[(&str, &str)] = &[
    ("plan", "diff"),
    ("check", "diff"),
    ("compare", "diff"),
    ("preview", "diff"),
    ("sync", "apply"),
    ("deploy", "apply"),
    ("install", "apply"),
    ("upgrade", "apply"),
    ("reconcile", "apply"),
    ("prune", "apply --prune"),
    ("wait", "status --wait"),
    ("health", "status"),
    ("export", "snapshot"),
    ("permissions", "access"),
    ("rbac", "access"),
    ("merge", "report merge"),
];

const CONFIRM: &str = "`apply` asks with `--confirm` only";
const PRUNE: &str = "members of an apply set are pruned: `--prune --applyset=NAME`";

/// The largest difference in length between a flag and the one that was meant, in characters.
const MISTYPED: usize = 3;

/// Adds the hint for what another tool has or what was left out. What only begins like a name of ours is not suggested.
pub(super) fn explained(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    match error.kind() {
        ErrorKind::UnknownArgument => unknown_argument(&mut error, arguments),
        ErrorKind::InvalidSubcommand => unknown_command(&mut error),
        ErrorKind::InvalidValue => value_of_kubectl(&mut error),
        _ => {}
    }
    error
}

fn unknown_argument(error: &mut clap::Error, arguments: &[OsString]) {
    let Some(typed) = text(error, ContextKind::InvalidArg) else { return };
    if !typed.starts_with('-') {
        if let Some(command) = reader(arguments) {
            error.remove(ContextKind::Usage);
            tip(error, format!("manifests are named with `-f`: `kubectl reconcile {command} -f {typed}`"));
        }
        return;
    }
    let familiar = FAMILIAR.iter().find(|(flag, _)| *flag == typed);
    let similar = text(error, ContextKind::SuggestedArg);
    let is_mistyped = similar.is_some_and(|similar| similar.len().abs_diff(typed.len()) <= MISTYPED);
    if familiar.is_some() || !is_mistyped {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
    }
    if let Some((_, instead)) = familiar {
        tip(error, (*instead).to_owned());
    }
}

fn unknown_command(error: &mut clap::Error) {
    let Some(typed) = text(error, ContextKind::InvalidSubcommand) else { return };
    if let Some((_, meant)) = FAMILIAR_COMMANDS.iter().find(|(command, _)| *command == typed) {
        error.remove(ContextKind::SuggestedSubcommand);
        tip(error, format!("the command is `kubectl reconcile {meant}`"));
    }
}

/// `--validate=true` and `--validate=false`, as kubectl has them.
fn value_of_kubectl(error: &mut clap::Error) {
    let is_validate = text(error, ContextKind::InvalidArg).is_some_and(|arg| arg.starts_with("--validate "));
    let level = match text(error, ContextKind::InvalidValue).as_deref() {
        Some("true") => "strict",
        Some("false") => "ignore",
        _ => return,
    };
    if is_validate {
        tip(error, format!("what kubectl calls so is `--validate={level}`"));
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
fn reader(arguments: &[OsString]) -> Option<String> {
    let typed = arguments.get(1)?.to_str()?;
    let program = Cli::command();
    let command = program.find_subcommand(typed)?;
    let reads = command.get_arguments().any(|arg| arg.get_long() == Some("filename"));
    (reads && !command.has_subcommands() && command.get_positionals().next().is_none()).then(|| typed.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn message(arguments: &[&str]) -> String {
        let all: Vec<OsString> = ["kubectl-reconcile"].iter().chain(arguments).map(OsString::from).collect();
        explained(Cli::try_parse_from(&all).unwrap_err(), &all).to_string()
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
        for (value, level) in [("true", "strict"), ("false", "ignore")] {
            let said = message(&["diff", "-f", "m", &format!("--validate={value}")]);
            assert!(said.contains(&format!("`--validate={level}`")), "{said}");
        }
        assert!(!message(&["diff", "-f", "m", "--sort=true"]).contains("kubectl calls"));
        assert!(message(&["apply", "-f", "m", "--record"]).contains("managedFields"));
    }

    #[test]
    fn commands_of_other_tools_do_not_exist_and_those_named_instead_do() {
        let program = Cli::command();
        for (command, meant) in FAMILIAR_COMMANDS {
            assert!(program.find_subcommand(command).is_none(), "{command}");
            assert!(program.find_subcommand(meant.split(' ').next().unwrap()).is_some(), "{meant}");
        }
    }

    #[test]
    fn what_was_mistyped_is_still_suggested() {
        assert!(message(&["diff", "--force-conflict", "-f", "x"]).contains("'--force-conflicts'"));
        assert!(!message(&["diff", "--overwrites", "-f", "x"]).contains("similar"));
    }

    #[test]
    fn what_is_explained_does_not_exist_and_what_is_named_instead_does() {
        let command = Cli::command();
        let flags: Vec<String> = (command.get_subcommands().flat_map(clap::Command::get_arguments))
            .filter_map(|arg| Some(format!("--{}", arg.get_long()?)))
            .collect();
        for (flag, instead) in FAMILIAR {
            assert!(!flags.contains(&(*flag).to_owned()), "{flag}");
            for named in instead.split('`').flat_map(str::split_whitespace).filter(|word| word.starts_with("--")) {
                let name = named.split('=').next().unwrap().to_owned();
                assert!(flags.contains(&name), "{name}");
            }
        }
    }
}
