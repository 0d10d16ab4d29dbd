//! Values in documents that others wrote. A short text can be a hundred times as large in memory: `[{},{},…]` is a map for every third
//! byte. So the memory of all values of a document is bounded while it is parsed, as that of lists is.

use std::cell::Cell;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::manifest::Packed;

/// The most memory of all values of one document, in bytes.
const MEMORY: usize = 512 << 20;
/// A value in a list or a map, with the room that is kept for others.
const VALUE: usize = 64;
/// A map, which makes room for several entries.
const MAP: usize = 640;

thread_local! {
    /// The memory of the values of the document that this thread reads, in bytes.
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

/// Begins another document, whose values are counted from zero.
pub fn begin_document() {
    TAKEN.set(0);
}

/// Reads a value that is present and may be an object as a whole.
pub(crate) fn present_packed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Packed>, D::Error> {
    Counted.deserialize(deserializer).map(|value| Some(Packed::tree(value)))
}

/// Reads a value that is present, null included.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Counted.deserialize(deserializer).map(Some)
}

fn take<E: Error>(bytes: usize) -> Result<(), E> {
    let taken = TAKEN.get().saturating_add(bytes);
    if taken > MEMORY {
        return Err(E::custom(format_args!("its values need more than {} MiB of memory", MEMORY >> 20)));
    }
    TAKEN.set(taken);
    Ok(())
}

struct Counted;

impl<'de> DeserializeSeed<'de> for Counted {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counted {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        take(VALUE).map(|()| Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        take(VALUE).map(|()| Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        take(VALUE).map(|()| value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        take(VALUE).map(|()| value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        take(VALUE).map(|()| Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        take(VALUE.saturating_add(value.len())).map(|()| value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        take(VALUE)?;
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(Self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        take(MAP)?;
        let mut fields = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            take(name.len())?;
            fields.insert(name, map.next_value_seed(Self)?);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Document(#[serde(deserialize_with = "present")] Option<Value>);

    #[test]
    fn values_are_those_of_any_reader() {
        begin_document();
        for value in [
            json!(null),
            json!([true, 1, -1, 18_446_744_073_709_551_615_u64, 0.5, 99.999_999_999_999_99, "a\u{0}"]),
            json!({"a": {"b": [], "": {}}}),
        ] {
            let Document(read) = serde_json::from_str(&value.to_string()).unwrap();
            assert_eq!(read, Some(value));
        }
    }

    #[test]
    fn a_short_text_does_not_take_all_memory() {
        begin_document();
        let hostile = format!("[{}{{}}]", "{\"a\":0},".repeat(1_000_000));
        assert!(hostile.len() < 9 << 20);
        let refused = serde_json::from_str::<Document>(&hostile).unwrap_err().to_string();
        assert!(refused.starts_with("its values need more than 512 MiB of memory"), "{refused}");
        begin_document();
        let usual = json!(vec![json!({"name": "web", "image": "shop/web:1"}); 10_000]).to_string();
        serde_json::from_str::<Document>(&usual).unwrap();
    }
}
