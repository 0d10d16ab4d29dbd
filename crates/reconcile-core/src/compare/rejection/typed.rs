//! Messages of structured-merge-diff's validation (`typed/validate.go`): one `.path: complaint` a line.

use serde_json::Value;
use structured_merge::{FieldPath, ScalarKind, Shape, item_element};

use super::cursor::{Place, follow_managed, keys};
use super::rejected_object::{RejectedObject, named};
use super::suggest;
use crate::diagnostic::Diagnostic;
use crate::manifest::{Expected, advice, mismatch};

/// How many items with one key are looked at.
const MOST_CHOICES: usize = 20;

/// The complaint about a field that the type does not have.
const UNKNOWN: &str = "field not declared in schema";

/// What is before each of several complaints.
const SEVERAL: &str = "errors:";

pub(super) fn mistakes(subject: &RejectedObject<'_>, message: &str) -> Vec<Diagnostic> {
    // `failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): …`
    let Some((_, complaints)) = message.split_once("): ") else { return Vec::new() };
    let lines = match complaints.strip_prefix(SEVERAL) {
        // A quoted value may hold line ends of its own; a complaint begins with its path.
        Some(list) => list.split("\n  .").skip(1).map(|line| format!(".{line}")).collect(),
        None => vec![complaints.to_owned()],
    };
    let mut found: Vec<Diagnostic> = lines.iter().map(|line| mistake(subject, line)).collect();
    // Of a kind whose types aren't known (its definition is a moment old), every field would seem to be unknown.
    if subject.of.declares("kind") && lines.iter().any(|line| line.contains(UNKNOWN)) {
        beside_unknown(subject, &Place::root(subject.manifest(), subject.of), &mut found);
    }
    found
}

/// Validation leaves a map at its first unknown field, and takes fields in no fixed order: what it may not have come to is looked
/// for here, so that two runs say the same.
fn beside_unknown(subject: &RejectedObject<'_>, place: &Place<'_>, found: &mut Vec<Diagnostic>) {
    let (value, of) = place.here();
    let expected = match of.shape() {
        Shape::Scalar(ScalarKind::Text | ScalarKind::Time | ScalarKind::Bytes) => Expected::Text,
        Shape::Scalar(ScalarKind::Number) => Expected::Number,
        Shape::Scalar(ScalarKind::Boolean) => Expected::Boolean,
        Shape::Map(_) => Expected::Mapping,
        Shape::List(..) => Expected::List,
        Shape::Scalar(_) | Shape::Opaque | Shape::Untyped => return,
    };
    if value.is_null() {
        return;
    }
    if !expected.fits(value) {
        found.push(misfit(subject, place, expected));
    }
    for index in 0..value.as_array().map_or(0, Vec::len) {
        let mut inner = place.clone();
        if inner.enter_index(index) {
            beside_unknown(subject, &inner, found);
        }
    }
    for key in value.as_object().into_iter().flat_map(serde_json::Map::keys) {
        let mut inner = place.clone();
        let is_known = matches!(of.shape(), Shape::Map(map) if map.fields.contains_key(key) || map.rest.is_some());
        if inner.enter_key(key) && is_known {
            beside_unknown(subject, &inner, found);
        } else {
            found.push(unknown_field(subject, &inner));
        }
    }
}

fn misfit(subject: &RejectedObject<'_>, place: &Place<'_>, expected: Expected) -> Diagnostic {
    let (value, _) = place.here();
    let message = format!("{}: {}", named(&place.path), mismatch(expected, value));
    let mut problem = subject.of_value(place, message);
    problem.hint = advice(expected, value, problem.written().as_deref());
    problem
}

fn mistake(subject: &RejectedObject<'_>, line: &str) -> Diagnostic {
    let (mut place, rest) = follow_managed(Place::root(subject.manifest(), subject.of), line);
    let complaint = match rest.strip_prefix(": ") {
        Some(complaint) => complaint,
        None => rest.split_once(": ").map_or(rest, |(_, complaint)| complaint),
    };
    if complaint == UNKNOWN {
        return unknown_field(subject, &place);
    }
    if let Some(list) = complaint.strip_prefix("duplicate entries for key [") {
        return duplicate(subject, &place, list);
    }
    if let Some(expected) = complaint.strip_prefix("expected ").and_then(expected) {
        // Of several items with one key, the one that doesn't fit is meant.
        let choices = (1..MOST_CHOICES).map(|choice| {
            let root = Place { choice, ..Place::root(subject.manifest(), subject.of) };
            follow_managed(root, line).0
        });
        if expected.fits(place.here().0) {
            place = choices.into_iter().find(|place| !expected.fits(place.here().0)).unwrap_or(place);
        }
        return misfit(subject, &place, expected);
    }
    let complaint = match element(complaint) {
        Some((index, complaint)) if place.enter_index(index) => complaint,
        _ => complaint,
    };
    if complaint.ends_with("may not have a null element") {
        let message = format!("{} is empty", named(&place.path));
        return subject.of_value(&place, message).with_hint("remove the item, or write its value");
    }
    if subject.is_secret() {
        return subject.of_value(&place, format!("{}: not a value of the expected type", named(&place.path)));
    }
    if let Some(names) = complaint.strip_prefix("associative list with keys has an element that omits all key fields ")
    {
        let names: Vec<String> = serde_json::Deserializer::from_str(&names.replace(' ', ","))
            .into_iter()
            .next()
            .and_then(Result::ok)
            .unwrap_or_default();
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let message =
            format!("{} has no {}, which identifies the items of its list", named(&place.path), names.join(", "));
        return subject.of_value(&place, message);
    }
    subject.of_value(&place, format!("{}: {}", named(&place.path), without_dump(complaint)))
}

fn unknown_field(subject: &RejectedObject<'_>, place: &Place<'_>) -> Diagnostic {
    let Some((name, outer)) = place.path.elements().split_last() else {
        return subject.of_key(place, "a field is unknown to the server".to_owned());
    };
    let name = match name {
        structured_merge::PathElement::Field(name) => name.as_str(),
        _ => "",
    };
    let outer = FieldPath::from(outer.to_vec());
    let within = if outer.elements().is_empty() { String::new() } else { format!(" in `{outer}`") };
    let mut parent = place.clone();
    parent.trail.pop();
    parent.steps.pop();
    parent.path = outer;
    let hint = suggest::field(&subject.target.key.gvk, &parent, name);
    subject.of_key(place, format!("unknown field `{name}`{within}")).with_hint(hint)
}

/// The second of two items with one key is the mistake; the first is shown beside it.
fn duplicate(subject: &RejectedObject<'_>, place: &Place<'_>, list: &str) -> Diagnostic {
    let (value, of) = place.here();
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let wanted = keys(list).map(|(keys, _)| keys).unwrap_or_default();
    let is_it = |item: &Value| {
        wanted.iter().all(|(name, key)| {
            let value = if name.is_empty() { Some(item) } else { item.get(name) };
            value.or_else(|| of.item().default_of(name)) == Some(key)
        })
    };
    let mut same = items.iter().enumerate().filter(|(_, item)| is_it(item)).map(|(index, _)| index);
    let (Some(first), Some(second)) = (same.next(), same.next()) else {
        return subject.of_key(place, format!("{} has two items with the same key", named(&place.path)));
    };
    let at = |index: usize| {
        let mut item = place.clone();
        item.enter_index(index);
        item
    };
    let origin = &subject.target.desired.origin;
    let mark = |index: usize| {
        let steps = at(index).steps;
        origin.positions.value_at(&steps).unwrap_or_else(|| origin.positions.nearest(&steps))
    };
    let item = items
        .get(second)
        .and_then(|item| item_element(item, of))
        .map(|element| FieldPath::from(vec![element]).to_string());
    let (first, second) = (mark(first), mark(second));
    let message = format!(
        "{} has {} twice, first at {}:{}",
        named(&place.path),
        item.unwrap_or_else(|| "the same item".to_owned()),
        first.line,
        first.column
    );
    origin.diagnostic_at(second, Some(first), message).with_hint("remove one of the two, or give it another key")
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

/// `element 3: complaint`
fn element(complaint: &str) -> Option<(usize, &str)> {
    let (number, complaint) = complaint.strip_prefix("element ")?.split_once(": ")?;
    Some((number.parse().ok()?, complaint))
}

/// Without Go's own picture of a value.
fn without_dump(complaint: &str) -> &str {
    complaint.split(", got &").next().unwrap_or(complaint)
}
