//! Reads JSON of others as exactly the types that it has.
//!
//! A derived reader takes a list for a struct and `{"Name": null}` for a variant without fields, so that a user of `["x"]` would be the user
//! `x`. Here, a struct is an object, and a variant without fields is a string. Everything that others may have written is read by these
//! functions, apart from types that cannot be mistaken, such as [`Value`]; a test of the repository looks for other calls.

use std::fmt;
use std::io::Read;

use serde::de::value::StrDeserializer;
use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde_json::Value;

/// Reads a document in memory.
///
/// # Errors
///
/// It is not JSON, or not of this type; with the place.
pub fn from_slice<'de, T: Deserialize<'de>>(text: &'de [u8]) -> serde_json::Result<T> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = T::deserialize(Exact(&mut json))?;
    json.end().map(|()| value)
}

/// Reads a document in memory.
///
/// # Errors
///
/// It is not JSON, or not of this type; with the place.
pub fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> serde_json::Result<T> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(Exact(&mut json))?;
    json.end().map(|()| value)
}

/// Reads a document while it arrives.
///
/// # Errors
///
/// It cannot be read, is not JSON, or not of this type.
pub fn from_reader<T: DeserializeOwned>(text: impl Read) -> serde_json::Result<T> {
    let mut json = serde_json::Deserializer::from_reader(text);
    let value = T::deserialize(Exact(&mut json))?;
    json.end().map(|()| value)
}

/// Reads a value that was parsed before.
///
/// # Errors
///
/// It is not of this type.
pub fn from_value<T: DeserializeOwned>(value: Value) -> serde_json::Result<T> {
    T::deserialize(Exact(value))
}

/// A part of a reader that hands the rule on to the parts below.
struct Exact<T>(T);

macro_rules! same {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(Exact(visitor))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Exact<D> {
    type Error = D::Error;

    same! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf deserialize_option
        deserialize_unit deserialize_seq deserialize_map deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_unit_struct(name, Exact(visitor))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, Exact(visitor))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(len, Exact(visitor))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple_struct(name, len, Exact(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Object(visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Variant(visitor))
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! visit {
    ($($method:ident $of:ty,)*) => {$(
        fn $method<E: Error>(self, value: $of) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Exact<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(formatter)
    }

    visit! {
        visit_bool bool, visit_i8 i8, visit_i16 i16, visit_i32 i32, visit_i64 i64, visit_i128 i128,
        visit_u8 u8, visit_u16 u16, visit_u32 u32, visit_u64 u64, visit_u128 u128, visit_f32 f32, visit_f64 f64,
        visit_char char, visit_str &str, visit_borrowed_str &'de str, visit_string String,
        visit_bytes &[u8], visit_borrowed_bytes &'de [u8], visit_byte_buf Vec<u8>,
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, below: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Exact(below))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, below: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Exact(below))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Exact(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Exact(fields))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Exact<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Exact(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Exact<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(Exact(seed))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Exact(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Exact<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Exact(deserializer))
    }
}

/// The visitor of a struct, which is an object and nothing else.
struct Object<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Object<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(formatter)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Exact(fields))
    }
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Object<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

/// The unnamed fields of a variant.
struct Items<V> {
    len: usize,
    visitor: V,
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Items<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        deserializer.deserialize_tuple(self.len, Exact(self.visitor))
    }
}

/// The visitor of an enum: the name of a variant without fields, or an object with the name and the fields of one that has some.
struct Variant<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Variant<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(formatter)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<V::Value, E> {
        self.0.visit_enum(StrDeserializer::new(name))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Fields(fields))
    }
}

/// The object of a variant with fields.
struct Fields<A>(A);

impl<'de, A: MapAccess<'de>> Fields<A> {
    fn value<S: DeserializeSeed<'de>>(mut self, seed: S) -> Result<S::Value, A::Error> {
        let value = self.0.next_value_seed(seed)?;
        match self.0.next_key::<IgnoredAny>()? {
            None => Ok(value),
            Some(_) => Err(A::Error::custom("an object with one field is expected")),
        }
    }
}

impl<'de, A: MapAccess<'de>> EnumAccess<'de> for Fields<A> {
    type Error = A::Error;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(mut self, seed: S) -> Result<(S::Value, Self), A::Error> {
        match self.0.next_key_seed(seed)? {
            Some(name) => Ok((name, self)),
            None => Err(A::Error::custom("an object with one field is expected")),
        }
    }
}

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Fields<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        Err(A::Error::invalid_type(Unexpected::Map, &"a string"))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.value(Exact(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.value(Items { len, visitor })
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, A::Error> {
        self.value(Object(visitor))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct User {
        name: String,
        #[serde(default)]
        groups: Vec<Group>,
        below: Option<Box<User>>,
        #[serde(default)]
        named: BTreeMap<Kind, (u8, bool)>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Group {
        id: u32,
        kind: Option<Kind>,
    }

    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    #[serde(rename_all = "camelCase")]
    enum Kind {
        Plain,
        Named { name: String },
        Many(Vec<String>),
        Pair(u8, bool),
    }

    fn all(text: &str) -> Vec<bool> {
        let value = serde_json::from_str::<Value>(text).unwrap();
        vec![
            from_str::<User>(text).is_ok(),
            from_slice::<User>(text.as_bytes()).is_ok(),
            from_reader::<User>(text.as_bytes()).is_ok(),
            from_value::<User>(value).is_ok(),
        ]
    }

    #[test]
    fn what_has_the_type_is_read_as_by_serde() {
        for text in [
            r#"{"name": "anna"}"#,
            r#"{"name": "a\nb", "groups": [{"id": 1}, {"id": 2, "kind": "plain"}], "below": {"name": "x", "below": null}}"#,
            r#"{"name": "", "groups": [{"id": 1, "kind": {"named": {"name": "a"}}}, {"id": 1, "kind": {"many": ["a"]}}]}"#,
            r#"{"name": "", "groups": [{"id": 1, "kind": {"pair": [1, true]}}]}"#,
            r#"{"name": "", "named": {"plain": [1, true]}, "unknown": [1, {"a": null}]}"#,
        ] {
            assert_eq!(all(text), [true; 4], "{text}");
            assert_eq!(from_str::<User>(text).unwrap(), serde_json::from_str::<User>(text).unwrap());
        }
        assert_eq!(from_str::<Value>(r#"{"a": [1, 0.5, null]}"#).unwrap(), serde_json::json!({"a": [1, 0.5, null]}));
    }

    #[test]
    fn a_list_of_its_fields_is_no_object_at_any_depth() {
        for text in [
            r#"["anna"]"#,
            r#"["anna", [], null, {}]"#,
            r#""anna""#,
            "null",
            r#"{"name": ["anna"]}"#,
            r#"{"name": "a", "groups": [[1, null]]}"#,
            r#"{"name": "a", "below": ["x", [], null, {}]}"#,
            r#"{"name": "a", "groups": [{"id": 1, "kind": {"plain": null}}]}"#,
            r#"{"name": "a", "groups": [{"id": 1, "kind": {"named": ["a"]}}]}"#,
            r#"{"name": "a", "groups": [{"id": 1, "kind": {"many": ["a"], "plain": null}}]}"#,
            r#"{"name": "a", "groups": [{"id": 1, "kind": {"pair": [1]}}]}"#,
            r#"{"name": "a", "groups": [{"id": 1, "kind": {"pair": {"0": 1, "1": true}}}]}"#,
            r#"{"name": "a", "groups": [{"id": 1, "kind": {}}]}"#,
            r#"{"name": "a", "groups": [{"id": 1, "kind": ["plain"]}]}"#,
        ] {
            assert_eq!(all(text), [false; 4], "{text}");
        }
        let error = from_str::<User>("{\"name\": \"a\",\n\"groups\": [[1, null]]}").unwrap_err();
        assert_eq!(error.line(), 2, "{error}");
        assert!(from_str::<User>(r#"{"name": "a"} x"#).is_err());
    }
}
