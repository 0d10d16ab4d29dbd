use std::cmp::Ordering;

use serde_json::{Number, Value};

/// A JSON scalar that can be ordered and compared: the value of a set member or of a list key. Whole numbers are
/// compared by value (`1` equals `1.0`), as in structured-merge-diff.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number that fits 64 bits.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(String),
    /// A list or a map where a scalar was expected, kept as compact JSON so that nothing is lost.
    Composite(String),
}

impl Scalar {
    /// Converts a JSON value.
    pub fn from_json(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(b) => Self::Bool(*b),
            Value::String(s) => Self::Text(s.clone()),
            Value::Number(n) => Self::from_number(n),
            Value::Array(_) | Value::Object(_) => Self::Composite(value.to_string()),
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::float_cmp, reason = "whole floats are exactly integers")]
    fn from_number(number: &Number) -> Self {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match (number.as_i64(), number.as_f64()) {
            (Some(int), _) => Self::Int(int),
            (None, Some(float)) if float.trunc() == float && float.abs() <= EXACT => Self::Int(float as i64),
            (None, float) => Self::Float(float.unwrap_or(f64::NAN)),
        }
    }

    /// A number as Go writes it: a whole number has no point.
    pub(crate) fn number_text(number: &Number) -> String {
        match Self::from_number(number) {
            Self::Int(int) => int.to_string(),
            _ => number.to_string(),
        }
    }

    /// The scalar as JSON: `"text"`, `8080`, `true`.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(b) => Value::Bool(*b),
            Self::Int(i) => Value::from(*i),
            Self::Float(f) => Value::from(*f),
            Self::Text(s) => Value::String(s.clone()),
            Self::Composite(json) => serde_json::from_str::<Value>(json).unwrap_or(Value::Null),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Int(_) => 2,
            Self::Float(_) => 3,
            Self::Text(_) => 4,
            Self::Composite(_) => 5,
        }
    }
}

impl Ord for Scalar {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) | (Self::Composite(a), Self::Composite(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Scalar {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Scalar {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_numbers_are_equal_however_written_but_never_equal_to_text() {
        assert_eq!(Scalar::from_json(&json!(1)), Scalar::from_json(&json!(1.0)));
        assert_ne!(Scalar::from_json(&json!(1)), Scalar::from_json(&json!("1")));
        assert_ne!(Scalar::from_json(&json!(1)), Scalar::from_json(&json!(1.5)));
    }
}
