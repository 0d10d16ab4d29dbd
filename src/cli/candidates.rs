//! What can be typed next, as clap's completion engine finds it, in the form that kubectl asks of its plugins.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Arg, Command, CommandFactory as _};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};

use crate::cli::Cli;
use crate::client::{ConfigNames, Environment, config_names};
use crate::text::is_hidden;

/// The shell completes file names.
const FILES: u8 = 0;
/// There are no other candidates.
const NO_FILES: u8 = 4;

/// The candidates for the last word, each with its description behind a tab, and the directive (cobra `ShellCompDirective`).
pub(crate) fn complete(words: &[String]) -> (Vec<String>, u8) {
    let (word, before) = words.split_last().map_or(("", words), |(last, before)| (last.as_str(), before));
    let values = Arc::new(Values { before: before.to_vec(), any: AtomicBool::new(false) });
    let mut command = with_values(Cli::command(), &values);
    let line = std::iter::once("kubectl-reconcile").chain(before.iter().map(String::as_str)).chain([word]);
    let line: Vec<OsString> = line.map(OsString::from).collect();
    let last = line.len() - 1;
    let found = clap_complete::engine::complete(&mut command, line, last, None).unwrap_or_default();
    // Flags are offered to who asks for them, as kubectl does.
    let offered = found.iter().filter(|candidate| {
        let is_flag = candidate.get_value().to_string_lossy().starts_with('-');
        !candidate.is_hide_set() && (!is_flag || word.starts_with('-'))
    });
    let lines = offered.filter_map(line_of).collect();
    (lines, if values.any.load(Ordering::Relaxed) { FILES } else { NO_FILES })
}

/// One candidate. A line end or a tab in a name would make candidates and directives of it, and a terminal would act on the rest.
fn line_of(candidate: &CompletionCandidate) -> Option<String> {
    let value = candidate.get_value().to_str().filter(|value| !value.contains(is_hidden))?;
    Some(match candidate.get_help() {
        Some(help) => format!("{value}\t{}", help.to_string().replace('\n', " ")),
        None => value.to_owned(),
    })
}

/// What the values of flags come from.
struct Values {
    /// The words before the one that is completed.
    before: Vec<String>,
    /// Whether a flag was met that takes anything: the shell offers its files then.
    any: AtomicBool,
}

impl Values {
    /// The names in the kubeconfig; none when it cannot be read, which the command itself will report.
    fn names(&self) -> ConfigNames {
        let explicit =
            self.before.iter().enumerate().find_map(|(index, word)| match word.strip_prefix("--kubeconfig") {
                Some("") => self.before.get(index + 1).map(String::as_str),
                Some(rest) => rest.strip_prefix('='),
                None => None,
            });
        config_names(explicit.map(Path::new), &Environment::from_process()).unwrap_or_default()
    }
}

/// Gives each argument the values that its definition does not list.
fn with_values(command: Command, values: &Arc<Values>) -> Command {
    let with = |arg: Arg| with_value(arg, Arc::clone(values));
    command.mut_args(with).mut_subcommands(|command| with_values(command, values))
}

fn with_value(arg: Arg, values: Arc<Values>) -> Arg {
    if !arg.get_action().takes_values() || !arg.get_possible_values().is_empty() {
        return arg;
    }
    let names: fn(ConfigNames) -> Vec<String> = match arg.get_long() {
        Some("context") => {
            return arg.add(ArgValueCompleter::new(move |word: &OsStr| contexts(&values.names().contexts, word)));
        }
        Some("cluster") => |names| names.clusters,
        Some("user") => |names| names.users,
        _ => {
            return arg.add(ArgValueCandidates::new(move || {
                values.any.store(true, Ordering::Relaxed);
                Vec::new()
            }));
        }
    };
    arg.add(ArgValueCandidates::new(move || names(values.names()).into_iter().map(CompletionCandidate::new).collect()))
}

/// The contexts that begin with a word, also behind others and a comma.
fn contexts(names: &[String], word: &OsStr) -> Vec<CompletionCandidate> {
    let word = word.to_string_lossy();
    let (typed, last) = word.rfind(',').map_or(("", &*word), |comma| word.split_at(comma + 1));
    let is_new = |name: &&String| name.starts_with(last) && !typed.split(',').any(|other| other == *name);
    names.iter().filter(is_new).map(|name| CompletionCandidate::new(format!("{typed}{name}"))).collect()
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
        assert_eq!(candidates(&["config", "sc"]), (vec!["schema".to_owned()], NO_FILES));
        assert_eq!(candidates(&["completion", "z"]), (vec!["zsh".to_owned()], NO_FILES));
        assert_eq!(candidates(&["apply", "-f", "dep"]), (Vec::new(), FILES));
        assert_eq!(candidates(&["__comp"]), (Vec::new(), NO_FILES));
        assert!(candidates(&[""]).0.contains(&"snapshot".to_owned()));
    }

    #[test]
    fn contexts_are_completed_behind_commas() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        let contexts = ["prod-eu", "prod-us", "dev"].map(|name| format!("{{name: {name}, context: {{}}}}")).join(", ");
        std::fs::write(&path, format!("{{apiVersion: v1, kind: Config, contexts: [{contexts}]}}")).unwrap();
        let config = format!("--kubeconfig={}", path.display());
        let of = |word: &str| candidates(&["diff", &config, "--context", word]).0;
        assert_eq!(of("prod"), ["prod-eu", "prod-us"]);
        assert_eq!(of("dev,prod-us,p"), ["dev,prod-us,prod-eu"]);
        assert_eq!(candidates(&["diff", &config, "--context=dev,prod-u"]).0, ["--context=dev,prod-us"]);
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
