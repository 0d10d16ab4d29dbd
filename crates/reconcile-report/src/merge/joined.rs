//! Joins the reports of the shards of a run.

use std::collections::{BTreeMap, BTreeSet};

use reconcile_core::compare::{Action, REDACTED, secret_number};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::object::Shard;
use reconcile_core::text::listed;
use serde_json::Value;
use structured_merge::ObjectKey;

use super::input::MergeInput;
use crate::model::contexts::worst;
use crate::model::{
    ClusterInfo, Command, ConfigurationInfo, ObjectReport, ParentAction, Report, StartTime, UnmanagedObject, paired,
};

/// Most shards that a message names.
const NAMED: usize = 10;

/// Joins the reports of the shards.
pub(super) fn joined(parts: Vec<MergeInput>, missing: &[Shard]) -> Report {
    let mut reports: Vec<Report> = parts.into_iter().map(|part| part.report).collect();
    reports.iter_mut().for_each(name_redacted);
    let (verdict, exit_code) = worst(&reports);
    let command = reports.first().map_or(Command::Diff, |report| report.command);
    let mut whole = Report { exit_code, ..Report::stopped(command, verdict, Vec::new()) };
    whole.configuration = configuration(&reports);
    let unmatched = unmatched(&reports).filter(|_| missing.is_empty()).unwrap_or_default();
    whole.warnings = ConfigurationInfo::unmatched_warning(&unmatched).into_iter().collect();
    let mut reported = BTreeSet::new();
    let general = reports.iter().flat_map(Report::general_server_warnings).cloned().collect();
    for report in reports {
        add(&mut whole, report, &mut reported);
    }
    count_warnings(&mut whole, general);
    pair(&mut whole);
    whole.objects.sort_by_key(|object| object.position.unwrap_or(usize::MAX));
    whole.objects.iter_mut().filter(|object| object.position.is_some()).for_each(|object| object.position = None);
    if let Some(unmanaged) = &mut whole.unmanaged {
        unmanaged.sort_by_key(UnmanagedObject::key);
    }
    with_missing(whole, missing)
}

/// Counts the warnings of the server as one run does: those that it gives to each shard once, and not beside the object that has one.
fn count_warnings(whole: &mut Report, mut general: BTreeSet<String>) {
    for object in &whole.objects {
        for warning in &object.messages.warnings {
            if general.remove(warning) {
                whole.warnings.retain(|other| other != warning);
            }
        }
    }
    let of_objects: usize = whole.objects.iter().map(|object| object.messages.server_warnings).sum();
    whole.summary.warnings = of_objects.saturating_add(general.len());
}

/// Shows a generated object and its former one as one that are in different shards. The hidden values of different runs cannot be compared,
/// so that Secrets stay apart, unless the shard of the new one has compared them.
fn pair(whole: &mut Report) {
    if !matches!(whole.command, Command::Diff | Command::Apply) {
        return;
    }
    let objects = std::mem::take(&mut whole.objects);
    let count = objects.len();
    let compared: BTreeSet<ObjectKey> = objects.iter().filter_map(ObjectReport::former).collect();
    let is_hidden = |object: &ObjectReport| {
        let is_alone = matches!(object.diff.action, Action::Create | Action::Delete) && !compared.contains(&object.key);
        object.key.gvk.is_secret() && is_alone
    };
    // Deletions have no position: they keep the order of the shard that prunes.
    let order: BTreeMap<ObjectKey, usize> =
        objects.iter().enumerate().map(|(place, object)| (object.key.clone(), place)).collect();
    let (hidden, open): (Vec<ObjectReport>, Vec<ObjectReport>) = objects.into_iter().partition(is_hidden);
    whole.objects = paired(open, &[]);
    whole.objects.extend(hidden);
    whole.objects.sort_by_key(|object| order.get(&object.key));
    if whole.objects.len() < count {
        whole.summary.count_again(&whole.objects);
    }
    if !whole.dropped.is_empty() {
        // Another shard deletes them, or has them under a new name.
        let known = whole.keys_and_formers();
        whole.dropped.retain(|one| !known.contains(&one.key()));
    }
    whole.summary.dropped = whole.dropped.len();
}

/// Adds the report of one shard. Facts that all shards report are kept once.
fn add(whole: &mut Report, part: Report, reported: &mut BTreeSet<String>) {
    whole.cluster = better(whole.cluster.take(), part.cluster);
    whole.time = earliest(whole.time, part.time);
    whole.fail_on = part.fail_on;
    whole.only = part.only;
    whole.remove_added = part.remove_added;
    whole.base = whole.base.take().or(part.base);
    whole.release = whole.release.take().or(part.release);
    if whole.releases.is_empty() {
        whole.releases = part.releases;
    }
    whole.summary.add(&part.summary);
    whole.requests = whole.requests.plus(part.requests);
    whole.objects.extend(part.objects);
    whole.dropped.extend(part.dropped);
    whole.apply_set = match (whole.apply_set.take(), part.apply_set) {
        // Each shard lists the kinds of all: the first that writes does it.
        (Some(known), Some(other)) => {
            let actions = [known.parent.action, other.parent.action];
            let is_any = |action: &ParentAction| actions.contains(action);
            let action = [ParentAction::Create, ParentAction::Update].into_iter().find(is_any);
            let mut pruning = if known.pruned_by.is_some() { other } else { known };
            pruning.parent.action = action.unwrap_or(ParentAction::None);
            Some(pruning)
        }
        (known, other) => known.or(other),
    };
    if let Some(unmanaged) = part.unmanaged {
        whole.unmanaged.get_or_insert_default().extend(unmanaged);
    }
    whole.warnings.extend(part.warnings.into_iter().filter(|warning| reported.insert(format!("warning: {warning}"))));
    whole.errors.extend(part.errors.into_iter().filter(|error| reported.insert(format!("error: {error}"))));
}

/// The earlier of two times, as far as they are known.
fn earliest(one: Option<StartTime>, other: Option<StartTime>) -> Option<StartTime> {
    one.into_iter().chain(other).min()
}

/// The first of two clusters, or the other one if only its version is known.
fn better(one: Option<ClusterInfo>, other: Option<ClusterInfo>) -> Option<ClusterInfo> {
    match (one, other) {
        (Some(one), Some(other)) if one.version.is_none() => Some(other),
        (one, other) => one.or(other),
    }
}

/// Marks the report as incomplete if shards are missing.
fn with_missing(report: Report, missing: &[Shard]) -> Report {
    if missing.is_empty() {
        return report;
    }
    let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let names = listed(names.iter().map(String::as_str), NAMED);
    let message = match missing {
        [_] => format!("the report of shard {names} is missing"),
        several => format!("the reports of {} shards are missing: {names}", several.len()),
    };
    let verdict = report.verdict;
    let exit_code = report.exit_code;
    let diagnostic = Diagnostic::new(Code::Unknown, message).with_hint("run the missing shards, and merge again");
    let with = report.with_errors(vec![diagnostic]);
    // A worse verdict stays.
    if verdict > with.verdict { Report { verdict, exit_code, ..with } } else { with }
}

/// The configuration of all shards.
fn configuration(reports: &[Report]) -> Option<ConfigurationInfo> {
    let all: Vec<&ConfigurationInfo> = reports.iter().filter_map(|report| report.configuration.as_ref()).collect();
    let first = *all.iter().find(|one| one.file.is_some()).or(all.first())?;
    let annotated = all.iter().fold(0, |sum: usize, one| sum.saturating_add(one.annotated));
    Some(ConfigurationInfo { annotated, unmatched: None, ..first.clone() })
}

/// The ignore rules that match nothing in any shard; `None` if that is not known of a shard.
fn unmatched(reports: &[Report]) -> Option<Vec<String>> {
    let mut parts = reports.iter().map(|report| report.configuration.as_ref()?.unmatched.as_ref());
    let mut unmatched = parts.next()??.clone();
    for part in parts {
        let part: BTreeSet<&String> = part?.iter().collect();
        unmatched.retain(|place| part.contains(place));
    }
    Some(unmatched)
}

/// Adds the shard to the numbers of redacted values, which say which values are equal within one run. Each run counts from 1:
/// `#1@2` is number 1 of shard 2, and says nothing about `#1@3`.
fn name_redacted(report: &mut Report) {
    let Some(Shard { index, .. }) = report.shard.filter(|shard| shard.count >= 2) else { return };
    let changed = report.objects.iter_mut().filter(|object| !object.diff.changes.is_empty());
    for change in changed.flat_map(|object| &mut object.diff.changes) {
        for value in [&mut change.live, &mut change.desired].into_iter().flatten() {
            name_numbers(value.get_mut(), index);
        }
        change.base.iter_mut().for_each(|value| name_numbers(value, index));
    }
}

fn name_numbers(value: &mut Value, shard: u32) {
    match value {
        Value::Object(_) if secret_number(value).is_some_and(is_number) => {
            if let Some(Value::String(number)) = value.get_mut(REDACTED) {
                *number = format!("{number}@{shard}");
            }
        }
        Value::Object(map) => map.values_mut().for_each(|value| name_numbers(value, shard)),
        Value::Array(items) => items.iter_mut().for_each(|item| name_numbers(item, shard)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// `#1`
fn is_number(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}
