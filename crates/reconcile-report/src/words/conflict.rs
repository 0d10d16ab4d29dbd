//! The advice about conflicts, ours and those of the next `helm upgrade`. One with the tool that installed an object is a question of
//! who takes over, and not of single fields.

use std::collections::{BTreeMap, BTreeSet};

use reconcile_core::manifest::ReleaseInfo;
use reconcile_core::text::is_word;
use reconcile_core::upgrade::{RefusedField, RefusedObject};
use structured_merge::Operation;

use super::users::quoted;
use super::value::number::{first_of, grouped, some};
use crate::model::ObjectReport;

/// Field managers of tools that install whole applications, in order.
const INSTALLERS: [&str; 13] = [
    "Helm",
    "argocd-application-controller",
    "argocd-controller",
    "flux",
    "flux-client-side-apply",
    "helm",
    "helm-controller",
    "kapp",
    "kapp-controller",
    "kluctl",
    "kustomize-controller",
    "skaffold",
    "werf",
];

/// Most fields of a release that are named.
const NAMED: usize = 5;

/// Returns the installer with which all conflicts of an object are.
pub(crate) fn installer(object: &ObjectReport) -> Option<&'static str> {
    let (first, rest) = object.diff.conflicts.split_first()?;
    let manager = &first.owner.manager;
    let is_alone = rest.iter().all(|conflict| conflict.owner.manager == *manager);
    INSTALLERS.into_iter().find(|installer| is_alone && manager == installer)
}

/// Returns a hint for each installer with which objects are in conflict, and those that such objects have of their own.
pub(crate) fn hints(objects: &[&ObjectReport]) -> Vec<String> {
    let mut of_installers: BTreeMap<&str, Vec<&ObjectReport>> = BTreeMap::new();
    let mut of_objects: BTreeSet<String> = BTreeSet::new();
    for (object, installer) in objects.iter().filter_map(|object| Some((object, installer(object)?))) {
        match &object.messages.hint {
            Some(hint) if object.messages.reason.is_none() => drop(of_objects.insert(hint.clone())),
            Some(_) => {}
            None => of_installers.entry(installer).or_default().push(object),
        }
    }
    let hint = |(installer, objects): (&str, Vec<&ObjectReport>)| match objects.as_slice() {
        [object] => format!("{} is in conflict with `{installer}` only: {}", object.key, advice(installer, 1)),
        all => {
            let advice = advice(installer, all.len());
            format!("{} objects are in conflict with `{installer}` only: {advice}", grouped(all.len()))
        }
    };
    of_installers.into_iter().map(hint).chain(of_objects).collect()
}

/// Returns the advice about the conflicts of an object, or of this many objects that have the same; `None` if it has none, or a hint about
/// something else.
pub(crate) fn conflict_hint(object: &ObjectReport, count: usize) -> Option<String> {
    if object.diff.conflicts.is_empty() {
        return None;
    }
    if let Some(hint) = &object.messages.hint {
        return object.messages.reason.is_none().then(|| hint.clone());
    }
    if let Some(installer) = installer(object) {
        return Some(advice(installer, count));
    }
    let by_controller = object.diff.conflicts.iter().any(|conflict| conflict.owner.operation == Operation::Update);
    let hint = if by_controller {
        "leave the field out of the manifest if its owner should keep it, or take it with `--force-conflicts`"
    } else {
        "another tool applies this field: agree on one owner, or take it with `--force-conflicts`"
    };
    Some(hint.to_owned())
}

/// The advice about conflicts with an installer: ``pass `--adopt helm` if this tool takes over, or leave it to `helm` ``.
fn advice(installer: &str, count: usize) -> String {
    let objects = if count == 1 { "it" } else { "them" };
    format!("pass `--adopt {installer}` if this tool takes over, or leave {objects} to `{installer}`")
}

/// Names the fields of a release that the next upgrade would refuse, and the ways to end that; `None` if there are none. Helm 4 applies on
/// the server side: a field that somebody else owns and that it changes is a conflict.
pub fn upgrade_warning(objects: &[RefusedObject], release: &ReleaseInfo) -> Option<String> {
    let fields = || objects.iter().flat_map(|object| object.fields.iter().map(move |field| (object, field)));
    let count = some(fields().count(), "field", "fields")?;
    let named = |(object, field): (&RefusedObject, &RefusedField)| {
        let managers: Vec<_> = field.managers.iter().take(NAMED).map(|manager| quoted(manager)).collect();
        let owners = if managers.is_empty() { String::new() } else { format!(" ({})", managers.join(", ")) };
        format!("{} {}{owners}", object.key, field.path)
    };
    let ReleaseInfo { name, namespace, revision, .. } = release;
    // What `apply` does not restore is restored by `helm rollback`, or Helm is working on it.
    let restored_from = release.restored_from();
    // Names that others chose are no part of a command that somebody may run.
    let are_words = is_word(name) && is_word(namespace);
    let restore = restored_from.as_ref().map_or_else(String::new, |from| {
        let of_release = if are_words { format!(" {from} -n {namespace}") } else { String::new() };
        format!("restore them with `kubectl reconcile apply --from{of_release}`, ")
    });
    let from = restored_from.unwrap_or_else(|| format!("helm/{name}@{revision}"));
    let own = if are_words { format!("own --from {from} -n {namespace}") } else { "own --from".to_owned() };
    let left_alone: Vec<String> = fields()
        .filter(|(_, field)| field.is_left_alone)
        .map(|(object, field)| format!("{} {}", object.key, field.path))
        .collect();
    let left_alone = match left_alone.as_slice() {
        [] => String::new(),
        fields => format!(
            "; `apply` and `own` leave {} to an autoscaler or an ignore rule: take such a field out of the chart",
            first_of(fields.iter().cloned(), NAMED).join(", ")
        ),
    };
    Some(format!(
        "the next `helm upgrade` of {namespace}/{name} would refuse {count} that others own: {}; \
         {restore}give those with the values of the release to Helm with `kubectl reconcile {own}`, \
         take their values into the manifests with `kubectl reconcile pull`, or overwrite them with `helm upgrade --force-conflicts`{left_alone}",
        first_of(fields().map(named), NAMED).join(", ")
    ))
}
