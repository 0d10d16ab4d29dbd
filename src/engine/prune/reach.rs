//! The resources and namespaces that pruning reads, from which `access` derives the permissions for it.

use std::collections::BTreeSet;

use apply_set::{GroupKind, ListedKinds, ParentState};

use super::error::ApplySetError;
use super::parent::{Parent, resource_of_parent};
use super::planned::{Requested, kind_of};
use crate::engine::server::Server;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::{Discovery, Resolution};
use reconcile_core::plan::access::Pruned;

/// Finds the parent's resource, and the kinds and namespaces that the parent lists. If the parent cannot be read, its list is unknown, and
/// the diagnostic says why.
pub(crate) async fn reach(
    Requested { reference, .. }: &Requested,
    server: &Server,
) -> Result<(Pruned, Option<Diagnostic>), ApplySetError> {
    let Server { discovery, namespaces, .. } = server;
    let parent = resource_of_parent(reference, discovery)?.clone();
    let namespace = parent.namespaced.then(|| namespaces.default.clone());
    let mut pruned = Pruned { parent, namespace, resources: Vec::new(), namespaces: BTreeSet::new() };
    match Parent::find(reference, &BTreeSet::new(), server).await {
        Ok(Parent { state: None, .. }) => {}
        Ok(Parent { state: Some(state), .. }) => add_listed(&mut pruned, state, discovery),
        Err(ApplySetError::Unreadable(diagnostic)) if diagnostic.code != Code::Interrupted => {
            return Ok((pruned, Some(diagnostic)));
        }
        Err(error) => return Err(error),
    }
    Ok((pruned, None))
}

fn add_listed(pruned: &mut Pruned, state: ParentState, discovery: &Discovery) {
    let kinds: BTreeSet<GroupKind> = match state.listed {
        ListedKinds::Unknown => BTreeSet::new(),
        ListedKinds::Kinds(kinds) => kinds,
        ListedKinds::Resources(resources) => resources.iter().map(|resource| kind_of(discovery, resource)).collect(),
    };
    let known = kinds.iter().filter_map(|kind| match discovery.resolve_kind(kind) {
        Resolution::Known(resource) if !resource.pending => Some(resource.clone()),
        _ => None,
    });
    pruned.resources = known.collect();
    pruned.namespaces = state.namespaces;
}
