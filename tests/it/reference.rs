//! `docs/cli.md`, made of the definition of the command line.

use std::fmt::Write as _;

use clap::{Arg, Command};

use crate::help::spelling;

/// The whole document.
pub fn reference(commands: &[(String, Command)]) -> String {
    let mut text = "# Command line\n\n\
        All commands and flags, generated from their definitions. `kubectl reconcile COMMAND --help` shows the same in the terminal, and\n\
        `kubectl reconcile man --dir DIR` writes manual pages.\n\n"
        .to_owned();
    for (name, command) in commands {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "- [`kubectl {name}`](#{}): {}", anchor(name), escaped(&about));
    }
    for (name, command) in commands {
        section(&mut text, name, command);
    }
    text
}

/// The anchor of the heading of a command.
fn anchor(name: &str) -> String {
    format!("kubectl-{}", name.replace(' ', "-"))
}

fn section(text: &mut String, name: &str, command: &Command) {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let _ = write!(text, "\n## kubectl {name}\n\n{}\n", escaped(&about));
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let _ = write!(text, "\n```text\n{usage}\n```\n");
    let shown = |arg: &&Arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str());
    let positional: Vec<&Arg> = command.get_positionals().filter(shown).collect();
    table(text, "Arguments", &positional);
    let mut headings: Vec<&str> = Vec::new();
    let flags: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_positional()).filter(shown).collect();
    for heading in flags.iter().filter_map(|arg| arg.get_help_heading()) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        let of_heading: Vec<&Arg> =
            flags.iter().copied().filter(|arg| arg.get_help_heading() == Some(heading)).collect();
        table(text, heading, &of_heading);
    }
    if let Some(after) = command.get_after_long_help() {
        let _ = write!(text, "\n```text\n{}\n```\n", after.to_string().trim_end());
    }
}

fn table(text: &mut String, heading: &str, args: &[&Arg]) {
    if args.is_empty() {
        return;
    }
    let _ = write!(text, "\n| {heading} | |\n| --- | --- |\n");
    for arg in args {
        let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
        let mut cells = vec![escaped(&help.replace('\n', " "))];
        let values = arg.get_possible_values();
        if arg.get_action().takes_values() && !arg.is_hide_possible_values_set() {
            for value in values.iter().filter(|value| !value.is_hide_set()) {
                let help = value.get_help().map(|help| format!(": {}", escaped(&help.to_string()))).unwrap_or_default();
                cells.push(format!("`{}`{help}", value.get_name()));
            }
        }
        let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        if !defaults.is_empty() && !arg.is_hide_default_value_set() && arg.get_action().takes_values() {
            cells.push(format!("default: `{}`", defaults.join(",")));
        }
        let _ = writeln!(text, "| `{}` | {} |", spelling(arg).replace('|', "\\|"), cells.join("<br>"));
    }
}

/// Text of the help in a table of Markdown. What is between backticks stays as it is.
fn escaped(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| {
        let part = part.replace('|', "\\|");
        if at % 2 == 1 { part } else { part.replace('<', "&lt;").replace('*', "\\*") }
    });
    parts.collect::<Vec<_>>().join("`")
}
