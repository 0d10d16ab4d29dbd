//! The fields that the next `helm upgrade` would refuse to write. Helm 4 applies on the server side, so that a field that somebody else
//! changed since is a conflict.

use reconcile_core::manifest::ReleaseInfo;

use crate::model::{ChangeReport, ObjectReport};

/// Most fields that are named.
const NAMED: usize = 5;
/// The field manager of Helm.
const HELM: &str = "helm";

/// Names the fields of a release that others own, so that the next upgrade would fail, and the ways to end that; `None` if there are none.
pub fn refused_by_upgrade(objects: &[ObjectReport], release: &ReleaseInfo) -> Option<String> {
    let is_refused =
        |change: &&ChangeReport| change.live.is_some() && change.desired.is_some() && owner(change).is_some();
    let fields: Vec<String> = objects
        .iter()
        .flat_map(|object| object.diff.changes.iter().filter(is_refused).map(move |change| (object, change)))
        .map(|(object, change)| format!("{} {} ({})", object.key, change.path, owner(change).unwrap_or_default()))
        .collect();
    let count = match fields.len() {
        0 => return None,
        1 => "1 field".to_owned(),
        more => format!("{more} fields"),
    };
    let mut named: Vec<String> = fields.iter().take(NAMED).cloned().collect();
    if let Some(more @ 1..) = fields.len().checked_sub(NAMED) {
        named.push(format!("{more} more"));
    }
    let ReleaseInfo { name, namespace, .. } = release;
    let from = format!("--from helm/{name} -n {namespace}");
    Some(format!(
        "the next `helm upgrade` of {namespace}/{name} would refuse {count} that others own: {}; \
         restore them with `kubectl reconcile apply {from}`, give them to Helm as they are with `kubectl reconcile own {from}`, \
         take their values into the manifests with `kubectl reconcile pull`, or overwrite them with `helm upgrade --force-conflicts`",
        named.join(", ")
    ))
}

/// Another manager that owns a changed field.
fn owner(change: &ChangeReport) -> Option<&str> {
    let others = change.managers.iter().filter(|owner| owner.manager != HELM && owner.subresource != "status");
    others.map(|owner| owner.manager.as_str()).next()
}
