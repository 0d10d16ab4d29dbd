//! Hints for flags that kubectl, git or Terraform have and this program does not.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Flags of other tools, each with its hint.
const FAMILIAR: &[(&str, &str)] = &[
    ("--server-side", "every apply is a server-side apply: leave the flag out"),
    (
        "--force",
        "`--force-conflicts` takes fields from other managers, `--replace=immutable` recreates what cannot be changed",
    ),
    ("--overwrite", "manual changes are undone without a flag; `--show-unmanaged` lists what others have added"),
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

const CONFIRM: &str = "`apply` asks with `--confirm` only";
const PRUNE: &str = "members of an apply set are pruned: `--prune --applyset=NAME`";

/// The largest difference in length between a flag and the one that was meant, in characters.
const MISTYPED: usize = 3;

/// Adds the hint for a flag of another tool. A flag of ours that only begins like it is not suggested.
pub(super) fn explained(mut error: clap::Error) -> clap::Error {
    let text = |error: &clap::Error, kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let Some(typed) = text(&error, ContextKind::InvalidArg).filter(|_| error.kind() == ErrorKind::UnknownArgument)
    else {
        return error;
    };
    let familiar = FAMILIAR.iter().find(|(flag, _)| *flag == typed);
    let similar = text(&error, ContextKind::SuggestedArg);
    let is_mistyped = similar.is_some_and(|similar| similar.len().abs_diff(typed.len()) <= MISTYPED);
    if familiar.is_some() || !is_mistyped {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
    }
    if let Some((_, instead)) = familiar {
        let tip = ContextValue::StyledStrs(vec![StyledStr::from(*instead)]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::cli::Cli;

    fn message(arguments: &[&str]) -> String {
        let error = Cli::try_parse_from(["kubectl-reconcile"].iter().chain(arguments)).unwrap_err();
        explained(error).to_string()
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
