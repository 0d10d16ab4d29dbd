//! `defaults:`, flags as if they were typed. The file may come with a change that somebody proposes, so it may set how a run
//! compares and what it shows, but never which cluster it talks to, which fields it takes from other managers, what it deletes,
//! or whether it can fail.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command, CommandFactory as _};
use serde_json::Value;

use super::file::{File, Node};
use crate::cli::Cli;
use reconcile_core::diagnostic::Location;
use reconcile_core::text::{one_line, similar};

/// The values that a configuration may give a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Default {
    /// Any value of the flag.
    Any,
    /// Only these values, for this reason.
    Only(&'static [&'static str], &'static str),
    /// No value, for this reason.
    Never(&'static str),
}

const CLUSTER: &str = "the cluster and the credentials belong to the person who runs the command";
const CONFIGURED: &str = "a configuration cannot choose the configuration";
const COMMAND: &str = "a configuration cannot choose what a command does";
const DELETES: &str = "a proposed change could delete objects with it";
const INPUT: &str = "a configuration cannot choose the input";
const PASSES: &str = "a proposed change could hide drift with it";
const TAKES: &str = "it takes fields from other managers";
const WRITES: &str = "a proposed change could write files with it";

/// Every flag of the commands that read a configuration.
pub(super) const FLAGS: [(&str, Default); 65] = [
    ("adopt", Default::Never(TAKES)),
    ("allow-empty", Default::Never("it would let a run without manifests pass, and prune everything")),
    ("apply", Default::Never(COMMAND)),
    ("applyset", Default::Never(DELETES)),
    ("applyset-recover", Default::Never(DELETES)),
    ("as", Default::Never(CLUSTER)),
    ("as-group", Default::Never(CLUSTER)),
    ("as-uid", Default::Never(CLUSTER)),
    ("as-user-extra", Default::Never(CLUSTER)),
    ("autoscalers", Default::Any),
    ("by-name", Default::Never(COMMAND)),
    ("cache-dir", Default::Never(WRITES)),
    ("certificate-authority", Default::Never(CLUSTER)),
    ("client-certificate", Default::Never(CLUSTER)),
    ("client-key", Default::Never(CLUSTER)),
    ("cluster", Default::Never(CLUSTER)),
    ("color", Default::Any),
    ("config", Default::Never(CONFIGURED)),
    ("confirm", Default::Any),
    ("context", Default::Never(CLUSTER)),
    ("disable-compression", Default::Any),
    ("dry-run", Default::Never(COMMAND)),
    ("evidence", Default::Any),
    ("exit-zero", Default::Never(PASSES)),
    ("explain-ignores", Default::Any),
    ("fail-on", Default::Any),
    ("field-manager", Default::Never("it decides whose fields an apply may change and remove")),
    ("file", Default::Never(WRITES)),
    ("filename", Default::Never(INPUT)),
    ("for", Default::Never(COMMAND)),
    ("force-conflicts", Default::Only(&["manual", "none"], TAKES)),
    ("full", Default::Any),
    ("include-secrets", Default::Never("a proposed change could write Secrets with it")),
    ("insecure-skip-tls-verify", Default::Never(CLUSTER)),
    ("kubeconfig", Default::Never(CLUSTER)),
    ("kustomize", Default::Never(INPUT)),
    ("live", Default::Never("a proposed change could replace the cluster with a file")),
    ("name", Default::Never(COMMAND)),
    ("namespace", Default::Any),
    ("no-config", Default::Never(CONFIGURED)),
    ("no-pager", Default::Any),
    ("output", Default::Only(&["text", "name", "json"], WRITES)),
    ("prune", Default::Never(DELETES)),
    ("quiet", Default::Any),
    ("recursive", Default::Any),
    ("relative-time", Default::Any),
    ("replace", Default::Only(&["never"], "a replacement deletes the object")),
    ("report-unmanaged", Default::Any),
    ("request-timeout", Default::Any),
    ("selector", Default::Never(PASSES)),
    ("server", Default::Never(CLUSTER)),
    ("shard", Default::Never(PASSES)),
    ("show-unmanaged", Default::Any),
    ("sort", Default::Any),
    ("strict-ownership", Default::Any),
    ("suggest-ignores", Default::Never(COMMAND)),
    ("summary", Default::Any),
    ("theme", Default::Any),
    ("timeout", Default::Any),
    ("tls-server-name", Default::Never(CLUSTER)),
    ("token", Default::Never(CLUSTER)),
    ("user", Default::Never(CLUSTER)),
    ("v", Default::Any),
    ("validate", Default::Any),
    ("wait", Default::Any),
];

/// A flag with its value, as if it were typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlagDefault {
    /// The long name of the flag.
    pub flag: String,
    /// The value as it is written.
    pub value: Value,
    /// The arguments for the command line; none where the flag is switched off.
    pub arguments: Vec<OsString>,
    /// The location in the configuration.
    pub location: Location,
}

/// Reads the flags.
pub(super) fn flags(file: &mut File<'_>, node: &Node<'_>) -> Vec<FlagDefault> {
    if !file.is_any_mapping(node, "`defaults`") {
        return Vec::new();
    }
    let program = Cli::command();
    node.entries().into_iter().filter_map(|(flag, value)| read(file, &program, flag, &value)).collect()
}

fn read(file: &mut File<'_>, program: &Command, flag: &str, node: &Node<'_>) -> Option<FlagDefault> {
    let known = FLAGS.iter().find(|(name, _)| *name == flag).map(|(_, default)| *default);
    let (Some(default), Some(arg)) = (known, arg(program, flag)) else {
        let names = FLAGS.iter().filter(|(_, default)| !matches!(default, Default::Never(_))).map(|(name, _)| *name);
        let flag = one_line(flag.trim_start_matches('-'), 100);
        let hint = match similar(&flag, names) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "see the flags with `kubectl reconcile diff --help`, and write them without `--`".to_owned(),
        };
        file.of_key(node, format!("`defaults`: there is no flag `--{flag}`"), hint);
        return None;
    };
    if let Default::Never(reason) = default {
        let hint = "type it on the command line";
        file.of_key(node, format!("`defaults` cannot set `--{flag}`: {reason}"), hint);
        return None;
    }
    let values = values(node.value, &arg);
    let Some(values) = values else {
        file.of_value(node, format!("`--{flag}` cannot have this value"), format!("write `{}`", example(&arg)));
        return None;
    };
    if values.contains(&None) && matches!(default, Default::Only(..)) {
        file.of_value(node, format!("`--{flag}` needs a value here"), format!("write `{}`", example(&arg)));
        return None;
    }
    for value in values.iter().flatten() {
        if let Default::Only(allowed, reason) = default
            && !allowed.contains(&value.as_str())
        {
            let allowed = allowed.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or ");
            let message = format!("`defaults` cannot set `--{flag}` to `{}`: {reason}", one_line(value, 100));
            file.of_value(node, message, format!("only {allowed} can be set here"));
            return None;
        }
        if let Err(reason) = check(&arg, value) {
            file.of_value(node, format!("`--{flag}`: {reason}"), format!("write `{}`", example(&arg)));
            return None;
        }
    }
    let arguments = values.into_iter().map(|value| match value {
        Some(value) => format!("--{flag}={value}").into(),
        None => format!("--{flag}").into(),
    });
    Some(FlagDefault {
        flag: flag.to_owned(),
        value: node.value.clone(),
        arguments: arguments.collect(),
        location: file.location(node),
    })
}

/// The flag of the first command that has it.
fn arg(program: &Command, flag: &str) -> Option<Arg> {
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    commands.flat_map(Command::get_arguments).find(|arg| arg.get_long() == Some(flag)).cloned()
}

/// The values of the flag: none for a switch. A switch that is off and an empty list give no value; a value of another type is an
/// error.
fn values(value: &Value, arg: &Arg) -> Option<Vec<Option<String>>> {
    if is_switch(arg) && (value.is_boolean() || matches!(arg.get_action(), ArgAction::SetTrue)) {
        return value.as_bool().map(|on| if on { vec![None] } else { Vec::new() });
    }
    let text = |value: &Value| match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(on) => Some(on.to_string()),
        _ => None,
    };
    match value {
        Value::Array(items) if is_list(arg) => items.iter().map(|item| Some(Some(text(item)?))).collect(),
        value => Some(vec![Some(text(value)?)]),
    }
}

/// Returns true for a flag that means something without a value.
pub(super) fn is_switch(arg: &Arg) -> bool {
    let needs_none = arg.get_num_args().is_some_and(|range| range.min_values() == 0);
    let is_boolean = arg.get_possible_values().iter().any(|value| value.get_name() == "true");
    matches!(arg.get_action(), ArgAction::SetTrue) || needs_none && !is_boolean
}

/// Returns true for a flag with several values.
pub(super) fn is_list(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

fn example(arg: &Arg) -> String {
    let flag = arg.get_long().unwrap_or_default();
    let known = arg.get_possible_values();
    match known.first() {
        _ if matches!(arg.get_action(), ArgAction::SetTrue) => format!("{flag}: true"),
        Some(value) => format!("{flag}: {}", value.get_name()),
        None => {
            format!("{flag}: {}", arg.get_value_names().and_then(<[_]>::first).map_or("VALUE", |name| name.as_str()))
        }
    }
}

/// Lets the flag's own parser read a value.
fn check(arg: &Arg, value: &str) -> Result<(), String> {
    let parser = arg.get_value_parser().clone();
    let mut alone = Arg::new("flag").long("flag").value_parser(parser).action(arg.get_action().clone());
    if let Some(delimiter) = arg.get_value_delimiter() {
        alone = alone.value_delimiter(delimiter);
    }
    let command = Command::new("defaults").no_binary_name(true).arg(alone);
    let checked = command.try_get_matches_from([format!("--flag={value}")]);
    checked.map(drop).map_err(|error| reason(&error, value))
}

/// The error of a flag's parser about a value, in one line.
fn reason(error: &clap::Error, value: &str) -> String {
    match std::error::Error::source(error) {
        Some(source) => one_line(&source.to_string(), 200),
        None => format!("`{}` is not one of its values", one_line(value, 100)),
    }
}

/// The flags that can be set, with their definitions, for the JSON Schema.
pub(super) fn settable() -> Vec<(&'static str, Default, Arg)> {
    let program = Cli::command();
    let settable = FLAGS.iter().filter(|(_, default)| !matches!(default, Default::Never(_)));
    settable.filter_map(|(flag, default)| Some((*flag, *default, arg(&program, flag)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new flag is a decision: what may a configuration do with it?
    #[test]
    fn every_flag_is_decided_about() {
        let program = Cli::command();
        let readers = program
            .get_subcommands()
            .filter(|command| command.get_arguments().any(|arg| arg.get_long() == Some("filename")));
        let mut flags: Vec<&str> =
            readers.flat_map(Command::get_arguments).filter_map(Arg::get_long).filter(|long| *long != "help").collect();
        flags.sort_unstable();
        flags.dedup();
        let decided: Vec<&str> = FLAGS.iter().map(|(flag, _)| *flag).collect();
        assert_eq!(flags, decided);
        assert!(FLAGS.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn values_that_can_be_set_are_values_of_the_flag() {
        for (flag, default, arg) in settable() {
            if let Default::Only(values, _) = default {
                for value in values {
                    assert_eq!(check(&arg, value), Ok(()), "{flag}");
                }
            }
        }
    }
}
