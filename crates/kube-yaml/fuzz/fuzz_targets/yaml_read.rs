//! Any bytes: reading them does not panic, every value has a place, and strict reading returns no more than lenient.

#![no_main]

use kube_yaml::{Document, Step, Validation};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fn check_positions<'a>(document: &Document, value: &'a Value, path: &mut Vec<Step<'a>>) {
    assert!(document.positions.value_at(path).is_some(), "no place for {path:?}");
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                path.push(Step::Key(key));
                check_positions(document, value, path);
                path.pop();
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                path.push(Step::Index(index));
                check_positions(document, value, path);
                path.pop();
            }
        }
        _ => {}
    }
}

fuzz_target!(|input: &[u8]| {
    let warn = kube_yaml::read(input, Validation::Warn);
    for document in &warn.documents {
        check_positions(document, &document.value, &mut Vec::new());
    }
    let strict = kube_yaml::read(input, Validation::Strict);
    assert!(strict.documents.len() <= warn.documents.len());
    assert_eq!(strict.diagnostics, warn.diagnostics);
});
