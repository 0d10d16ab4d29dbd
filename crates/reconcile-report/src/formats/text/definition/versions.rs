//! The versions of a `CustomResourceDefinition` on both sides.

use std::collections::BTreeSet;

use serde_json::Value;

use super::schema::Fields;
use crate::words::value::number::grouped;

/// Marks of changes that may break existing objects, or programs that use them.
const BREAKS: &str = "✗";
const MAY_BREAK: &str = "⚠";
/// The keys of a version that are neither its schema nor described in other words.
const BESIDE: [(&str, &str); 3] = [
    ("additionalPrinterColumns", "other printer columns"),
    ("selectableFields", "other selectable fields"),
    ("subresources", "other subresources"),
];

/// The versions on both sides, by name.
pub(super) struct Versions<'v> {
    pairs: Vec<Pair<'v>>,
}

/// One version.
struct Pair<'v> {
    name: &'v str,
    live: Option<&'v Value>,
    desired: Option<&'v Value>,
    fields: Fields,
}

impl<'v> Versions<'v> {
    pub fn of(live: &'v Value, desired: &'v Value) -> Self {
        let named = |list: &'v Value| -> Vec<(&'v str, &'v Value)> {
            let versions = list.as_array().into_iter().flatten();
            versions.filter_map(|version| Some((version.get("name")?.as_str()?, version))).collect()
        };
        let old = named(live);
        let new = named(desired);
        let find = |list: &[(&str, &'v Value)], name: &str| {
            list.iter().find(|(known, _)| *known == name).map(|(_, version)| *version)
        };
        let mut seen = BTreeSet::new();
        let all = old.iter().chain(&new).map(|(name, _)| *name).filter(|name| seen.insert(*name));
        let pair = |name: &'v str| {
            let live = find(&old, name);
            let desired = find(&new, name);
            let fields = live.zip(desired).map(|(live, desired)| Fields::of(live, desired)).unwrap_or_default();
            Pair { name, live, desired, fields }
        };
        Self { pairs: all.map(pair).collect() }
    }

    /// A clause for each version that changes.
    pub fn clauses(&self) -> Vec<String> {
        let clauses: Vec<String> = self.pairs.iter().filter_map(Pair::clause).collect();
        if clauses.is_empty() { vec!["in another form".to_owned()] } else { clauses }
    }

    /// Sign, version and field of each change that may break something.
    pub fn dangers(&self) -> Vec<(char, &'v str, &str)> {
        let mut dangers = Vec::new();
        for Pair { name, fields, .. } in &self.pairs {
            let kinds =
                [('-', &fields.removed), ('~', &fields.retyped), ('!', &fields.required), ('~', &fields.stricter)];
            for (sign, fields) in kinds {
                dangers.extend(fields.iter().map(|field| (sign, *name, field.as_str())));
            }
        }
        dangers
    }
}

impl Pair<'_> {
    /// `v2: 14 fields added, 2 removed ⚠`; nothing where nothing changes.
    fn clause(&self) -> Option<String> {
        let name = self.name;
        let (live, desired) = match (self.live, self.desired) {
            (Some(live), None) if is(live, "storage") => return Some(format!("{name} removed, still stored {BREAKS}")),
            (Some(live), None) if is(live, "served") => return Some(format!("{name} removed {BREAKS}")),
            (_, None) => return Some(format!("{name} removed")),
            (None, Some(desired)) => {
                let stored = if is(desired, "storage") { ", stored from now on" } else { "" };
                let served = if is(desired, "served") { "" } else { ", not served" };
                return Some(format!("{name} added{served}{stored}"));
            }
            (Some(live), Some(desired)) => (live, desired),
        };
        let mut parts = status(live, desired);
        let counted = self.counted();
        let is_counted = counted.is_some();
        parts.extend(counted);
        let beside = BESIDE.into_iter().filter(|(field, _)| live.get(field) != desired.get(field));
        parts.extend(beside.map(|(_, words)| words.to_owned()));
        if parts.is_empty() && live != desired {
            parts.push("no field added or removed".to_owned());
        }
        (!parts.is_empty()).then(|| {
            let colon = if parts.len() == 1 && !is_counted { "" } else { ":" };
            format!("{name}{colon} {}", parts.join(", "))
        })
    }

    /// `14 fields added, 2 removed ⚠`
    fn counted(&self) -> Option<String> {
        let counts = self.fields.counts().into_iter().filter(|(count, _)| *count > 0);
        let counted = counts.enumerate().map(|(at, (count, what))| {
            let noun = match (at, count) {
                (0, 1) => "field ",
                (0, _) => "fields ",
                _ => "",
            };
            format!("{} {noun}{what}", grouped(count))
        });
        let counted = counted.collect::<Vec<_>>().join(", ");
        let mark = if self.fields.may_break() { MAY_BREAK } else { "" };
        (!counted.is_empty()).then(|| format!("{counted} {mark}").trim_end().to_owned())
    }
}

/// The changes of `served` and `storage` of a version that stays.
fn status(live: &Value, desired: &Value) -> Vec<String> {
    let mut parts = Vec::new();
    match (is(live, "served"), is(desired, "served")) {
        (true, false) => parts.push(format!("no longer served {MAY_BREAK}")),
        (false, true) => parts.push("served again".to_owned()),
        _ => {}
    }
    match (is(live, "storage"), is(desired, "storage")) {
        (true, false) => parts.push("no longer the stored version".to_owned()),
        (false, true) => parts.push("stored from now on".to_owned()),
        _ => {}
    }
    if is(desired, "deprecated") && !is(live, "deprecated") {
        parts.push("deprecated".to_owned());
    }
    parts
}

fn is(version: &Value, name: &str) -> bool {
    version.get(name).and_then(Value::as_bool).unwrap_or_default()
}
