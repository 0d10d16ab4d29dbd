//! Values that a Go type cannot take: the server says what is wrong but not where, so the manifest is searched for the
//! values that fit the complaint.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use structured_merge::{Quantity, ScalarKind};

use super::cursor::Place;
use super::rejected_object::{RejectedObject, named};
use crate::diagnostic::Diagnostic;

/// One way in which a value does not fit.
struct Misfit {
    /// What the server's message holds.
    sign: &'static str,
    is_it: fn(ScalarKind, &Value) -> bool,
    message: &'static str,
    hint: &'static str,
}

const MISFITS: [Misfit; 6] = [
    Misfit {
        sign: "quantit",
        is_it: |kind, value| kind == ScalarKind::Quantity && !is_quantity(value),
        message: "not a quantity",
        hint: "quantities look like `500m`, `1.5`, `64Mi` or `2Gi`",
    },
    Misfit {
        sign: "illegal base64",
        is_it: |kind, value| kind == ScalarKind::Bytes && !is_base64(value),
        message: "not base64",
        hint: "encode the bytes with `base64`, or write plain text into `stringData` of a Secret, or `data` of a ConfigMap",
    },
    Misfit {
        sign: "cannot convert float64 to int",
        is_it: |kind, value| kind == ScalarKind::Number && value.as_f64().is_some_and(|number| number.fract() != 0.0),
        message: "expected a whole number",
        hint: "leave out the digits after the dot",
    },
    Misfit {
        sign: "cannot unmarshal",
        is_it: |kind, value| {
            kind == ScalarKind::IntOrString && !value.is_string() && !value.is_i64() && !value.is_u64()
        },
        message: "expected a whole number or a string",
        hint: "write a number such as `8080`, or a name in quotes",
    },
    Misfit {
        sign: "parsing time",
        is_it: |kind, value| kind == ScalarKind::Time && !is_micro_time(value),
        message: "not a time in the format that the server expects here",
        hint: "write it as in `2026-11-20T10:00:00Z`, or with six digits of a second where microseconds are kept: \
               `2026-11-20T10:00:00.000000Z`",
    },
    Misfit {
        sign: "cannot parse",
        is_it: |kind, value| kind == ScalarKind::Time && !is_micro_time(value),
        message: "not a time",
        hint: "write it as in `2026-11-20T10:00:00Z`",
    },
];

pub(super) fn mistakes(subject: &RejectedObject<'_>, message: &str) -> Vec<Diagnostic> {
    let Some(misfit) = MISFITS.iter().find(|misfit| message.contains(misfit.sign)) else { return Vec::new() };
    let mut found = Vec::new();
    search(&Place::root(subject.manifest(), subject.of), misfit, &mut |place| {
        let text = format!("{}: {}", named(&place.path), misfit.message);
        found.push(subject.of_value(place, text).with_hint(misfit.hint));
    });
    found
}

fn search(place: &Place<'_>, misfit: &Misfit, found: &mut impl FnMut(&Place<'_>)) {
    let (value, of) = place.here();
    match value {
        Value::Object(map) => {
            for key in map.keys() {
                let mut inner = place.clone();
                if inner.enter_key(key) {
                    search(&inner, misfit, found);
                }
            }
        }
        Value::Array(items) => {
            for index in 0..items.len() {
                let mut inner = place.clone();
                if inner.enter_index(index) {
                    search(&inner, misfit, found);
                }
            }
        }
        Value::Null => {}
        scalar if (misfit.is_it)(of.scalar(), scalar) => found(place),
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

/// A time with exactly six digits of a second is one wherever a time is taken.
fn is_micro_time(value: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    let fraction = text.split_once('.').map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit).count());
    text.parse::<jiff::Timestamp>().is_ok() && fraction == Some(6)
}
