//! The text about one object: its name, its differences, and its errors.

use std::collections::BTreeMap;

use reconcile_core::compare::{Action, Class, FieldChange, masked};
use reconcile_core::plan::pod_spec;
use reconcile_core::text::{one_line, visible, width, yaml};
use serde_json::Value;
use similar::ChangeTag;

use super::sheet::{GAP, MARGIN, Sheet, more, put_lines};
use super::{definition, fields, notes};
use crate::model::ObjectReport;
use crate::model::object::disposition::Disposition;
use crate::view::View;
use crate::words::conflict::{conflict_hint, installer};
use crate::words::effects::effect;
use crate::words::label::{LEFT, NEEDS_REPLACEMENT, sign, stopped_step};
use crate::words::sentence::excerpt;
use crate::words::sentence::shared_diagnostic::coded;
use crate::words::sentence::wrapped::wrapped;
use crate::words::styled::{Role, Styled};
use crate::words::value::certificate::summarised;
use crate::words::value::line_diff::Line;
use crate::words::why::{self, added_by, owner_text, owners};
use crate::words::{deletions, users};

/// Largest number of changes, conflicts or warnings of one object that are shown; anyone who may write the live object decides
/// how many there are.
const SHOWN: usize = 100;
/// The remark about an object of which only the ownership of fields would change.
const UNOWNED: &str = "not yet owned by our field manager";
/// Largest number of mistakes in one manifest that are shown.
const MISTAKES: usize = 10;
/// Largest number of images that are named of an object to be created, and the longest name.
const IMAGES: usize = 3;
const IMAGE: usize = 60;

/// The name of an object and its differences; empty if there are none.
pub(crate) fn object_text(object: &ObjectReport, view: &View) -> Styled {
    let shown = notes::shown(object, view);
    let warnings = notes::warnings(object, view);
    let mut sheet = Sheet::new(view);
    let is_unowned = view.is_unowned(object);
    let is_quiet = shown.is_empty() && warnings.is_empty() && !object.is_kept() && !is_unowned;
    if object.diff.action == Action::None && is_quiet {
        return sheet.text;
    }
    let place = object.source.as_ref().map(|source| view.place(source));
    let about = match (&place, &object.messages.reason) {
        (None, Some(reason)) if object.diff.action == Action::Delete && object.is_known() => format!("{reason}, known"),
        (None, Some(reason)) => reason.clone(),
        _ if needs_replacement(object) => NEEDS_REPLACEMENT.to_owned(),
        _ if object.is_left_whole() => LEFT.to_owned(),
        _ if is_unowned => UNOWNED.to_owned(),
        _ => about(object),
    };
    head(&mut sheet, sign(object), &object.key.to_string(), &about, &place.clone().unwrap_or_default());
    if let (Some(_), Some(reason)) = (&place, &object.messages.reason) {
        sheet.line(Role::Error, format!("{MARGIN}{reason}"));
    }
    if object.diff.action == Action::Unknown || object.is_refused_deletion() {
        sheet.text.append(object_error(object, view));
    }
    if object.run.outcome.is_none()
        && let Some((mark, role)) = deletions::mark(object)
    {
        sheet.line(role, format!("{MARGIN}{mark}"));
    }
    deleted(&mut sheet, object);
    if view.full {
        content(&mut sheet, object);
    }
    let (summarised, mut shown): (Vec<_>, Vec<_>) =
        shown.into_iter().partition(|change| definition::is_summarised(object, change));
    definition::versions(&mut sheet, object, &summarised);
    shown.extend(definition::few_owned(&summarised));
    changes(&mut sheet, &shown);
    effects(&mut sheet, &object.diff.effects.iter().map(effect).collect::<Vec<_>>());
    let most = view.most(SHOWN);
    conflicts(&mut sheet, object);
    hint_on_conflicts(&mut sheet, object, 1);
    for warning in warnings.iter().take(most) {
        sheet.line(Role::Note, format!("{MARGIN}warning: {warning}"));
    }
    more(&mut sheet, warnings.len().saturating_sub(most), "warning", MARGIN.len());
    if place.is_some() && object.messages.reason.is_some() {
        sheet.hints(&object.messages.hint, MARGIN.len());
    }
    sheet.text
}

/// Appends changes: those of the manifest's fields, then what the server changes because of them, and then the fields that others added.
pub(super) fn changes(sheet: &mut Sheet<'_>, shown: &[&FieldChange]) {
    let (added, differing): (Vec<_>, Vec<_>) =
        foremost(shown, sheet.view.most(SHOWN)).into_iter().partition(|change| change.is_addition());
    let (following, differing): (Vec<_>, Vec<_>) =
        differing.into_iter().partition(|change| change.class == Class::Consequence);
    let (others, differing): (Vec<_>, Vec<_>) = differing.into_iter().partition(|change| change.is_following());
    let mut count = fields::fields(sheet, &differing, MARGIN.len());
    for change in &others {
        let line = format!("{MARGIN}{} follows {}", change.path, change.follows.join(", "));
        sheet.line(Role::Note, visible(&line).into_owned());
        count = count.saturating_add(1);
    }
    if !following.is_empty() {
        sheet.line(Role::Note, format!("{MARGIN}and with it"));
        count += fields::fields(sheet, &following, MARGIN.len());
    }
    count += additions(sheet, &added);
    more(sheet, shown.len().saturating_sub(count), "change", MARGIN.len());
}

/// Appends the effects of an apply beyond the fields.
pub(super) fn effects(sheet: &mut Sheet<'_>, effects: &[String]) {
    let most = sheet.view.most(SHOWN);
    let room = sheet.view.width.saturating_sub(MARGIN.len()).saturating_sub(2);
    for effect in effects.iter().take(most) {
        for (at, line) in wrapped(effect, room).into_iter().enumerate() {
            let mark = if at == 0 { "↳" } else { " " };
            sheet.line(Role::Note, format!("{MARGIN}{mark} {line}"));
        }
    }
    more(sheet, effects.len().saturating_sub(most), "effect", MARGIN.len());
}

fn needs_replacement(object: &ObjectReport) -> bool {
    matches!(object.disposition(), Disposition::NeedsReplace | Disposition::Protected)
}

/// Appends the users who deleted an object that is to be created, if a log names them.
fn deleted(sheet: &mut Sheet<'_>, object: &ObjectReport) {
    let view = sheet.view;
    let missing = object.diff.changes.iter().find(|change| change.class == Class::Missing);
    if let Some(deleted) = missing.and_then(|change| users::removed(change, |time| view.time(time))) {
        sheet.line(Role::Note, format!("{MARGIN}{deleted}"));
    }
}

/// Appends the whole object that is to be created, in which secrets are masked and certificates are summarised.
fn content(sheet: &mut Sheet<'_>, object: &ObjectReport) {
    let desired = object.diff.changes.first().and_then(|change| change.desired.as_deref());
    let Some(desired) = desired.filter(|_| object.diff.action == Action::Create) else { return };
    let text = yaml(&masked(&summarised(desired)));
    let lines: Vec<Line<'_>> = text.lines().map(|line| (ChangeTag::Insert, line.into())).collect();
    put_lines(sheet, &[lines], MARGIN.len(), None);
}

/// The line above an object's differences: its name, and its location at the right.
pub(super) fn head(sheet: &mut Sheet<'_>, (mark, role): (&str, Role), name: &str, about: &str, place: &str) {
    let mut left = Styled::new().with(role, format!("{mark} ")).with(Role::Name, name);
    let room = sheet.view.width.saturating_sub(left.width()).saturating_sub(GAP);
    let is_beside = !about.is_empty() && width(about) <= room;
    if is_beside {
        left.push(Role::Note, format!("  {about}"));
    }
    sheet.row_to_edge(left, place, MARGIN.len());
    if !about.is_empty() && !is_beside {
        sheet.line(Role::Note, format!("{MARGIN}{about}"));
    }
}

/// The summary of an object to be created: `2 replicas, shop/worker:4.1`.
fn about(object: &ObjectReport) -> String {
    if let Some(former) = &object.renamed_from {
        return format!("under a new name, was {former}");
    }
    let created = object.diff.changes.first().filter(|_| object.diff.action == Action::Create);
    if let Some(release) = &object.release {
        let missing = created.and_then(why::missing).map(|why| format!("{why}, ")).unwrap_or_default();
        return format!("{missing}release {release}");
    }
    let Some(change) = created else { return String::new() };
    let mut parts: Vec<String> = why::missing(change).map(ToOwned::to_owned).into_iter().collect();
    if let Some(desired) = &change.desired {
        desired.with(|desired| add_workload(desired, &mut parts));
    }
    parts.extend(change.known.then(|| "known".to_owned()));
    parts.join(", ")
}

/// Adds the replicas and the images of a workload.
fn add_workload(desired: &Value, parts: &mut Vec<String>) {
    match desired.pointer("/spec/replicas").and_then(Value::as_u64) {
        Some(1) => parts.push("1 replica".to_owned()),
        Some(replicas) => parts.push(format!("{replicas} replicas")),
        None => {}
    }
    let containers = pod_spec(desired).and_then(|pods| pods.get("containers")?.as_array());
    let images: Vec<&str> =
        containers.into_iter().flatten().filter_map(|container| container.get("image")?.as_str()).collect();
    parts.extend(images.iter().take(IMAGES).map(|image| one_line(image, IMAGE)));
    if let Some(more @ 1..) = images.len().checked_sub(IMAGES) {
        parts.push(format!("{more} more"));
    }
}

/// The changes that are shown if there are too many: drift before anything else, so that nobody can hide it behind other changes.
pub(crate) fn foremost<'c>(changes: &[&'c FieldChange], most: usize) -> Vec<&'c FieldChange> {
    let drift = changes.iter().filter(|change| change.is_drift()).count().min(most);
    let (mut drift, mut others) = (drift, most.saturating_sub(drift));
    let mut fits = |change: &&&FieldChange| {
        let room = if change.is_drift() { &mut drift } else { &mut others };
        let fits = *room > 0;
        *room = room.saturating_sub(1);
        fits
    };
    changes.iter().filter(|change| fits(change)).copied().collect()
}

/// Appends the fields that others added, by their managers: manual changes first.
fn additions(sheet: &mut Sheet<'_>, added: &[&FieldChange]) -> usize {
    let mut groups: BTreeMap<(bool, String), Vec<&FieldChange>> = BTreeMap::new();
    for change in added {
        let by = owners(&change.managers, sheet.view);
        groups.entry((!change.is_manual(), by)).or_default().push(change);
    }
    let mut count = 0_usize;
    for ((is_controller, by), changes) in &groups {
        sheet.line(Role::Note, format!("{MARGIN}{}", added_by(!is_controller, by)));
        count = count.saturating_add(fields::fields(sheet, changes, MARGIN.len()));
    }
    count
}

/// Appends the conflicts of fields that no change is about.
pub(super) fn conflicts(sheet: &mut Sheet<'_>, object: &ObjectReport) {
    let others = object.other_conflicts();
    let most = sheet.view.most(SHOWN);
    for conflict in others.iter().take(most) {
        let owner = owner_text(&conflict.owner, sheet.view);
        sheet.line(Role::Error, format!("{MARGIN}conflict: {} is owned by {owner}", conflict.path));
    }
    more(sheet, others.len().saturating_sub(most), "conflict", MARGIN.len());
}

/// Appends the hint for all conflicts of an object, or of several that have the same. A conflict with an installer is a question for the
/// run as a whole, which `differences` asks once.
pub(super) fn hint_on_conflicts(sheet: &mut Sheet<'_>, object: &ObjectReport, count: usize) {
    sheet.hints(conflict_hint(object, count).filter(|_| installer(object).is_none()), MARGIN.len());
}

/// The error of an object, with its hint; a hint that several mistakes share is printed once.
pub(crate) fn object_error(object: &ObjectReport, view: &View) -> Styled {
    let what = stopped_step(object.diff.action);
    let mut sheet = Sheet::new(view);
    let Some(error) = &object.messages.error else { return sheet.text };
    if error.details.is_empty() {
        sheet.line(Role::Error, format!("{MARGIN}{what}: {}", coded(error)));
        sheet.hints(&error.hint, MARGIN.len());
        return sheet.text;
    }
    let count = error.details.len();
    let mistakes = if count == 1 { "a mistake".to_owned() } else { format!("{count} mistakes") };
    sheet.line(Role::Error, format!("{MARGIN}{what}: {mistakes} in the manifest"));
    let most = view.most(MISTAKES);
    sheet
        .text
        .append(excerpt::diagnostics(error.details.iter().take(most), MARGIN, view.hint_columns(), |_| String::new()));
    more(&mut sheet, count.saturating_sub(most), "mistake", MARGIN.len());
    sheet.text
}
