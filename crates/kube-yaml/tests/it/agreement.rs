//! Random changes to the cases of the table: kubectl reads the same values, and refuses the same inputs.
//!
//! `YAML_MUTATIONS` is the number of inputs here as well. kubectl reads some hundred files in one run, and continues
//! after a broken one.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use kube_yaml::{Severity, Validation};
use serde_json::Value;

use super::mutations::{Random, count, mutate, seeds};
use super::table::{HEADER, equal, objects};

/// Number of files that kubectl reads in one run.
const BATCH: usize = 300;

/// Diagnostics for input that kubectl accepts: bounds, and text that no author means as kubectl reads it.
const STRICTER: [&str; 6] = [
    "a space is missing after this `:`",
    "unquoted text inside brackets cannot have a `?` here",
    "nested more than",
    // kubectl reads it as the end of the document and drops the rest.
    "a line of a document cannot begin with `%`",
    // For kubectl, an empty one ends the document, and the rest is dropped.
    "a mapping or a list cannot be a key",
    "opens a mapping inside a mapping's key",
];
/// Characters that kubectl reads as line breaks, and that the crate refuses nearly everywhere.
const OLD_BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// Result of the crate for an input.
enum Verdict {
    Read(Value),
    /// kubectl picks one of two values at random.
    Random,
    Refused(Vec<String>),
    /// It is no longer an object with its own name, so that kubectl's answer could not be assigned to it.
    Unusable,
}

fn name(number: usize) -> String {
    format!("case-{number}")
}

fn verdict(input: &[u8], number: usize) -> Verdict {
    let stream = kube_yaml::read(input, Validation::Warn);
    let refused = stream.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Refused);
    let refused: Vec<_> = refused.map(|diagnostic| diagnostic.message.clone()).collect();
    if !refused.is_empty() {
        // A refused value may be overridden by an equal key below it.
        let is_overridden = stream.diagnostics.iter().any(|diagnostic| diagnostic.message.contains("set twice"));
        let is_judged = !is_overridden && !String::from_utf8_lossy(input).contains(OLD_BREAKS);
        return if is_judged { Verdict::Refused(refused) } else { Verdict::Unusable };
    }
    if stream.diagnostics.iter().any(|diagnostic| diagnostic.message.contains("both become")) {
        return Verdict::Random;
    }
    let mut values = stream.documents.into_iter().map(|document| document.value);
    match (values.next(), values.next()) {
        (Some(value), None)
            if value["apiVersion"] == "example.com/v1"
                && value["kind"] == "Case"
                && value["metadata"] == serde_json::json!({"name": name(number)})
                && value.get("items").is_none() =>
        {
            Verdict::Read(value)
        }
        _ => Verdict::Unusable,
    }
}

/// The objects that kubectl reads from the files of a folder, by name.
fn kubectl_reads(kubectl: &Path, folder: &Path) -> HashMap<String, Value> {
    let output = Command::new(kubectl)
        .args(["label", "--local", "--output=json", "yaml-table=case", "--filename"])
        .arg(folder)
        .output()
        .unwrap();
    let read = objects(&output.stdout).unwrap();
    read.into_iter().map(|value| (value["metadata"]["name"].as_str().unwrap_or_default().to_owned(), value)).collect()
}

fn disagreement(verdict: &Verdict, kubectl: Option<&Value>) -> Option<String> {
    match (verdict, kubectl) {
        (Verdict::Read(ours), Some(theirs)) if !equal(ours, theirs) => {
            Some(format!("kubectl reads {theirs}\nnot {ours}"))
        }
        (Verdict::Read(ours), None) => Some(format!("kubectl refuses {ours}")),
        (Verdict::Refused(diagnostics), Some(theirs))
            if !diagnostics.iter().any(|diagnostic| STRICTER.iter().any(|stricter| diagnostic.contains(stricter))) =>
        {
            Some(format!("kubectl accepts {theirs}\nin spite of {diagnostics:?}"))
        }
        _ => None,
    }
}

#[test]
fn kubectl_agrees_with_mutations() {
    let kubectl = test_control_plane::kubectl();
    let seeds = seeds();
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut failures = String::new();
    let mut tried = 0;
    while tried < count(1_000) {
        let folder = tempfile::tempdir().unwrap();
        let mut inputs = Vec::new();
        while inputs.len() < BATCH {
            let mut input = seeds[random.below(seeds.len())].clone();
            mutate(&mut input, &mut random);
            let header = HEADER.replace("name: case", &format!("name: {}", name(inputs.len())));
            let input = [header.as_bytes(), &input].concat();
            if !input.windows(3).any(|bytes| bytes == b"---") {
                std::fs::write(folder.path().join(format!("{}.yaml", inputs.len())), &input).unwrap();
                inputs.push(input);
            }
        }
        let theirs = kubectl_reads(&kubectl, folder.path());
        for (number, input) in inputs.iter().enumerate() {
            if let Some(disagreement) = disagreement(&verdict(input, number), theirs.get(&name(number))) {
                let _ = writeln!(failures, "{:?}\n{disagreement}", String::from_utf8_lossy(input));
            }
        }
        tried += inputs.len();
        assert!(failures.is_empty(), "after {tried} inputs:\n{failures}");
    }
}
