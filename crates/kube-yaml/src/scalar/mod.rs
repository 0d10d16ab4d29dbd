//! Resolves scalars as go-yaml v2 does (`resolve.go`): YAML 1.1 with its own corner cases.

mod number;

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Number, Value};

use super::text;
pub use number::json_number;

/// Go's `base64.StdEncoding`, which ignores trailing bits.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// A scalar after resolution.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Text(String),
}

/// Type of a key. Keys of the same text and different types are different keys for go-yaml, but not for JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyKind {
    Text,
    Bool,
    Integer,
    Float(u64),
}

impl Scalar {
    pub(super) fn text(text: Cow<str>) -> Self {
        Self::Text(text.into_owned())
    }

    /// The value in JSON; `None` for infinities and NaN, which JSON does not have.
    pub(super) fn into_value(self) -> Option<Value> {
        Some(match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Signed(value) => Value::Number(Number::from(value)),
            Self::Unsigned(value) => Value::Number(Number::from(value)),
            Self::Float(value) => Value::Number(number::json_number(value)?),
            Self::Text(text) => Value::String(text),
        })
    }

    /// The text of the scalar as a key; `None` for null and integers above 63 bits, which `sigs.k8s.io/yaml` refuses as
    /// keys.
    pub(super) fn into_key(self) -> Option<(String, KeyKind)> {
        Some(match self {
            Self::Null | Self::Unsigned(_) => return None,
            Self::Bool(value) => (value.to_string(), KeyKind::Bool),
            Self::Signed(value) => (value.to_string(), KeyKind::Integer),
            // In Go, 0 and -0 are the same key.
            Self::Float(value) => (number::format_key(value), KeyKind::Float((value + 0.0).to_bits())),
            Self::Text(text) => (text, KeyKind::Text),
        })
    }
}

/// Resolves an unquoted scalar without a tag.
pub(super) fn plain(text: Cow<str>) -> Scalar {
    resolve(&text).unwrap_or_else(|| Scalar::text(text))
}

/// Returns true if an unquoted scalar is read as the text that is written.
pub fn is_text(text: &str) -> bool {
    resolve(text).is_none()
}

/// Resolves a scalar with one of YAML's own tags (`!!name`), quoted or not; most of them keep the text. `!!binary` is
/// read by [`binary`].
pub(super) fn tagged(name: &str, text: Cow<str>) -> Option<Scalar> {
    let resolved = match name {
        "bool" | "int" | "float" | "null" => resolve(&text),
        "timestamp" if !text::is_timestamp(&text) => return None,
        _ => return Some(Scalar::text(text)),
    };
    match (name, resolved?) {
        #[expect(clippy::cast_precision_loss, reason = "go-yaml converts in the same way")]
        ("float", Scalar::Signed(value)) => Some(Scalar::Float(value as f64)),
        ("bool", scalar @ Scalar::Bool(_))
        | ("int", scalar @ (Scalar::Signed(_) | Scalar::Unsigned(_)))
        | ("float", scalar @ Scalar::Float(_))
        | ("null", scalar @ Scalar::Null) => Some(scalar),
        _ => None,
    }
}

/// The bytes of a `!!binary` scalar; `None` if it is not base64.
pub(super) fn binary(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.chars().filter(|character| !matches!(character, '\r' | '\n')).collect();
    BASE64.decode(digits).ok()
}

/// Resolves any scalar but text. Timestamps stay text, and base 60 numbers are not supported.
fn resolve(text: &str) -> Option<Scalar> {
    let first = match text.as_bytes().first() {
        None => return Some(Scalar::Null),
        Some(first) => *first,
    };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => word(text),
        b'.' => special_float(text).or_else(|| number::parse_dotted_float(text)).map(Scalar::Float),
        b'0'..=b'9' | b'+' | b'-' => special_float(text).map(Scalar::Float).or_else(|| numeric(text)),
        _ => None,
    }
}

fn word(text: &str) -> Option<Scalar> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Scalar::Bool(false),
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        _ => return None,
    })
}

fn special_float(text: &str) -> Option<f64> {
    Some(match text {
        ".nan" | ".NaN" | ".NAN" => f64::NAN,
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => f64::INFINITY,
        "-.inf" | "-.Inf" | "-.INF" => f64::NEG_INFINITY,
        _ => return None,
    })
}

fn integer(value: i128) -> Option<Scalar> {
    let unsigned = || u64::try_from(value).ok().map(Scalar::Unsigned);
    i64::try_from(value).ok().map(Scalar::Signed).or_else(unsigned)
}

fn numeric(text: &str) -> Option<Scalar> {
    let digits = if text.contains('_') { Cow::Owned(text.replace('_', "")) } else { Cow::Borrowed(text) };
    number::parse_integer(&digits)
        .and_then(integer)
        .or_else(|| number::parse_float(&digits).map(Scalar::Float))
        .or_else(|| number::parse_signed_binary(&digits).map(Scalar::Signed))
}
