//! What pruning looks at, for those who want to know what has to be allowed.

use std::collections::BTreeSet;

use apply_set::{GroupKind, ListedKinds, ParentState};

use super::parent::{Parent, resource_of_parent};
use super::planned::{Requested, kind_of};
use crate::client::Cluster;
use crate::diagnostic::Diagnostic;
use crate::live::resolve::Namespaces;
use crate::live::{Discovery, Resolution};
use crate::plan::access::Pruned;
use crate::report::{Failure, Verdict};

/// The parent's resource, and what the parent lists. One that cannot be read lists nothing that is known, which is the problem that
/// comes along.
pub(crate) async fn reach(
    Requested { reference, .. }: &Requested,
    server: (&Cluster, &Discovery, &Namespaces),
) -> Result<(Pruned, Vec<Diagnostic>), Failure> {
    let (_, catalog, namespaces) = server;
    let parent = resource_of_parent(reference, catalog)?.clone();
    let namespace = parent.namespaced.then(|| namespaces.default.clone());
    let mut pruned = Pruned { parent, namespace, resources: Vec::new(), namespaces: BTreeSet::new() };
    match Parent::find(reference, &BTreeSet::new(), server).await {
        Ok(Parent { state: None, .. }) => {}
        Ok(Parent { state: Some(state), .. }) => add_listed(&mut pruned, state, catalog),
        Err(Failure { verdict: Verdict::Incomplete, problems }) => return Ok((pruned, problems)),
        Err(failure) => return Err(failure),
    }
    Ok((pruned, Vec::new()))
}

fn add_listed(pruned: &mut Pruned, state: ParentState, catalog: &Discovery) {
    let kinds: BTreeSet<GroupKind> = match state.listed {
        ListedKinds::Unknown => BTreeSet::new(),
        ListedKinds::Kinds(kinds) => kinds,
        ListedKinds::Resources(resources) => resources.iter().map(|resource| kind_of(catalog, resource)).collect(),
    };
    let known = kinds.iter().filter_map(|kind| match catalog.resolve_kind(kind) {
        Resolution::Known(resource) if !resource.pending => Some(resource.clone()),
        _ => None,
    });
    pruned.resources = known.collect();
    pruned.namespaces = state.namespaces;
}
