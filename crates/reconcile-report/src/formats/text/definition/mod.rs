//! The versions of a `CustomResourceDefinition`: those that are added and removed, and the changes of the fields of each, instead
//! of thousands of lines of schema.

mod schema;

use std::collections::{BTreeMap, BTreeSet};

use reconcile_core::compare::FieldChange;
use reconcile_core::text::{middle_cut, width};
use serde_json::Value;
use similar::ChangeTag;
use structured_merge::{FieldPath, Op};

use super::sheet::{GAP, MARGIN, Sheet, ended, more, put_lines};
use crate::model::ObjectReport;
use crate::theme::plain;
use crate::view::View;
use crate::words::sentence::wrapped::wrapped_list;
use crate::words::styled::{Role, Styled};
use crate::words::value::block;
use crate::words::value::line_diff::groups;
use crate::words::value::number::{counted, grouped};
use crate::words::why::note;
use schema::Fields;

/// Largest number of fields that are named, without `--full`.
const NAMED: usize = 6;
/// Largest number of changes with an owner that are also shown by themselves. The list of versions is owned as a whole, so that
/// after one manual change of it all fields of an upgrade have that owner.
const OWNED: usize = 6;
/// Columns before what is below a line of the summary.
const BELOW: usize = MARGIN.len() + GAP;
/// Marks of changes that may break existing objects, or programs that use them.
const BREAKS: &str = "✗";
const MAY_BREAK: &str = "⚠";
/// The keys of a version that are neither its schema nor described in other words.
const BESIDE: [(&str, &str); 3] = [
    ("additionalPrinterColumns", "other printer columns"),
    ("selectableFields", "other selectable fields"),
    ("subresources", "other subresources"),
];

/// Returns true if the summary covers this change.
pub(super) fn is_summarised(object: &ObjectReport, change: &FieldChange) -> bool {
    let versions = FieldPath::of(&["spec", "versions"]);
    object.key.gvk.is_crd()
        && (is_whole(change)
            || object.diff.notes.versions.is_some() && change.is_drift() && versions.is_prefix_of(&change.path))
}

/// Returns true if all of the versions are one change.
fn is_whole(change: &FieldChange) -> bool {
    change.op == Op::Change && change.path == FieldPath::of(&["spec", "versions"])
}

/// The summarised changes that are also shown by themselves, as they are few and have an owner.
pub(super) fn few_owned<'c>(summarised: &[&'c FieldChange]) -> Vec<&'c FieldChange> {
    let owned = summarised.iter().filter(|change| !change.managers.is_empty() && !is_whole(change));
    let owned: Vec<&FieldChange> = owned.copied().collect();
    if owned.len() <= OWNED { owned } else { Vec::new() }
}

/// The summary of the versions in lines, and the changes that it does not cover; for other formats.
pub(crate) fn summary<'o>(object: &'o ObjectReport, view: &View) -> (Vec<String>, Vec<&'o FieldChange>) {
    let (summarised, mut others): (Vec<_>, Vec<_>) =
        object.diff.changes.iter().partition(|change| is_summarised(object, change));
    let mut sheet = Sheet::new(view);
    versions(&mut sheet, object, &summarised);
    others.extend(few_owned(&summarised));
    let text = plain(&sheet.text);
    let lines = text.lines().map(|line| line.strip_prefix(MARGIN).unwrap_or(line).to_owned());
    (lines.collect(), others)
}

/// Both lists of versions: from the objects as a whole, or from the one change that has them.
fn both<'o>(object: &'o ObjectReport, summarised: &[&'o FieldChange]) -> Option<(&'o Value, &'o Value)> {
    if let Some(whole) = &object.diff.notes.versions {
        return Some((whole.live.pointer("/spec/versions")?, whole.desired.pointer("/spec/versions")?));
    }
    let change = summarised.first()?;
    Some((change.live.as_deref()?, change.desired.as_deref()?))
}

/// Appends the summary of the versions in which these changes are.
pub(super) fn versions(sheet: &mut Sheet<'_>, object: &ObjectReport, summarised: &[&FieldChange]) {
    if summarised.is_empty() {
        return;
    }
    let Some((live, desired)) = both(object, summarised) else { return };
    let versions = versions_of(live, desired);
    let mut written = format!("{MARGIN}versions:");
    for (at, clause) in clauses(&versions).iter().enumerate() {
        let separator = if at == 0 { " " } else { " · " };
        if [&written, separator, clause].map(width).iter().sum::<usize>() <= sheet.view.width {
            written.push_str(separator);
            written.push_str(clause);
            continue;
        }
        for part in wrapped_list(clause, sheet.view.width.saturating_sub(BELOW)) {
            sheet.line(Role::Plain, std::mem::replace(&mut written, format!("{MARGIN}  {part}")));
        }
    }
    sheet.line(Role::Plain, written);
    let dangers = dangers(&versions);
    let most = sheet.view.most(NAMED);
    for (sign, version, field) in dangers.iter().take(most) {
        let role = if *sign == '-' { Role::Remove } else { Role::Change };
        let sign = format!("{MARGIN}  {version} {sign} ");
        let room = sheet.view.most(sheet.view.width.saturating_sub(width(&sign)));
        let field = middle_cut(field, room);
        sheet.line(role, format!("{sign}{field}"));
    }
    more(sheet, dangers.len().saturating_sub(most), "field", BELOW);
    let mut by_note = notes(sheet, summarised);
    let of_all =
        by_note.iter().position(|(_, changes)| changes.len() == summarised.len()).map(|at| by_note.remove(at).0);
    for (note, changes) in by_note {
        let about = match changes.as_slice() {
            [change] => path_in_spec(change),
            several => format!("{} fields", grouped(several.len())),
        };
        let end = format!(": {note}");
        let room = sheet.view.width.saturating_sub(BELOW).saturating_sub(width(&end));
        let about = if sheet.view.full || width(&about) <= room { about } else { ended(&about, room.max(GAP)) };
        sheet.line(Role::Note, format!("{MARGIN}  {about}{end}"));
    }
    schema(sheet, live, desired, &of_all.unwrap_or_default());
}

/// The managers and reasons of changes that are not shown by themselves, and the changes of each.
fn notes<'c>(sheet: &Sheet<'_>, summarised: &[&'c FieldChange]) -> Vec<(String, Vec<&'c FieldChange>)> {
    let mut by_note: BTreeMap<String, Vec<&FieldChange>> = BTreeMap::new();
    for change in summarised.iter().filter(|_| few_owned(summarised).is_empty()) {
        by_note.entry(note(change, sheet.view)).or_default().push(change);
    }
    by_note.into_iter().filter(|(note, _)| !note.is_empty()).collect()
}

/// `versions[name=v1].subresources`
fn path_in_spec(change: &FieldChange) -> String {
    FieldPath::from(change.path.elements().get(1..).unwrap_or_default().to_vec()).to_string()
}

/// Appends the schema itself, or its size, with a note about all of it.
fn schema(sheet: &mut Sheet<'_>, live: &Value, desired: &Value, note: &str) {
    let old = block(live);
    let new = block(desired);
    let groups = groups(&old, &new);
    if sheet.view.full {
        sheet.row(Styled::new().with(Role::Plain, format!("{MARGIN}spec.versions")), note, BELOW);
        return put_lines(sheet, &groups, BELOW, None);
    }
    let count = groups.iter().flatten().filter(|(tag, _)| *tag != ChangeTag::Equal).count();
    let size = format!("{MARGIN}{} of schema: --full", counted(count, "line", "lines"));
    sheet.row(Styled::new().with(Role::Note, size), note, BELOW);
}

/// One version on both sides.
struct Pair<'v> {
    name: &'v str,
    live: Option<&'v Value>,
    desired: Option<&'v Value>,
    fields: Fields,
}

/// The versions of both lists, by name.
fn versions_of<'v>(live: &'v Value, desired: &'v Value) -> Vec<Pair<'v>> {
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
    all.map(pair).collect()
}

/// A clause for each version that changes.
fn clauses(versions: &[Pair<'_>]) -> Vec<String> {
    let clauses: Vec<String> = versions.iter().filter_map(Pair::clause).collect();
    if clauses.is_empty() { vec!["in another form".to_owned()] } else { clauses }
}

/// Sign, version and field of each change that may break something.
fn dangers<'p>(versions: &'p [Pair<'_>]) -> Vec<(char, &'p str, &'p str)> {
    let mut dangers = Vec::new();
    for Pair { name, fields, .. } in versions {
        let kinds = [('-', &fields.removed), ('~', &fields.retyped), ('!', &fields.required), ('~', &fields.stricter)];
        for (sign, fields) in kinds {
            dangers.extend(fields.iter().map(|field| (sign, *name, field.as_str())));
        }
    }
    dangers
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
