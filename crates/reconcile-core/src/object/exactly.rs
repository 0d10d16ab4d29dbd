use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};

/// A JSON object. A derived reader of a struct takes a list of its fields as well, which would make a user of `["x"]`.
#[derive(Debug)]
pub struct Exactly<T>(pub T);

impl<T> Deref for Exactly<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Exactly<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = T;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(fields))
            }
        }

        deserializer.deserialize_map(Fields(PhantomData)).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_its_fields_is_no_object() {
        #[derive(Debug, Deserialize)]
        struct User {
            name: String,
        }
        let read = |text: &str| serde_json::from_str::<Exactly<User>>(text).map(|user| user.0.name).ok();
        assert_eq!(read(r#"{"name": "anna"}"#).as_deref(), Some("anna"));
        for other in [r#"["anna"]"#, r#""anna""#, "null", r#"{"name": ["anna"]}"#] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
