//! Compares values by meaning, with the normalisations of the API server.
//! Values that are not compared, as in a `status` that the server validates and then drops, are checked for validity ([`conforms`]).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::go_types::is_pointer;
use super::table::{ListKind, ScalarKind, Shape};
use super::type_ref::{TypeRef, all_different, item_element, items_by_element};
use crate::object::{Quantity, Scalar};

/// Returns true if a manifest's value has the same meaning as the live value: quantities and whole numbers are compared
/// by value, times by their second, base64 by its bytes. In values that are replaced as a whole, a field that only the
/// live one has must be a known default; in other values it belongs to another manager and is ignored. A field that
/// only the manifest has must be empty; in values that are replaced as a whole it must not be `0`, `false` or `""`,
/// which pointers in Go keep.
pub fn semantically_equal(manifest: &Value, live: &Value, schema: TypeRef<'_>) -> bool {
    compare(manifest, live, schema, schema.is_atomic(manifest), is_nothing_here)
}

/// Returns true if two values most likely have the same meaning, for comparisons without a server: few strings and
/// booleans are pointers, and for those `""` and `false` rarely mean anything else than no value.
pub fn equivalent_offline(manifest: &Value, live: &Value, schema: TypeRef<'_>) -> bool {
    compare(manifest, live, schema, schema.is_atomic(manifest), |value, _, _| !value.is_number())
}

/// Returns true if a field may have this value although the live object has none.
type MayLack = fn(&Value, &str, TypeRef<'_>) -> bool;

fn compare(manifest: &Value, live: &Value, schema: TypeRef<'_>, whole: bool, may_lack: MayLack) -> bool {
    let whole = whole || schema.is_atomic(manifest);
    match (manifest, live) {
        (Value::Object(wanted), Value::Object(found)) => {
            let wanted_holds = wanted.iter().all(|(name, value)| match found.get(name) {
                Some(there) => compare(value, there, schema.field(name), whole, may_lack),
                None => is_omitted_when_empty(value, name, schema) && (!whole || may_lack(value, name, schema)),
            });
            let extras_hold = !whole
                || found.iter().all(|(name, there)| wanted.contains_key(name) || is_default(there, name, schema));
            wanted_holds && extras_hold
        }
        (Value::Array(wanted), Value::Array(found)) if whole || *schema.list_kind() == ListKind::Atomic => {
            wanted.len() == found.len()
                && wanted.iter().zip(found).all(|(a, b)| compare(a, b, schema.item(), true, may_lack))
        }
        (Value::Array(wanted), Value::Array(found)) => {
            let found = items_by_element(found, schema);
            wanted.iter().all(|item| {
                let there = item_element(item, schema).and_then(|element| found.get(&element).copied());
                there.is_some_and(|there| compare(item, there, schema.item(), false, may_lack))
            })
        }
        _ => same_scalar(manifest, live, schema.scalar()),
    }
}

/// Returns true if the server leaves out such a value of a struct's field: zero scalars, except those that are known to
/// be pointers in Go, quantities, and what is a number or a string; empty lists and maps; and empty structs that are not
/// pointers, for which OpenAPI publishes `{}` as the default (`resources`, but not `emptyDir`). Custom resources keep all
/// of them.
pub fn is_omitted_when_empty(value: &Value, field: &str, schema: TypeRef<'_>) -> bool {
    let empty = |map: &serde_json::Map<String, Value>| {
        schema.default_of(field).is_some_and(Value::is_object) || map.is_empty() && schema.field(field).is_free_map()
    };
    let is_kept = !(value.is_object() || value.is_array() || value.is_null())
        && (is_pointer(field, schema)
            || matches!(schema.field(field).scalar(), ScalarKind::Quantity | ScalarKind::IntOrString));
    schema.declares(field)
        && !schema.stores_as_sent()
        && is_zero(value)
        && value.as_object().is_none_or(empty)
        && !is_kept
}

/// Returns true if the server serves such an empty struct when a manifest has none: it is not a pointer, or it is the
/// security context of a Pod, which always has one (`SetDefaults_PodSpec`).
pub(crate) fn is_empty_struct(value: &Value, name: &str, schema: TypeRef<'_>) -> bool {
    let is_default =
        || schema.default_of(name).is_some_and(|default| default.as_object().is_some_and(serde_json::Map::is_empty));
    let is_pods = || name == "securityContext" && schema.declares("containers");
    value.as_object().is_some_and(serde_json::Map::is_empty) && (is_default() || is_pods())
}

/// Returns true if a value that the manifest leaves out is the server's default, or a Go field that is served even when
/// it is empty.
pub fn is_default(value: &Value, field: &str, schema: TypeRef<'_>) -> bool {
    match (schema.default_of(field), value) {
        (Some(default), _) if default == value => true,
        (None, Value::Null) => !schema.stores_as_sent(),
        // The defaults of its fields complete a default.
        (Some(Value::Object(default)), Value::Object(map)) => {
            let below = schema.field(field);
            default.keys().all(|name| map.contains_key(name))
                && map.iter().all(|(name, child)| default.get(name) == Some(child) || is_default(child, name, below))
        }
        _ => false,
    }
}

/// Returns true if the server serves a manifest's scalar as exactly this live text. A value that is
/// `semantically_equal` may still be written again in the manifest's spelling.
pub fn serializes_as(manifest: &Value, live: &Value, schema: TypeRef<'_>) -> bool {
    match schema.scalar() {
        ScalarKind::Quantity => {
            let text = match manifest {
                Value::String(text) => Some(text.clone()),
                // Go writes a whole number without its point.
                Value::Number(number) => Some(Scalar::number_text(number)),
                _ => None,
            };
            text.and_then(|text| Quantity::served(&text)).as_deref() == live.as_str()
        }
        _ => true,
    }
}

/// Returns true if the server stores two scalars as the same value.
pub(crate) fn same_scalar(a: &Value, b: &Value, kind: ScalarKind) -> bool {
    match kind {
        ScalarKind::Quantity => is_read_alike(a, b, quantity),
        ScalarKind::Time => is_read_alike(a, b, |value| value.as_str().and_then(instant).map(second)),
        ScalarKind::MicroTime => is_read_alike(a, b, |value| value.as_str().and_then(micro_instant)),
        ScalarKind::Bytes => is_read_alike(a, b, |value| value.as_str().and_then(bytes)),
        _ => a == b || Scalar::from_json(a) == Scalar::from_json(b),
    }
}

/// Returns true if two values are read as the same, or are the same if one cannot be read.
fn is_read_alike<T: PartialEq>(a: &Value, b: &Value, read: fn(&Value) -> Option<T>) -> bool {
    match (read(a), read(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

fn quantity(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => Quantity::parse(text),
        Value::Number(number) => Quantity::parse(&number.to_string()),
        _ => None,
    }
}

/// Reads a time as Go reads RFC 3339, which is stricter than other readers.
pub(super) fn instant(text: &str) -> Option<jiff::Timestamp> {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let rest = shape.strip_prefix("0000-00-00T00:00:00")?;
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches('0'),
        None => rest,
    };
    if matches!(zone, "Z" | "+00:00" | "-00:00") { text.parse().ok() } else { None }
}

/// Reads a time that has six digits of a second (apimachinery `pkg/apis/meta/v1/micro_time.go`, `UnmarshalJSON`).
fn micro_instant(text: &str) -> Option<jiff::Timestamp> {
    let (_, fraction) = text.split_once('.')?;
    let digits = fraction.chars().take_while(char::is_ascii_digit).count();
    instant(text).filter(|_| digits == 6)
}

/// The second of a time; fractions are not stored (apimachinery `pkg/apis/meta/v1/time.go`, `MarshalJSON`).
fn second(time: jiff::Timestamp) -> i128 {
    time.as_nanosecond().div_euclid(1_000_000_000)
}

/// Decodes base64. Line breaks are ignored, as in Go's decoder.
pub(super) fn bytes(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text.replace(['\n', '\r'], "")).ok()
}

/// Returns true if a value is empty for every Go type.
pub fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// Returns true if a field's value means the same as no value: it is empty, or it is `""` or `false` in a field that is
/// known not to be a pointer.
pub fn is_nothing_here(value: &Value, field: &str, schema: TypeRef<'_>) -> bool {
    let is_zero = || value.as_str() == Some("") || value.as_bool() == Some(false);
    is_nothing(value) || is_zero() && schema.default_of(field) == Some(value)
}

/// Returns true if a value is empty to Go: null, false, 0, `""`, `[]`, or a map of such values.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(b) => !b,
        Value::Number(n) => n.as_f64() == Some(0.0),
        Value::String(s) => s.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.values().all(is_zero),
    }
}

/// Returns true if a value conforms to its type for certain: fields are declared, scalars have the right type, and
/// items have different keys. Returns false if only the server can decide.
pub fn conforms(value: &Value, schema: TypeRef<'_>) -> bool {
    match (value, schema.shape()) {
        (Value::Object(map), Shape::Map(shape)) => {
            let knows = |name: &String| shape.fields.contains_key(name) || shape.rest.is_some();
            map.iter().all(|(name, child)| knows(name) && conforms(child, schema.field(name)))
        }
        (Value::Array(items), Shape::List(kind, _)) => {
            let elements = || items.iter().map(|item| item_element(item, schema)).collect::<Option<Vec<_>>>();
            (*kind == ListKind::Atomic || elements().is_some_and(all_different))
                && items.iter().all(|item| conforms(item, schema.item()))
        }
        (Value::String(text), Shape::Scalar(kind)) => match kind {
            ScalarKind::Text | ScalarKind::IntOrString => true,
            ScalarKind::Quantity => Quantity::parse(text).is_some(),
            ScalarKind::Time => instant(text).is_some(),
            ScalarKind::MicroTime => micro_instant(text).is_some(),
            ScalarKind::Bytes => bytes(text).is_some(),
            _ => false,
        },
        // It is not known here which numbers have 32 bits.
        (Value::Number(number), Shape::Scalar(kind)) => {
            number.as_i64().is_some_and(|number| i32::try_from(number).is_ok())
                && matches!(kind, ScalarKind::Number | ScalarKind::IntOrString)
        }
        (Value::Bool(_), Shape::Scalar(kind)) => *kind == ScalarKind::Boolean,
        // Null, and values of unknown type.
        _ => false,
    }
}
