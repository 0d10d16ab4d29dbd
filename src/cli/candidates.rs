//! What can be typed next: candidates from the definition of the command line and from the kubeconfig.

use std::path::Path;

use clap::{Arg, Command, CommandFactory as _};

use crate::cli::Cli;
use crate::client::{Environment, config_names};
use crate::text::is_hidden;

/// The shell completes file names.
const FILES: u8 = 0;
/// There are no other candidates.
const NO_FILES: u8 = 4;

/// The candidates for the last word, and the directive.
pub(crate) fn complete(words: &[String]) -> (Vec<String>, u8) {
    let root = Cli::command();
    let (word, before) = words.split_last().map_or(("", words), |(last, before)| (last.as_str(), before));
    let typed = before.iter().find(|word| !word.starts_with('-'));
    let Some(command) = typed.and_then(|name| root.find_subcommand(name)) else {
        return (subcommands(&root, word), NO_FILES);
    };
    if let Some((flag, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
        let Some(arg) = flag_named(command, flag) else { return (Vec::new(), NO_FILES) };
        let (values, directive) = values(arg, value, before);
        return (values.into_iter().map(|value| format!("{flag}={value}")).collect(), directive);
    }
    let awaiting = before.last().and_then(|flag| flag_named(command, flag)).filter(|arg| needs_value(arg));
    if let Some(arg) = awaiting {
        return values(arg, word, before);
    }
    if word.starts_with('-') {
        return (flags(command, word), NO_FILES);
    }
    let positional = command.get_positionals().next();
    positional.map_or((Vec::new(), NO_FILES), |arg| values(arg, word, before))
}

fn subcommands(root: &Command, word: &str) -> Vec<String> {
    let visible = root.get_subcommands().filter(|command| !command.is_hide_set());
    let wanted = visible.filter(|command| command.get_name().starts_with(word));
    wanted.map(|command| described(command.get_name(), command.get_about())).collect()
}

fn flags(command: &Command, word: &str) -> Vec<String> {
    let long = command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(|arg| {
        let flag = format!("--{}", arg.get_long()?);
        flag.starts_with(word).then(|| described(&flag, arg.get_help()))
    });
    long.collect()
}

fn described(name: &str, help: Option<&clap::builder::StyledStr>) -> String {
    help.map_or_else(|| name.to_owned(), |help| format!("{name}\t{}", help.to_string().replace('\n', " ")))
}

fn flag_named<'c>(command: &'c Command, flag: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|arg| match flag.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => flag.strip_prefix('-').is_some_and(|short| short.chars().eq(arg.get_short())),
    })
}

/// Returns true if the next word is the flag's value: flags whose value is optional take it only behind `=`.
fn needs_value(arg: &Arg) -> bool {
    arg.get_action().takes_values() && !arg.is_require_equals_set() && arg.get_long() != Some("v")
}

fn values(arg: &Arg, word: &str, before: &[String]) -> (Vec<String>, u8) {
    let of_config = match arg.get_long() {
        Some("context") => Some(names(before).contexts),
        Some("cluster") => Some(names(before).clusters),
        Some("user") => Some(names(before).users),
        _ => None,
    };
    // A line end or a tab in a name would make candidates and directives of it, and a terminal would act on the rest.
    let of_config =
        of_config.map(|names| names.into_iter().filter(|name| !name.contains(is_hidden)).collect::<Vec<_>>());
    let possible = arg.get_possible_values();
    let is_free = of_config.is_none() && possible.is_empty();
    let values = of_config
        .unwrap_or_else(|| possible.iter().map(|value| described(value.get_name(), value.get_help())).collect());
    let wanted = values.into_iter().filter(|value| value.starts_with(word)).collect();
    (wanted, if is_free { FILES } else { NO_FILES })
}

/// The names in the kubeconfig; none when it cannot be read, which the command itself will tell.
fn names(before: &[String]) -> crate::client::ConfigNames {
    let explicit = before.iter().enumerate().find_map(|(index, word)| match word.strip_prefix("--kubeconfig") {
        Some("") => before.get(index + 1).map(String::as_str),
        Some(rest) => rest.strip_prefix('='),
        None => None,
    });
    config_names(explicit.map(Path::new), &Environment::from_process()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn candidates(words: &[&str]) -> (Vec<String>, u8) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let (candidates, directive) = complete(&words);
        (candidates.iter().map(|line| line.split('\t').next().unwrap().to_owned()).collect(), directive)
    }

    #[test]
    fn commands_flags_and_values_are_completed() {
        assert_eq!(candidates(&["di"]), (vec!["diff".to_owned()], NO_FILES));
        assert_eq!(candidates(&["diff", "--show"]), (vec!["--show-unmanaged".to_owned()], NO_FILES));
        assert_eq!(candidates(&["diff", "-o", "j"]), (vec!["json".to_owned()], NO_FILES));
        assert_eq!(candidates(&["diff", "--color", "al"]), (vec!["always".to_owned()], NO_FILES));
        assert_eq!(candidates(&["diff", "--color=n"]), (vec!["--color=never".to_owned()], NO_FILES));
        assert_eq!(candidates(&["completion", "z"]), (vec!["zsh".to_owned()], NO_FILES));
        assert_eq!(candidates(&["apply", "-f", "dep"]), (Vec::new(), FILES));
        assert_eq!(candidates(&["__comp"]), (Vec::new(), NO_FILES));
        assert!(candidates(&[""]).0.contains(&"snapshot".to_owned()));
    }

    #[test]
    fn names_that_would_forge_candidates_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        let contexts = ["good", "bad\\nforged", "bad\\tforged", "bad\\x1b[31m", "bad\\u202e", "ad\\u00admin"];
        let contexts = contexts.map(|name| format!("{{name: \"{name}\", context: {{cluster: c}}}}")).join(", ");
        std::fs::write(&path, format!("{{apiVersion: v1, kind: Config, contexts: [{contexts}]}}")).unwrap();
        let config = format!("--kubeconfig={}", path.display());
        assert_eq!(candidates(&["diff", &config, "--context", ""]), (vec!["good".to_owned()], NO_FILES));
        assert_eq!(candidates(&["diff", &config, "--context="]), (vec!["--context=good".to_owned()], NO_FILES));
    }
}
