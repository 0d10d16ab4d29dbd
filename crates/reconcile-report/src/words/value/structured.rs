//! The differences inside a value that has a structure of its own: JSON, YAML, TOML and certificates in strings, long lists and
//! objects.

use std::collections::{BTreeMap, BTreeSet};

use kube_yaml::{Validation, read};
use reconcile_core::compare::{FieldChange, secret_number};
use serde_json::Value;
use structured_merge::{FieldPath, Op, PathElement, Scalar};

use super::certificate;
use super::is_long;

/// Longest text that is read, in bytes.
const LONGEST: usize = 1 << 20;
/// Most differences inside one value, and how deep they may be.
const MOST: usize = 2_000;
const DEEPEST: usize = 100;
/// Fields that identify the items of lists without a schema: the first that all items have, each with another value.
const KEYS: [&str; 8] = ["name", "key", "id", "type", "path", "host", "mountPath", "port"];

/// The differences inside a value.
#[derive(Debug)]
pub(crate) struct Parts {
    /// The name of the format, if it is not obvious.
    pub what: Option<&'static str>,
    /// The differences; their paths begin at the value. Empty if only the layout of the format differs.
    pub changes: Vec<FieldChange>,
}

/// The parts of two different values that differ, if both have the same kind of structure; `path` ends with the value's own name.
pub(crate) fn parts(path: &str, live: &Value, desired: &Value) -> Option<Parts> {
    if let Some(changes) = certificate::differences(live, desired) {
        // Redacted values may differ in more than their certificates.
        let is_shown = !changes.is_empty() || live.is_string();
        return is_shown.then_some(Parts { what: Some("certificate"), changes });
    }
    match (live, desired) {
        (Value::String(live), Value::String(desired)) => of_texts(path, live, desired),
        (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_))
            if (is_long(live) || is_long(desired))
                && [live, desired].iter().all(|value| secret_number(value).is_none()) =>
        {
            let changes = differences(live, desired)?;
            (says_more(&changes) && !changes.is_empty()).then_some(Parts { what: None, changes })
        }
        _ => None,
    }
}

/// Returns true if there is more than the difference of the value itself, which is known.
fn says_more(changes: &[FieldChange]) -> bool {
    changes.iter().all(|change| !change.path.elements().is_empty())
}

fn of_texts(path: &str, old: &str, new: &str) -> Option<Parts> {
    if old.len().max(new.len()) > LONGEST {
        return None;
    }
    let is_json = [old, new].iter().all(|text| text.trim_start().starts_with('{'))
        || [old, new].iter().all(|text| text.trim_start().starts_with('[') && text.trim_end().ends_with(']'));
    let (what, live, desired) = if is_json {
        ("JSON", document(old)?, document(new)?)
    } else if let (Some(live), Some(desired)) = (table(old), table(new)) {
        ("TOML", live, desired)
    } else if is_written_as_yaml(path, old, new) {
        ("YAML", document(old)?, document(new)?)
    } else {
        return None;
    };
    let changes = differences(&live, &desired)?;
    let is_shown = if changes.is_empty() { words(old) == words(new) } else { says_more(&changes) };
    is_shown.then_some(Parts { what: Some(what), changes })
}

/// The words of a text without its layout: comments, punctuation and order. Two spellings of a value (`yes` and `true`, two long
/// fractions) may be the same for us and differ for the program that reads the text.
fn words(text: &str) -> Vec<&str> {
    let code = |line: &'_ str| -> usize {
        let comment = line.char_indices().filter(|(_, c)| *c == '#').map(|(at, _)| at);
        let starts =
            |at: &usize| line.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']));
        comment.into_iter().find(starts).unwrap_or(line.len())
    };
    let is_layout = |c: char| c.is_whitespace() || ",:=[]{}\"'".contains(c);
    let lines = text.lines().filter_map(|line| line.get(..code(line)));
    let mut words: Vec<&str> = lines.flat_map(|line| line.split(is_layout)).collect();
    words.retain(|word| word.contains(|c: char| c.is_alphanumeric() || !c.is_ascii()));
    words.sort_unstable();
    words
}

/// The values of a text in TOML that has any. What has no line end may be anything, such as `--name=value`.
fn table(text: &str) -> Option<Value> {
    if !text.contains('=') || !text.contains('\n') {
        return None;
    }
    let table: toml::Table = text.parse().ok()?;
    (!table.is_empty()).then(|| of_toml(toml::Value::Table(table)))
}

fn of_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::from(number),
        toml::Value::Boolean(is) => Value::Bool(is),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(items) => items.into_iter().map(of_toml).collect(),
        toml::Value::Table(fields) => fields.into_iter().map(|(name, value)| (name, of_toml(value))).collect(),
    }
}

/// The only document of a text, if it is a mapping or a list and nothing of it is lost.
fn document(text: &str) -> Option<Value> {
    let mut stream = read(text.as_bytes(), Validation::Strict);
    let is_whole = stream.diagnostics.is_empty() && stream.count == 1;
    let value = stream.documents.pop().filter(|_| is_whole)?.value;
    matches!(value, Value::Object(_) | Value::Array(_)).then_some(value)
}

/// Other texts can be read as YAML by chance.
fn is_written_as_yaml(path: &str, live: &str, desired: &str) -> bool {
    let is_named = [".yaml\"]", ".yml\"]"].iter().any(|end| path.ends_with(end));
    let is_block = |text: &str| {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with([' ', '#', '-']));
        let is_key =
            |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
        text.contains('\n') && lines.all(|line| line.split_once(':').is_some_and(|(key, _)| is_key(key)))
    };
    is_named || is_block(live) && is_block(desired)
}

/// The differences; `None` if there are too many.
fn differences(live: &Value, desired: &Value) -> Option<Vec<FieldChange>> {
    let mut changes = Vec::new();
    compare(&mut changes, &FieldPath::root(), Some(live), Some(desired), DEEPEST)?;
    Some(changes)
}

fn compare(
    changes: &mut Vec<FieldChange>,
    path: &FieldPath,
    live: Option<&Value>,
    desired: Option<&Value>,
    depth: usize,
) -> Option<()> {
    if live == desired {
        return Some(());
    }
    let below = depth.saturating_sub(1);
    match (live, desired) {
        (Some(Value::Object(a)), Some(Value::Object(b))) if depth > 0 && live.and_then(secret_number).is_none() => {
            for name in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
                compare(changes, &path.field(name), a.get(name), b.get(name), below)?;
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) if depth > 0 => {
            if let Some(name) = key_of(a).filter(|name| key_of(b) == Some(*name)) {
                let a = by_key(a, name);
                let b = by_key(b, name);
                let before = changes.len();
                for id in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
                    let path = path.child(PathElement::key([(name.to_owned(), id.clone())]));
                    compare(changes, &path, a.get(id).copied(), b.get(id).copied(), below)?;
                }
                if changes.len() == before {
                    changes.push(FieldChange::within(path, Op::Move, live, desired));
                }
            } else if a.len() == b.len() {
                for (at, (live, desired)) in a.iter().zip(b).enumerate() {
                    let path = path.child(PathElement::index(at));
                    compare(changes, &path, Some(live), Some(desired), below)?;
                }
            } else {
                changes.push(FieldChange::within(path, Op::Change, live, desired));
            }
        }
        (None, desired) => changes.push(FieldChange::within(path, Op::Add, None, desired)),
        (live, None) => changes.push(FieldChange::within(path, Op::Remove, live, None)),
        _ => changes.push(FieldChange::within(path, Op::Change, live, desired)),
    }
    (changes.len() <= MOST).then_some(())
}

/// The items of a list by the field that identifies them.
fn by_key<'v>(items: &'v [Value], name: &str) -> BTreeMap<Scalar, &'v Value> {
    items.iter().filter_map(|item| Some((Scalar::from_json(item.get(name)?), item))).collect()
}

/// The field that identifies the items of a list.
fn key_of(items: &[Value]) -> Option<&'static str> {
    KEYS.into_iter().find(|name| {
        let mut seen = BTreeSet::new();
        !items.is_empty()
            && items.iter().all(|item| {
                let key = item.get(name).filter(|value| value.is_string() || value.is_number());
                key.is_some_and(|key| seen.insert(Scalar::from_json(key)))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn found(live: &Value, desired: &Value) -> Vec<String> {
        let parts = parts("data.config", live, desired);
        let change = |change: &FieldChange| {
            let value = |value: Option<&Value>| value.map_or("-".to_owned(), ToString::to_string);
            format!("{} {} {}", change.path, value(change.live.as_deref()), value(change.desired.as_deref()))
        };
        parts.map(|parts| parts.changes.iter().map(change).collect()).unwrap_or_default()
    }

    #[test]
    fn json_and_yaml_in_strings_are_compared_by_their_values() {
        let live = json!(r#"{"b":{"c":[1,2,4]},"x":1}"#);
        let desired = json!("{\"b\": {\"c\": [1, 2, 3]},\n \"y\": 1}");
        assert_eq!(found(&live, &desired), ["b.c[2] 4 3", "x 1 -", "y - 1"]);
        let (live, desired) =
            (json!("a: 1\nlist:\n- name: x\n  v: 1\n"), json!("# why\na: 1\nlist:\n- name: x\n  v: 2\n"));
        assert_eq!(found(&live, &desired), ["list[name=x].v 1 2"]);
        let (live, desired) = (
            json!("# why\n[server]\nworkers = 2\nat = 2026-01-01\n"),
            json!("[server]\nworkers = 8\nat = 2026-01-02\n"),
        );
        assert_eq!(found(&live, &desired), ["server.at \"2026-01-01\" \"2026-01-02\"", "server.workers 2 8"]);
    }

    #[test]
    fn what_only_looks_like_a_structure_is_text() {
        for (live, desired) in [
            ("echo: a\nfi done\n", "echo: b\nfi done\n"),
            ("{\"a\": 1, \"a\": 2}", "{\"a\": 3, \"a\": 2}"),
            ("{a", "{b"),
            ("plain", "other"),
            ("--name='a'", "--name=\"a\""),
            ("--y=1", "--y=2"),
            ("a: 1\n---\na: 2\n", "a: 1\n---\na: 3\n"),
        ] {
            assert_eq!(found(&json!(live), &json!(desired)), [""; 0], "{live}");
        }
    }

    #[test]
    fn what_differs_only_in_its_layout_has_no_parts() {
        let found = |live: &str, desired: &str| parts("data[\"a.yaml\"]", &json!(live), &json!(desired));
        for (live, desired, what) in [
            ("{\"a\":1,\"b\":[true]}", "{\n  \"b\": [ true ],\n  \"a\": 1\n}\n", "JSON"),
            ("a: 1\n", "# only a comment\na: 1   # why\n", "YAML"),
            ("a: {b: c, d: [e, 'f']}\n", "a:\n  d:\n  - e\n  - f\n  b: \"c\"\n", "YAML"),
            ("[a]\nb = 1\n", "[ a ] # why\n\nb=1\n", "TOML"),
        ] {
            let parts = found(live, desired).unwrap_or_else(|| panic!("{live} {desired}"));
            assert!(parts.what == Some(what) && parts.changes.is_empty(), "{live} {parts:?}");
        }
        // For another reader these may be other values.
        for (live, desired) in [
            ("a: yes\n", "a: true\n"),
            ("a: 010\n", "a: 8\n"),
            ("a: 0.10000000000000000001\n", "a: 0.1\n"),
            ("{\"a\": 1e2}", "{\"a\": 100.0}"),
            ("a: &b [x]\nc: *b\n", "a: [x]\nc: [x]\n"),
            ("a: \"\\u0041\"\n", "a: A\n"),
        ] {
            assert!(found(live, desired).is_none(), "{live} {desired}");
        }
    }

    #[test]
    fn items_of_lists_are_distinguished_by_a_key_if_there_is_one() {
        let long = "x".repeat(60);
        let (live, desired) = (
            json!([{"name": "a", "v": long}, {"name": "b", "v": 1}]),
            json!([{"name": "b", "v": 2}, {"name": "a", "v": long}, {"name": "c"}]),
        );
        assert_eq!(found(&live, &desired), ["[name=b].v 1 2", "[name=c] - {\"name\":\"c\"}"]);
        assert_eq!(found(&json!([long, "b"]), &json!(["b"])), [""; 0], "a list without keys is text");
    }

    #[test]
    fn what_is_deep_or_plenty_is_text() {
        let many = |salt: usize| {
            json!((0..3_000).map(|at| (format!("k{at}"), json!(at * salt))).collect::<serde_json::Map<_, _>>())
        };
        assert_eq!(found(&many(1), &many(2)), [""; 0]);
        let deep = |leaf: &str| json!(format!("{}\"{leaf}\"{}", "[".repeat(5_000), "]".repeat(5_000)));
        let _ = found(&deep("a"), &deep("b"));
    }
}
