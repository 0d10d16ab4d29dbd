//! The versions of a `CustomResourceDefinition`: those that are added and removed, and the changes of the fields of each, instead
//! of thousands of lines of schema.

mod schema;
mod versions;

use std::collections::BTreeSet;

use reconcile_core::compare::{Class, FieldChange};
use reconcile_core::text::{middle_cut, width};
use serde_json::Value;
use similar::ChangeTag;
use structured_merge::{FieldPath, Op};

use super::hunks::{more, put_lines};
use super::sheet::{GAP, Sheet, wrapped};
use crate::words::line_diff::groups;
use crate::words::number::grouped;
use crate::words::value::block;
use crate::words::why::note;
use crate::{ObjectReport, Role};
use versions::Versions;

/// Largest number of fields that are named, without `--full`.
const NAMED: usize = 6;
/// Largest number of changes with an owner that are also shown by themselves. The list of versions is owned as a whole, so that
/// after one manual change of it all fields of an upgrade have that owner.
const OWNED: usize = 6;
/// Columns before the summary.
const MARGIN: usize = 4;

/// Returns true if the summary covers this change.
pub(super) fn is_summarised(object: &ObjectReport, change: &FieldChange) -> bool {
    let versions = FieldPath::of(&["spec", "versions"]);
    let is_difference = change.class.is_drift() && change.class != Class::Conflict;
    object.key.gvk.is_crd()
        && (is_whole(change)
            || object.details.versions.is_some() && is_difference && versions.is_prefix_of(&change.path))
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

/// Both lists of versions: from the objects as a whole, or from the one change that has them.
fn both<'o>(object: &'o ObjectReport, summarised: &[&'o FieldChange]) -> Option<(&'o Value, &'o Value)> {
    if let Some(whole) = &object.details.versions {
        return Some((whole.live.pointer("/spec/versions")?, whole.desired.pointer("/spec/versions")?));
    }
    let change = summarised.first()?;
    Some((change.live.as_ref()?, change.desired.as_ref()?))
}

/// Appends the summary of the versions in which these changes are.
pub(super) fn versions(sheet: &mut Sheet<'_>, object: &ObjectReport, summarised: &[&FieldChange]) {
    if summarised.is_empty() {
        return;
    }
    let Some((live, desired)) = both(object, summarised) else { return };
    let versions = Versions::of(live, desired);
    let margin = " ".repeat(MARGIN);
    let mut written = format!("{margin}versions:");
    for (at, clause) in versions.clauses().iter().enumerate() {
        let separator = if at == 0 { " " } else { " · " };
        if [&written, separator, clause].map(width).iter().sum::<usize>() <= sheet.view.width {
            written.push_str(separator);
            written.push_str(clause);
            continue;
        }
        for part in wrapped(clause, sheet.view.width.saturating_sub(MARGIN + GAP)) {
            sheet.line(Role::Plain, std::mem::replace(&mut written, format!("{margin}  {part}")));
        }
    }
    sheet.line(Role::Plain, written);
    let dangers = versions.dangers();
    let most = if sheet.view.full { usize::MAX } else { NAMED };
    for (sign, version, field) in dangers.iter().take(most) {
        let role = if *sign == '-' { Role::Remove } else { Role::Change };
        let sign = format!("{margin}  {version} {sign} ");
        let room = if sheet.view.full { usize::MAX } else { sheet.view.width.saturating_sub(width(&sign)) };
        let field = middle_cut(field, room);
        sheet.line(role, format!("{sign}{field}"));
    }
    more(sheet, dangers.len().saturating_sub(most), "field", MARGIN + GAP);
    schema(sheet, live, desired);
    if few_owned(summarised).is_empty() {
        let notes: BTreeSet<String> = summarised.iter().map(|change| note(change, sheet.view)).collect();
        for note in notes.iter().filter(|note| !note.is_empty()) {
            sheet.line(Role::Note, format!("{margin}{note}"));
        }
    }
}

/// Appends the schema itself, or its size.
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
