//! `diff --report-unmanaged`: the flag's namespaces, and what is found in them.

use std::collections::BTreeSet;

use structured_merge::ObjectKey;

use crate::client::Cluster;
use crate::engine::unmanaged::Unmanaged;
use crate::live::Discovery;
use crate::object::{DNS_LABEL, Shard, is_dns_label};
use crate::report::{FailOn, Report};
use crate::session::failure::Failure;

/// Adds the objects that nothing explains: in the named namespaces, or in those that the objects of the run are in.
pub(crate) async fn with_unmanaged(
    mut report: Report,
    named: &[String],
    (cluster, catalog): (&Cluster, &Discovery),
    (wanted, shard, gate): (&[ObjectKey], Option<Shard>, &FailOn),
) -> Result<Report, Failure> {
    // Members of an apply set that go are no objects of the manifests.
    let wanted: BTreeSet<&ObjectKey> = report.objects.iter().map(|object| &object.key).chain(wanted).collect();
    let wanted: Vec<&ObjectKey> = wanted.into_iter().collect();
    let namespaces = namespaces_of(named, wanted.iter().copied())?;
    let mut unmanaged = Unmanaged::search(cluster, catalog, &namespaces, &wanted).await;
    unmanaged.objects.retain(|key| shard.is_none_or(|shard| shard.has(key)));
    report.warnings.extend(unmanaged.warnings);
    Ok(report.with_unmanaged(&unmanaged.objects, gate.fails_on_unmanaged_objects()))
}

/// The namespaces that are named, or those that the objects of the run are in.
pub(crate) fn namespaces_of<'k>(
    named: &[String],
    wanted: impl Iterator<Item = &'k ObjectKey>,
) -> Result<BTreeSet<String>, Failure> {
    let named: BTreeSet<String> = named.iter().filter(|name| !name.is_empty()).cloned().collect();
    if let Some(wrong) = named.iter().find(|name| !is_dns_label(name)) {
        return Err(Failure::refused(format!("`{wrong}` cannot be a namespace"), DNS_LABEL));
    }
    if !named.is_empty() {
        return Ok(named);
    }
    Ok(wanted.filter_map(ObjectKey::own_namespace).map(ToOwned::to_owned).collect())
}
