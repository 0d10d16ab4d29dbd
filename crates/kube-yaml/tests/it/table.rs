//! The cases of `testdata/`: the values of an input, or its diagnostics. kubectl has to read it in the same way.
//!
//! A case is `=== name`, the input, and lines that begin with `>>> `:
//!
//! | line | meaning |
//! | --- | --- |
//! | `text "…"` or `bytes 0a…` | the input, where it has characters that an editor would hide or change |
//! | `reads {…}` | a document as kubectl reads it; one line for each |
//! | `refused 2:1 and 1:4 message` | a diagnostic with its line and column, and those of a second position |
//! | `lossy …` | the same for what kubectl accepts and loses |
//! | `whole` | the documents are objects; kubectl needs no header before the input |
//! | `kubectl accepts`, `refuses`, `random` | where kubectl differs from us: it has no such bound, it asks for an object, its choice changes from run to run |

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use kube_yaml::{Severity, SyntaxDiagnostic, Validation};
use serde_json::Value;

/// Header that kubectl needs to read an input as an object.
pub(super) const HEADER: &str = "apiVersion: example.com/v1\nkind: Case\nmetadata: {name: case}\n";

#[derive(Default)]
struct Case {
    name: String,
    input: Vec<u8>,
    reads: Vec<Value>,
    diagnostics: Vec<String>,
    whole: bool,
    kubectl: Option<String>,
}

impl Case {
    fn is_refused(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.starts_with("refused"))
    }

    fn accepted_by_kubectl(&self) -> bool {
        match self.kubectl.as_deref() {
            Some("refuses") => false,
            Some(_) => true,
            None => !self.is_refused(),
        }
    }
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().flat_map(|file| parse(&std::fs::read_to_string(file).unwrap())).collect()
}

fn parse(table: &str) -> Vec<Case> {
    table.split("=== ").skip(1).map(|text| parse_case(text).unwrap_or_else(|| panic!("not a case:\n{text}"))).collect()
}

fn parse_case(text: &str) -> Option<Case> {
    let (name, rest) = text.split_once('\n')?;
    let (input, lines) = rest.split_at(rest.find(">>> ").unwrap_or(rest.len()));
    let mut case = Case { name: name.to_owned(), input: input.into(), ..Case::default() };
    for line in lines.lines().filter_map(|line| line.strip_prefix(">>> ")) {
        let (word, value) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "text" => case.input = serde_json::from_str::<String>(value).ok()?.into_bytes(),
            "bytes" => case.input = hexadecimal(value)?,
            "reads" => case.reads.push(serde_json::from_str(value).ok()?),
            "refused" | "lossy" => case.diagnostics.push(line.to_owned()),
            "whole" => case.whole = true,
            "kubectl" => case.kubectl = Some(value.to_owned()),
            _ => return None,
        }
    }
    Some(case)
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

fn describe(diagnostic: &SyntaxDiagnostic) -> String {
    let word = match diagnostic.severity {
        Severity::Refused => "refused",
        Severity::Lossy => "lossy",
    };
    let mut text = format!("{word} {}:{}", diagnostic.mark.line, diagnostic.mark.column);
    if let Some(also) = diagnostic.also {
        let _ = write!(text, " and {}:{}", also.line, also.column);
    }
    format!("{text} {}", diagnostic.message)
}

/// Compares values as kubectl has them: floats in 64 bits, integers exactly.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left == right,
            _ => left.as_f64() == right.as_f64(),
        },
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|((key, left), (other, right))| key == other && equal(left, right))
        }
        _ => left == right,
    }
}

fn all_equal(left: &[Value], right: &[Value]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
}

#[test]
fn every_case_is_read_as_the_table_says() {
    let cases = cases();
    assert!(cases.len() >= 150, "only {} cases were found", cases.len());
    let mut failures = String::new();
    for case in &cases {
        let stream = kube_yaml::read(&case.input, Validation::Warn);
        let reads: Vec<Value> = stream.documents.into_iter().map(|document| document.value).collect();
        let diagnostics: Vec<String> = stream.diagnostics.iter().map(describe).collect();
        if reads != case.reads || diagnostics != case.diagnostics {
            let _ = writeln!(failures, "{}:\n  reads {reads:?}\n  {diagnostics:#?}", case.name);
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn strict_validation_returns_no_document_with_a_diagnostic() {
    for case in cases() {
        let (strict, ignore) =
            (kube_yaml::read(&case.input, Validation::Strict), kube_yaml::read(&case.input, Validation::Ignore));
        assert_eq!(strict.diagnostics.len(), case.diagnostics.len(), "{}", case.name);
        assert!(strict.documents.len() + strict.diagnostics.len() >= case.reads.len().min(1), "{}", case.name);
        assert!(ignore.diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Refused), "{}", case.name);
        assert_eq!(ignore.documents.len(), case.reads.len(), "{}", case.name);
        if case.diagnostics.iter().all(|diagnostic| diagnostic.starts_with("lossy")) && case.reads.len() == 1 {
            assert_eq!(strict.documents.is_empty(), !case.diagnostics.is_empty(), "{}", case.name);
        }
    }
}

/// The output of `kubectl label --local` for an input: the objects it read, with a label. The error is its message.
fn kubectl_reads(kubectl: &Path, input: &[u8]) -> Result<Vec<u8>, String> {
    let mut process = Command::new(kubectl)
        .args(["label", "--local", "--filename=-", "--output=json", "yaml-table=case"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    // kubectl stops reading at an error.
    let _ = process.stdin.take().expect("stdin is piped").write_all(input);
    let output = process.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(output.stdout) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// The objects that kubectl printed, without the label.
pub(super) fn objects(output: &[u8]) -> serde_json::Result<Vec<Value>> {
    let objects = serde_json::Deserializer::from_slice(output).into_iter::<Value>();
    let unlabelled = objects.map(|object| {
        object.map(|mut object| {
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.remove("labels");
            }
            object
        })
    });
    unlabelled.collect()
}

/// The difference between the expectations of a case and kubectl's answer.
fn disagreement(kubectl: &Path, case: &Case) -> Option<String> {
    let header = if case.whole { "" } else { HEADER };
    let input = [header.as_bytes(), &case.input].concat();
    match (kubectl_reads(kubectl, &input), case.accepted_by_kubectl()) {
        (Err(_), false) => None,
        (Err(error), true) => Some(format!("kubectl refuses it: {error}")),
        (Ok(output), false) => Some(format!("kubectl accepts it: {}", String::from_utf8_lossy(&output))),
        (Ok(_), true) if case.is_refused() || case.kubectl.as_deref() == Some("random") => None,
        (Ok(output), true) => {
            let reads = match objects(&output) {
                Ok(reads) => reads,
                Err(error) => return Some(format!("kubectl prints no JSON: {error}")),
            };
            let mut expected = case.reads.clone();
            if !case.whole {
                let value = expected.first_mut()?.as_object_mut()?;
                value.insert("apiVersion".into(), "example.com/v1".into());
                value.insert("kind".into(), "Case".into());
                value.insert("metadata".into(), serde_json::json!({"name": "case"}));
            }
            (!all_equal(&reads, &expected)).then(|| format!("kubectl reads {reads:?}"))
        }
    }
}

#[test]
fn kubectl_agrees_with_every_case() {
    let kubectl = test_control_plane::kubectl();
    let cases = cases();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut failures = String::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(disagreement) = disagreement(&kubectl, case) {
                let _ = writeln!(failures, "{}: {disagreement}", case.name);
            }
        }
        failures
    };
    let failures: String = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|worker| worker.join().expect("no case panics")).collect()
    });
    assert!(failures.is_empty(), "{failures}");
}
