//! `--create-namespace`: the namespaces that a run needs, that no manifest describes, and that do not exist.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use structured_merge::{GroupKind, GroupVersionKind, ObjectKey};

use crate::live::discovery::Server;
use crate::live::fetch::fetch;
use reconcile_core::live::{LiveState, Resolution, Target};
use reconcile_core::manifest::{DesiredObject, Origin};
use reconcile_core::object::is_dns_label;

/// The Namespaces to create for these targets, and for other namespaces that the run needs. A Namespace that exists is left out: it may
/// have labels that a manifest with only a name would remove. One that cannot be read stays, so that the error is reported.
pub(crate) async fn missing_namespaces<'t>(
    server: &Server,
    targets: &'t [Target],
    others: impl IntoIterator<Item = &'t str>,
) -> Vec<Target> {
    let namespaces = needed_namespaces(server, &targets.iter().collect::<Vec<_>>(), others);
    let states = fetch(&server.cluster, &namespaces.iter().collect::<Vec<_>>()).await;
    let both = namespaces.into_iter().zip(states);
    both.filter(|(_, state)| !matches!(state, LiveState::Present(_))).map(|(target, _)| target).collect()
}

/// The Namespaces that these targets and the run need and that no manifest describes, whether they exist or not.
pub(crate) fn needed_namespaces<'t>(
    server: &Server,
    targets: &[&'t Target],
    others: impl IntoIterator<Item = &'t str>,
) -> Vec<Target> {
    let described: BTreeSet<&str> =
        targets.iter().filter(|target| target.key.gvk.is_namespace()).map(|target| target.key.name.as_str()).collect();
    let mut needed: BTreeMap<&str, &Arc<Origin>> = BTreeMap::new();
    for target in targets.iter().filter(|target| target.resource.is_ok()) {
        if let Some(namespace) = &target.key.namespace {
            needed.entry(namespace).or_insert(&target.desired.origin);
        }
    }
    if let Some(first) = targets.first() {
        for name in others {
            needed.entry(name).or_insert(&first.desired.origin);
        }
    }
    needed.retain(|name, _| !described.contains(name) && is_dns_label(name));
    needed.into_iter().filter_map(|(name, origin)| target(server, name, origin)).collect()
}

/// A Namespace with nothing but its name.
pub(crate) fn bare_namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// The Namespace that is created. Its location is that of the first object that needs it.
fn target(server: &Server, name: &str, origin: &Arc<Origin>) -> Option<Target> {
    let gvk = GroupVersionKind::new("v1", "Namespace");
    let Resolution::Known(resource) = server.discovery.resolve_kind(&GroupKind::from(&gvk)) else { return None };
    let object = bare_namespace(name);
    Some(Target {
        key: ObjectKey { gvk, namespace: None, name: name.to_owned() },
        resource: Ok(Arc::new(resource.clone())),
        versions: ["v1".to_owned()].into(),
        desired: DesiredObject::exactly(object, Arc::clone(origin)),
        base: OnceLock::new(),
        shard_member: None,
    })
}
