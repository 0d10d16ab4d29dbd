//! Properties of the readers of reports, configurations, definitions, conditions and words to complete.

use std::panic::{set_hook, take_hook};
use std::sync::Once;

use bounded_cel::{Condition, EvaluationError, is_guarded};
use kube_yaml::Validation;
use kubectl_reconcile::readers;
use reconcile_core::live::Discovery;
use reconcile_core::live::Resolution;
use reconcile_report::formats::json;
use reconcile_report::{MergeInput, Reports, View, merged};
use serde_json::Value;
use structured_merge::compile_definition;

use super::check_types;

/// A report that is read and written is read again as the same, and no success is claimed over what a report holds.
pub fn report_merge(input: &[u8]) {
    let Ok(parts) = MergeInput::read("it.json", input) else { return };
    let Ok(whole) = merged(parts) else { return };
    let text = written(&whole);
    let again = MergeInput::read("it.json", text.as_bytes()).and_then(merged);
    let again = again.unwrap_or_else(|diagnostic| panic!("{text}: {diagnostic}"));
    assert_eq!(written(&again), text);
    let document: Value = serde_json::from_str(&text).unwrap_or_default();
    let reports = document["contexts"].as_array().cloned().unwrap_or_else(|| vec![document]);
    for report in reports {
        let objects = report["objects"].as_array().into_iter().flatten();
        if matches!(report["verdict"].as_str(), Some("inSync" | "applied")) {
            assert_eq!(report["errors"].as_array().map(Vec::len), Some(0), "{text}");
            for object in objects {
                let is_done = matches!(
                    object["outcome"].as_str(),
                    Some("created" | "updated" | "adopted" | "replaced" | "deleted" | "unchanged")
                );
                assert!(object["action"] == "none" || is_done, "{text}");
                assert!(object["error"].is_null() && (object["outcome"].is_null() || is_done), "{text}");
            }
        }
    }
}

fn written(reports: &Reports) -> String {
    json::render(reports, &View::default())
}

/// Defaults that decide which cluster is asked, which objects are deleted or taken from others, and whether drift counts.
const NEVER: [&str; 12] = [
    "adopt",
    "applyset",
    "as",
    "cache-dir",
    "context",
    "exit-zero",
    "file",
    "kubeconfig",
    "prune",
    "selector",
    "server",
    "token",
];

/// A configuration that is accepted is accepted as it is printed, and prints the same; one that is refused has errors with lines.
pub fn configuration(input: &[u8]) {
    match readers::configuration(input) {
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|error| error.starts_with("it.yaml:")), "{errors:?}");
        }
        Ok(text) => {
            assert_eq!(readers::configuration(text.as_bytes()).as_ref(), Ok(&text));
            let read = kube_yaml::read(text.as_bytes(), Validation::Strict);
            let defaults = read.documents.first().and_then(|document| document.value.get("defaults"));
            let flags = defaults.and_then(Value::as_object).into_iter().flatten();
            for (flag, _) in flags {
                assert!(!NEVER.contains(&flag.as_str()), "{text}");
            }
        }
    }
}

/// A definition changes nothing about the built-in kinds, and its own kinds have paths of their own and types that can be used.
pub fn definitions(input: &[u8]) {
    let builtin = Discovery::builtin();
    for document in kube_yaml::read(input, Validation::Ignore).documents {
        let (definition, mut known) = (document.value, builtin.clone());
        known.learn_defined(&definition);
        known.expect(&definition);
        for resource in builtin.resources() {
            assert_eq!(known.resolve(&resource.gvk), Resolution::Known(resource));
        }
        for resource in known.resources().filter(|resource| !resource.plural.is_empty()) {
            let path = resource.object_path(Some("shop"), "it").text(false);
            let segments: Vec<&str> = path.split('/').collect();
            let is_plain = |segment: &&str| !matches!(*segment, "." | "..") && !segment.contains(['?', '#', '\\']);
            assert!(path.starts_with("/apis/") && segments.iter().all(is_plain), "{path}");
            assert_eq!(segments.len(), if resource.namespaced { 8 } else { 6 }, "{path}");
            if let Some(types) = compile_definition(&definition, &resource.gvk) {
                check_types(&types, &definition);
            }
        }
    }
}

/// A value of an object, which no error may show.
const SHOWN_BY_NO_ERROR: &str = "hunter2-of-the-object";

/// A condition has one answer, which does not change with fields that it does not name, and its negation has the other one.
pub fn cel(input: &[u8]) {
    // libFuzzer's hook ends the process at any panic, also at one that is caught.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !is_guarded() {
                usual(panic);
            }
        }));
    });
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (text, object) = text.split_once('\n').unwrap_or((text, "{}"));
    let Ok(Value::Object(mut object)) = serde_json::from_str(object) else { return };
    object.insert("status".to_owned(), Value::from(SHOWN_BY_NO_ERROR));
    let condition = match Condition::parse(text) {
        Ok(condition) => condition,
        Err(error) => return assert!(!error.message.is_empty()),
    };
    assert_eq!(condition.text(), text);
    let mut more = object.clone();
    more.insert("aFieldThatNobodyNames".to_owned(), Value::from(vec![1, 2, 3]));
    let (object, more) = (Value::Object(object), Value::Object(more));
    let answer = condition.holds(&object);
    assert_eq!(condition.holds(&object), answer, "{text}");
    if !text.contains("aFieldThatNobodyNames") {
        assert_eq!(condition.holds(&more), answer, "{text}");
    }
    if let Err(error) = &answer {
        assert!(
            !format!("{error:?} {error}").contains(SHOWN_BY_NO_ERROR) || text.contains(SHOWN_BY_NO_ERROR),
            "{text}"
        );
    }
    if let (Ok(holds), Ok(negation)) = (answer, Condition::parse(&format!("!({text})"))) {
        let negated = negation.holds(&object);
        assert!(negated == Ok(!holds) || negated == Err(EvaluationError::TooCostly), "{text}: {holds}, {negated:?}");
    }
}

/// What a shell reads has a line for each candidate and one directive, without a character that a terminal hides or acts on.
pub fn completion(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut lines = text.split('\n');
    let words: Vec<String> = lines.next().unwrap_or_default().split(' ').map(ToOwned::to_owned).collect();
    let names: Vec<String> = lines.map(|name| name.replace('\r', "\n")).collect();
    let printed = readers::completion(&words, &names);
    let lines: Vec<&str> = printed.strip_suffix('\n').unwrap_or_default().split('\n').collect();
    let (directive, candidates) = lines.split_last().unwrap_or((&"", &[]));
    let number = directive.strip_prefix(':').and_then(|number| number.parse::<u8>().ok());
    assert!(number.is_some(), "{printed:?}");
    for line in candidates {
        let value = line.split('\t').next().unwrap_or_default();
        assert!(!line.replace('\t', "").contains(char::is_control), "{printed:?}");
        assert!(!value.is_empty() && !value.contains(['\u{202e}', '\u{2066}']), "{printed:?}");
    }
}
