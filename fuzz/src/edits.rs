//! Edits of any text: it means what was asked for, or it stays as it is.

use kube_yaml::{Validation, read};
use manifest_edit::{Change, Edit, Step, applied, edit};
use serde_json::{Value, json};

/// The first byte chooses a place in each document and its new value; the rest is the text.
pub fn edits(input: &[u8]) {
    let Some((choice, text)) = input.split_first() else { return };
    let before = read(text, Validation::Warn).documents;
    let values = [json!("yes"), json!("- x: #\n y\n"), json!({"a: b": ["~", {}]}), json!(-0.5), json!([]), Value::Null];
    let choice = usize::from(*choice);
    let edits: Vec<Edit> = before
        .iter()
        .filter_map(|document| {
            let mut all = Vec::new();
            places(&document.value, &mut Vec::new(), &mut all);
            let path = all.get(choice.checked_rem(all.len())?)?.clone();
            let change = match (values.get(choice % 7).cloned(), path.last()) {
                (None, _) => Change::Remove,
                (Some(value), Some(Step::Index(rank))) if choice % 2 == 1 => Change::Insert { value, rank: *rank },
                (Some(value), _) => Change::Set(value),
            };
            Some(Edit { document: document.number, path, change })
        })
        .collect();
    let edited = edit(text, &edits);
    let is_refused = |index: usize| edited.refused.iter().any(|refused| refused.edit == index);
    let made: Vec<&Edit> = (0..).zip(&edits).filter(|(index, _)| !is_refused(*index)).map(|(_, edit)| edit).collect();
    if made.is_empty() {
        assert_eq!(edited.text, text);
        return;
    }
    let after = read(&edited.text, Validation::Warn).documents;
    assert_eq!(after.len(), before.len());
    for (after, before) in after.iter().zip(&before) {
        let own: Vec<&Edit> = made.iter().copied().filter(|edit| edit.document == before.number).collect();
        let expected = if own.is_empty() { Ok(before.value.clone()) } else { applied(&before.value, &own) };
        assert_eq!(Ok(&after.value), expected.as_ref(), "{made:?}");
    }
}

fn places(value: &Value, path: &mut Vec<Step>, all: &mut Vec<Vec<Step>>) {
    // A deep value has many long paths.
    if path.len() > 32 || all.len() > 1_000 {
        return;
    }
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
