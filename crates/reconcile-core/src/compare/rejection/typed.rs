//! Messages of structured-merge-diff's validation (`typed/validate.go`): one `.path: complaint` a line.

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, ScalarKind, Shape, TypeRef, builtin_kind};

use super::cursor::{Cursor, follow_managed, keys, with_keys};
use super::list_items::{self, ItemMistake, of_items};
use super::rejected_object::RejectedObject;
use super::suggest::{self, Described};
use crate::diagnostic::{Code, Diagnostic};
use crate::manifest::{Expected, advice, mismatch};

/// Maximum number of items with one key to look at.
const MOST_CHOICES: usize = 20;
/// Maximum number of mistakes of one manifest that are reported.
const MOST_MISTAKES: usize = 100;
/// The complaint about a field that the type does not have.
const UNKNOWN: &str = "field not declared in schema";

/// The ends of the complaints about an item that is null, in a keyed list and in a set.
const NULL_ITEM: [&str; 2] = ["may not have a null element", "an explicit null"];

/// The prefix of a list of several complaints.
const SEVERAL: &str = "errors:";

pub(super) fn diagnostics(subject: &RejectedObject<'_>, message: &str) -> Vec<Diagnostic> {
    // `failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): …`
    let Some((_, complaints)) = message.split_once("): ") else { return Vec::new() };
    let lines = match complaints.strip_prefix(SEVERAL) {
        // A quoted value may hold line ends of its own; a complaint begins with its path.
        Some(list) => list.split("\n  .").skip(1).map(|line| format!(".{line}")).collect(),
        None => vec![complaints.to_owned()],
    };
    let mut found: Vec<Diagnostic> = lines.iter().map(|line| diagnostic(subject, line)).collect();
    // If the types of a kind are not known yet (its definition is new), every field would seem to be unknown.
    if subject.schema.declares("kind") && lines.iter().any(|line| line.contains(UNKNOWN)) {
        // The server may have missed some: its validation leaves a map at the first unknown field, and visits fields in no fixed order. With
        // them, two runs report the same.
        visit(&Cursor::root(subject.manifest(), subject.schema), &mut |cursor, mistake| {
            found.push(mistake.diagnostic(subject, cursor));
            true
        });
    }
    found
}

/// The values of a manifest whose types the server does not take, and the fields of a custom resource that its type does not have, found
/// without the server; the first [`MOST_MISTAKES`] of them, in the order of the file. Another version of the server may have more fields of a
/// built-in kind, and a field that the live object has is one that the server keeps, unless the type is still to come.
pub(super) fn of_wrong_type(subject: &RejectedObject<'_>, ignored: &FieldSet) -> Vec<Diagnostic> {
    let has_all_fields = builtin_kind(&subject.target.key.gvk).is_none();
    // Nearly every manifest is without mistakes, which is found without a position.
    if subject.target.desired.with_object(|manifest| fits(manifest, subject.schema, has_all_fields)) {
        return Vec::new();
    }
    mistakes(subject, |path, mistake| match mistake {
        Mistake::Unknown => {
            let is_kept = || !subject.is_coming && subject.live.is_some_and(|live| path.value_in(live).is_some());
            has_all_fields && !ignored.contains_at_or_above(path) && !is_kept()
        }
        Mistake::Type(_) | Mistake::Item(..) => !ignored.covers(path),
    })
}

/// The values and fields of a new object that do not fit its definition; the first [`MOST_MISTAKES`] of them.
pub(super) fn against_definition(subject: &RejectedObject<'_>) -> Vec<Diagnostic> {
    mistakes(subject, |_, _| true)
}

/// The mistakes of a manifest that count, if its type is known; the first [`MOST_MISTAKES`] of them.
fn mistakes(subject: &RejectedObject<'_>, counts: impl Fn(&FieldPath, &Mistake) -> bool) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if subject.schema.declares("kind") {
        visit(&Cursor::root(subject.manifest(), subject.schema), &mut |cursor, mistake| {
            if counts(&cursor.path, &mistake) {
                found.push(mistake.diagnostic(subject, cursor));
            }
            found.len() < MOST_MISTAKES
        });
    }
    found.sort_by(|a, b| a.location.cmp(&b.location));
    found
}

/// A value that does not fit its type.
enum Mistake {
    /// It has another type than this.
    Type(Expected),
    /// The type has no such field.
    Unknown,
    /// It is a list, whose item at this index does not fit.
    Item(usize, ItemMistake),
}

impl Mistake {
    fn diagnostic(self, subject: &RejectedObject<'_>, cursor: &Cursor<'_>) -> Diagnostic {
        match self {
            Self::Type(expected) => type_mismatch(subject, cursor, expected),
            Self::Unknown => unknown_field(subject, cursor),
            Self::Item(index, mistake) => list_items::diagnostic(subject, cursor, index, mistake),
        }
    }
}

/// The type of value that a field takes; `None` if it takes any, or nothing is known about it.
fn expected_by(schema: TypeRef<'_>) -> Option<Expected> {
    Some(match schema.shape() {
        Shape::Scalar(ScalarKind::Text | ScalarKind::Time | ScalarKind::MicroTime | ScalarKind::Bytes) => {
            Expected::Text
        }
        Shape::Scalar(ScalarKind::Number) => Expected::Number,
        Shape::Scalar(ScalarKind::Boolean) => Expected::Boolean,
        Shape::Scalar(ScalarKind::Quantity | ScalarKind::IntOrString) => Expected::NumberOrText,
        Shape::Map(_) => Expected::Mapping,
        Shape::List(..) => Expected::List,
        Shape::Scalar(ScalarKind::Any) | Shape::Opaque | Shape::Untyped => return None,
    })
}

/// Returns true if a value and everything in it has the types that its fields take and, if these are all fields that there are, no others.
pub(in crate::compare) fn fits(value: &Value, schema: TypeRef<'_>, has_all_fields: bool) -> bool {
    let Some(expected) = expected_by(schema).filter(|_| !value.is_null()) else { return true };
    expected.fits(value)
        && match value {
            Value::Array(items) => {
                of_items(value, schema).is_empty() && items.iter().all(|item| fits(item, schema.item(), has_all_fields))
            }
            Value::Object(map) => map.iter().all(|(name, value)| {
                (!has_all_fields || takes(schema, name)) && fits(value, schema.field(name), has_all_fields)
            }),
            _ => true,
        }
}

/// The first value of a live object that does not fit a type, so that the server cannot read the object by it.
pub(super) fn unfit_live(subject: &RejectedObject<'_>) -> Option<Diagnostic> {
    let live = subject.live.filter(|live| !fits(live, subject.schema, false))?;
    let mut unfit = None;
    visit(&Cursor::root(live, subject.schema), &mut |cursor, mistake| {
        if let Mistake::Type(expected) = mistake {
            let (value, _) = cursor.here();
            let name = subject.named(&cursor.path);
            unfit = Some(format!(
                "the live object does not fit its type in the input: {name}: {}",
                mismatch(expected, value)
            ));
        }
        unfit.is_none()
    });
    let hint =
        "the server refuses every apply then: correct the object with `kubectl edit` once its definition is changed";
    unfit.map(|message| Diagnostic::new(Code::Invalid, message).with_hint(hint))
}

/// Returns true if a type has this field.
fn takes(schema: TypeRef<'_>, name: &str) -> bool {
    matches!(schema.shape(), Shape::Map(map) if map.fields.contains_key(name) || map.rest.is_some())
}

/// Visits the mistakes of a value until `found` returns false. Returns false in that case.
fn visit(cursor: &Cursor<'_>, found: &mut impl FnMut(&Cursor<'_>, Mistake) -> bool) -> bool {
    let (value, schema) = cursor.here();
    let Some(expected) = expected_by(schema).filter(|_| !value.is_null()) else { return true };
    if !expected.fits(value) {
        return found(cursor, Mistake::Type(expected));
    }
    for (index, mistake) in of_items(value, schema) {
        if !found(cursor, Mistake::Item(index, mistake)) {
            return false;
        }
    }
    for index in 0..value.as_array().map_or(0, Vec::len) {
        let mut inner = cursor.clone();
        if inner.enter_index(index) && !visit(&inner, found) {
            return false;
        }
    }
    for key in value.as_object().into_iter().flat_map(serde_json::Map::keys) {
        let mut inner = cursor.clone();
        let goes_on = if inner.enter_key(key) && takes(schema, key) {
            visit(&inner, found)
        } else {
            found(&inner, Mistake::Unknown)
        };
        if !goes_on {
            return false;
        }
    }
    true
}

fn type_mismatch(subject: &RejectedObject<'_>, cursor: &Cursor<'_>, expected: Expected) -> Diagnostic {
    let (value, _) = cursor.here();
    let message = format!("{}: {}", subject.named(&cursor.path), mismatch(expected, value));
    let mut diagnostic = subject.diagnostic_at_value(cursor, message);
    diagnostic.hint = advice(expected, value, diagnostic.written().as_deref());
    diagnostic
}

fn diagnostic(subject: &RejectedObject<'_>, line: &str) -> Diagnostic {
    let (mut cursor, rest) = follow_managed(Cursor::root(subject.manifest(), subject.schema), line);
    let complaint = match rest.strip_prefix(": ") {
        Some(complaint) => complaint,
        None => rest.split_once(": ").map_or(rest, |(_, complaint)| complaint),
    };
    if complaint == UNKNOWN {
        return unknown_field(subject, &cursor);
    }
    if let Some(list) = complaint.strip_prefix("duplicate entries for key [") {
        return duplicate(subject, &cursor, list);
    }
    if let Some(expected) = complaint.strip_prefix("expected ").and_then(expected) {
        // Among several items with one key, the one that does not fit is meant.
        let choices = (1..MOST_CHOICES).map(|choice| {
            let root = Cursor { choice, ..Cursor::root(subject.manifest(), subject.schema) };
            follow_managed(root, line).0
        });
        if expected.fits(cursor.here().0) {
            cursor = choices.into_iter().find(|cursor| !expected.fits(cursor.here().0)).unwrap_or(cursor);
        }
        return type_mismatch(subject, &cursor, expected);
    }
    let complaint = match element(complaint) {
        Some((index, complaint)) if cursor.enter_index(index) => complaint,
        _ => complaint,
    };
    if NULL_ITEM.iter().any(|ending| complaint.ends_with(ending)) {
        let message = format!("{} is empty", subject.named(&cursor.path));
        return subject.diagnostic_at_value(&cursor, message).with_hint("remove the item, or write its value");
    }
    if subject.may_quote_secret {
        return subject.diagnostic_at_value(
            &cursor,
            format!("{}: not a value of the expected type", subject.named(&cursor.path)),
        );
    }
    if let Some(names) = omitted_keys(complaint) {
        return list_items::without_key(subject, &cursor, &names);
    }
    subject.diagnostic_at_value(&cursor, format!("{}: {}", subject.named(&cursor.path), without_dump(complaint)))
}

/// The keys that an item of a list leaves out: all of them in the words of structured-merge-diff 6, and one in those of 4, which servers before
/// 1.34 have (`typed/helpers.go`).
fn omitted_keys(complaint: &str) -> Option<Vec<String>> {
    let omitted = complaint.strip_prefix("associative list with keys has an element that omits ")?;
    // More words follow.
    let quoted = match omitted.strip_prefix("key field ") {
        Some(name) => format!("[{}]", name.split_once(" (").map_or(name, |(name, _)| name)),
        None => omitted.strip_prefix("all key fields ")?.replace(' ', ","),
    };
    let mut names = serde_json::Deserializer::from_str(&quoted).into_iter::<Vec<String>>();
    Some(names.next().and_then(Result::ok).unwrap_or_default())
}

fn unknown_field(subject: &RejectedObject<'_>, cursor: &Cursor<'_>) -> Diagnostic {
    let Some((name, outer)) = cursor.path.elements().split_last() else {
        return subject.diagnostic_at_key(cursor, "a field is unknown to the server".to_owned());
    };
    let name = match name {
        structured_merge::PathElement::Field(name) => name.as_str(),
        _ => "",
    };
    let outer = FieldPath::from(outer.to_vec());
    let within = if outer.elements().is_empty() { String::new() } else { format!(" in {}", subject.named(&outer)) };
    let mut parent = cursor.clone();
    parent.trail.pop();
    parent.steps.pop();
    parent.path = outer;
    let hint = suggest::field(&Described::of(subject), &parent, name, &|path| subject.named(path));
    subject.diagnostic_at_key(cursor, format!("unknown field `{name}`{within}")).with_hint(hint)
}

/// The diagnostic for two items with the key that the server names.
fn duplicate(subject: &RejectedObject<'_>, cursor: &Cursor<'_>, list: &str) -> Diagnostic {
    let (value, schema) = cursor.here();
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let wanted = keys(list).map(|(keys, _)| keys).unwrap_or_default();
    let mut same = with_keys(items, &wanted, schema);
    match (same.next(), same.next()) {
        (Some(first), Some(second)) => list_items::repeated(subject, cursor, first, second),
        _ => subject
            .diagnostic_at_key(cursor, format!("{} has two items with the same key", subject.named(&cursor.path))),
    }
}

fn expected(text: &str) -> Option<Expected> {
    let (kind, _) = text.split_once(", got ")?;
    Some(match kind {
        "string" => Expected::Text,
        "boolean" => Expected::Boolean,
        "list" => Expected::List,
        "map" => Expected::Mapping,
        kind if kind.starts_with("numeric") => Expected::Number,
        _ => return None,
    })
}

/// Reads `element 3: complaint`.
fn element(complaint: &str) -> Option<(usize, &str)> {
    let (number, complaint) = complaint.strip_prefix("element ")?.split_once(": ")?;
    Some((number.parse().ok()?, complaint))
}

/// Removes Go's dump of a value.
fn without_dump(complaint: &str) -> &str {
    complaint.split(", got &").next().unwrap_or(complaint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omitted_keys_are_read_in_the_words_of_each_version() {
        let begin = "associative list with keys has an element that omits ";
        let read = |rest: &str| omitted_keys(&format!("{begin}{rest}"));
        let one = Some(vec!["name".to_owned()]);
        assert_eq!(read(r#"key field "name" (and has no default)"#), one);
        assert_eq!(read(r#"all key fields ["name"] (and has no defaults)"#), one);
        let two = Some(vec!["port".to_owned(), "protocol".to_owned()]);
        assert_eq!(read(r#"all key fields ["port" "protocol"] (and has no defaults)"#), two);
        assert_eq!(read("something else"), None);
    }
}
