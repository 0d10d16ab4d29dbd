//! Values that the server cannot convert to their Go type. Its message has no path, so the manifest is searched for the values that
//! fit the message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use structured_merge::{Quantity, ScalarKind};

use super::cursor::Cursor;
use super::rejected_object::{RejectedObject, named};
use crate::diagnostic::Diagnostic;

/// A kind of failure to convert a value.
struct ConversionFailure {
    /// Part of the server's message.
    message_part: &'static str,
    is_cause: fn(ScalarKind, &Value) -> bool,
    message: &'static str,
    hint: &'static str,
}

const FAILURES: [ConversionFailure; 6] = [
    ConversionFailure {
        message_part: "quantit",
        is_cause: |kind, value| kind == ScalarKind::Quantity && !is_quantity(value),
        message: "not a quantity",
        hint: "quantities look like `500m`, `1.5`, `64Mi` or `2Gi`",
    },
    ConversionFailure {
        message_part: "illegal base64",
        is_cause: |kind, value| kind == ScalarKind::Bytes && !is_base64(value),
        message: "not base64",
        hint: "encode the bytes with `base64`, or write plain text into `stringData` of a Secret, or `data` of a ConfigMap",
    },
    ConversionFailure {
        message_part: "cannot convert float64 to int",
        is_cause: |kind, value| {
            kind == ScalarKind::Number && value.as_f64().is_some_and(|number| number.fract() != 0.0)
        },
        message: "expected a whole number",
        hint: "leave out the digits after the dot",
    },
    ConversionFailure {
        message_part: "cannot unmarshal",
        is_cause: |kind, value| {
            kind == ScalarKind::IntOrString && !value.is_string() && !value.is_i64() && !value.is_u64()
        },
        message: "expected a whole number or a string",
        hint: "write a number such as `8080`, or a name in quotes",
    },
    ConversionFailure {
        message_part: "parsing time",
        is_cause: |kind, value| kind == ScalarKind::Time && !is_micro_time(value),
        message: "not a time in the format that the server expects here",
        hint: "write it as in `2026-11-20T10:00:00Z`, or with six digits of a second where microseconds are kept: \
               `2026-11-20T10:00:00.000000Z`",
    },
    ConversionFailure {
        message_part: "cannot parse",
        is_cause: |kind, value| kind == ScalarKind::Time && !is_micro_time(value),
        message: "not a time",
        hint: "write it as in `2026-11-20T10:00:00Z`",
    },
];

pub(super) fn diagnostics(subject: &RejectedObject<'_>, message: &str) -> Vec<Diagnostic> {
    let Some(failure) = FAILURES.iter().find(|failure| message.contains(failure.message_part)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    search(&Cursor::root(subject.manifest(), subject.schema), failure, &mut |cursor| {
        let text = format!("{}: {}", named(&cursor.path), failure.message);
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
        scalar if (failure.is_cause)(schema.scalar(), scalar) => found(cursor),
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

/// Go's decoder skips line ends.
fn is_base64(value: &Value) -> bool {
    value.as_str().is_some_and(|text| STANDARD.decode(text.replace(['\n', '\r'], "")).is_ok())
}

/// Returns true for a time with exactly six fractional digits, which is valid for every type of time.
fn is_micro_time(value: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    let fraction = text.split_once('.').map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit).count());
    text.parse::<jiff::Timestamp>().is_ok() && fraction == Some(6)
}
