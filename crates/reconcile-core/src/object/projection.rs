//! Reads JSON and keeps some of its fields. The others are skipped while it is parsed, so that they never use memory.
//! Large documents are read part by part, each with its own [`Parts`].

use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use structured_merge::{Selected, Selection};

/// The fields that are kept of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection {
    /// All of it.
    Whole,
    /// These fields of an object, or of each item of a list. Any other value is kept as null.
    Fields(&'static [(&'static str, Projection)]),
}

impl Projection {
    /// Reads the kept fields of a JSON document.
    pub fn read(self, json: &[u8]) -> serde_json::Result<Value> {
        let mut json = serde_json::Deserializer::from_slice(json);
        let value = self.deserialize(&mut json)?;
        json.end()?;
        Ok(value)
    }

    /// Reads the kept fields of a JSON document while it arrives.
    pub fn read_from(self, json: impl Read) -> serde_json::Result<Value> {
        let mut json = serde_json::Deserializer::from_reader(BufReader::new(json));
        let value = self.deserialize(&mut json)?;
        json.end()?;
        Ok(value)
    }

    /// Reads the kept fields of the value of one key of a JSON document.
    pub fn read_at(self, key: &str, json: &[u8]) -> serde_json::Result<Value> {
        let mut json = serde_json::Deserializer::from_slice(json);
        let value = (&mut json).deserialize_map(AtKey(key, self))?;
        json.end()?;
        Ok(value)
    }
}

impl<'de> DeserializeSeed<'de> for Projection {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        Selected(self).deserialize(from)
    }
}

impl Selection for Projection {
    fn of_key(self, key: &str) -> Option<Self> {
        match self {
            Self::Whole => Some(Self::Whole),
            Self::Fields(fields) => fields.iter().find(|(name, _)| *name == key).map(|(_, projection)| *projection),
        }
    }

    fn is_whole(self) -> bool {
        self == Self::Whole
    }
}

/// Reads the value of one key.
struct AtKey<'k>(&'k str, Projection);

impl<'de> Visitor<'de> for AtKey<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut found = Value::Null;
        while let Some(key) = map.next_key::<String>()? {
            if key == self.0 {
                found = map.next_value_seed(self.1)?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// The approximate memory of a value, in bytes.
pub fn memory_of(value: &Value) -> usize {
    /// A value itself, and an entry of a map besides its key and its value.
    const OWN: usize = 32;
    const ENTRY: usize = 48;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => OWN,
        Value::String(text) => OWN.saturating_add(text.len()),
        Value::Array(items) => items.iter().map(memory_of).fold(OWN, usize::saturating_add),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| ENTRY.saturating_add(name.len()).saturating_add(memory_of(value)))
            .fold(OWN, usize::saturating_add),
    }
}

/// Reads the entries of an object, or the items of a list. What it does not read is skipped.
pub trait Parts {
    /// Reads the value of a key.
    fn entry<'de, A: MapAccess<'de>>(&mut self, _key: &str, entries: &mut A) -> Result<(), A::Error> {
        entries.next_value::<IgnoredAny>().map(drop)
    }

    /// Reads the next item. Returns false after the last one.
    fn item<'de, A: SeqAccess<'de>>(&mut self, items: &mut A) -> Result<bool, A::Error> {
        items.next_element::<IgnoredAny>().map(|item| item.is_some())
    }
}

/// Reads a value in parts. A value that has no parts is skipped.
pub struct InParts<'p, P>(pub &'p mut P);

impl<'de, P: Parts> DeserializeSeed<'de> for InParts<'_, P> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, P: Parts> Visitor<'de> for InParts<'_, P> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(key) = entries.next_key::<String>()? {
            self.0.entry(&key, &mut entries)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while self.0.item(&mut items)? {}
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const SOME: Projection = Projection::Fields(&[
        ("kind", Projection::Whole),
        ("metadata", Projection::Fields(&[("name", Projection::Whole)])),
        ("owners", Projection::Fields(&[("uid", Projection::Whole)])),
    ]);

    #[test]
    fn only_the_named_fields_are_kept() {
        let object = json!({"kind": "Pod", "metadata": {"name": "a", "annotations": {"x": "y"}}, "spec": {"kind": "no"},
            "owners": [{"uid": 1, "name": "b"}, {}, 3, "x", null, true, 1.5, -1]});
        let kept = json!({"kind": "Pod", "metadata": {"name": "a"},
            "owners": [{"uid": 1}, {}, null, null, null, null, null, null]});
        assert_eq!(SOME.read(object.to_string().as_bytes()).unwrap(), kept);
        let event = json!({"type": "ADDED", "object": object}).to_string();
        assert_eq!(SOME.read_at("object", event.as_bytes()).unwrap(), kept);
        assert_eq!(SOME.read_at("other", event.as_bytes()).unwrap(), Value::Null);
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        for text in ["", "{", r#"{"spec": }"#, r#"{"kind": "a"} x"#, r#"{"spec": "\ud800"#] {
            assert!(SOME.read(text.as_bytes()).is_err(), "{text}");
            assert!(SOME.read_at("kind", text.as_bytes()).is_err(), "{text}");
        }
    }

    /// Deeper than what is read: it does not matter in what is skipped.
    #[test]
    fn what_is_skipped_may_be_deep() {
        let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(SOME.read(format!(r#"{{"spec":{deep}}}"#).as_bytes()).unwrap(), json!({}));
        assert!(SOME.read(format!(r#"{{"kind":{deep}}}"#).as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn what_is_kept_is_as_it_was(name in ".*", number: f64, more in prop::collection::vec(".*", 0..4)) {
            let number = serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number);
            let object = json!({"kind": [name, number], "metadata": {"name": {"a": more}, "x": more}, "y": number});
            let kept = json!({"kind": [name, number], "metadata": {"name": {"a": more}}});
            prop_assert_eq!(SOME.read(object.to_string().as_bytes()).unwrap(), kept);
        }
    }
}
