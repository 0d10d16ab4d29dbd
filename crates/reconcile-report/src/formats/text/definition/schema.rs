//! The changes of the fields that a schema describes.

use std::collections::{BTreeMap, BTreeSet};

use reconcile_core::text::one_line;
use serde_json::Value;

use crate::words::value::inline;

/// Largest depth of a schema, and largest number of fields of one version, that are compared.
const DEEPEST: usize = 60;
const MOST: usize = 50_000;
/// Longest value of a rule that is shown, in columns.
const VALUE: usize = 40;
/// The keywords of a schema for the fields inside, which are compared by themselves.
const INSIDE: [&str; 4] = ["properties", "items", "additionalProperties", "required"];
/// The keywords that restrict values, or decide how lists and maps are merged.
const RULES: [&str; 20] = [
    "default",
    "enum",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "x-kubernetes-validations",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
];

/// The changes of the fields of one version.
#[derive(Default)]
pub(super) struct Fields {
    pub added: Vec<String>,
    pub removed: Vec<String>,
    /// Fields with another type, with the types before and after.
    pub retyped: Vec<String>,
    pub required: Vec<String>,
    /// Fields with a rule that is new, narrower or another: values that were accepted may be refused, or are understood otherwise.
    pub stricter: Vec<String>,
    /// Number of fields that accept more than before.
    pub looser: usize,
    /// Number of fields of which only the description changed.
    pub described: usize,
}

/// A field of a schema.
struct Field<'s> {
    type_name: &'s str,
    is_required: bool,
    schema: &'s Value,
}

impl Fields {
    /// Compares the schemas of a version before and after.
    pub fn of(live: &Value, desired: &Value) -> Self {
        let old = known(live);
        let new = known(desired);
        // A field whose parent is added or removed is not counted by itself.
        let alone = |path: &str, other: &BTreeMap<String, Field<'_>>| {
            let parent = path.rsplit_once(['.', '[']).map_or("", |(parent, _)| parent);
            parent.is_empty() || other.contains_key(parent)
        };
        let missing = |from: &BTreeMap<String, Field<'_>>, other: &BTreeMap<String, Field<'_>>| -> Vec<String> {
            let missing = from.keys().filter(|path| !other.contains_key(*path) && alone(path, other));
            missing.cloned().collect()
        };
        let newly_required = new.iter().filter(|(path, field)| {
            field.is_required && alone(path, &old) && old.get(*path).is_none_or(|before| !before.is_required)
        });
        let mut fields = Self {
            added: missing(&new, &old),
            removed: missing(&old, &new),
            required: newly_required.map(|(path, _)| format!("{path} is required now")).collect(),
            ..Self::default()
        };
        for (path, before) in &old {
            if let Some(after) = new.get(path) {
                fields.compare(path, before, after);
            }
        }
        fields
    }

    fn compare(&mut self, path: &str, before: &Field<'_>, after: &Field<'_>) {
        let old = own(before.schema);
        let new = own(after.schema);
        if before.type_name != after.type_name {
            self.retyped.push(format!("{path}: {} → {}", before.type_name, after.type_name));
        } else if old != new {
            let stricter: Vec<String> = RULES
                .into_iter()
                .filter_map(|rule| narrowed(rule, old.get(rule).copied(), new.get(rule).copied()))
                .collect();
            let rules = |own: &'_ BTreeMap<&str, &Value>| own.keys().filter(|name| **name != "description").count();
            let is_same = |(name, value): (&&str, &&Value)| *name == "description" || new.get(name) == Some(value);
            if !stricter.is_empty() {
                self.stricter.push(format!("{path}: {}", stricter.join(", ")));
            } else if rules(&old) == rules(&new) && old.iter().all(is_same) {
                self.described += 1;
            } else {
                self.looser += 1;
            }
        }
    }

    /// Counts of the fields by kind of change; breaking ones come last.
    pub fn counts(&self) -> [(usize, &'static str); 7] {
        [
            (self.added.len(), "added"),
            (self.looser, "with looser rules"),
            (self.described, "with another description"),
            (self.removed.len(), "removed"),
            (self.retyped.len(), "of another type"),
            (self.required.len(), "required now"),
            (self.stricter.len(), "with other rules"),
        ]
    }

    /// Returns true if objects that exist, or programs that use them, may break.
    pub fn may_break(&self) -> bool {
        [&self.removed, &self.retyped, &self.required, &self.stricter].iter().any(|fields| !fields.is_empty())
    }
}

/// The keywords of a schema about the field itself.
fn own(schema: &Value) -> BTreeMap<&str, &Value> {
    let all = schema.as_object().into_iter().flatten();
    let is_own = |(name, value): &(&str, &Value)| !INSIDE.contains(name) && !is_default(name, value);
    all.map(|(name, value)| (name.as_str(), value)).filter(is_own).collect()
}

/// Describes a rule that is new, narrower or another; `None` if it only accepts more.
fn narrowed(rule: &str, before: Option<&Value>, after: Option<&Value>) -> Option<String> {
    let shown = |value: &Value| one_line(&inline(value), VALUE);
    let items = |value: &Value| -> BTreeSet<String> {
        value
            .as_array()
            .into_iter()
            .flatten()
            .map(|item| item.as_str().map_or_else(|| item.to_string(), Into::into))
            .collect()
    };
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    match (before, after) {
        (Some(before), Some(after)) if before == after => None,
        (Some(before), Some(after)) => match rule {
            "enum" => {
                let gone: Vec<String> = items(before).difference(&items(after)).cloned().collect();
                (!gone.is_empty()).then(|| format!("enum without {}", one_line(&gone.join(", "), VALUE)))
            }
            "x-kubernetes-validations" => {
                let is_new = !items(after).is_subset(&items(before));
                is_new.then(|| "another validation rule".to_owned())
            }
            _ if rule.starts_with("min") && number(after) <= number(before) => None,
            _ if rule.starts_with("max") && number(after) >= number(before) => None,
            _ => Some(format!("{rule} {} → {}", shown(before), shown(after))),
        },
        (None, Some(_)) if rule == "x-kubernetes-validations" => Some("a validation rule".to_owned()),
        (None, Some(after)) => Some(format!("{rule} {}", shown(after))),
        (Some(before), None) if rule == "default" || rule.ends_with("-type") || rule.ends_with("-keys") => {
            Some(format!("{rule} {} removed", shown(before)))
        }
        (_, None) => None,
    }
}

/// Returns true if a rule has its default value (structured-merge-diff, `schema/elements.go`).
fn is_default(rule: &str, value: &Value) -> bool {
    matches!(
        (rule, value.as_str()),
        ("x-kubernetes-list-type", Some("atomic")) | ("x-kubernetes-map-type", Some("granular"))
    )
}

/// The fields of a version by their paths: `spec.ports[*].name`.
fn known(version: &Value) -> BTreeMap<String, Field<'_>> {
    let mut known = BTreeMap::new();
    if let Some(schema) = version.pointer("/schema/openAPIV3Schema") {
        walk(&mut known, "", schema, DEEPEST);
    }
    known
}

fn walk<'s>(known: &mut BTreeMap<String, Field<'s>>, path: &str, schema: &'s Value, depth: usize) {
    if depth == 0 || known.len() >= MOST {
        return;
    }
    let required: BTreeSet<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        add(known, &below, field, required.contains(name.as_str()), depth);
    }
    for name in ["items", "additionalProperties"] {
        if let Some(items) = schema.get(name).filter(|items| items.is_object()) {
            add(known, &format!("{path}[*]"), items, false, depth);
        }
    }
}

fn add<'s>(known: &mut BTreeMap<String, Field<'s>>, path: &str, schema: &'s Value, is_required: bool, depth: usize) {
    let is_set = |name: &str| schema.get(name).and_then(Value::as_bool).unwrap_or_default();
    let type_name = match schema.get("type").and_then(Value::as_str) {
        _ if is_set("x-kubernetes-int-or-string") => "integer or string",
        Some(name) => name,
        None => "anything",
    };
    known.insert(path.to_owned(), Field { type_name, is_required, schema });
    walk(known, path, schema, depth.saturating_sub(1));
}
