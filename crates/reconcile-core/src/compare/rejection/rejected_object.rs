//! The object that the server rejected, and where a mistake in it is written.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, TypeRef, fields_of, managed_fields, merge};

use super::cursor::Place;
use crate::compare::secrecy::is_secret;
use crate::diagnostic::Diagnostic;
use crate::live::Target;

/// What a refusal is about.
pub(in crate::compare) struct RejectedObject<'a> {
    /// The manifest, and which object it is.
    pub target: &'a Target,
    /// The object as it is, where it exists.
    pub live: Option<&'a Value>,
    /// The type's fields.
    pub of: TypeRef<'a>,
    claims: OnceCell<FieldSet>,
}

impl<'a> RejectedObject<'a> {
    /// The object, live where it exists.
    pub fn new(target: &'a Target, live: Option<&'a Value>, of: TypeRef<'a>) -> Self {
        Self { target, live, of, claims: OnceCell::new() }
    }

    /// The fields of the manifest.
    pub(super) fn claims(&self) -> &FieldSet {
        self.claims.get_or_init(|| fields_of(self.manifest(), self.of))
    }

    pub(super) fn manifest(&self) -> &'a Value {
        self.target.desired.object()
    }

    /// What the server validated, as far as lists go: the manifest merged into the live object.
    pub(super) fn merged(&self) -> Value {
        self.live.map_or_else(|| self.manifest().clone(), |live| merge(self.manifest(), live, self.of))
    }

    /// Whose a field is that clashes with the manifest, which does not have it: an apply takes nothing away that others have.
    pub(super) fn clash(&self, kept: &FieldPath) -> Option<String> {
        let owners = managed_fields(self.live?);
        let owners = owners.iter().filter(|entry| entry.fields.contains_at_or_below(kept));
        let owners: BTreeSet<String> = owners.map(|entry| format!("`{}`", entry.manager)).collect();
        let whose = match owners.len() {
            0 => "a default".to_owned(),
            _ => format!("set by {}", owners.into_iter().collect::<Vec<_>>().join(", ")),
        };
        let name = named(kept);
        // The status belongs to the controller of the object: it is not taken out of a manifest.
        let is_status = FieldPath::of(&["status"]).is_prefix_of(kept);
        let way_out = if is_status { "" } else { ", `kubectl replace` removes it" };
        Some(format!(
            "the live object has {name} ({whose}) and the manifest does not: the server refuses both together{way_out}"
        ))
    }

    /// Returns true if nothing of the server's text may be repeated.
    pub(super) fn is_secret(&self) -> bool {
        is_secret(self.target, self.live)
    }

    /// A problem of the key at a place, or of what is nearest to it.
    pub(super) fn of_key(&self, place: &Place<'_>, message: String) -> Diagnostic {
        self.target.desired.origin.diagnostic_at_key(&place.steps, message)
    }

    /// A problem of the value at a place.
    pub(super) fn of_value(&self, place: &Place<'_>, message: String) -> Diagnostic {
        if place.missing.is_empty() {
            self.target.desired.origin.diagnostic_at_value(&place.steps, message)
        } else {
            self.of_key(place, message)
        }
    }
}

/// A path in a message; the whole object has none.
pub(super) fn named(path: &FieldPath) -> String {
    if path.elements().is_empty() { "the object".to_owned() } else { format!("`{path}`") }
}
