//! Reads large JSON part by part, so that only what a reader keeps of it is in memory.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

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
