//! Conflicts with the tool that installed an object, which is a question of who takes over and not of single fields.

use std::collections::BTreeMap;

use super::number::grouped;
use crate::ObjectReport;

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

/// Returns the installer with which all conflicts of an object are.
pub(crate) fn installer(object: &ObjectReport) -> Option<&'static str> {
    let (first, rest) = object.diff.conflicts.split_first()?;
    let manager = &first.owner.manager;
    let is_alone = rest.iter().all(|conflict| conflict.owner.manager == *manager);
    INSTALLERS.into_iter().find(|installer| is_alone && manager == installer)
}

/// Returns a hint for each installer with which objects are in conflict.
pub(crate) fn hints(objects: &[&ObjectReport]) -> Vec<String> {
    let mut of_installers: BTreeMap<&str, Vec<&ObjectReport>> = BTreeMap::new();
    for object in objects.iter().filter(|object| object.messages.hint.is_none()) {
        if let Some(installer) = installer(object) {
            of_installers.entry(installer).or_default().push(object);
        }
    }
    let hint = |(installer, objects): (&str, Vec<&ObjectReport>)| match objects.as_slice() {
        [object] => format!("{} is in conflict with `{installer}` only: {}", object.key, advice(installer, "it")),
        all => {
            format!(
                "{} objects are in conflict with `{installer}` only: {}",
                grouped(all.len()),
                advice(installer, "them")
            )
        }
    };
    of_installers.into_iter().map(hint).collect()
}

/// The advice about conflicts with an installer: ``pass `--adopt helm` if this tool takes over, or leave it to `helm` ``.
pub(crate) fn advice(installer: &str, objects: &str) -> String {
    format!("pass `--adopt {installer}` if this tool takes over, or leave {objects} to `{installer}`")
}
