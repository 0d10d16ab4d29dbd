//! Turns the server's refusals into diagnostics of the manifest, each with its file, line and column.
//!
//! ```text
//! 500 "failed to create typed patch object … .spec.replicas: expected numeric…" ─typed───┐
//! 500 "failed to convert new object …" (no path) ──────────────────────────────conversion┼─▶ Diagnostic
//! 422 causes: spec.ports[1].port, metadata.labels ──────────────────────────────causes───┘
//! ```

pub(crate) mod refusal;

mod blame;
mod causes;
mod constraints;
mod conversion;
mod cursor;
mod in_the_way;
mod rejected_object;
mod suggest;
mod typed;

use serde_json::Value;
use structured_merge::{FieldSet, TypeRef};

use crate::diagnostic::Diagnostic;
use crate::live::Target;
use crate::request::StatusError;
pub(super) use blame::{Blame, blame, refused_result};
pub(super) use in_the_way::{InTheWay, Reach, in_the_way};
pub(super) use rejected_object::RejectedObject;

/// The start of the message about a manifest that does not fit the type's schema.
const NOT_TYPED: &str = "failed to create typed patch object";
/// The start of the message about a value that a Go type cannot take.
const NOT_CONVERTED: &str = "failed to convert new object";

/// The starts of messages about a live object that does not fit the type's schema: apiserver `managedfields` reads it for each apply.
const NOT_TYPED_LIVE: [&str; 2] =
    ["failed to create typed live object", "failed to create manager for existing fields"];

/// The starts of messages about an object that the server cannot convert to the version of a record of owners (structured-merge-diff
/// `merge/update.go`); a conversion failed, or the other version lacks a field.
const NOT_CONVERTED_FOR_RECORD: [&str; 3] = [
    "failed to convert merged object to last applied version: ",
    "failed to convert new object: ",
    "failed to convert old object: ",
];

/// The starts of messages about a live object that does not fit the type's schema in the version of a record of owners, one value or
/// several: no words come before those of structured-merge-diff (`reconcileManagedFieldsWithSchemaChanges` there). Since 1.37, such
/// records stay.
const NOT_TYPED_FOR_RECORD: [&str; 2] = [".", "errors:\n"];

/// Returns true if the server cannot convert an object to the version of a record of owners, so that it refuses every apply.
pub(super) fn is_unconvertible(status: &StatusError) -> bool {
    let message = &status.message;
    status.code == 500
        && (NOT_CONVERTED_FOR_RECORD.iter().any(|text| message.contains(text))
            || NOT_TYPED_FOR_RECORD.iter().any(|text| message.starts_with(text)))
}

/// The text that replaces the causes that were not read.
pub(super) fn and_more(status: &StatusError) -> Option<String> {
    (status.more_causes > 0).then(|| format!("and {} more", status.more_causes))
}

/// Returns true if a refusal says that the manifest does not fit its type. The server calls that an internal error.
pub(super) fn is_typed(status: &StatusError) -> bool {
    let says = |text: &str| status.message.contains(text);
    status.code == 500 && (says(NOT_TYPED) || says(NOT_CONVERTED)) && !is_live_typed_wrongly(status)
}

/// Returns true if a refusal says that the live object does not fit its type, so that the server refuses every apply.
pub(super) fn is_live_typed_wrongly(status: &StatusError) -> bool {
    status.code == 500 && NOT_TYPED_LIVE.iter().any(|text| status.message.contains(text))
}

/// The values of a manifest whose types no server takes, in the order of the file.
pub(super) fn of_wrong_type(target: &Target, schema: TypeRef<'_>, ignored: &FieldSet) -> Vec<Diagnostic> {
    let mut found = typed::of_wrong_type(target, schema, ignored);
    found.sort_by(|a, b| a.location.cmp(&b.location));
    found
}

/// The mistakes of an object by a definition in the same input, in the order of the file. `schema` is compiled from that of its version,
/// `written`.
pub(super) fn against_definition(target: &Target, schema: TypeRef<'_>, written: Option<&Value>) -> Vec<Diagnostic> {
    let mut found = typed::against_definition(target, schema);
    // The server checks the values of what has the right types.
    if found.is_empty()
        && let Some(written) = written
    {
        let causes = constraints::causes(target.desired.object(), written);
        found = causes::diagnostics(&RejectedObject::of_causes(target, schema, &causes), &causes);
    }
    found.sort_by(|a, b| a.location.cmp(&b.location));
    found
}

/// The mistakes in the manifest that a refusal reports, in the order of the file; empty if it reports anything else.
pub(super) fn diagnostics(subject: &RejectedObject<'_>, status: &StatusError) -> Vec<Diagnostic> {
    let mut found = if is_typed(status) && status.message.contains(NOT_TYPED) {
        typed::diagnostics(subject, &status.message)
    } else if is_typed(status) {
        conversion::diagnostics(subject, &status.message)
    } else if status.code == 422 {
        causes::diagnostics(subject, &status.causes)
    } else {
        Vec::new()
    };
    found.sort_by(|a, b| a.location.cmp(&b.location));
    found.dedup();
    found
}
