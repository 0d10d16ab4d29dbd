//! The claims that pass from one owner to another.

use serde_json::Value;

use crate::kinds::with_string_data;
use crate::last_applied::{fields_last_applied, owns_last_applied};
use crate::object::{FieldPath, FieldSet, GroupVersionKind, LAST_APPLIED, ManagedFieldsEntry, Operation};
use crate::ownership::Ownership;
use crate::schema::{Shape, TypeRef};

/// The field manager of an apply, and the managers whose claims pass to it.
///
/// A server-side apply takes a field from another manager only by force, and never becomes the only owner of a field
/// whose value stays. So a client that replaces other managers first moves their claims to its own entry, as
/// client-go's `csaupgrade` does for client-side apply. A string is an applier that takes over no claims: the name of
/// its field manager.
pub trait Applier {
    /// The name of the field manager.
    fn manager(&self) -> &str;

    /// Returns true if the claims of an entry pass to the applier, for the fields that the applier claims as well.
    fn takes_over(&self, entry: &ManagedFieldsEntry) -> bool {
        self.adopts(entry)
    }

    /// Returns true if they pass even when nothing else changes: as long as the entry claims a field of the applier,
    /// the object is not in sync.
    fn adopts(&self, _entry: &ManagedFieldsEntry) -> bool {
        false
    }

    /// Returns true if it sends its manifests as they are written, as kubectl does. Otherwise, co-owners lose nothing to a value that only
    /// another spelling makes another one.
    fn sends_as_written(&self) -> bool {
        false
    }
}

impl Applier for str {
    fn manager(&self) -> &str {
        self
    }
}

impl Ownership {
    /// Ownership after the claims that the applier takes over have passed to it, on its own fields and on those of the
    /// manifest; `None` if no claim passes. If such an owner is client-side apply, and the applier owns nothing yet,
    /// the fields that were last applied to the `live` object pass as well: they are the former state of the manifest.
    pub fn with_claims_transferred(
        &self,
        live: &Value,
        schema: TypeRef<'_>,
        manifest: &FieldSet,
        api_version: &str,
        applier: &(impl Applier + ?Sized),
    ) -> Option<Self> {
        self.with_fields_displaced(live, schema, manifest, &FieldSet::new(), api_version, applier)
    }

    /// Transfers the fields of the manifest and the `displaced` ones to the applier: other owners lose them, and those without an owner
    /// become its own, so that an apply that leaves them out removes them.
    pub fn with_fields_displaced(
        &self,
        live: &Value,
        schema: TypeRef<'_>,
        manifest: &FieldSet,
        displaced: &FieldSet,
        api_version: &str,
        applier: &(impl Applier + ?Sized),
    ) -> Option<Self> {
        // Fields may have other names in another version; the apply itself first converts our entry to this version.
        let other_version = self.ours.as_ref().is_some_and(|entry| entry.api_version != api_version);
        if other_version {
            return None;
        }
        let claimed = self.our_fields().union(manifest).union(displaced);
        let mut passing = displaced.clone();
        let mut others = Vec::new();
        let mut time = None;
        for entry in &self.others {
            if !applier.takes_over(entry) {
                let fields = entry.fields.difference(displaced);
                if !fields.is_empty() {
                    others.push(ManagedFieldsEntry { fields, ..entry.clone() });
                }
                continue;
            }
            // Across versions, fields of the same name are the same field.
            let is_former = self.ours.is_none() && owns_last_applied(&entry.fields);
            let pass = if is_former && entry.api_version == api_version {
                fields_applied(&entry.fields, live, schema, &claimed)
            } else if applier.adopts(entry) {
                // What it wrote into `data` of a Secret is the value of a text that the applier has.
                entry.fields.intersection(&with_string_data(&GroupVersionKind::of(live), claimed.clone(), &[]))
            } else {
                entry.fields.intersection(&claimed)
            };
            let left = entry.fields.difference(&pass);
            let emptied = if schema.stores_as_sent() {
                emptied_by_ours(&left, &self.our_fields().union(&pass), manifest)
            } else {
                FieldSet::new()
            };
            let (pass, left) = (pass.union(&emptied), left.difference(&emptied));
            let left = if is_former { without_parents(left, &pass) } else { left };
            if !pass.is_empty() {
                time = time.max(entry.time.clone());
            }
            passing = passing.union(&pass);
            if !left.is_empty() {
                others.push(ManagedFieldsEntry { fields: left, ..entry.clone() });
            }
        }
        if passing.is_empty() {
            return None;
        }
        let ours = match &self.ours {
            Some(entry) => ManagedFieldsEntry { fields: entry.fields.clone().union(&passing), ..entry.clone() },
            None => ManagedFieldsEntry {
                time,
                ..ManagedFieldsEntry::new(applier.manager(), Operation::Apply, api_version, passing)
            },
        };
        Some(Self { ours: Some(ours), others, unreadable: Vec::new() })
    }

    /// Returns true if an owner that the applier adopts claims one of these fields.
    pub fn is_adopting(&self, claims: &FieldSet, applier: &(impl Applier + ?Sized)) -> bool {
        let adopted = self.others.iter().filter(|entry| applier.adopts(entry));
        adopted.into_iter().any(|entry| !entry.fields.intersection(claims).is_empty())
    }
}

/// The fields that client-side apply owns of the manifest it last applied, and of `claimed`. If it created the object,
/// its entry has more fields: the server's defaults, and values that admission added (the limits of a `LimitRange`),
/// which no manifest ever had. Those are only removed together with everything that the manifest had around them. If
/// the copy of the manifest cannot be read, no field is assumed to be from it, so that nothing is removed that another
/// manager may have added (client-go `csaupgrade.UpgradeManagedFields` takes over everything in any case).
fn fields_applied(fields: &FieldSet, live: &Value, schema: TypeRef<'_>, claimed: &FieldSet) -> FieldSet {
    let applied = fields_last_applied(live, schema).unwrap_or_default();
    let claimed = with_string_data(&GroupVersionKind::of(live), claimed.clone(), &[]);
    let copy = FieldPath::of(&["metadata", "annotations", LAST_APPLIED]);
    let mut passing = FieldSet::new();
    fields.visit(&mut |path, below| {
        // An empty map in the manifest does not include the entries that admission added to it.
        let is_applied = below.is_empty() && applied.contains(path);
        if is_applied || claimed.contains(path) || *path == copy || is_dropped(path, schema, &applied, &claimed) {
            passing.insert(path);
        }
    });
    passing
}

/// The maps and lists of a custom resource that an owner still claims, and that lose their last entries because those are ours and the manifest
/// drops them. If they stayed claimed, the server would leave null in their place, which their types do not allow (structured-merge-diff
/// `typed/remove.go`).
fn emptied_by_ours(left: &FieldSet, ours: &FieldSet, manifest: &FieldSet) -> FieldSet {
    let is_dropped = |path: &FieldPath| {
        ours.contains_at_or_below(path) && !ours.contains(path) && !manifest.contains_at_or_below(path)
    };
    let (dropped, others): (Vec<FieldPath>, Vec<FieldPath>) = left.paths().into_iter().partition(is_dropped);
    let others: FieldSet = others.into_iter().collect();
    dropped.into_iter().filter(|path| !others.contains_at_or_below(path)).collect()
}

/// The rest of an owner's fields after some of them have passed on: nothing, if only maps and lists around those are left. Such an
/// entry would own nothing of its own (`f:data: {}`) for as long as the object exists.
fn without_parents(left: FieldSet, passed: &FieldSet) -> FieldSet {
    let mut has_own = false;
    left.visit(&mut |path, _| has_own |= !passed.contains_at_or_below(path));
    if has_own { left } else { FieldSet::new() }
}

/// Returns true if a path is in a value (an item, a struct, a scalar) that `applied` covers and `claimed` does not.
/// Entries of maps and items of lists are separate values, and so is each field of the object's own metadata, as every
/// manifest has metadata.
fn is_dropped(path: &FieldPath, schema: TypeRef<'_>, applied: &FieldSet, claimed: &FieldSet) -> bool {
    let metadata = FieldPath::of(&["metadata"]);
    let nothing = FieldSet::new();
    let mut schema = schema;
    let mut applied = applied;
    let mut claimed = Some(claimed);
    for (depth, element) in path.elements().iter().enumerate() {
        let Some((_, below)) = applied.step(element) else { return false };
        schema = schema.step(element);
        claimed = claimed.and_then(|set| set.step(element)).map(|(_, below)| below);
        if depth == 0 && metadata.is_prefix_of(path) {
            claimed = claimed.or(Some(&nothing));
        }
        let is_many = schema.is_free_map() || matches!(schema.shape(), Shape::List(..));
        if claimed.is_none() && !is_many && !below.is_empty() {
            return true;
        }
        applied = below;
    }
    false
}
