//! The object that the server rejected, and diagnostics at its positions in the manifest.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, TypeRef, fields_of, managed_fields, merge};

use super::cursor::{Cursor, follow_validation};
use crate::compare::secrecy::{Secrecy, refusal_may_quote, texts_may_quote};
use crate::diagnostic::Diagnostic;
use crate::live::Target;
use crate::request::{Cause, StatusError};
use crate::text::coded;

/// The object that a refusal is about.
pub(in crate::compare) struct RejectedObject<'a> {
    /// The manifest and the identity of the object.
    pub target: &'a Target,
    /// The live object, if it exists.
    pub live: Option<&'a Value>,
    /// The type's fields.
    pub schema: TypeRef<'a>,
    /// True if the server's text must not be repeated.
    pub may_quote_secret: bool,
    /// True if the type is that of a CustomResourceDefinition in the input, which is not applied yet.
    pub is_coming: bool,
    claims: OnceCell<FieldSet>,
    secrecy: OnceCell<Secrecy<'a>>,
}

impl<'a> RejectedObject<'a> {
    /// Creates the subject of a refusal.
    pub fn new(target: &'a Target, live: Option<&'a Value>, schema: TypeRef<'a>, status: &StatusError) -> Self {
        let may_quote_secret = refusal_may_quote(target, live, status);
        Self { may_quote_secret, ..Self::of_manifest(target, live, schema) }
    }

    /// A manifest that no server has seen.
    pub fn of_manifest(target: &'a Target, live: Option<&'a Value>, schema: TypeRef<'a>) -> Self {
        Self {
            target,
            live,
            schema,
            may_quote_secret: true,
            is_coming: false,
            claims: OnceCell::new(),
            secrecy: OnceCell::new(),
        }
    }

    /// The same with the type that it gets with the input.
    pub fn coming(self) -> Self {
        Self { is_coming: true, ..self }
    }

    /// The same with the causes for which the server would refuse the manifest.
    pub(super) fn with_causes(self, causes: &[Cause]) -> Self {
        let texts: Vec<&str> = causes.iter().map(|cause| cause.message.as_str()).collect();
        let may_quote_secret = texts_may_quote(self.target, None, &texts.join("\n"));
        Self { may_quote_secret, ..self }
    }

    /// The fields of the manifest.
    pub(super) fn claims(&self) -> &FieldSet {
        self.claims.get_or_init(|| fields_of(self.manifest(), self.schema))
    }

    pub(super) fn manifest(&self) -> &'a Value {
        self.target.desired.object()
    }

    /// The parts of the object that may be shown.
    pub(super) fn secrecy(&self) -> &Secrecy<'a> {
        self.secrecy.get_or_init(|| Secrecy::of_target(self.target, self.live))
    }

    /// A path as messages name it: without secret keys and members. The path of the whole object is empty.
    pub(super) fn named(&self, path: &FieldPath) -> String {
        if path.elements().is_empty() {
            return "the object".to_owned();
        }
        format!("`{}`", self.secrecy().shown_path(path))
    }

    /// The manifest merged into the live object: its lists are those that the server validated.
    pub(in crate::compare) fn merged(&self) -> Value {
        self.live.map_or_else(|| self.manifest().clone(), |live| merge(self.manifest(), live, self.schema))
    }

    /// Names the owners of a field that clashes with the manifest. The manifest does not have the field, and an apply does not remove
    /// fields of others.
    pub(super) fn clash(&self, live_only: &FieldPath) -> Option<String> {
        let owners = managed_fields(self.live?);
        let owners = owners.iter().filter(|entry| entry.fields.contains_at_or_below(live_only));
        let owners: BTreeSet<String> = owners.map(|entry| coded(&entry.manager)).collect();
        let is_owned = !owners.is_empty();
        let whose = match owners.len() {
            0 => "no manager owns it".to_owned(),
            _ => format!("set by {}", owners.into_iter().collect::<Vec<_>>().join(", ")),
        };
        let name = self.named(live_only);
        // The status belongs to the controller of the object, so that a manifest cannot remove it.
        let is_status = FieldPath::of(&["status"]).is_prefix_of(live_only);
        let way_out = match is_status {
            true => "",
            false if is_owned => ", `--force-conflicts` removes it",
            false => ", `kubectl replace` removes it",
        };
        Some(format!(
            "the live object has {name} ({whose}) and the manifest does not: the server refuses both together{way_out}"
        ))
    }

    /// Advice about a required field that the live object has and that goes with the apply, because the manifest no longer has it or what it
    /// is in.
    pub(super) fn lost(&self, live_only: &FieldPath, cause: &Cause) -> Option<String> {
        if cause.reason != "FieldValueRequired" {
            return None;
        }
        let merged = self.merged();
        let live = follow_validation(Cursor::root(&merged, self.schema), &merged, &cause.field);
        let name = self.named(live_only);
        let is_there = live.missing.is_empty() && !live.here().0.is_null();
        is_there.then(|| {
            format!("the apply removes {name}, which the manifest no longer has: put it back into the manifest")
        })
    }

    /// A diagnostic at the key of a value, or at the nearest position that the manifest has.
    pub(super) fn diagnostic_at_key(&self, cursor: &Cursor<'_>, message: String) -> Diagnostic {
        self.target.desired.origin.diagnostic_at_key(&cursor.steps, message)
    }

    /// A diagnostic at a value, or at the nearest position that the manifest has.
    pub(super) fn diagnostic_at_value(&self, cursor: &Cursor<'_>, message: String) -> Diagnostic {
        if cursor.missing.is_empty() {
            self.target.desired.origin.diagnostic_at_value(&cursor.steps, message)
        } else {
            self.diagnostic_at_key(cursor, message)
        }
    }
}
