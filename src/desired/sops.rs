//! `--decrypt=sops`: runs `sops` on the encrypted documents of the input. What it prints stays in memory.
//!
//! SOPS encrypts a file as a whole: all of its documents get the same metadata, with one code over all values. So the documents of an
//! input that have the same code go to `sops` together, in their order, as they stand in the text. Other documents beside them, and
//! those of other files that were joined, do not matter then. An encrypted item of a list goes alone, with its keys in the order of the text.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use reconcile_core::manifest::yaml::{Document, Positions, Step, Syntax, Validation, read};
use serde_json::Value;

use super::child::{Ended, Unended, ended};
use crate::program::{self, LookupError};
use reconcile_core::diagnostic::{Diagnostic, Location};
use reconcile_core::manifest::{Decrypted, Input, Place, Undecrypted, authentication_code, is_encrypted};
use reconcile_core::text::io_reason;

/// The program.
const SOPS: &str = "sops";
/// Time limit of one run, in which it may ask a key server.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Time limit of all runs together.
const TOTAL_LIMIT: Duration = Duration::from_mins(5);
/// Largest output, in bytes. The API server takes objects of a few MiB.
const MAX_OUTPUT: u64 = 64 << 20;
/// The most runs at the same time. They mostly wait for key servers.
const WORKERS: usize = 4;

/// Documents that were encrypted together.
struct Unit {
    /// The index of their input.
    input: usize,
    /// Their places.
    places: Vec<Place>,
    text: Vec<u8>,
    format: &'static str,
}

/// Decrypts the encrypted documents of all inputs. The error is that there is no `sops`.
pub(crate) fn decrypted(mut inputs: Vec<Input>) -> Result<Vec<Input>, Vec<Diagnostic>> {
    let units: Vec<Unit> = inputs.iter().enumerate().flat_map(|(number, input)| units(number, input)).collect();
    for input in &mut inputs {
        input.decrypted = Some(Decrypted::default());
    }
    if units.is_empty() {
        return Ok(inputs);
    }
    let program = program::find(OsStr::new(SOPS)).map_err(|error| vec![missing(&error, &inputs, &units)])?;
    let start = Instant::now();
    let open = Mutex::new(units.iter());
    let results = Mutex::new(Vec::new());
    let work = || {
        while let Some(unit) = next(&open) {
            let left = TOTAL_LIMIT.saturating_sub(start.elapsed()).min(TIME_LIMIT);
            let values = run(&program, unit, left).and_then(|output| values(&output, unit.places.len()));
            results.lock().unwrap_or_else(PoisonError::into_inner).push((unit, values));
        }
    };
    let workers = WORKERS.min(units.len());
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    for (unit, values) in results.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let Some(decrypted) = inputs.get_mut(unit.input).and_then(|input| input.decrypted.as_mut()) else { continue };
        match values {
            Ok(values) => {
                for (place, value) in unit.places.iter().zip(values) {
                    decrypted.insert(place.clone(), Ok(value));
                }
            }
            Err(reason) => {
                for place in &unit.places {
                    decrypted.insert(place.clone(), Err(reason.clone()));
                }
            }
        }
    }
    Ok(inputs)
}

/// The diagnostic for the first encrypted document if there is no `sops`.
fn missing(error: &LookupError, inputs: &[Input], units: &[Unit]) -> Diagnostic {
    let message = format!("encrypted with SOPS, and `--decrypt=sops` needs `sops`: {error}");
    let place = units.iter().min_by_key(|unit| (unit.input, unit.places.first())).and_then(|unit| {
        Some(Location {
            file: inputs.get(unit.input)?.name.clone(),
            line: unit.places.first().map(|place| place.line),
            column: None,
        })
    });
    let hint = "install it (https://getsops.io/docs/#download), or leave out `--decrypt=sops`: then the encrypted objects are \
                not compared, and the others are";
    Diagnostic { location: place, ..Diagnostic::general(message) }.with_hint(hint)
}

fn next<'u>(open: &Mutex<std::slice::Iter<'u, Unit>>) -> Option<&'u Unit> {
    open.lock().unwrap_or_else(PoisonError::into_inner).next()
}

/// The encrypted documents of an input, those with the same code together.
fn units(input: usize, of: &Input) -> Vec<Unit> {
    let bytes = of.text.bytes();
    // A text of other bytes than those of UTF-8 has the name with bytes between its letters.
    let has_name = bytes.windows(SOPS.len()).any(|part| part == SOPS.as_bytes()) || std::str::from_utf8(bytes).is_err();
    if !has_name {
        return Vec::new();
    }
    let mut whole: BTreeMap<String, Unit> = BTreeMap::new();
    let mut units = Vec::new();
    for document in read(bytes, Validation::Warn).documents {
        let place = |items: Vec<usize>| Place { line: document.start.line, items };
        if let Some(code) = authentication_code(&document.value) {
            let text = text_of(&document, bytes);
            if let Some(unit) = whole.get_mut(code) {
                unit.text.extend_from_slice(b"\n---\n");
                unit.text.extend_from_slice(&text);
                unit.format = "yaml";
                unit.places.push(place(Vec::new()));
            } else {
                let format = if document.syntax == Syntax::Json { "json" } else { "yaml" };
                let unit = Unit { input, places: vec![place(Vec::new())], text, format };
                whole.insert(code.to_owned(), unit);
            }
        } else if !is_encrypted(&document.value) {
            let mut items = Vec::new();
            encrypted_items(&document.value, &document.positions, &mut Vec::new(), &mut items);
            units.extend(items.into_iter().map(|(items, text)| Unit {
                input,
                places: vec![place(items)],
                text: text.into_bytes(),
                format: "json",
            }));
        }
    }
    units.extend(whole.into_values());
    units
}

/// The text of a document, without what kubectl does not read of it.
fn text_of(document: &Document, bytes: &[u8]) -> Vec<u8> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).ok().and_then(|text| text.get(document.text.clone()));
    match text {
        Some(text) => text.strip_prefix("---").unwrap_or(text).as_bytes().to_vec(),
        None => ordered(&document.value, &document.positions, &mut Vec::new()).into_bytes(),
    }
}

/// The encrypted items of a list, at any depth of lists in lists, each with its indices and as JSON.
fn encrypted_items(
    value: &Value,
    positions: &Positions,
    above: &mut Vec<usize>,
    found: &mut Vec<(Vec<usize>, String)>,
) {
    let Some(items) = value.get("items").and_then(Value::as_array) else { return };
    let places = positions.items(&[Step::Key("items")]);
    for (index, (item, positions)) in items.iter().zip(&places).enumerate() {
        above.push(index);
        if is_encrypted(item) {
            found.push((above.clone(), ordered(item, positions, &mut Vec::new())));
        } else {
            encrypted_items(item, positions, above, found);
        }
        above.pop();
    }
}

/// A value as JSON, with its keys in the order of the text, in which the code was made.
fn ordered<'v>(value: &'v Value, positions: &Positions, path: &mut Vec<Step<'v>>) -> String {
    match value {
        Value::Object(map) => {
            let mut fields = Vec::new();
            for (key, value) in map {
                path.push(Step::Key(key));
                let place = positions.key_at(path).map(|mark| (mark.line, mark.column));
                fields.push((place, format!("{}:{}", Value::from(key.as_str()), ordered(value, positions, path))));
                path.pop();
            }
            fields.sort_by_key(|(place, _)| *place);
            let fields: Vec<String> = fields.into_iter().map(|(_, field)| field).collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => {
            let mut all = Vec::new();
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                all.push(ordered(item, positions, path));
                path.pop();
            }
            format!("[{}]", all.join(","))
        }
        scalar => scalar.to_string(),
    }
}

/// The documents that the program printed. A mistake in them is not repeated, as it may quote a value.
fn values(output: &[u8], expected: usize) -> Result<Vec<Value>, Undecrypted> {
    let failed = |reason: String| Err(Undecrypted::Failed(reason));
    let stream = read(output, Validation::Strict);
    let values: Vec<Value> = stream.documents.into_iter().map(|document| document.value).collect();
    match values.len() {
        _ if !stream.diagnostics.is_empty() => failed("what `sops` printed is not valid YAML".to_owned()),
        0 => failed("`sops` printed nothing".to_owned()),
        count if count != expected => {
            let documents = if count == 1 { "document" } else { "documents" };
            failed(format!("`sops` printed {count} {documents} instead of {expected}"))
        }
        _ => Ok(values),
    }
}

/// Runs the program once. What it says on its standard error may quote values, so that only its exit code is told.
fn run(program: &Path, unit: &Unit, limit: Duration) -> Result<Vec<u8>, Undecrypted> {
    let mut command = Command::new(program);
    command.args(["--decrypt", "--input-type", unit.format, "--output-type", unit.format]);
    if cfg!(unix) {
        command.arg("/dev/stdin");
    }
    let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let failed = |error| Undecrypted::Failed(format!("`sops` cannot be run: {}", io_reason(&error)));
    let child = started.map_err(failed)?;
    match ended(child, &unit.text, MAX_OUTPUT, limit) {
        Ok(Ended { status, output, .. }) if status.success() => Ok(output),
        Ok(Ended { status, .. }) => Err(failure(status.code())),
        Err(Unended::TooLate) => Err(Undecrypted::Failed(format!("`sops` did not finish within {}s", limit.as_secs()))),
        Err(Unended::TooMuch) => Err(Undecrypted::Failed(format!("`sops` printed more than {} MiB", MAX_OUTPUT >> 20))),
        Err(Unended::Failed(error)) => Err(Undecrypted::Failed(format!("`sops` failed: {}", io_reason(&error)))),
    }
}

/// The meaning of an exit code of SOPS (`cmd/sops/codes/codes.go`).
fn failure(code: Option<i32>) -> Undecrypted {
    match code {
        Some(128) => Undecrypted::NoKey,
        Some(51 | 52) => Undecrypted::OtherValues,
        Some(25) => Undecrypted::BrokenValue,
        Some(code) => Undecrypted::Failed(format!("`sops` failed with exit code {code}")),
        None => Undecrypted::Failed("`sops` was killed by a signal".to_owned()),
    }
}
