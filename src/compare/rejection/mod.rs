//! The server's refusals as mistakes in the manifest: each with its file, line and column, in words for who wrote it.
//!
//! ```text
//! 500 "failed to create typed patch object … .spec.replicas: expected numeric…" ─typed───┐
//! 500 "failed to convert new object …" (no path) ───────────────────────────────misfits──┼─▶ Diagnostic
//! 422 causes: spec.ports[1].port, metadata.labels ──────────────────────────────causes───┘
//! ```

mod blame;
mod causes;
mod misfits;
mod place;
mod suggest;
mod typed;

use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{FieldPath, TypeRef, managed_fields, merge};

use super::secrecy::is_secret;
use crate::diagnostic::Diagnostic;
use crate::live::{StatusError, Target};
pub(super) use blame::{Blame, blame, in_the_way, refused_result};
use place::Place;

/// What a refusal is about.
pub(super) struct RejectedObject<'a> {
    /// The manifest, and which object it is.
    pub target: &'a Target,
    /// The object as it is, where it exists.
    pub live: Option<&'a Value>,
    /// The type's fields.
    pub of: TypeRef<'a>,
}

/// The start of the message about a manifest that does not fit the type's schema.
const NOT_TYPED: &str = "failed to create typed patch object";
/// The start of the message about a value that a Go type cannot take.
const NOT_CONVERTED: &str = "failed to convert new object";

/// Returns true if a refusal says that the manifest does not fit its type. The server calls that an internal error.
#[must_use]
pub(super) fn is_typed(status: &StatusError) -> bool {
    status.code == 500 && (status.message.contains(NOT_TYPED) || status.message.contains(NOT_CONVERTED))
}

/// The mistakes that a refusal reports, in the order of the file; none where it reports something else.
#[must_use]
pub(super) fn mistakes(subject: &RejectedObject<'_>, status: &StatusError) -> Vec<Diagnostic> {
    let mut found = if is_typed(status) && status.message.contains(NOT_TYPED) {
        typed::mistakes(subject, &status.message)
    } else if is_typed(status) {
        misfits::mistakes(subject, &status.message)
    } else if status.code == 422 {
        causes::mistakes(subject, &status.causes)
    } else {
        Vec::new()
    };
    found.sort_by(|a, b| a.place.cmp(&b.place));
    found.dedup();
    found
}

impl<'a> RejectedObject<'a> {
    fn manifest(&self) -> &'a Value {
        self.target.desired.object()
    }

    /// What the server validated, as far as lists go: the manifest merged into the live object.
    fn merged(&self) -> Value {
        self.live.map_or_else(|| self.manifest().clone(), |live| merge(self.manifest(), live, self.of))
    }

    /// Whose a field is that clashes with the manifest, which does not have it: an apply takes nothing away that others have.
    fn clash(&self, kept: &FieldPath) -> Option<String> {
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
        Some(format!("the live object has {name} ({whose}) and the manifest does not: an apply keeps it{way_out}"))
    }

    /// Returns true if nothing of the server's text may be repeated.
    fn is_secret(&self) -> bool {
        is_secret(self.target, self.live)
    }

    /// A problem of the key at a place, or of what is nearest to it.
    fn of_key(&self, place: &Place<'_>, message: String) -> Diagnostic {
        self.target.desired.origin.problem_of_key(&place.steps, message)
    }

    /// A problem of the value at a place.
    fn of_value(&self, place: &Place<'_>, message: String) -> Diagnostic {
        if place.missing.is_empty() {
            self.target.desired.origin.problem_of_value(&place.steps, message)
        } else {
            self.of_key(place, message)
        }
    }
}

/// A path in a message; the whole object has none.
fn named(path: &FieldPath) -> String {
    if path.elements().is_empty() { "the object".to_owned() } else { format!("`{path}`") }
}
