//! The whole text: the differences in their order, their outcomes, and the last line.

use super::sheet::Sheet;
use super::{object, outcomes, readiness, summary, together, unmanaged};
use crate::words::conflict;
use crate::words::label::{ParentLabel, parent_label};
use crate::{ApplySetInfo, Command, ObjectReport, Report, Styled, View};

/// The whole text about one cluster at once.
pub fn whole(report: &Report, view: &View) -> Styled {
    if report.command == Command::Status {
        return readiness::whole(report, view);
    }
    let mut text = findings(report, view);
    text.append(summary::summary(report, view));
    text
}

/// Everything but the last line.
pub fn findings(report: &Report, view: &View) -> Styled {
    if view.summary {
        return Styled::new();
    }
    let report = &*view.shown(report);
    let mut text = differences(report, view);
    report.objects.iter().for_each(|object| text.append(outcomes::outcome(object)));
    text.append(outcomes::left(report, view));
    text.append(readiness::left(report));
    text
}

/// The differences of all objects.
pub fn differences(report: &Report, view: &View) -> Styled {
    let mut text = Styled::new();
    if view.summary {
        return text;
    }
    let (calm, urgent): (Vec<&ObjectReport>, Vec<&ObjectReport>) =
        view.sorted(report).into_iter().partition(|object| !needs_attention(object));
    text.append(together::texts(&calm, view));
    if let Some(set) = &report.apply_set {
        text.append(parent_text(set, view));
    }
    text.append(unmanaged::lines(report, view));
    text.append(together::texts(&urgent, view));
    let mut sheet = Sheet::new(view);
    for hint in conflict::hints(&urgent) {
        sheet.hint(&hint, 0);
    }
    text.append(sheet.text);
    text
}

/// Returns true if somebody has to do something about an object before an apply can.
fn needs_attention(object: &ObjectReport) -> bool {
    object.disposition().is_blocked() || !object.diff.conflicts.is_empty()
}

/// The line about the parent of an apply set that `apply` has to write, which is no drift.
pub(crate) fn parent_text(set: &ApplySetInfo, view: &View) -> Styled {
    let mut sheet = Sheet::new(view);
    if let Some(ParentLabel { sign, role, about }) = parent_label(set.parent.action) {
        object::head(&mut sheet, (sign, role), &set.parent.key().to_string(), about, "");
    }
    sheet.text
}
