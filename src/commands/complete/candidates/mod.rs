//! Candidates for the word under the cursor, found by clap's completion engine, in the form that kubectl expects of its plugins.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Arg, Command, FromArgMatches as _, ValueHint};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};

use crate::cli::{ConnectOptions, first_kuberc};
use reconcile_core::text::{is_plain, is_word};

/// The shell completes the names of files.
const FILES: u8 = 0;
/// There are no other candidates.
const NO_FILES: u8 = 4;
/// The shell completes the names of folders.
const FOLDERS: u8 = 16;

/// The program as shells know it.
const PROGRAM: &str = "kubectl-reconcile";

/// The source of the values of a flag whose definition does not list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// Contexts of the kubeconfig.
    Contexts,
    /// Clusters of the kubeconfig.
    Clusters,
    /// Users of the kubeconfig.
    Users,
    /// Namespaces of the cluster.
    Namespaces,
    /// Parents of apply sets in the namespace.
    ApplySets,
    /// Field managers of objects in the namespace.
    Managers,
    /// Those of them that apply.
    Appliers,
    /// Types of the cluster, or the names of the objects of a type.
    Objects,
    /// Types of the cluster.
    Types,
    /// The manifests that the cluster keeps: those of the releases of Helm in the namespace, and those of client-side apply.
    Stored,
    /// The commands of the program.
    Commands,
    /// Common durations.
    Durations,
    /// Files of the shell.
    Files,
    /// Folders of the shell.
    Folders,
    /// Free text: nothing is offered.
    Free,
}

/// The values of sources, as far as they are known.
pub(crate) type Known = BTreeMap<Source, Vec<String>>;

/// The candidates, and instructions for the shell.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    /// The candidates for the last word, each with its description behind a tab.
    pub candidates: Vec<String>,
    /// Instructions for the shell (cobra `ShellCompDirective`).
    pub directive: u8,
    /// The sources of the values.
    pub sources: BTreeSet<Source>,
}

/// Nothing is offered.
impl Default for Completion {
    fn default() -> Self {
        Self { candidates: Vec::new(), directive: NO_FILES, sources: BTreeSet::new() }
    }
}

/// Completes the last word.
pub(crate) fn complete(program: &Command, words: &[String], known: &Known) -> Completion {
    let (word, before) = split(words);
    let asked = Arc::new(Mutex::new(BTreeSet::new()));
    let mut command = with_values(program.clone(), known, &asked);
    let line = std::iter::once(PROGRAM).chain(before.iter().map(String::as_str));
    let mut line: Vec<OsString> = line.map(OsString::from).collect();
    let last = line.len();
    line.push(word.into());
    let found = clap_complete::engine::complete(&mut command, line, last, None).unwrap_or_default();
    // Flags are offered after a `-`, as kubectl does.
    let offered = found.iter().filter(|candidate| {
        let is_flag = candidate.get_value().to_string_lossy().starts_with('-');
        !candidate.is_hide_set() && (!is_flag || word.starts_with('-'))
    });
    // The shells put `--flag=` before the value again (cobra `completions.go`).
    let flag = word.split_once('=').filter(|(flag, _)| flag.starts_with('-'));
    let flag = flag.map_or(0, |(flag, _)| flag.len().saturating_add(1));
    let candidates = offered.filter_map(|candidate| line_of(candidate, flag)).collect();
    drop(command);
    let sources = std::mem::take(&mut *asked.lock().unwrap_or_else(PoisonError::into_inner));
    let directive = if sources.contains(&Source::Files) {
        FILES
    } else if sources.contains(&Source::Folders) {
        FOLDERS
    } else {
        NO_FILES
    };
    Completion { candidates, directive, sources }
}

/// The connection that the words before the last one choose, where their command has one.
pub(crate) fn connection_of(program: &Command, words: &[String]) -> Option<ConnectOptions> {
    let before = first_kuberc(split(words).1.to_vec());
    let command = program.find_subcommand(before.first()?)?;
    let has = |flag: &str| command.get_arguments().any(|arg| arg.get_long() == Some(flag));
    if !has("kubeconfig") {
        return None;
    }
    // An unknown flag would end the parsing, and a later flag may choose another cluster.
    let is_known = |word: &&String| match word.strip_prefix("--") {
        Some(flag) if !flag.is_empty() => has(flag.split('=').next().unwrap_or(flag)),
        _ => true,
    };
    let line = std::iter::once(PROGRAM).chain(before.iter().filter(is_known).map(String::as_str));
    let matches = program.clone().ignore_errors(true).try_get_matches_from(line).ok()?;
    ConnectOptions::from_arg_matches(matches.subcommand()?.1).ok()
}

/// The text that the shell reads.
pub(crate) fn printed(completion: &Completion) -> String {
    let lines = completion.candidates.iter().map(|line| format!("{line}\n"));
    lines.chain([format!(":{}\n", completion.directive)]).collect()
}

fn split(words: &[String]) -> (&str, &[String]) {
    words.split_last().map_or(("", words), |(last, before)| (last.as_str(), before))
}

/// One candidate, with its description.
fn line_of(candidate: &CompletionCandidate, flag: usize) -> Option<String> {
    let value = candidate.get_value().to_str()?.get(flag..)?;
    // A context or a cluster may have an empty name: its line would be one that no shell expects.
    if value.is_empty() || !value.chars().all(is_plain) {
        return None;
    }
    Some(match candidate.get_help() {
        Some(help) => format!("{value}\t{}", help.to_string().replace('\n', " ")),
        None => value.to_owned(),
    })
}

type Asked = Arc<Mutex<BTreeSet<Source>>>;

/// Gives each argument the values that its definition does not list.
fn with_values(command: Command, known: &Known, asked: &Asked) -> Command {
    let with = |arg: Arg| with_value(arg, known, asked);
    command.mut_args(with).mut_subcommands(|command| with_values(command, known, asked))
}

fn with_value(arg: Arg, known: &Known, asked: &Asked) -> Arg {
    let Some(source) = source_of(&arg) else { return arg };
    // A name from a kubeconfig or a cluster with any other character is not offered: a line end or a tab would make candidates and directives
    // of it, and the script of `kubectl completion bash` before kubectl 1.34 expands the candidates (cobra 1.8 `bash_completionsV2.go`:
    // `compgen -W`), so that the command in a name like `$(command)` would run.
    let values: Vec<String> = known.get(&source).into_iter().flatten().filter(|name| is_word(name)).cloned().collect();
    let asked = Arc::clone(asked);
    let note = move || asked.lock().unwrap_or_else(PoisonError::into_inner).insert(source);
    if source == Source::Contexts {
        return arg.add(ArgValueCompleter::new(move |word: &OsStr| {
            note();
            contexts(&values, word)
        }));
    }
    arg.add(ArgValueCandidates::new(move || {
        note();
        values.iter().map(CompletionCandidate::new).collect()
    }))
}

/// The source of the values of an argument; `None` if its definition lists them, or if it takes none.
fn source_of(arg: &Arg) -> Option<Source> {
    if !arg.get_action().takes_values() || !arg.get_possible_values().is_empty() {
        return None;
    }
    Some(match arg.get_id().as_str() {
        "context" => Source::Contexts,
        "cluster" => Source::Clusters,
        "user" => Source::Users,
        "namespace" | "report_unmanaged" => Source::Namespaces,
        "applyset" => Source::ApplySets,
        "adopt" | "managers" | "release" | "remove_added" => Source::Managers,
        "objects" => Source::Objects,
        "kinds" => Source::Types,
        "from" => Source::Stored,
        "field_manager" => Source::Appliers,
        "command" => Source::Commands,
        "timeout" | "request_timeout" => Source::Durations,
        _ => match arg.get_value_hint() {
            ValueHint::AnyPath | ValueHint::FilePath => Source::Files,
            ValueHint::DirPath => Source::Folders,
            _ => Source::Free,
        },
    })
}

/// The contexts that begin with a word, also behind others and a comma.
fn contexts(names: &[String], word: &OsStr) -> Vec<CompletionCandidate> {
    let word = word.to_string_lossy();
    let last = word.rsplit(',').next().unwrap_or_default();
    let typed = word.strip_suffix(last).unwrap_or_default();
    let is_new = |name: &&String| name.starts_with(last) && !typed.split(',').any(|other| other == *name);
    names.iter().filter(is_new).map(|name| CompletionCandidate::new(format!("{typed}{name}"))).collect()
}

#[cfg(test)]
mod tests;
