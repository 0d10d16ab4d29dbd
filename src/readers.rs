//! Readers that are private to this crate, as functions of text, for the properties in `fuzz`. The program does not use them.

use clap::CommandFactory as _;
use jiff::Timestamp;

use crate::commands::Cli;
use crate::commands::complete::candidates::{Known, Source, complete, printed};
use crate::config::{Configuration, View};

/// Reads a configuration, and writes it as `config view` does, at a time at which no rule has expired. The errors have their locations.
pub fn configuration(text: &[u8]) -> Result<String, Vec<String>> {
    let read = Configuration::parse(&Cli::command(), &"it.yaml".into(), text.to_vec());
    let configuration = read.map_err(|diagnostics| diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    Ok(View { configuration: &configuration, now: Timestamp::MIN }.yaml())
}

/// Completes the last of some words as a shell asks for it, with these names of contexts, namespaces, apply sets and field managers.
pub fn completion(words: &[String], names: &[String]) -> String {
    let foreign = [
        Source::Contexts,
        Source::Clusters,
        Source::Users,
        Source::Namespaces,
        Source::ApplySets,
        Source::Managers,
        Source::Appliers,
    ];
    let known: Known = foreign.into_iter().map(|source| (source, names.to_vec())).collect();
    printed(&complete(&Cli::command(), words, &known))
}
