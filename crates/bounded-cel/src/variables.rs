//! Converts JSON to values of `cel` that borrow its strings.

use std::collections::HashMap;

use cel::common::types::{CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt};
use cel::common::value::Val;
use serde_json::{Number, Value};

/// Converts a JSON value; whole numbers become `int`.
pub(crate) fn value(json: &Value) -> Box<dyn Val + '_> {
    match json {
        Value::Null => Box::new(CelNull),
        Value::Bool(flag) => Box::new(CelBool::from(*flag)),
        Value::Number(number) => number_value(number),
        Value::String(text) => Box::new(CelString::from(text.as_str())),
        Value::Array(items) => Box::new(CelList::from(items.iter().map(value).collect::<Vec<_>>())),
        Value::Object(fields) => {
            let key = |name| CelMapKey::String(CelString::from(String::as_str(name)));
            let entries: HashMap<_, _> = fields.iter().map(|(name, field)| (key(name), value(field))).collect();
            Box::new(CelMap::from(entries))
        }
    }
}

fn number_value(number: &Number) -> Box<dyn Val> {
    if let Some(int) = number.as_i64() {
        Box::new(CelInt::from(int))
    } else if let Some(uint) = number.as_u64() {
        Box::new(CelUInt::from(uint))
    } else {
        Box::new(CelDouble::from(number.as_f64().unwrap_or(f64::NAN)))
    }
}
