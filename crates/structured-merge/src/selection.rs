//! Reads parts of a JSON document. The others are skipped while it is parsed, so that they never use memory.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The parts of a value that are read. An item of a list has the parts of the list; a scalar is read as null.
pub trait Selection: Copy {
    /// True if booleans are read as they are.
    const HAS_BOOLEANS: bool = false;

    /// The parts that are read of the value of a key; `None` if it is skipped.
    fn of_key(self, key: &str) -> Option<Self>;

    /// Returns true if the value is read as it is.
    fn is_whole(self) -> bool;
}

/// Reads the parts of a value.
#[derive(Clone, Copy, Debug)]
pub struct Selected<S>(pub S);

impl<'de, S: Selection> DeserializeSeed<'de> for Selected<S> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        if self.0.is_whole() { Value::deserialize(from) } else { from.deserialize_any(self) }
    }
}

impl<'de, S: Selection> Visitor<'de> for Selected<S> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut kept = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if let Some(parts) = self.0.of_key(&key) {
                let value = map.next_value_seed(Selected(parts))?;
                kept.insert(key, value);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Value::Object(kept))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut kept = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            kept.push(item);
        }
        Ok(Value::Array(kept))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(if S::HAS_BOOLEANS { Value::Bool(value) } else { Value::Null })
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Value, E> {
        Ok(Value::Null)
    }
}
