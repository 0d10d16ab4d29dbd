//! Changes, owners and objects in one line each, for formats that show no more than a line.

use std::collections::{BTreeMap, BTreeSet};

use reconcile_core::compare::{Class, Conflict, FieldChange, IgnoredFields, Side};
use reconcile_core::owners::Owner;
use reconcile_core::text::{end_within, one_line, visible, width};
use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey, Op, PathElement};

use super::label;
use super::users::{self, listed_managers};
use super::value::certificate::{self, summarised};
use super::value::meaning::{self, Meaning};
use super::value::number::{counted_objects, grouped, some};
use super::value::word_diff::Contrast;
use super::value::{cut, inline, stays};
use super::why::{owner_in_sentence, why};
use crate::model::{Command, ObjectReport, Report, Summary};

/// Most fields that are named, the rest is counted.
const NAMED: usize = 3;
/// Longest name of a field, a kind or a controller, in characters.
const NAME: usize = 60;
/// The rule of a controller that has no object in the cluster.
const BUILT_IN: &str = "built in";

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
pub(crate) fn change(change: &FieldChange) -> String {
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
pub(crate) fn brief(change: &FieldChange) -> String {
    let path = one_line(&change.path.to_string(), MESSAGE);
    let path = if width(&path) <= PATH { path } else { format!("…{}", end_within(&path, PATH)) };
    if change.is_following() {
        return path;
    }
    difference(change, &path, &CELL)
}

/// A change without its reason: `spec.replicas: 5 → 2`, `data["app.json"] rate.burst: 500 → 200`.
fn difference(change: &FieldChange, path: &str, room: &Room) -> String {
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
fn difference_inside(change: &FieldChange, room: &Room) -> String {
    let path = one_line(&change.path.to_string(), room.inner);
    if change.op == Op::Move {
        format!("{path}: another order")
    } else {
        format!("{path}: {}", values(change, room.inner))
    }
}

fn values(change: &FieldChange, columns: usize) -> String {
    let value = |value: &Value| {
        let shown =
            certificate::sentences(value).map_or_else(|| inline(&summarised(value)), |sentences| sentences.join("; "));
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
pub(crate) fn why_on_line(change: &FieldChange) -> String {
    let owners =
        |managers: &[Owner]| one_line(&managers.iter().map(owner_in_sentence).collect::<Vec<_>>().join("; "), MESSAGE);
    why(change, owners)
}

fn whole_object(change: &FieldChange) -> &'static str {
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

/// `12 known differences: --show-known`, unless they are shown, and how many differences of the baseline are gone. `None` without a
/// baseline.
pub(crate) fn baseline(summary: &Summary, are_shown: bool) -> Option<String> {
    let known = some(summary.known?, "known difference", "known differences");
    let known = known.map(|known| if are_shown { known } else { format!("{known}: --show-known") });
    let gone = "difference of the baseline is gone";
    let gone = some(summary.resolved.unwrap_or_default(), gone, "differences of the baseline are gone");
    let known = known.unwrap_or_else(|| "no known differences".to_owned());
    Some(gone.map_or_else(|| known.clone(), |gone| format!("{known}; {gone}")))
}

/// `1 object is no longer in the manifests and stays; 996 unchanged in the manifests and not compared`. `None` if there are none.
pub(crate) fn rest_of_base(summary: &Summary) -> Option<String> {
    let one = "object is no longer in the manifests, and stays";
    let dropped = some(summary.dropped, one, "objects are no longer in the manifests, and stay");
    let unchanged =
        summary.unchanged.map(|count| format!("{} unchanged in the manifests, and not compared", grouped(count)));
    let clauses: Vec<String> = dropped.into_iter().chain(unchanged).collect();
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// `2 warnings of the server`; `None` if there are none.
pub(crate) fn server_warnings(summary: &Summary) -> Option<String> {
    some(summary.warnings, "warning of the server", "warnings of the server")
}

/// `4 differences left by --only`. `None` if there are none.
pub(crate) fn left_by_only(summary: &Summary) -> Option<String> {
    some(summary.left.unwrap_or_default(), "difference left by --only", "differences left by --only")
}

/// The hooks and differences that the run leaves alone, and the rules in force: `2 differences ignored by rules; 3 ignore rules of
/// .kubectl-reconcile.yaml in force`. `None` if there are none. Every format says it, also of the differences that a baseline has.
pub fn left_alone(report: &Report) -> Option<String> {
    let others = [
        server_warnings(&report.summary),
        left_by_only(&report.summary),
        baseline(&report.summary, false),
        rest_of_base(&report.summary),
        hooks_left_out(report.summary.hooks),
    ];
    let mut clauses: Vec<String> = others.into_iter().flatten().chain(ignored_by_rules(report)).collect();
    clauses.extend(
        Some(managed_clauses(report).join(", ")).filter(|all| !all.is_empty()).map(|all| format!("left alone: {all}")),
    );
    clauses.extend(report.configuration.as_ref().map(ToString::to_string));
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// The differences that rules and controllers hide: those of rules counted, those of controllers by field.
pub(crate) fn ignored_clauses(report: &Report) -> Vec<String> {
    ignored_by_rules(report).into_iter().chain(managed_clauses(report)).collect()
}

/// `2 differences ignored by rules`; `None` if there are none.
fn ignored_by_rules(report: &Report) -> Option<String> {
    let ignored = report.objects.iter().flat_map(|object| &object.diff.ignored).filter(|ignored| !ignored.is_built_in);
    let count = ignored.fold(0, |sum: usize, ignored| sum.saturating_add(ignored.paths.len()));
    some(count, "difference ignored by a rule", "differences ignored by rules")
}

/// `3 hooks left out: --hooks include`; `None` if there are none.
pub fn hooks_left_out(count: usize) -> Option<String> {
    some(count, "hook left out: --hooks include", "hooks left out: --hooks include")
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

/// `replicas of 2 Deployments (HorizontalPodAutoscaler)`, for each field and the controller that manages it.
fn managed_clauses(report: &Report) -> Vec<String> {
    let mut objects: BTreeMap<(String, String), BTreeSet<&ObjectKey>> = BTreeMap::new();
    for object in &report.objects {
        for ignored in object.diff.ignored.iter().filter(|ignored| ignored.is_built_in) {
            for path in &ignored.paths {
                let field = one_line(last_name(path).unwrap_or("a field"), NAME);
                objects.entry((field, controller(ignored, path))).or_default().insert(&object.key);
            }
        }
    }
    let more = objects.len().saturating_sub(NAMED);
    let named = objects.iter().take(NAMED);
    let mut clauses: Vec<String> = named
        .map(|((field, controller), objects)| {
            let objects = one_line(&counted_objects(objects.iter().copied()), NAME);
            format!("{field} of {objects} ({controller})")
        })
        .collect();
    clauses.extend(some(more, "more field managed by a controller", "more fields managed by controllers"));
    clauses
}

/// The last name in a path: `replicas`.
pub(crate) fn last_name(path: &FieldPath) -> Option<&str> {
    path.elements().iter().rev().find_map(|element| match element {
        PathElement::Field(name) => Some(name.as_str()),
        _ => None,
    })
}

/// The kind of an autoscaler, or the managers of a field.
fn controller(ignored: &IgnoredFields, path: &FieldPath) -> String {
    let name = match ignored.rule.split_once(' ').filter(|_| ignored.rule != BUILT_IN) {
        Some((kind, _)) => kind.to_owned(),
        None => ignored.managers.get(&path.to_string()).map(|managers| listed_managers(managers)).unwrap_or_default(),
    };
    if name.is_empty() { "a controller".to_owned() } else { one_line(&name, NAME) }
}

#[cfg(test)]
mod tests {
    use reconcile_core::compare::{Evidence, ObjectDiff};
    use structured_merge::GroupVersionKind;

    use super::*;
    use crate::model::{Command, FailOn, ObjectReport};

    fn ignored(rule: &str, path: &[&str], manager: Option<&str>) -> IgnoredFields {
        let path = FieldPath::of(path);
        let managers = manager.map(|manager| (path.to_string(), vec![manager.to_owned()]));
        IgnoredFields {
            rule: rule.to_owned(),
            reason: None,
            is_built_in: true,
            paths: vec![path],
            managers: managers.into_iter().collect(),
        }
    }

    fn report(all: Vec<(&str, &str, IgnoredFields)>) -> Report {
        let object = |(kind, name, ignored): (&str, &str, IgnoredFields)| {
            let gvk = GroupVersionKind::new("apps/v1", kind);
            let key = ObjectKey { gvk, namespace: Some("shop".to_owned()), name: name.to_owned() };
            let fields = ObjectDiff { ignored: vec![ignored], ..ObjectDiff::in_sync(Evidence::Server) };
            ObjectReport::unwanted(&key, fields)
        };
        Report::compared(Command::Diff, all.into_iter().map(object).collect(), &FailOn::default())
    }

    #[test]
    fn fields_of_controllers_are_named_with_what_manages_them() {
        let scaled = || ignored("HorizontalPodAutoscaler shop/web", &["spec", "replicas"], None);
        let bundle = |manager| ignored(BUILT_IN, &["webhooks", "clientConfig", "caBundle"], manager);
        let all = vec![
            ("Deployment", "web", scaled()),
            ("Deployment", "api", scaled()),
            ("ValidatingWebhookConfiguration", "a", bundle(Some("cainjector"))),
            ("MutatingWebhookConfiguration", "b", bundle(Some("cainjector"))),
            ("APIService", "c", bundle(None)),
        ];
        assert_eq!(
            managed_clauses(&report(all)),
            [
                "caBundle of 1 APIService (a controller)",
                "caBundle of 2 objects (cainjector)",
                "replicas of 2 Deployments (HorizontalPodAutoscaler)",
            ]
        );
    }

    #[test]
    fn a_report_of_somebody_else_stays_short() {
        let hostile = format!("evil\u{1b}[2J{} x", "y".repeat(10_000));
        let all = (0..50).map(|at| ("Deployment", "web", ignored(&hostile, &["spec", &format!("f{at}\n")], None)));
        let said = managed_clauses(&report(all.collect()));
        assert_eq!((said.len(), said.last().map(String::as_str)), (4, Some("47 more fields managed by controllers")));
        assert!(said.iter().all(|one| one.len() < 300 && !one.contains(['\u{1b}', '\n'])), "{said:?}");
    }
}
