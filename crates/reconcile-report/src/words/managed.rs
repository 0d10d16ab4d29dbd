//! The fields that are left to controllers, in words.

use std::collections::{BTreeMap, BTreeSet};

use reconcile_core::compare::IgnoredFields;
use reconcile_core::text::one_line;
use structured_merge::{FieldPath, ObjectKey, PathElement};

use super::users::listed_managers;
use super::value::number::{counted_objects, grouped};
use crate::model::Report;

/// Most fields that are named, the rest is counted.
const NAMED: usize = 3;
/// Longest name of a field, a kind or a controller, in characters.
const NAME: usize = 60;
/// The rule of a controller that has no object in the cluster.
const BUILT_IN: &str = "built in";

/// `replicas of 2 Deployments (HorizontalPodAutoscaler)`, for each field and the controller that manages it.
pub(crate) fn clauses(report: &Report) -> Vec<String> {
    let mut objects: BTreeMap<(String, String), BTreeSet<&ObjectKey>> = BTreeMap::new();
    for object in &report.objects {
        for ignored in object.diff.ignored.iter().filter(|ignored| ignored.is_built_in) {
            for path in &ignored.paths {
                objects.entry((field(path), controller(ignored, path))).or_default().insert(&object.key);
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
    match more {
        0 => {}
        1 => clauses.push("1 more field managed by a controller".to_owned()),
        more => clauses.push(format!("{} more fields managed by controllers", grouped(more))),
    }
    clauses
}

/// The last name in a path: `replicas`.
fn field(path: &FieldPath) -> String {
    let names = path.elements().iter().rev().filter_map(|element| match element {
        PathElement::Field(name) => Some(name.as_str()),
        _ => None,
    });
    one_line(names.into_iter().next().unwrap_or("a field"), NAME)
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
    use reconcile_core::compare::{Evidence, FieldDiff};
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
            let fields = FieldDiff { ignored: vec![ignored], ..FieldDiff::none(Evidence::Server) };
            ObjectReport::unwanted(&key, fields.into())
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
            clauses(&report(all)),
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
        let said = clauses(&report(all.collect()));
        assert_eq!((said.len(), said.last().map(String::as_str)), (4, Some("47 more fields managed by controllers")));
        assert!(said.iter().all(|one| one.len() < 300 && !one.contains(['\u{1b}', '\n'])), "{said:?}");
    }
}
