//! Changes, owners and objects in one line each, for formats that show no more than a line.

use serde_json::Value;

use super::sentence;
use super::value::inline;
use crate::compare::{Class, Conflict, FieldChange, Owner};
use crate::report::formats::text::{matrix, outcomes, readiness};
use crate::report::{Command, ObjectReport, ReadinessCounts, Report, Summary, Verdict, View};
use crate::text::{one_line, visible};

/// Longest value in a line, in characters.
const VALUE: usize = 120;
/// Longest message in a line, in characters.
const MESSAGE: usize = 1_000;

/// ``spec.replicas: 5 → 2 (changed by kubectl, scale)``, `the object does not exist` for all of it.
pub(crate) fn change(change: &FieldChange) -> String {
    if change.path.elements().is_empty() {
        return whole_object(change.class).to_owned();
    }
    let path = one_line(&change.path.to_string(), MESSAGE);
    let value = |value: &Value| one_line(&inline(value), VALUE);
    let values = match (&change.live, &change.desired) {
        (Some(live), _) if matches!(change.class, Class::Unmanaged | Class::Released) => value(live),
        (Some(live), Some(desired)) => format!("{} → {}", value(live), value(desired)),
        (None, Some(desired)) => format!("+ {}", value(desired)),
        (Some(live), None) => format!("- {}", value(live)),
        (None, None) => String::new(),
    };
    let why = why(change);
    let why = if why.is_empty() { why } else { format!(" ({why})") };
    format!("{path}: {values}{why}")
}

fn whole_object(class: Class) -> &'static str {
    match class {
        Class::Missing => "the object does not exist",
        Class::Pruned => "the object is no longer in the manifests",
        _ => "its values are as wanted, and not all of them are recorded as ours yet",
    }
}

/// Why a field differs, in a few words; nothing where there is nothing to say.
pub(crate) fn why(change: &FieldChange) -> String {
    let by = || match change.managers.as_slice() {
        [] => "others".to_owned(),
        managers => one_line(&managers.iter().map(owner).collect::<Vec<_>>().join("; "), MESSAGE),
    };
    match change.class {
        Class::ChangedByOther => format!("changed by {}", by()),
        Class::Conflict => format!("owned by {}", by()),
        Class::Absent => "not in the cluster: new in the manifest or removed there".to_owned(),
        Class::Pruned => "no longer in the manifest".to_owned(),
        Class::Released => format!("no longer in the manifest, kept by {}", by()),
        Class::Reordered => "order only".to_owned(),
        Class::Overridden => "the cluster keeps its own value".to_owned(),
        Class::Unmanaged => format!("added by {}", by()),
        Class::Pending | Class::Missing | Class::Adopted => String::new(),
    }
}

/// `kubectl, scale, 2026-11-20T10:00:00Z`
fn owner(owner: &Owner) -> String {
    let way = if owner.subresource.is_empty() && owner.operation == "Apply" { "Apply" } else { &owner.subresource };
    let parts = [owner.manager.as_str(), way, owner.time.as_deref().unwrap_or_default()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    visible(&parts.join(", ")).into_owned()
}

/// ``spec.replicas is owned by kube-controller-manager, scale``
pub(crate) fn conflict(conflict: &Conflict) -> String {
    format!("{} is owned by {}", one_line(&conflict.path.to_string(), MESSAGE), owner(&conflict.owner))
}

/// `Deployment shop/web`, with everything visible.
pub(crate) fn name(object: &ObjectReport) -> String {
    visible(&object.key.to_string()).into_owned()
}

/// A message of others on one line.
pub(crate) fn message(text: &str) -> String {
    one_line(text, MESSAGE)
}

/// A message with what to do about it.
pub(crate) fn with_hint(text: &str, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{}; hint: {}", message(text), message(hint)),
        None => message(text),
    }
}

/// What has to be done to an object, or was done: `to update` as `update`, `created`, `not compared`.
pub(crate) fn state(object: &ObjectReport) -> &'static str {
    matrix::state(object).0
}

/// What a run came to, without what the last line of the text adds.
pub(crate) fn result(report: &Report) -> String {
    let counts: &Summary = &report.summary;
    let sentence = match report.command {
        _ if report.objects.is_empty() && !report.errors.is_empty() => verdict(report.verdict).to_owned(),
        Command::Apply => outcomes::done(report),
        Command::Status => counts.readiness.as_ref().map_or_else(|| "nothing to look at".to_owned(), ready),
        Command::Diff => sentence::to_do(counts, &View::default()),
    };
    if report.verdict == Verdict::Interrupted { format!("interrupted: {sentence}") } else { sentence }
}

fn ready(counts: &ReadinessCounts) -> String {
    readiness::counts(counts)
}

/// A verdict in words.
pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::InSync => "in sync",
        Verdict::Applied => "applied",
        Verdict::Drift => "drift",
        Verdict::NotReady => "not ready",
        Verdict::Unreachable => "the cluster cannot be reached",
        Verdict::Incomplete => "incomplete",
        Verdict::Invalid => "the input, the configuration or the command line is invalid",
        Verdict::Interrupted => "interrupted",
    }
}

/// `diff`
pub(crate) fn command(command: Command) -> &'static str {
    match command {
        Command::Diff => "diff",
        Command::Apply => "apply",
        Command::Status => "status",
    }
}
