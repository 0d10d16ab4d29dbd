//! `defaults:`, flags as if they were typed, as far as [`settable`](super::settable) allows them.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Command};
use serde_json::Value;

use super::file::{ConfigNode, File};
use super::settable::{FLAGS, Settable};
use reconcile_core::diagnostic::Location;
use reconcile_core::text::{one_line, similar};

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
pub(super) fn flags(program: &Command, file: &mut File<'_>, node: &ConfigNode<'_>) -> Vec<FlagDefault> {
    if !file.is_any_mapping(node, "`defaults`") {
        return Vec::new();
    }
    node.entries().into_iter().filter_map(|(flag, value)| read(file, program, flag, &value)).collect()
}

fn read(file: &mut File<'_>, program: &Command, flag: &str, node: &ConfigNode<'_>) -> Option<FlagDefault> {
    let known = FLAGS.iter().find(|(name, _)| *name == flag).map(|(_, default)| *default);
    let (Some(default), Some(arg)) = (known, arg(program, flag)) else {
        let names = FLAGS.iter().filter(|(_, default)| !matches!(default, Settable::Never(_))).map(|(name, _)| *name);
        let flag = one_line(flag.trim_start_matches('-'), 100);
        let hint = match similar(&flag, names) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "see the flags with `kubectl reconcile diff --help`, and write them without `--`".to_owned(),
        };
        file.of_key(node, format!("`defaults`: there is no flag `--{flag}`"), hint);
        return None;
    };
    if let Settable::Never(reason) = default {
        let hint = "type it on the command line";
        file.of_key(node, format!("`defaults` cannot set `--{flag}`: {reason}"), hint);
        return None;
    }
    let values = values(node.value, &arg);
    let Some(values) = values else {
        file.of_value(node, format!("`--{flag}` cannot have this value"), right_values(&arg, default));
        return None;
    };
    if values.contains(&None) && matches!(default, Settable::Only(..)) {
        file.of_value(node, format!("`--{flag}` needs a value here"), right_values(&arg, default));
        return None;
    }
    // A mistake first: a value that the flag does not have is no danger.
    for value in values.iter().flatten() {
        if let Err(reason) = check(&arg, value, file.typed(node).as_deref()) {
            file.of_value(node, format!("`--{flag}`: {reason}"), right_values(&arg, default));
            return None;
        }
    }
    if let Some((message, hint)) = default.refusal(flag, &values) {
        file.of_value(node, message, hint);
        return None;
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

/// The hint with the values that a flag may have here.
fn right_values(arg: &Arg, default: Settable) -> String {
    let flag = arg.get_long().unwrap_or_default();
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return format!("write `{flag}: true` or `{flag}: false`");
    }
    let known = arg.get_possible_values();
    let names = known.iter().filter(|value| !value.is_hide_set()).map(clap::builder::PossibleValue::get_name);
    let names: Vec<String> = match default {
        Settable::Only(allowed, _) => allowed.iter().map(|name| format!("`{name}`")).collect(),
        _ => names.map(|name| format!("`{name}`")).collect(),
    };
    match names.split_last() {
        Some((last, [])) => format!("the only value is {last}"),
        Some((last, others)) => format!("the values are {} and {last}", others.join(", ")),
        None => {
            let name = arg.get_value_names().and_then(<[_]>::first).map_or("VALUE", |name| name.as_str());
            format!("write `{flag}: {name}`")
        }
    }
}

/// Lets the flag's own parser read a value. The error quotes the value as it was typed, where that differs.
fn check(arg: &Arg, value: &str, typed: Option<&str>) -> Result<(), String> {
    let parser = arg.get_value_parser().clone();
    let mut alone = Arg::new("flag").long("flag").value_parser(parser).action(arg.get_action().clone());
    if let Some(delimiter) = arg.get_value_delimiter() {
        alone = alone.value_delimiter(delimiter);
    }
    let command = Command::new("defaults").no_binary_name(true).arg(alone);
    let checked = command.try_get_matches_from([format!("--flag={value}")]);
    checked.map(drop).map_err(|error| reason(&error, typed.unwrap_or(value)))
}

/// The error of a flag's parser about a value, in one line. Of several values, it quotes the wrong one.
fn reason(error: &clap::Error, value: &str) -> String {
    let one = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(one)) if value.split(',').any(|value| value == one) => one,
        _ => value,
    };
    match std::error::Error::source(error) {
        Some(source) => plain(&source.to_string()),
        None => format!("`{}` is not one of its values", one_line(one, 100)),
    }
}

/// The text of a parser, in plain words if it is about a range: `-1 is not in 0..=255`.
fn plain(text: &str) -> String {
    let range = text.split_once(" is not in ").and_then(|(value, range)| Some((value, range.split_once("..=")?)));
    match range {
        Some((value, (least, most))) => format!("`{}` is not a number from {least} to {most}", one_line(value, 100)),
        None => one_line(text, 200),
    }
}

/// The flags that can be set, with their definitions, for the JSON Schema.
pub(super) fn settable(program: &Command) -> Vec<(&'static str, Settable, Arg)> {
    let settable = FLAGS.iter().filter(|(_, default)| !matches!(default, Settable::Never(_)));
    settable.filter_map(|(flag, default)| Some((*flag, *default, arg(program, flag)?))).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::commands::Cli;

    #[test]
    fn values_that_can_be_set_are_values_of_the_flag() {
        for (flag, default, arg) in settable(&Cli::command()) {
            if let Settable::Only(values, _) = default {
                for value in values {
                    assert_eq!(check(&arg, value, None), Ok(()), "{flag}");
                }
            }
        }
    }
}
