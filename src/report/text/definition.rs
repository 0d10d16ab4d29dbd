//! The versions of a `CustomResourceDefinition`: which come and go, and what changes in the fields of each, in the place of
//! thousands of lines of schema.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use similar::ChangeTag;
use structured_merge::{FieldPath, Op};

use super::change::{more, put_lines};
use super::sheet::{GAP, Sheet};
use crate::compare::FieldChange;
use crate::report::ObjectReport;
use crate::report::lines::groups;
use crate::report::number::grouped;
use crate::report::styled::Role;
use crate::report::value::block;
use crate::text::width;

/// How many fields are named, unless everything is wanted.
const NAMED: usize = 10;
/// How deep a schema is followed, and how many fields of one version.
const DEEPEST: usize = 60;
const MOST: usize = 50_000;
/// Columns before the summary.
const MARGIN: usize = 4;
/// Marks of what may break: objects that exist, or programs that use them.
const BREAKS: &str = "✗";
const MAY_BREAK: &str = "⚠";

/// Returns true if the summary says what this change is about.
pub(super) fn is_summarised(object: &ObjectReport, change: &FieldChange) -> bool {
    let is_definition =
        object.kind == "CustomResourceDefinition" && object.api_version.starts_with("apiextensions.k8s.io/");
    is_definition && change.op == Op::Change && change.path == FieldPath::of(&["spec", "versions"])
}

/// Appends the summary of the versions, if they differ. Returns how many changes it is about.
pub(super) fn versions(sheet: &mut Sheet<'_>, object: &ObjectReport, changes: &[&FieldChange]) -> usize {
    let Some(change) = changes.iter().find(|change| is_summarised(object, change)) else { return 0 };
    let (Some(live), Some(desired)) = (change.live.as_ref(), change.desired.as_ref()) else { return 0 };
    let versions = Versions::of(live, desired);
    let margin = " ".repeat(MARGIN);
    let mut written = format!("{margin}versions:");
    for (at, clause) in versions.clauses().iter().enumerate() {
        let separator = if at == 0 { " " } else { " · " };
        if width(&written) + width(separator) + width(clause) <= sheet.view.width {
            written.push_str(separator);
            written.push_str(clause);
            continue;
        }
        for part in lines_of(clause, sheet.view.width.saturating_sub(MARGIN + GAP)) {
            sheet.line(Role::Plain, std::mem::replace(&mut written, format!("{margin}  {part}")));
        }
    }
    sheet.line(Role::Plain, written);
    let dangers = versions.dangers();
    let most = if sheet.view.full { usize::MAX } else { NAMED };
    for danger in dangers.iter().take(most) {
        let role = if danger.0 == '-' { Role::Remove } else { Role::Change };
        sheet.line(role, format!("{margin}  {} {} {}", danger.1, danger.0, danger.2));
    }
    more(sheet, dangers.len().saturating_sub(most), "field", MARGIN + GAP);
    schema(sheet, live, desired);
    1
}

/// A clause in as many lines as it needs.
fn lines_of(clause: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in clause.split_inclusive(", ") {
        match lines.last_mut().filter(|line| width(line) + width(part.trim_end()) <= columns) {
            Some(line) => line.push_str(part),
            None => lines.push(part.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// The schema itself, or how much there is of it.
fn schema(sheet: &mut Sheet<'_>, live: &Value, desired: &Value) {
    let (old, new) = (block(live), block(desired));
    let groups = groups(&old, &new);
    if sheet.view.full {
        sheet.line(Role::Plain, format!("{}spec.versions", " ".repeat(MARGIN)));
        return put_lines(sheet, &groups, MARGIN + GAP, None);
    }
    let count = groups.iter().flatten().filter(|(tag, _)| *tag != ChangeTag::Equal).count();
    let lines = if count == 1 { "line" } else { "lines" };
    sheet.line(Role::Note, format!("{}{} {lines} of schema: --full", " ".repeat(MARGIN), grouped(count)));
}

/// The versions on both sides, by name.
struct Versions<'v> {
    pairs: Vec<Pair<'v>>,
}

/// One version.
struct Pair<'v> {
    name: &'v str,
    live: Option<&'v Value>,
    desired: Option<&'v Value>,
    fields: Fields,
}

/// What changes in the fields of one version.
#[derive(Default)]
struct Fields {
    added: Vec<String>,
    removed: Vec<String>,
    /// With the types before and after.
    retyped: Vec<String>,
    required: Vec<String>,
}

impl<'v> Versions<'v> {
    fn of(live: &'v Value, desired: &'v Value) -> Self {
        let named = |list: &'v Value| -> Vec<(&'v str, &'v Value)> {
            let versions = list.as_array().into_iter().flatten();
            versions.filter_map(|version| Some((version.get("name")?.as_str()?, version))).collect()
        };
        let (old, new) = (named(live), named(desired));
        let find = |list: &[(&str, &'v Value)], name: &str| {
            list.iter().find(|(known, _)| *known == name).map(|(_, version)| *version)
        };
        let mut seen = BTreeSet::new();
        let all = old.iter().chain(&new).map(|(name, _)| *name).filter(|name| seen.insert(*name));
        let pair = |name: &'v str| {
            let (live, desired) = (find(&old, name), find(&new, name));
            let fields = live.zip(desired).map(|(live, desired)| Fields::of(live, desired)).unwrap_or_default();
            Pair { name, live, desired, fields }
        };
        Self { pairs: all.map(pair).collect() }
    }

    fn clauses(&self) -> Vec<String> {
        let clauses: Vec<String> = self.pairs.iter().filter_map(Pair::clause).collect();
        if clauses.is_empty() { vec!["in another form".to_owned()] } else { clauses }
    }

    /// Version, sign and field of each change that may break something.
    fn dangers(&self) -> Vec<(char, &'v str, &str)> {
        let mut dangers = Vec::new();
        for Pair { name, fields, .. } in &self.pairs {
            dangers.extend(fields.removed.iter().map(|field| ('-', *name, field.as_str())));
            dangers.extend(fields.retyped.iter().map(|field| ('~', *name, field.as_str())));
            dangers.extend(fields.required.iter().map(|field| ('!', *name, field.as_str())));
        }
        dangers
    }
}

impl Pair<'_> {
    /// `v2: 14 fields added, 2 removed ⚠`; nothing where nothing changes.
    fn clause(&self) -> Option<String> {
        let is = |version: Option<&Value>, name: &str| {
            version.and_then(|version| version.get(name)?.as_bool()).unwrap_or_default()
        };
        let name = self.name;
        let mut parts = Vec::new();
        match (self.live, self.desired) {
            (Some(_), None) if is(self.live, "storage") => {
                return Some(format!("{name} removed, still stored {BREAKS}"));
            }
            (Some(_), None) if is(self.live, "served") => return Some(format!("{name} removed {BREAKS}")),
            (Some(_), None) => return Some(format!("{name} removed")),
            (None, _) => {
                let stored = if is(self.desired, "storage") { ", stored from now on" } else { "" };
                let served = if is(self.desired, "served") { "" } else { ", not served" };
                return Some(format!("{name} added{served}{stored}"));
            }
            (Some(_), Some(_)) => {}
        }
        match (is(self.live, "served"), is(self.desired, "served")) {
            (true, false) => parts.push(format!("no longer served {MAY_BREAK}")),
            (false, true) => parts.push("served again".to_owned()),
            _ => {}
        }
        match (is(self.live, "storage"), is(self.desired, "storage")) {
            (true, false) => parts.push("no longer the stored version".to_owned()),
            (false, true) => parts.push("stored from now on".to_owned()),
            _ => {}
        }
        if is(self.desired, "deprecated") && !is(self.live, "deprecated") {
            parts.push("deprecated".to_owned());
        }
        let Fields { added, removed, retyped, required } = &self.fields;
        let counts = [(added, "added"), (removed, "removed"), (retyped, "of another type"), (required, "required now")];
        let counted = counts.iter().filter(|(fields, _)| !fields.is_empty());
        let counted: Vec<String> = counted
            .enumerate()
            .map(|(at, (fields, what))| {
                let noun = if at > 0 {
                    ""
                } else if fields.len() == 1 {
                    "field "
                } else {
                    "fields "
                };
                format!("{} {noun}{what}", grouped(fields.len()))
            })
            .collect();
        if !counted.is_empty() {
            let mark = if removed.is_empty() && retyped.is_empty() && required.is_empty() { "" } else { MAY_BREAK };
            parts.push(format!("{} {mark}", counted.join(", ")).trim_end().to_owned());
        }
        if parts.is_empty() && self.live != self.desired {
            parts.push("no field added or removed".to_owned());
        }
        (!parts.is_empty()).then(|| {
            if parts.len() == 1 && counted.is_empty() {
                format!("{name} {}", parts.join(", "))
            } else {
                format!("{name}: {}", parts.join(", "))
            }
        })
    }
}

impl Fields {
    fn of(live: &Value, desired: &Value) -> Self {
        let schema = |version: &Value| version.pointer("/schema/openAPIV3Schema").cloned().unwrap_or_default();
        let (old, new) = (schema(live), schema(desired));
        let mut known = (BTreeMap::new(), BTreeMap::new());
        walk(&mut known.0, "", &old, DEEPEST);
        walk(&mut known.1, "", &new, DEEPEST);
        let (old, new) = known;
        // A field whose parent comes or goes comes or goes with it.
        let alone = |path: &str, other: &BTreeMap<String, Field>| {
            let parent = path.rsplit_once(['.', '[']).map_or("", |(parent, _)| parent);
            parent.is_empty() || other.contains_key(parent)
        };
        let missing = |from: &BTreeMap<String, Field>, other: &BTreeMap<String, Field>| -> Vec<String> {
            let missing = from.keys().filter(|path| !other.contains_key(*path) && alone(path, other));
            missing.cloned().collect()
        };
        let both = || old.iter().filter_map(|(path, field)| Some((path, field, new.get(path)?)));
        let retyped = both().filter(|(_, before, after)| before.of != after.of);
        let newly_required = new.iter().filter(|(path, field)| {
            field.is_required && alone(path, &old) && old.get(*path).is_none_or(|before| !before.is_required)
        });
        Self {
            added: missing(&new, &old),
            removed: missing(&old, &new),
            retyped: retyped.map(|(path, before, after)| format!("{path}: {} → {}", before.of, after.of)).collect(),
            required: newly_required.map(|(path, _)| format!("{path} is required now")).collect(),
        }
    }
}

/// A field of a schema.
struct Field {
    of: String,
    is_required: bool,
}

/// Adds the fields below a schema, each by its path: `spec.ports[*].name`.
fn walk(known: &mut BTreeMap<String, Field>, path: &str, schema: &Value, depth: usize) {
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

fn add(known: &mut BTreeMap<String, Field>, path: &str, field: &Value, is_required: bool, depth: usize) {
    let is_set = |name: &str| field.get(name).and_then(Value::as_bool).unwrap_or_default();
    let of = match field.get("type").and_then(Value::as_str) {
        _ if is_set("x-kubernetes-int-or-string") => "integer or string",
        Some(name) => name,
        None => "anything",
    };
    known.insert(path.to_owned(), Field { of: of.to_owned(), is_required });
    walk(known, path, field, depth - 1);
}
