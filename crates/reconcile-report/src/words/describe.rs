//! Changes, owners and objects in one line each, for formats that show no more than a line.

use reconcile_core::compare::{Class, Conflict, Side};
use reconcile_core::owners::Owner;
use reconcile_core::text::{end_within, one_line, visible, width};
use serde_json::Value;
use structured_merge::Op;

use super::value::certificate::summarised;
use super::value::meaning::Meaning;
use super::value::number::grouped;
use super::value::word_diff::Contrast;
use super::value::{cut, meaning};
use super::value::{inline, stays};
use super::why::{owner_in_sentence, why};
use super::{label, managed, users};
use crate::model::{ChangeReport, Command, ObjectReport, Report, Summary};

/// The room for a change: the longest value, the longest path and value of a difference inside of it, in columns, and most of these.
struct Room {
    value: usize,
    inner: usize,
    parts: usize,
}

/// The room on a line of its own, and in a cell of a table.
const LINE: Room = Room { value: 120, inner: 60, parts: 5 };
const CELL: Room = Room { value: 30, inner: 30, parts: 1 };
/// Longest path in a cell, in columns.
const PATH: usize = 60;
/// Longest message in a line, in characters.
const MESSAGE: usize = 1_000;

/// ``spec.replicas: 5 → 2 (changed by kubectl, scale)``, `the object does not exist` for all of it.
pub(crate) fn change(change: &ChangeReport) -> String {
    if change.path.elements().is_empty() {
        let removed = users::removed(change, ToOwned::to_owned);
        let removed = removed.map(|removed| format!("; {}", one_line(&removed, MESSAGE)));
        return format!("{}{}", whole_object(change), removed.unwrap_or_default());
    }
    let why = why_on_line(change);
    let why = if why.is_empty() { why } else { format!(" ({why})") };
    let path = one_line(&change.path.to_string(), MESSAGE);
    // Two hashes say nothing, and the other object has the difference.
    if change.is_following() {
        return format!("{path}{why}");
    }
    format!("{}{why}", difference(change, &path, &LINE))
}

/// A change without its reason, for a cell of a table: `…containers[name=web].image: shop/web:1.2 → shop/web:1.3`.
pub(crate) fn brief(change: &ChangeReport) -> String {
    let path = one_line(&change.path.to_string(), MESSAGE);
    let path = if width(&path) <= PATH { path } else { format!("…{}", end_within(&path, PATH)) };
    if change.is_following() {
        return path;
    }
    difference(change, &path, &CELL)
}

/// A change without its reason: `spec.replicas: 5 → 2`, `data["app.json"] rate.burst: 500 → 200`.
fn difference(change: &ChangeReport, path: &str, room: &Room) -> String {
    match Meaning::of_change(change) {
        Some((Meaning::Layout(what), _, _)) => format!("{path}: {}", meaning::layout(what)),
        Some((Meaning::Parts(parts), _, _)) => {
            // The paths inside of a text are no part of the path of the text.
            let gap = if parts.what.is_some() { " " } else { "" };
            format!("{path}{gap}{}", first(parts.changes.iter().map(|change| difference_inside(change, room)), room))
        }
        Some((Meaning::Grants(grants), _, _)) => {
            let mut lines = grants.lines().map(|(sign, line)| format!("{sign} {}", message(line))).peekable();
            let shown = if lines.peek().is_none() { grants.heading().to_owned() } else { first(lines, room) };
            format!("{path}: {shown}")
        }
        Some((Meaning::Lines, Value::String(live), Value::String(desired))) => {
            format!("{path} {}", meaning::first_line(live, desired, room.value))
        }
        _ => format!("{path}: {}", values(change, room.value)),
    }
}

/// The first differences inside of a value, and the number of the others.
fn first(differences: impl Iterator<Item = String>, room: &Room) -> String {
    let mut differences = differences.peekable();
    let mut shown: Vec<String> = differences.by_ref().take(room.parts).collect();
    if let more @ 1.. = differences.count() {
        shown.push(format!("and {} more", grouped(more)));
    }
    shown.join("; ")
}

/// A difference inside of a value, whose own parts are not looked at.
fn difference_inside(change: &ChangeReport, room: &Room) -> String {
    let path = one_line(&change.path.to_string(), room.inner);
    if change.op == Op::Move {
        format!("{path}: another order")
    } else {
        format!("{path}: {}", values(change, room.inner))
    }
}

fn values(change: &ChangeReport, columns: usize) -> String {
    let value = |value: &Value| {
        let shown =
            meaning::certificates(value).map_or_else(|| inline(&summarised(value)), |sentences| sentences.join("; "));
        visible(&cut::alone(&shown, columns)).into_owned()
    };
    match (&change.live, &change.desired) {
        (Some(live), _) if stays(change) => value(live),
        (Some(live), Some(desired)) => {
            let (live, desired) = Contrast::of_values(live, desired).within(columns);
            format!("{} → {}", live.text(), desired.text())
        }
        (None, Some(desired)) => format!("+ {}", value(desired)),
        (Some(live), None) => format!("- {}", value(live)),
        (None, None) => String::new(),
    }
}

/// The reason why a field differs, in a few words; empty if there is none.
pub(crate) fn why_on_line(change: &ChangeReport) -> String {
    let owners =
        |managers: &[Owner]| one_line(&managers.iter().map(owner_in_sentence).collect::<Vec<_>>().join("; "), MESSAGE);
    why(change, owners)
}

fn whole_object(change: &ChangeReport) -> &'static str {
    match change.class {
        Class::Missing if change.side == Some(Side::Manifest) => "the object is new in the manifests",
        Class::Missing if change.side == Some(Side::Cluster) => "the object was deleted in the cluster",
        Class::Missing if change.side == Some(Side::Both) => {
            "the object was deleted in the cluster, and its manifest has changed"
        }
        Class::Missing => "the object does not exist",
        Class::Pruned => "the object is no longer in the manifests",
        _ => "its values match, but our field manager does not own all of them yet",
    }
}

/// ``spec.replicas is owned by kube-controller-manager, scale``
pub(crate) fn conflict(conflict: &Conflict) -> String {
    format!("{} is owned by {}", one_line(&conflict.path.to_string(), MESSAGE), owner_in_sentence(&conflict.owner))
}

/// `Deployment shop/web`, with everything visible.
pub(crate) fn name(object: &ObjectReport) -> String {
    visible(&object.key.to_string()).into_owned()
}

/// A message from outside on one line.
pub(crate) fn message(text: &str) -> String {
    one_line(text, MESSAGE)
}

/// A message with its hint.
pub(crate) fn with_hint(text: &str, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{}; hint: {}", message(text), message(hint)),
        None => message(text),
    }
}

/// The action that an object needs, or its outcome: `update`, `created`, `not compared`.
pub(crate) fn state(object: &ObjectReport) -> &'static str {
    label::label(object).word
}

/// `12 known differences: --show-known`, and how many differences of the baseline are gone. `None` without a baseline.
pub(crate) fn baseline(summary: &Summary) -> Option<String> {
    let known = match summary.known? {
        0 => "no known differences".to_owned(),
        1 => "1 known difference: --show-known".to_owned(),
        more => format!("{} known differences: --show-known", grouped(more)),
    };
    Some(match summary.resolved {
        None | Some(0) => known,
        Some(1) => format!("{known}; 1 difference of the baseline is gone"),
        Some(more) => format!("{known}; {} differences of the baseline are gone", grouped(more)),
    })
}

/// `1 object is no longer in the manifests and stays; 996 unchanged in the manifests and not compared`. `None` if there are none.
pub(crate) fn rest_of_base(summary: &Summary) -> Option<String> {
    let dropped = match summary.dropped {
        0 => None,
        1 => Some("1 object is no longer in the manifests, and stays".to_owned()),
        more => Some(format!("{} objects are no longer in the manifests, and stay", grouped(more))),
    };
    let unchanged =
        summary.unchanged.map(|count| format!("{} unchanged in the manifests, and not compared", grouped(count)));
    let clauses: Vec<String> = dropped.into_iter().chain(unchanged).collect();
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// `2 warnings of the server`; `None` if there are none.
pub(crate) fn server_warnings(summary: &Summary) -> Option<String> {
    Some(match summary.warnings {
        0 => return None,
        1 => "1 warning of the server".to_owned(),
        count => format!("{} warnings of the server", grouped(count)),
    })
}

/// `4 differences left by --only`. `None` without the flag.
pub(crate) fn left_by_only(summary: &Summary) -> Option<String> {
    Some(match summary.left? {
        1 => "1 difference left by --only".to_owned(),
        count => format!("{} differences left by --only", grouped(count)),
    })
}

/// The hooks and differences that the run leaves alone, and the rules in force: `2 differences ignored by rules; 3 ignore rules of
/// .kubectl-reconcile.yaml in force`. `None` if there are none. Every format says it, also of the differences that a baseline has.
pub fn left_alone(report: &Report) -> Option<String> {
    let others = [
        server_warnings(&report.summary),
        left_by_only(&report.summary),
        baseline(&report.summary),
        rest_of_base(&report.summary),
        hooks_left_out(report.summary.hooks),
    ];
    let mut clauses: Vec<String> = others.into_iter().flatten().chain(ignored_by_rules(report)).collect();
    clauses.extend(
        Some(managed::clauses(report).join(", ")).filter(|all| !all.is_empty()).map(|all| format!("left alone: {all}")),
    );
    clauses.extend(report.configuration.as_ref().map(ToString::to_string));
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// The differences that rules and controllers hide: those of rules counted, those of controllers by field.
pub(crate) fn ignored_clauses(report: &Report) -> Vec<String> {
    ignored_by_rules(report).into_iter().chain(managed::clauses(report)).collect()
}

/// `2 differences ignored by rules`; `None` if there are none.
fn ignored_by_rules(report: &Report) -> Option<String> {
    let ignored = report.objects.iter().flat_map(|object| &object.diff.ignored).filter(|ignored| !ignored.is_built_in);
    let count = ignored.fold(0, |sum: usize, ignored| sum.saturating_add(ignored.paths.len()));
    match count {
        0 => None,
        1 => Some("1 difference ignored by a rule".to_owned()),
        more => Some(format!("{} differences ignored by rules", grouped(more))),
    }
}

/// `3 hooks left out: --hooks include`; `None` if there are none.
pub fn hooks_left_out(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("1 hook left out: --hooks include".to_owned()),
        more => Some(format!("{} hooks left out: --hooks include", grouped(more))),
    }
}

/// `diff`
pub(crate) fn command(command: Command) -> &'static str {
    match command {
        Command::Diff => "diff",
        Command::Apply => "apply",
        Command::Status => "status",
        Command::Own => "own",
    }
}
