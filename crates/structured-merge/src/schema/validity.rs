//! Validity of values that are not compared: a `status` that the server validates and then drops.

use serde_json::Value;

use super::equality::{bytes, instant};
use super::table::{ListKind, ScalarKind, Shape};
use super::type_ref::{TypeRef, item_element};
use crate::object::Quantity;

/// Returns true if a value conforms to its type for certain: fields are declared, scalars have the right type, and
/// items have different keys. Returns false if only the server can decide.
pub fn conforms(value: &Value, schema: TypeRef<'_>) -> bool {
    match (value, schema.shape()) {
        (Value::Object(map), Shape::Map(shape)) => {
            let knows = |name: &String| shape.fields.contains_key(name) || shape.rest.is_some();
            map.iter().all(|(name, child)| knows(name) && conforms(child, schema.field(name)))
        }
        (Value::Array(items), Shape::List(kind, _)) => {
            let mut elements: Vec<_> = items.iter().map(|item| item_element(item, schema)).collect();
            elements.sort();
            let apart =
                elements.windows(2).all(|pair| pair.first() != pair.last()) && elements.iter().all(Option::is_some);
            (*kind == ListKind::Atomic || apart) && items.iter().all(|item| conforms(item, schema.item()))
        }
        (Value::String(text), Shape::Scalar(kind)) => match kind {
            ScalarKind::Text | ScalarKind::IntOrString => true,
            ScalarKind::Quantity => Quantity::parse(text).is_some(),
            ScalarKind::Time => instant(text).is_some(),
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
