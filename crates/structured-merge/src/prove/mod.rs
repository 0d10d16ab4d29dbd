//! Proves from the live object alone that an apply by us would change neither a value nor `managedFields`.
//!
//! If a field is in our Apply entry, no other request has changed it since our last apply, as that would have removed
//! it from the entry (structured-merge-diff `merge/update.go`). So there are two conditions. Our entry equals the
//! fields of the manifest: there is nothing to claim and nothing to prune. And every value of the manifest is in the
//! live object, as admission may have changed one without a record. If there is no proof, the server has to be asked;
//! nothing is guessed.

mod null;
#[cfg(test)]
mod tests;
mod walk;

use serde_json::Value;

use crate::kinds::{keeps_node_ports, with_string_data};
use crate::object::{FieldPath, FieldSet, GroupVersionKind, LAST_APPLIED, ManagedFieldsEntry, Operation};
use crate::ownership::{ManagedObject, Ownership};
use crate::schema::{self, KindInfo, TypeRef};
use crate::transfer::Applier;
pub use walk::Unproven;
use walk::Walk;

/// Result of [`prove`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The apply would change nothing.
    Proven,
    /// The server has to be asked, for this reason.
    Inconclusive(Unproven),
}

/// Tries to prove that applying `manifest` changes nothing. In built-in kinds, empty values may be missing from the
/// live object.
pub fn prove(
    manifest: &Value,
    live: &ManagedObject,
    schema: TypeRef<'_>,
    kind: &KindInfo,
    applier: &(impl Applier + ?Sized),
) -> Proof {
    match check(manifest, live, schema, kind, applier) {
        Ok(()) => Proof::Proven,
        Err(Unproven::Differs(path)) if is_servers_own(&path, kind) => Proof::Inconclusive(Unproven::ServersOwn(path)),
        Err(unproven) => Proof::Inconclusive(unproven),
    }
}

/// Returns true if the server keeps or completes a value regardless of an apply: tolerations that admission adds to
/// every Pod (`DefaultTolerationSeconds`), the address of a Service, and what an update never changes (`PrepareForUpdate` of
/// `pkg/registry/core/namespace` and `pkg/registry/certificates/certificates`).
fn is_servers_own(path: &FieldPath, kind: &KindInfo) -> bool {
    const KEPT: [(&str, &str, &[&str]); 4] = [
        ("", "Pod", &["spec", "tolerations"]),
        ("", "Service", &["spec", "clusterIP"]),
        ("", "Namespace", &["spec", "finalizers"]),
        ("certificates.k8s.io", "CertificateSigningRequest", &["spec"]),
    ];
    KEPT.iter().any(|(group, name, at)| {
        kind.gvk.group == *group && kind.gvk.kind == *name && FieldPath::of(at).is_prefix_of(path)
    })
}

/// Checks one condition of the proof after the other; the first that does not hold is the error.
fn check(
    manifest: &Value,
    ManagedObject { object: live, owners }: &ManagedObject,
    schema: TypeRef<'_>,
    kind: &KindInfo,
    applier: &(impl Applier + ?Sized),
) -> Result<(), Unproven> {
    if let Some(manager) = owners.unreadable.first() {
        return Err(Unproven::Unreadable(manager.clone()));
    }
    let claims = schema::field_set(manifest, schema, Some(kind));
    match owners.ours.as_slice() {
        [entry] if manifest.get("apiVersion").and_then(Value::as_str) != Some(&entry.api_version) => {
            return Err(Unproven::OtherVersion(entry.api_version.clone()));
        }
        [entry] if claims == entry.fields => {}
        [entry] => {
            let odd = claims.difference(&entry.fields).union(&entry.fields.difference(&claims));
            return Err(Unproven::OtherFields(odd.first().unwrap_or_default()));
        }
        // A manifest that claims nothing, such as a Namespace with only a name, leaves no entry. (An apply would still
        // write to an object without `managedFields`: the server then adds an entry for the earlier writers.)
        [] if claims.is_empty() && !drops_any(owners, manifest, live, schema, applier) => {}
        _ => return Err(Unproven::NoEntry),
    }
    if owners.is_adopting(&with_string_data(&kind.gvk, claims, &[]), applier) {
        return Err(Unproven::Adopting);
    }
    for entry in &owners.others {
        if !is_kept(entry, manifest, schema, kind) {
            return Err(Unproven::OldRecord(entry.manager.clone()));
        }
    }
    let Value::Object(fields) = manifest else { return Err(Unproven::Absent(FieldPath::root())) };
    let built_in = schema::builtin_kind(&kind.gvk).is_some();
    let keeps_node_ports = keeps_node_ports(manifest, live, &kind.gvk);
    Walk::new(owners, built_in, keeps_node_ports).object(fields, live, schema, kind)
}

/// Returns true if a manifest that claims nothing has dropped fields that client-side apply had applied before.
fn drops_any(
    owners: &Ownership,
    manifest: &Value,
    live: &Value,
    schema: TypeRef<'_>,
    applier: &(impl Applier + ?Sized),
) -> bool {
    let api_version = manifest.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let copy = FieldPath::of(&["metadata", "annotations", LAST_APPLIED]);
    let settled = owners.with_claims_transferred(live, schema, &FieldSet::new(), api_version, applier);
    settled.is_some_and(|settled| !settled.our_fields().filter(|path| *path != copy).is_empty())
}

/// Returns true if an apply by any manager leaves the entry of an owner as it is.
fn is_kept(entry: &ManagedFieldsEntry, manifest: &Value, schema: TypeRef<'_>, kind: &KindInfo) -> bool {
    // The subresource `scale` leaves such an entry in an object that had no `managedFields`.
    if entry.operation == Operation::Update && entry.time.is_none() {
        return false;
    }
    if manifest.get("apiVersion").and_then(Value::as_str) == Some(&entry.api_version) {
        return schema::is_current(&entry.fields, schema);
    }
    // The server drops entries in versions that it no longer knows.
    let theirs = GroupVersionKind::new(&entry.api_version, &kind.gvk.kind);
    schema::builtin().object(&theirs).is_some_and(|schema| schema::is_current(&entry.fields, schema))
}
