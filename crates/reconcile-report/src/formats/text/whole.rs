//! The whole text: the differences in their order, their outcomes, and the last lines. With `--explain-ignores`, the differences that each
//! rule hid.

use std::collections::BTreeMap;

use reconcile_core::rules::IgnoreRules;

use super::sheet::Sheet;
use super::{object, outcomes, owned, readiness, together};
use crate::model::{ApplySetInfo, ClusterInfo, Command, ObjectReport, ParentAction, Report};
use crate::view::View;
use crate::words::conflict;
use crate::words::deletions::asked;
use crate::words::effects;
use crate::words::findings::{MOST_NAMED, no_longer_in_manifests};
use crate::words::parts::{EVERYTHING_ELSE, Part, has_parts, is_divided, split};
use crate::words::sentence::{not_to_do, to_do};
use crate::words::styled::{Role, Styled};
use crate::words::summary::{SummaryLines, cluster};
use crate::words::users::listed_managers;
use crate::words::value::number;

/// The whole text about one cluster at once.
pub fn whole(report: &Report, view: &View) -> Styled {
    if report.command == Command::Status {
        return readiness::whole(report, view);
    }
    if report.command == Command::Own {
        return owned::whole(report, view);
    }
    let mut text = findings(report, view);
    text.append(summary(report, view));
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
    text.append(readiness::left(report, view));
    text
}

/// The differences of all objects.
pub fn differences(report: &Report, view: &View) -> Styled {
    let mut text = Styled::new();
    if view.summary {
        return text;
    }
    let sorted = view.sorted(report);
    let parts = if has_parts(report) { split(&sorted) } else { Vec::new() };
    if is_divided(parts.iter().map(|(part, _)| *part)) {
        return in_parts(report, &parts, view);
    }
    let (calm, urgent): (Vec<&ObjectReport>, Vec<&ObjectReport>) =
        sorted.into_iter().partition(|object| !needs_attention(object));
    text.append(together::texts(&calm, view));
    text.append(parent_text(report, view));
    text.append(dropped_lines(report, view));
    text.append(unmanaged_lines(report, view));
    text.append(together::texts(&urgent, view));
    let mut sheet = Sheet::new(view);
    sheet.hints(conflict::hints(&urgent), 0);
    text.append(sheet.text);
    text
}

/// The differences in parts, each below its heading; last the objects without any, and what belongs to no object.
fn in_parts(report: &Report, parts: &[(Option<Part>, Vec<ObjectReport>)], view: &View) -> Styled {
    let mut text = Styled::new();
    let mut hints = Vec::new();
    let changed = changed_lines(report, view);
    let drops = parts.iter().position(|(part, _)| *part != Some(Part::Overwritten)).unwrap_or(parts.len());
    for (at, (part, objects)) in parts.iter().enumerate() {
        if at == drops && *part != Some(Part::Changed) && !changed.is_empty() {
            text.append(heading(Some(Part::Changed)));
            text.append(changed.clone());
        }
        let (urgent, calm): (Vec<&ObjectReport>, Vec<&ObjectReport>) =
            objects.iter().partition(|object| needs_attention(object));
        let mut shown = together::texts(&calm, view);
        if *part == Some(Part::Changed) {
            shown.append(changed.clone());
        }
        shown.append(together::texts(&urgent, view));
        if part.is_some() || !shown.is_empty() {
            text.append(heading(*part));
        }
        text.append(shown);
        hints.extend(conflict::hints(&urgent));
    }
    if drops == parts.len() && !changed.is_empty() {
        text.append(heading(Some(Part::Changed)));
        text.append(changed);
    }
    text.append(unmanaged_lines(report, view));
    hints.sort();
    hints.dedup();
    let mut sheet = Sheet::new(view);
    sheet.hints(hints, 0);
    text.append(sheet.text);
    text
}

/// Lines about what belongs to no object, and comes from the change of the manifests or the flags.
fn changed_lines(report: &Report, view: &View) -> Styled {
    let mut text = dropped_lines(report, view);
    text.append(parent_text(report, view));
    text
}

fn heading(part: Option<Part>) -> Styled {
    let role = if part == Some(Part::Overwritten) { Role::Error } else { Role::Name };
    let mut text = Styled::new();
    text.line(role, part.map_or(EVERYTHING_ELSE, Part::heading));
    text
}

/// Returns true if somebody has to do something about an object before an apply can.
fn needs_attention(object: &ObjectReport) -> bool {
    object.disposition().is_blocked() || !object.diff.conflicts.is_empty()
}

/// The line about the parent of an apply set that `apply` has to write, which is no drift.
pub(crate) fn parent_text(report: &Report, view: &View) -> Styled {
    let mut sheet = Sheet::new(view);
    let Some(ApplySetInfo { parent, .. }) = &report.apply_set else { return sheet.text };
    let (sign, about) = match parent.action {
        ParentAction::None => return sheet.text,
        ParentAction::Create => (("+", Role::Add), "parent of the apply set"),
        ParentAction::Update => {
            (("~", Role::Change), "parent of the apply set: its list of kinds and namespaces changes")
        }
    };
    object::head(&mut sheet, sign, &parent.key().to_string(), about, "");
    sheet.text
}

/// A line for each object that is in the base and no longer in the manifests.
pub(crate) fn dropped_lines(report: &Report, view: &View) -> Styled {
    let mut sheet = Sheet::new(view);
    for dropped in report.dropped.iter().take(MOST_NAMED) {
        object::head(&mut sheet, ("-", Role::Note), &dropped.key().to_string(), no_longer_in_manifests(report), "");
    }
    let more = report.dropped.len().saturating_sub(MOST_NAMED);
    if let Some(more) = number::some(more, "more object that is", "more objects that are") {
        sheet.line(Role::Note, format!("… {more} no longer in the manifests"));
    }
    sheet.text
}

/// The unmanaged objects: a line for each.
pub(crate) fn unmanaged_lines(report: &Report, view: &View) -> Styled {
    let most = view.most(MOST_NAMED);
    let mut text = Styled::new();
    let objects = report.unmanaged.as_deref().unwrap_or_default();
    for object in objects.iter().take(most) {
        text.push(Role::Note, "? ");
        text.push(Role::Name, object.key().to_string());
        text.line(Role::Note, format!("  {}", object.reason()));
    }
    if let Some(more) = number::more(objects.len().saturating_sub(most), "object") {
        text.line(Role::Note, more);
    }
    text
}

/// The last lines: the summary, and the cluster.
pub fn summary(report: &Report, view: &View) -> Styled {
    let SummaryLines { done, not_done, effects, left_alone, remarks } = SummaryLines::of(report, view);
    let mut text = Styled::new();
    [Some(done), not_done, effects].into_iter().flatten().for_each(|words| text.line(Role::Plain, words));
    left_alone.into_iter().chain(remarks).for_each(|words| text.line(Role::Note, words));
    if let Some(info) = report.cluster.as_ref().filter(|_| !view.is_headed) {
        text.append(cluster_line(info));
    }
    text
}

/// `context prod-eu (https://10.1.2.3:6443)`
pub fn cluster_line(info: &ClusterInfo) -> Styled {
    let mut text = Styled::new();
    text.line(Role::Note, cluster(info, str::to_owned));
    text
}

/// The changes that a pass makes, those that it does not make, and the deletions that a yes to it allows.
pub fn plan(report: &Report, view: &View) -> Styled {
    let mut text = Styled::new();
    text.line(Role::Plain, to_do(report, view));
    let not_to_do = not_to_do(report);
    if !not_to_do.is_empty() {
        text.line(Role::Plain, format!("not done: {not_to_do}"));
    }
    if let Some(effects) = effects::summary(report) {
        text.line(Role::Plain, effects);
    }
    text.append(asked(report));
    text
}

/// Most fields that are named of one rule.
const FIELDS: usize = 100;

/// The rules in force, in the order of the configuration, and the annotations of manifests: each with the fields that it hid.
pub fn explained(report: &Report, rules: &IgnoreRules, view: &View) -> Styled {
    let mut hidden: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for object in &report.objects {
        for ignored in &object.diff.ignored {
            let fields = ignored.paths.iter().map(|path| {
                let managers = ignored.managers.get(&path.to_string()).map(Vec::as_slice).unwrap_or_default();
                let by = match managers {
                    [] => String::new(),
                    managers => format!("  by {}", listed_managers(managers)),
                };
                format!("{} {path}{by}", object.key)
            });
            hidden.entry(&ignored.rule).or_default().extend(fields);
        }
    }
    let mut text = Styled::new();
    for rule in &rules.rules {
        let location = rule.location.to_string();
        let fields = hidden.remove(location.as_str()).unwrap_or_default();
        hidden_by(&mut text, &location, rule.reason.as_deref(), (&fields, view));
    }
    for (annotation, fields) in &hidden {
        hidden_by(&mut text, annotation, None, (fields, view));
    }
    text
}

fn hidden_by(text: &mut Styled, rule: &str, reason: Option<&str>, (fields, view): (&[String], &View)) {
    let most = view.most(FIELDS);
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let hid = if fields.is_empty() { "hid nothing" } else { "hid:" };
    text.push(Role::Name, rule.to_owned());
    text.line(Role::Note, format!("{reason} {hid}"));
    for field in fields.iter().take(most) {
        text.line(Role::Plain, format!("    {field}"));
    }
    if let Some(more) = number::more(fields.len().saturating_sub(most), "field") {
        text.line(Role::Note, format!("    {more}"));
    }
}
