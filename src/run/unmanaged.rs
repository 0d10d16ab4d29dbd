//! `--report-unmanaged`: the search for unmanaged objects, and its results in the report.

use std::collections::BTreeSet;

use reconcile_report::{FailOn, Report};
use structured_merge::ObjectKey;

use crate::engine::unmanaged::Unmanaged;
use crate::live::discovery::Server;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::object::{DNS_LABEL, Shard, is_dns_label};
use reconcile_core::plan::Plan;
use reconcile_report::Failure;

/// The search of a `diff` for unmanaged objects.
pub(crate) struct UnmanagedSearch {
    /// The namespaces that are named; if there are none, those of the objects of the run.
    named: BTreeSet<String>,
    /// The objects of all manifests.
    desired: Vec<ObjectKey>,
    shard: Option<Shard>,
    /// True if unmanaged objects make the `diff` fail.
    fails: bool,
}

impl UnmanagedSearch {
    /// The search that `--report-unmanaged` (`asked`) and the gate ask for, with the objects of the whole input and the `hooks` that are left out; `None` if they ask
    /// for none.
    pub fn of(
        asked: Option<&[String]>,
        shard: Option<Shard>,
        gate: &FailOn,
        plan: &Plan,
        hooks: Vec<ObjectKey>,
    ) -> Result<Option<Self>, Failure> {
        let fails = gate.fails_on_unmanaged_objects();
        if asked.is_none() && !fails {
            return Ok(None);
        }
        let mut named = named_namespaces(asked.unwrap_or_default())?;
        if named.is_empty() {
            // A release is about its own namespace, whatever its record names.
            let records = plan.all().filter_map(|target| target.desired.origin.record.as_ref()?.namespace());
            named.extend(records.map(ToOwned::to_owned));
        }
        let desired = plan.all().map(|target| target.key.clone()).chain(hooks).collect();
        Ok(Some(Self { named, desired, shard, fails }))
    }

    /// Adds the objects that no manifest, owner or apply set explains. A gate that counts them does not pass where they could not be looked for.
    pub async fn add_to(self, mut report: Report, server: &Server) -> Report {
        // Members of an apply set that are to be pruned are no objects of the manifests.
        let wanted: BTreeSet<&ObjectKey> =
            report.objects.iter().map(|object| &object.key).chain(&self.desired).collect();
        let wanted: Vec<&ObjectKey> = wanted.into_iter().collect();
        let namespaces = or_own(self.named, wanted.iter().copied());
        let set = report.apply_set.as_ref().map(|set| set.id.as_str());
        let mut unmanaged = Unmanaged::search(server, &namespaces, &wanted, set).await;
        unmanaged.objects.retain(|object| self.shard.is_none_or(|shard| shard.has(&object.key)));
        report.warnings.extend(unmanaged.warnings);
        let mut errors = Vec::new();
        if self.fails {
            let hint = "allow the user to list them, or choose other namespaces with `--report-unmanaged=NAMESPACE,…`";
            errors.extend(unmanaged.unlisted.into_iter().map(|unlisted| unlisted.with_hint(hint)));
        } else {
            let warning = |Diagnostic { message, code, .. }| format!("{message} ({code})");
            report.warnings.extend(unmanaged.unlisted.into_iter().map(warning));
        }
        report.with_unmanaged(unmanaged.objects.iter().map(Into::into).collect(), self.fails).with_errors(errors)
    }
}

/// The namespaces that a flag names, or those of the objects of the run.
pub(crate) fn namespaces_of<'k>(
    named: &[String],
    keys: impl Iterator<Item = &'k ObjectKey>,
) -> Result<BTreeSet<String>, Failure> {
    Ok(or_own(named_namespaces(named)?, keys))
}

fn named_namespaces(named: &[String]) -> Result<BTreeSet<String>, Failure> {
    let named: BTreeSet<String> = named.iter().filter(|name| !name.is_empty()).cloned().collect();
    match named.iter().find(|name| !is_dns_label(name)) {
        Some(wrong) => Err(Failure::refused(format!("`{wrong}` cannot be a namespace"), DNS_LABEL)),
        None => Ok(named),
    }
}

fn or_own<'k>(named: BTreeSet<String>, keys: impl Iterator<Item = &'k ObjectKey>) -> BTreeSet<String> {
    if named.is_empty() { keys.filter_map(ObjectKey::own_namespace).map(ToOwned::to_owned).collect() } else { named }
}
