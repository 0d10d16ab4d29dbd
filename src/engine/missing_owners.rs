//! Owners that manifests name in `metadata.ownerReferences` and that do not exist: the garbage collector deletes their objects soon after
//! they are created. A copied manifest has the uid of an owner that was.

use std::collections::BTreeMap;

use futures::StreamExt as _;
use serde_json::Value;
use structured_merge::{GroupKind, GroupVersionKind, ObjectKey, ObjectMeta as _};

use crate::client::IN_FLIGHT;
use crate::live::discovery::{Server, served};
use crate::live::fetch::find;
use reconcile_core::compare::Decision;
use reconcile_core::live::{LiveState, Resolution, Target};

/// Maximum number of owners that are looked for.
const MOST: usize = 200;

/// An owner as a manifest names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NamedOwner {
    key: ObjectKey,
    uid: String,
}

/// Adds a warning to each decision about an object that the garbage collector would delete, as none of its owners exists. Owners that may
/// not be read count as existing.
pub(crate) async fn warn_of_missing_owners(server: &Server, targets: &[&Target], decisions: &mut [Decision]) {
    let named: Vec<Vec<NamedOwner>> = targets.iter().map(|target| owners_of(server, target)).collect();
    let mut distinct: Vec<&NamedOwner> = named.iter().flatten().collect();
    distinct.sort();
    distinct.dedup();
    distinct.truncate(MOST);
    let reads = distinct.into_iter().map(|owner| async move { (owner.clone(), is_missing(server, owner).await) });
    let missing: BTreeMap<NamedOwner, bool> = futures::stream::iter(reads).buffer_unordered(IN_FLIGHT).collect().await;
    for ((target, owners), decision) in targets.iter().zip(&named).zip(decisions) {
        let is_missing = |owner: &NamedOwner| missing.get(owner) == Some(&true);
        if let Some(first) = owners.first().filter(|_| owners.iter().all(is_missing)) {
            let NamedOwner { key, uid } = first;
            let owner = if target.desired.origin.is_encrypted {
                "an owner".to_owned()
            } else {
                format!("{key} with the uid `{uid}`")
            };
            decision.warnings.push(format!(
                "the garbage collector deletes it: {owner}, which `metadata.ownerReferences` names, does not exist"
            ));
        }
    }
}

/// The owners that a manifest names, if all of them can be looked for.
fn owners_of(server: &Server, target: &Target) -> Vec<NamedOwner> {
    if !target.desired.may_have("ownerReferences") {
        return Vec::new();
    }
    target.desired.with_object(|object| {
        let references = object.metadata("ownerReferences").and_then(Value::as_array);
        let owners = references.into_iter().flatten().map(|reference| named(server, target, reference));
        owners.collect::<Option<Vec<_>>>().unwrap_or_default()
    })
}

fn named(server: &Server, target: &Target, reference: &Value) -> Option<NamedOwner> {
    let text = |name: &str| reference.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let gvk = GroupVersionKind::new(text("apiVersion")?, text("kind")?);
    let resource = served(&server.discovery, &GroupKind::from(&gvk))?;
    let namespace = if resource.namespaced { Some(target.key.namespace.clone()?) } else { None };
    let key = ObjectKey { gvk: resource.gvk.clone(), namespace, name: text("name")?.to_owned() };
    Some(NamedOwner { key, uid: text("uid")?.to_owned() })
}

async fn is_missing(server: &Server, owner: &NamedOwner) -> bool {
    let Resolution::Known(resource) = server.discovery.resolve_kind(&GroupKind::from(&owner.key.gvk)) else {
        return false;
    };
    match find(&server.cluster, resource, &owner.key).await {
        LiveState::Absent => true,
        LiveState::Present(object) => object.uid() != Some(owner.uid.as_str()),
        LiveState::Unreadable(_) => false,
    }
}
