//! The diagnostic for which objects could not be compared, in words that several of them can share.

use std::collections::{BTreeMap, BTreeSet};

use reconcile_core::compare::Action;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::object::Permission;
use reconcile_core::pass::Outcome;
use reconcile_core::text::one_line;

use crate::model::ObjectReport;
use crate::words::value::number::{first_of, grouped};

/// Most combinations of a verb and a place, and most resources of each, that are named.
const SHOWN: usize = 10;
/// Longest name of a verb, a resource or a place, in characters.
const NAME: usize = 300;

/// A diagnostic that is equal for several objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SharedDiagnostic {
    /// The user has not all permissions that are needed. The server names each object in a message of its own.
    Refused,
    /// An error, and the advice on it.
    Error(String, Option<String>),
}

impl SharedDiagnostic {
    /// The diagnostic of an object, if others may have the same.
    pub fn of(object: &ObjectReport) -> Option<Self> {
        let error = object.messages.error.as_ref()?;
        // The reason why an apply skipped the object is that very diagnostic.
        let is_skipped = object.run.outcome == Some(Outcome::Skipped);
        let is_plain = error.details.is_empty() && (object.messages.reason.is_none() || is_skipped);
        if object.diff.action != Action::Unknown || !is_plain {
            return None;
        }
        let is_refused = error.code == Code::Forbidden && missing(object).is_some();
        Some(if is_refused { Self::Refused } else { Self::Error(coded(error), error.hint.clone()) })
    }

    /// The sentences about all objects that have it, and the advice.
    pub fn sentences(&self, objects: &[&ObjectReport], is_full: bool) -> (Vec<String>, Option<String>) {
        match self {
            Self::Error(message, hint) => (vec![message.clone()], hint.clone()),
            Self::Refused => {
                let missing = all_missing(objects, if is_full { usize::MAX } else { SHOWN });
                let first = format!("the user needs more permissions ({})", Code::Forbidden);
                let hint = "`kubectl reconcile access` shows all that is needed";
                (std::iter::once(first).chain(missing).collect(), Some(hint.to_owned()))
            }
        }
    }
}

/// The permission that the user needs for an object: its verb, its resource and its place.
fn missing(object: &ObjectReport) -> Option<(&str, &str, &str)> {
    Permission::advised_in(object.messages.error.as_ref()?.hint.as_deref()?)
}

/// ``get on configmaps, deployments.apps in the namespace `shop` `` for each verb and place.
fn all_missing(objects: &[&ObjectReport], most: usize) -> Vec<String> {
    let mut needed: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for (verb, resource, place) in objects.iter().filter_map(|object| missing(object)) {
        needed.entry((place, verb)).or_default().insert(resource);
    }
    let name = |text: &str| one_line(text, NAME);
    let line = |((place, verb), resources): (&(&str, &str), &BTreeSet<&str>)| {
        let named = first_of(resources.iter().map(|resource| format!("`{}`", name(resource))), most);
        format!("`{}` on {} {}", name(verb), named.join(", "), name(place))
    };
    let mut lines: Vec<String> = needed.iter().take(most).map(line).collect();
    if let Some(more @ 1..) = needed.len().checked_sub(most) {
        lines.push(format!("… {} more", grouped(more)));
    }
    lines
}

/// An error with its code: `namespace `x` does not exist (NotFound)`. A message that ends with the status has it already.
pub(crate) fn coded(error: &Diagnostic) -> String {
    let status = format!(" {})", error.code);
    if error.message.ends_with(&status) { error.message.clone() } else { format!("{} ({})", error.message, error.code) }
}

#[cfg(test)]
mod tests {
    use reconcile_core::compare::ObjectDiff;
    use reconcile_core::diagnostic::Diagnostic;
    use structured_merge::{GroupVersionKind, ObjectKey};

    use super::*;

    fn refused(resource: &str, name: &str) -> ObjectReport {
        let permission = Permission {
            namespace: Some("shop".to_owned()),
            group: String::new(),
            resource: resource.to_owned(),
            name: None,
            verb: "get".to_owned(),
        };
        let message = format!("{resource} \"{name}\" is forbidden: User \"jane\" cannot get it");
        let diagnostic = Diagnostic::new(Code::Forbidden, message).with_hint(permission.advice());
        let gvk = GroupVersionKind::new("v1", "ConfigMap");
        let key = ObjectKey { gvk, namespace: Some("shop".to_owned()), name: name.to_owned() };
        ObjectReport::unwanted(&key, ObjectDiff::unknown(diagnostic))
    }

    #[test]
    fn refusals_are_one_diagnostic_by_what_is_missing() {
        let objects = [refused("configmaps", "a"), refused("configmaps", "b"), refused("services", "a")];
        let diagnostics: BTreeSet<SharedDiagnostic> = objects.iter().filter_map(SharedDiagnostic::of).collect();
        assert_eq!(diagnostics, [SharedDiagnostic::Refused].into());
        let (sentences, hint) = SharedDiagnostic::Refused.sentences(&objects.each_ref(), false);
        assert_eq!(
            sentences,
            [
                "the user needs more permissions (Forbidden)",
                "`get` on `configmaps`, `services` in the namespace `shop`"
            ]
        );
        assert_eq!(hint.as_deref(), Some("`kubectl reconcile access` shows all that is needed"));
    }

    #[test]
    fn a_webhook_that_denies_is_a_diagnostic_of_its_own() {
        let mut object = refused("configmaps", "a");
        object.messages.error.as_mut().unwrap().hint = Some("the user needs `root` on everything".to_owned());
        assert!(matches!(SharedDiagnostic::of(&object), Some(SharedDiagnostic::Error(..))));
    }

    #[test]
    fn many_permissions_are_counted() {
        let objects: Vec<ObjectReport> = (0..30).map(|at| refused(&format!("kind{at:02}"), "a")).collect();
        let objects: Vec<&ObjectReport> = objects.iter().collect();
        let (sentences, _) = SharedDiagnostic::Refused.sentences(&objects, false);
        assert!(sentences[1].ends_with("`kind09`, 20 more in the namespace `shop`"), "{sentences:?}");
        let (sentences, _) = SharedDiagnostic::Refused.sentences(&objects, true);
        assert!(sentences[1].ends_with("`kind29` in the namespace `shop`"), "{sentences:?}");
    }
}
