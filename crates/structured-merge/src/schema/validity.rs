//! Whether the server would accept a value that is not compared with anything: a `status` that it then drops.

use serde_json::Value;

use super::equality::{bytes, instant};
use super::table::{ListKind, ScalarKind, Shape};
use super::type_ref::{TypeRef, item_element};
use crate::object::Quantity;

/// Returns true if a value conforms its type for certain: fields are declared, scalars of the right kind, items told apart by their
/// keys. What only the server can judge does not fit.
#[must_use]
pub fn conforms(value: &Value, of: TypeRef<'_>) -> bool {
    match (value, of.shape()) {
        (Value::Object(map), Shape::Map(shape)) => {
            let knows = |name: &String| shape.fields.contains_key(name) || shape.rest.is_some();
            map.iter().all(|(name, child)| knows(name) && conforms(child, of.field(name)))
        }
        (Value::Array(items), Shape::List(kind, _)) => {
            let mut elements: Vec<_> = items.iter().map(|item| item_element(item, of)).collect();
            elements.sort();
            let apart =
                elements.windows(2).all(|pair| pair.first() != pair.last()) && elements.iter().all(Option::is_some);
            (*kind == ListKind::Atomic || apart) && items.iter().all(|item| conforms(item, of.item()))
        }
        (Value::String(text), Shape::Scalar(kind)) => match kind {
            ScalarKind::Text | ScalarKind::IntOrString => true,
            ScalarKind::Quantity => Quantity::parse(text).is_some(),
            ScalarKind::Time => instant(text).is_some(),
            ScalarKind::Bytes => bytes(text).is_some(),
            _ => false,
        },
        // Which of the numbers are of 32 bits isn't known here.
        (Value::Number(number), Shape::Scalar(kind)) => {
            number.as_i64().is_some_and(|number| i32::try_from(number).is_ok())
                && matches!(kind, ScalarKind::Number | ScalarKind::IntOrString)
        }
        (Value::Bool(_), Shape::Scalar(kind)) => *kind == ScalarKind::Boolean,
        // Null, and what is of no type.
        _ => false,
    }
}
