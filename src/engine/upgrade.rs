//! Asks the server which fields of releases the next `helm upgrade` would refuse: applies of what `apply --from` restores, as Helm and
//! without force, as dry runs. Nothing is asked about an object of which nobody but Helm owns a part.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use futures::StreamExt as _;
use reconcile_core::compare::{Decision, EvidenceMode};
use reconcile_core::live::Target;
use reconcile_core::manifest::{ReleaseInfo, ReleaseName};
use reconcile_core::upgrade::{HELM, RefusedField, RefusedObject, Upgrade};
use structured_merge::GroupVersionKind;

use crate::client::{IN_FLIGHT, Warnings, WriteRequest};
use crate::engine::comparison::Comparison;

/// The kinds, in their namespaces, that the user may not patch.
type Forbidden = RefCell<BTreeSet<(GroupVersionKind, Option<String>)>>;

/// The objects of these releases of which the next upgrade would refuse fields, in the order of `decided`. Where the server may not be
/// asked, the record of owners decides.
pub(crate) async fn refused_by_upgrade(
    comparison: &Comparison<'_>,
    decided: impl Iterator<Item = (&Target, &Decision)>,
    releases: &[ReleaseInfo],
) -> BTreeMap<ReleaseName, Vec<RefusedObject>> {
    let names: BTreeSet<ReleaseName> = releases.iter().map(ReleaseInfo::named).collect();
    let forbidden = Forbidden::default();
    let upgrades = decided.filter_map(|(target, decision)| {
        let release = target.desired.origin.record.as_ref()?.release().filter(|release| names.contains(release))?;
        let schema = comparison.types.of(&target.key.gvk);
        let upgrade = Upgrade::of(target, decision.live_object()?, schema, &release)?;
        Some((release, target, upgrade))
    });
    let asked = upgrades.map(async |(release, target, upgrade)| {
        let fields = ask(comparison, target, &upgrade, &forbidden).await;
        (release, RefusedObject { key: target.key.clone(), fields })
    });
    let mut asked = futures::stream::iter(asked).buffered(IN_FLIGHT);
    let mut refused: BTreeMap<ReleaseName, Vec<RefusedObject>> = BTreeMap::new();
    while let Some((release, object)) = asked.next().await {
        if !object.fields.is_empty() {
            refused.entry(release).or_default().push(object);
        }
    }
    refused
}

async fn ask(
    comparison: &Comparison<'_>,
    target: &Target,
    upgrade: &Upgrade<'_>,
    forbidden: &Forbidden,
) -> Vec<RefusedField> {
    let place = (target.key.gvk.clone(), target.key.namespace.clone());
    let may_ask = comparison.policy.evidence != EvidenceMode::ReadOnly
        && !comparison.interrupt.is_set()
        && !forbidden.borrow().contains(&place);
    let (true, Ok(resource)) = (may_ask, &target.resource) else { return upgrade.predicted() };
    let path = resource.object_path(target.key.namespace.as_deref(), &target.key.name);
    let attempt = WriteRequest::apply(path, HELM, false, &upgrade.object).dry_run();
    let Err(error) = comparison.cluster.change(attempt, &Warnings::default()).await else { return Vec::new() };
    if error.is_forbidden() {
        forbidden.borrow_mut().insert(place);
    }
    error.status().and_then(|status| upgrade.refused(status)).unwrap_or_else(|| upgrade.predicted())
}
