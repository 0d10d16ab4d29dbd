//! The text of `own`: who loses fields and who gets them, and the fields that differ and stay with their owners.

use reconcile_core::compare::{Action, FieldChange};

use super::object::{conflicts, head, object_error};
use super::outcomes;
use super::sheet::{GAP, MARGIN, Sheet, more};
use crate::model::{ObjectReport, Report};
use crate::view::View;
use crate::words::owned::{Passing, fields, passing, result};
use crate::words::styled::{Role, Styled};
use crate::words::summary::cluster;

/// Most fields that are named of those that pass between the same managers.
const NAMED: usize = 12;

/// The whole text about one cluster.
pub fn whole(report: &Report, view: &View) -> Styled {
    let mut text = Styled::new();
    text.append(transfers(report, view));
    if !view.summary {
        report.objects.iter().for_each(|object| text.append(outcomes::outcome(object)));
        text.append(left(report, view));
    }
    text.append(summary(report, view));
    text
}

/// The objects that changed during the run, and those that could not be written, each with the reason.
pub fn left(report: &Report, view: &View) -> Styled {
    let mut text = Styled::new();
    if view.summary {
        return text;
    }
    let changed = report.objects.iter().filter(|object| object.run.changed_during_run);
    for object in changed.filter(|object| !object.diff.changes.is_empty()) {
        text.append(object_text(object, view));
    }
    text.append(outcomes::left(report, view));
    text
}

/// The objects whose owners change, or cannot.
pub fn transfers(report: &Report, view: &View) -> Styled {
    let (calm, urgent): (Vec<&ObjectReport>, Vec<&ObjectReport>) =
        view.sorted(report).into_iter().partition(|object| object.diff.action != Action::Unknown);
    let mut text = Styled::new();
    if view.summary {
        return text;
    }
    for object in calm.into_iter().chain(urgent) {
        text.append(object_text(object, view));
    }
    text
}

fn object_text(object: &ObjectReport, view: &View) -> Styled {
    let mut sheet = Sheet::new(view);
    let groups = passing(object.diff.transfers.as_deref().unwrap_or_default());
    let is_left = object.diff.action == Action::Unknown;
    if groups.is_empty() && !is_left && object.diff.changes.is_empty() && object.messages.warnings.is_empty() {
        return sheet.text;
    }
    let place = object.source.as_ref().map(|source| view.place(source)).unwrap_or_default();
    let sign = if is_left { ("!", Role::Error) } else { ("~", Role::Change) };
    head(&mut sheet, sign, &object.key.to_string(), "", &place);
    if is_left {
        sheet.text.append(object_error(object, view));
    }
    for Passing { managers, paths } in &groups {
        sheet.line(Role::Plain, format!("{MARGIN}{managers}: {}", fields(paths.len())));
        let most = view.most(NAMED);
        for path in paths.iter().take(most) {
            sheet.line(Role::Note, format!("{MARGIN}{:GAP$}{path}", ""));
        }
        more(&mut sheet, paths.len().saturating_sub(most), "field", MARGIN.len() + GAP);
    }
    if !object.diff.changes.is_empty() {
        let stays = if object.diff.changes.len() == 1 { "differs, and stays" } else { "differ, and stay" };
        let count = fields(object.diff.changes.len());
        sheet.line(Role::Change, format!("{MARGIN}{count} {stays} with the present owners"));
        let changes: Vec<&FieldChange> = object.diff.changes.iter().collect();
        super::object::changes(&mut sheet, &changes);
    }
    conflicts(&mut sheet, object);
    for warning in &object.messages.warnings {
        sheet.line(Role::Note, format!("{MARGIN}warning: {warning}"));
    }
    sheet.text
}

/// The last lines: what was or would be given, what could not be, and the cluster.
pub fn summary(report: &Report, view: &View) -> Styled {
    let (lines, remarks) = result(report);
    let mut text = Styled::new();
    for line in lines {
        text.line(Role::Plain, line);
    }
    for remark in remarks {
        text.line(Role::Note, remark);
    }
    if let Some(info) = report.cluster.as_ref().filter(|_| !view.is_headed) {
        text.line(Role::Note, cluster(info, str::to_owned));
    }
    text
}
