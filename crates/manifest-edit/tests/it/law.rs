//! The law: what is read from the edited text is what was read before, with the edits applied to the values; and every byte
//! outside of the edited lines stays.

use std::fs;
use std::path::{Path, PathBuf};

use kube_yaml::{Validation, read};
use manifest_edit::{Change, Edit, Step, applied, edit};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Map, Value, json};

use crate::writer::{file, written};

/// Texts that are hard to write.
const TEXTS: [&str; 24] = [
    "",
    "x",
    "a b",
    "yes",
    "0644",
    "1e3",
    "~",
    "a: b",
    "x #y",
    "'",
    "\"",
    "\\",
    "- a",
    "{a}",
    "one\ntwo\n",
    "one\n\n  two",
    "\n",
    " x",
    "x\n\n",
    "é",
    "\t",
    "a\rb",
    "# no\nx",
    "---\nx\n",
];
const KEYS: [&str; 8] = ["a", "b", "name", "app.kubernetes.io/name", "yes", "a b", "0x1", "k: v"];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => prop::sample::select(&TEXTS[..]).prop_map(Value::from),
        1 => "\\PC{0,12}".prop_map(Value::from),
        1 => any::<String>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => (-1e6..1e6).prop_map(|number: f64| json!(number + 0.5)),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&KEYS[..]), inner), 0..5).prop_map(|entries| {
                Value::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
            }),
        ]
    })
}

fn document() -> impl Strategy<Value = Value> {
    (value(), value()).prop_map(|(one, two)| json!({"kind": "X", "one": one, "two": two}))
}

/// The places of a value.
fn places(value: &Value, path: &mut Vec<Step>, all: &mut Vec<Vec<Step>>) {
    if !path.is_empty() {
        all.push(path.clone());
    }
    let mut below = |step: Step, value: &Value| {
        path.push(step);
        places(value, path, all);
        path.pop();
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| below(Step::Key(key.clone()), value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, value)| below(Step::Index(index), value)),
        _ => {}
    }
}

/// One edit at a place chosen by a number: a new value, a removal, or a new entry or item beside it.
fn edit_at(value: &Value, document: usize, at: prop::sample::Index, kind: u8, new: Value) -> Option<Edit> {
    let mut all = Vec::new();
    places(value, &mut Vec::new(), &mut all);
    if all.is_empty() {
        return None;
    }
    let mut path = at.get(&all).clone();
    let step = |value: &'_ Value, step: &Step| match step {
        Step::Key(key) => value.get(key).cloned(),
        Step::Index(index) => value.get(*index).cloned(),
    };
    let former = path.iter().try_fold(value.clone(), |value, one| step(&value, one));
    let change = match kind % 5 {
        // The same items in another order.
        2 if former.as_ref().is_some_and(Value::is_array) => {
            Change::Reorder((0..former?.as_array()?.len()).rev().collect())
        }
        0 => Change::Remove,
        4 if matches!(path.last(), Some(Step::Index(_))) => Change::Insert { value: new, rank: usize::from(kind) },
        1 => {
            *path.last_mut()? = match path.last()? {
                Step::Key(_) => Step::Key("added".into()),
                Step::Index(_) => Step::Index(usize::MAX),
            };
            Change::Set(new)
        }
        _ => Change::Set(new),
    };
    Some(Edit { document, path, change })
}

/// Checks the law for one text, and returns how many edits were made.
fn holds(text: &[u8], edits: &[Edit]) -> usize {
    let before = read(text.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(text), Validation::Warn);
    let edited = edit(text, edits);
    let is_refused = |index: usize| edited.refused.iter().any(|refused| refused.edit == index);
    let made: Vec<&Edit> =
        edits.iter().enumerate().filter(|(index, _)| !is_refused(*index)).map(|(_, edit)| edit).collect();
    if made.is_empty() {
        assert_eq!(edited.text, text);
        return 0;
    }
    let after = read(&edited.text, Validation::Warn);
    let shown =
        || format!("{:?}\n{}\n=====\n{}", made, String::from_utf8_lossy(text), String::from_utf8_lossy(&edited.text));
    assert_eq!(before.documents.len(), after.documents.len(), "{}", shown());
    for (before, after) in before.documents.iter().zip(&after.documents) {
        let own: Vec<&Edit> = made.iter().copied().filter(|edit| edit.document == before.number).collect();
        let expected = if own.is_empty() { before.value.clone() } else { applied(&before.value, &own).unwrap() };
        assert_eq!(after.value, expected, "{}", shown());
    }
    if let [edit] = made.as_slice() {
        check_lines(text, &edited.text, edit, &shown);
    }
    made.len()
}

/// The lines before and behind the part that one edit is about have to be the same.
fn check_lines(before: &[u8], after: &[u8], edit: &Edit, shown: &dyn Fn() -> String) {
    let text = before.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(before);
    let documents = read(text, Validation::Warn).documents;
    let document = documents.iter().find(|document| document.number == edit.document).unwrap();
    // The collection around the place: its lines may change, apart from those above it and below it.
    let lines: Vec<&[u8]> = before.split_inclusive(|byte| *byte == b'\n').collect();
    let steps: Vec<kube_yaml::Step> = edit
        .path
        .iter()
        .map(|step| match step {
            Step::Key(key) => kube_yaml::Step::Key(key),
            Step::Index(index) => kube_yaml::Step::Index(*index),
        })
        .collect();
    // A text behind `|` has the position of its content, in the line below.
    let first = document.positions.nearest(&steps).line as usize;
    let kept: usize = lines[..first.saturating_sub(2)].iter().map(|line| line.len()).sum();
    // An entry that follows may move up to the `-` of its item, and a list that becomes empty to its key.
    // A new item comes before the comments of the one that it is put before.
    let kept = if matches!(edit.change, Change::Remove | Change::Insert { .. }) { 0 } else { kept };
    let common = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    assert!(common + 2 >= kept, "{common} of {kept}: {}", shown());
    // The last line of a document with several stays if the edit is in another part.
    if edit.path[0] == Step::Key("one".into()) && edit.path.len() > 1 {
        let two = document.positions.key_at(&[kube_yaml::Step::Key("two")]);
        if let Some(two) = two.filter(|two| two.column == 1) {
            let rest: Vec<u8> = lines[two.line as usize - 1..].concat();
            assert!(after.ends_with(&rest), "{}", shown());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, rng_seed: RngSeed::Fixed(seed()), ..ProptestConfig::default() })]

    #[test]
    fn edits_of_random_documents_mean_what_they_say(
        value in document(),
        choices in prop::collection::vec(any::<u8>(), 1..40),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), value()), 1..4),
    ) {
        let (text, number) = file(&value, &choices);
        let read = read(text.as_bytes(), Validation::Warn);
        let document = read.documents.iter().find(|document| document.number == number);
        prop_assert!(document.is_some(), "the test writes a wrong document: {text}\n{:?}", read.diagnostics);
        prop_assert_eq!(&document.unwrap().value, &applied(&value, &[]).unwrap(), "{}", text);
        let edits: Vec<Edit> = edits.into_iter().filter_map(|(at, kind, new)| edit_at(&value, number, at, kind, new)).collect();
        holds(text.as_bytes(), &edits);
    }
}

/// The usual number of cases has a fixed seed; more of them have a new one each time.
fn seed() -> u64 {
    std::env::var("PROPERTY_CASES").map_or(7, |_| std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 7))
}

fn cases() -> u32 {
    std::env::var("PROPERTY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

/// Most edits of ordinary documents are made, so that the law is not kept by refusing.
#[test]
fn few_edits_are_refused() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy =
        (document(), prop::collection::vec(any::<u8>(), 1..40), any::<prop::sample::Index>(), any::<u8>(), value());
    let mut tried = 0;
    let mut made = 0;
    for _ in 0..300 {
        let (value, choices, at, kind, new) = strategy.new_tree(&mut runner).unwrap().current();
        let Some(one) = edit_at(&value, 1, at, kind, new) else { continue };
        tried += 1;
        made += holds(written(&value, &choices).as_bytes(), &[one]);
    }
    assert!(made * 100 >= tried * 98, "{made} of {tried}");
}

/// The files of the repository: manifests in many styles, and the corpus of the fuzz targets.
#[test]
fn edits_of_real_files_mean_what_they_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["testdata", "fuzz/corpus/yaml", "crates/kube-yaml/testdata", ".github", "examples"] {
        collect(&root.join(folder), &mut files);
    }
    let mut tried = 0;
    let mut made = 0;
    for file in &files {
        let text = fs::read(file).unwrap();
        if text.len() > 200_000 {
            continue;
        }
        for document in read(text.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(&text), Validation::Warn).documents {
            let mut all = Vec::new();
            places(&document.value, &mut Vec::new(), &mut all);
            for (number, path) in all.iter().enumerate().step_by(all.len().div_ceil(4).max(1)) {
                let new =
                    [json!("changed"), json!(5), json!({"x": ["y", "one\ntwo\n"]}), json!([])][number % 4].clone();
                let insert = matches!(path.last(), Some(Step::Index(_)));
                let insert = insert.then(|| Change::Insert { value: new.clone(), rank: 0 });
                for change in [Change::Set(new), Change::Remove].into_iter().chain(insert) {
                    tried += 1;
                    made += holds(&text, &[Edit { document: document.number, path: path.clone(), change }]);
                }
            }
        }
    }
    assert!(files.len() > 50 && tried > 300 && made * 10 >= tried * 8, "{made} of {tried} in {} files", files.len());
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
