//! Turns the server's refusals into diagnostics of the manifest, each with its file, line and column.
//!
//! ```text
//! 500 "failed to create typed patch object … .spec.replicas: expected numeric…" ─typed───┐
//! 500 "failed to convert new object …" (no path) ──────────────────────────────conversion┼─▶ Diagnostic
//! 422 causes: spec.ports[1].port, metadata.labels ──────────────────────────────causes───┘
//! ```

mod causes;
mod constraints;
mod counterpart;
mod curable;
mod cursor;
mod embedded;
mod in_the_way;
mod list_items;
mod patterns;
pub(crate) mod refusal;
mod rejected_object;
mod suggest;
mod typed;

use serde_json::Value;
use structured_merge::{FieldSet, Quantity, ScalarKind, TypeRef, conforms};

use crate::diagnostic::Diagnostic;
use crate::request::StatusError;
use cursor::Cursor;

pub(super) use curable::are_curable;
pub(super) use in_the_way::{Blame, InTheWay, Reach, blame, in_the_way, refused_result};
pub use patterns::Patterns;
pub(super) use rejected_object::RejectedObject;
pub(super) use typed::fits;
use typed::{of_wrong_type, unfit_live};

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

/// The mistakes of a new object by its definition, in the order of the file. The type is compiled from that of its version, `written`.
pub(super) fn against_definition(
    subject: RejectedObject<'_>,
    written: Option<&Value>,
    patterns: &Patterns,
) -> Vec<Diagnostic> {
    let mut found = typed::against_definition(&subject);
    // The server checks the values of what has the right types.
    if found.is_empty()
        && let Some(written) = written
    {
        let causes = constraints::causes(subject.manifest(), None, written, patterns);
        found = causes::diagnostics(&subject.with_causes(&causes), &causes);
    }
    found.sort_by(|a, b| a.location.cmp(&b.location));
    found
}

/// The mistakes of an object that exists, by a definition that has changed: wrong types and unknown fields, and the values of what an update
/// changes. `after` is the object after the update.
pub(super) fn against_changed_definition(
    subject: RejectedObject<'_>,
    after: &Value,
    ignored: &FieldSet,
    written: Option<&Value>,
    patterns: &Patterns,
) -> Vec<Diagnostic> {
    let mut found = of_wrong_type(&subject, ignored);
    if found.is_empty() {
        found.extend(unfit_live(&subject));
    }
    let Some(written) = written.filter(|_| found.is_empty()) else { return found };
    let before = subject.live.unwrap_or(after);
    let causes = constraints::causes(after, Some(before), written, patterns);
    causes::diagnostics(&subject.with_causes(&causes), &causes)
}

/// The mistakes in the manifest that a refusal reports, in the order of the file; empty if it reports anything else.
pub(super) fn diagnostics(subject: &RejectedObject<'_>, status: &StatusError) -> Vec<Diagnostic> {
    let mut found = if is_typed(status) && status.message.contains(NOT_TYPED) {
        typed::diagnostics(subject, &status.message)
    } else if is_typed(status) {
        unconvertible(subject, &status.message)
    } else if status.code == 422 {
        causes::diagnostics(subject, &status.causes)
    } else {
        Vec::new()
    };
    found.sort_by(|a, b| a.location.cmp(&b.location));
    found.dedup();
    found
}

/// A kind of failure to convert a value.
struct ConversionFailure {
    /// Part of the server's message.
    message_part: &'static str,
    is_cause: fn(TypeRef<'_>, &Value) -> bool,
    message: &'static str,
    hint: &'static str,
}

const FAILURES: [ConversionFailure; 6] = [
    ConversionFailure {
        message_part: "quantit",
        is_cause: |schema, value| schema.scalar() == ScalarKind::Quantity && !is_quantity(value),
        message: "not a quantity",
        hint: "quantities look like `500m`, `1.5`, `64Mi` or `2Gi`",
    },
    ConversionFailure {
        message_part: "illegal base64",
        is_cause: |schema, value| schema.scalar() == ScalarKind::Bytes && !conforms(value, schema),
        message: "not base64",
        hint: "encode the bytes with `base64`, or write plain text into `stringData` of a Secret, or `data` of a ConfigMap",
    },
    ConversionFailure {
        message_part: "cannot convert float64 to int",
        is_cause: |schema, value| {
            schema.scalar() == ScalarKind::Number && value.as_f64().is_some_and(|number| number.fract() != 0.0)
        },
        message: "expected a whole number",
        hint: "leave out the digits after the dot",
    },
    ConversionFailure {
        message_part: "cannot unmarshal",
        is_cause: |schema, value| {
            schema.scalar() == ScalarKind::IntOrString && !value.is_string() && !value.is_i64() && !value.is_u64()
        },
        message: "expected a whole number or a string",
        hint: "write a number such as `8080`, or a name in quotes",
    },
    ConversionFailure {
        message_part: "parsing time",
        is_cause: is_no_time,
        message: "not a time in the format that the server expects here",
        hint: "write it as in `2026-11-20T10:00:00Z`, or with six digits of a second where microseconds are kept: \
               `2026-11-20T10:00:00.000000Z`",
    },
    ConversionFailure {
        message_part: "cannot parse",
        is_cause: is_no_time,
        message: "not a time",
        hint: "write it as in `2026-11-20T10:00:00Z`",
    },
];

fn unconvertible(subject: &RejectedObject<'_>, message: &str) -> Vec<Diagnostic> {
    let Some(failure) = FAILURES.iter().find(|failure| message.contains(failure.message_part)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    search(&Cursor::root(subject.manifest(), subject.schema), failure, &mut |cursor| {
        let text = format!("{}: {}", subject.named(&cursor.path), failure.message);
        found.push(subject.diagnostic_at_value(cursor, text).with_hint(failure.hint));
    });
    found
}

fn search(cursor: &Cursor<'_>, failure: &ConversionFailure, found: &mut impl FnMut(&Cursor<'_>)) {
    let (value, schema) = cursor.here();
    match value {
        Value::Object(map) => {
            for key in map.keys() {
                let mut inner = cursor.clone();
                if inner.enter_key(key) {
                    search(&inner, failure, found);
                }
            }
        }
        Value::Array(items) => {
            for index in 0..items.len() {
                let mut inner = cursor.clone();
                if inner.enter_index(index) {
                    search(&inner, failure, found);
                }
            }
        }
        Value::Null => {}
        scalar if (failure.is_cause)(schema, scalar) => found(cursor),
        _ => {}
    }
}

fn is_quantity(value: &Value) -> bool {
    match value {
        Value::String(text) => Quantity::parse(text).is_some(),
        Value::Number(_) => true,
        _ => false,
    }
}

/// Returns true for a value that is no time although its field takes one, with six digits of a second where that is its type.
fn is_no_time(schema: TypeRef<'_>, value: &Value) -> bool {
    matches!(schema.scalar(), ScalarKind::Time | ScalarKind::MicroTime) && !conforms(value, schema)
}
