//! Parses the items of a list. Of unwanted items, only the type, the name and the namespace are kept, because a list may be many
//! times larger than its wanted objects.

use std::fmt;

use reconcile_core::object::Projection;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The parts of a list that are kept.
#[derive(Clone, Copy)]
pub(crate) enum Kept<'w> {
    /// The wanted items.
    Wanted(Sieve<'w>),
    /// These fields of all items.
    Fields(Projection),
}

impl Kept<'_> {
    /// All items, complete.
    pub const ALL: Self = Self::Fields(Projection::Whole);

    /// Returns true if an item is wanted that was read.
    pub(super) fn wants(self, item: &Value) -> bool {
        match self {
            Self::Wanted(sieve) => {
                item.get("metadata").and_then(Value::as_object).is_some_and(|of| sieve.wants_named(of))
            }
            Self::Fields(_) => true,
        }
    }
}

/// Selects the wanted items of a list.
#[derive(Clone, Copy)]
pub(crate) struct Sieve<'w> {
    /// Returns true if the object with this namespace and name is wanted.
    pub wants: &'w (dyn Fn(&str, &str) -> bool + Sync),
    /// True if the name alone decides: all objects are in the same namespace, or in none.
    pub by_name: bool,
}

impl Sieve<'_> {
    fn wants_named(self, metadata: &Map<String, Value>) -> bool {
        let text = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default();
        (self.wants)(text("namespace"), text("name"))
    }
}

/// A list: its other fields, and its items, if it has any: the wanted ones with the kept fields, and the type and the name of the others.
pub(super) struct List {
    pub envelope: Map<String, Value>,
    pub items: Option<Vec<Value>>,
}

/// Parses a list.
pub(super) fn list(body: &[u8], kept: Kept<'_>) -> serde_json::Result<List> {
    let mut json = serde_json::Deserializer::from_slice(body);
    let list = ListSeed(kept).deserialize(&mut json)?;
    json.end()?;
    Ok(list)
}

/// Parses one item.
pub(super) fn item(text: &[u8], kept: Kept<'_>) -> serde_json::Result<Value> {
    match kept {
        Kept::Wanted(sieve) => {
            let mut from = serde_json::Deserializer::from_slice(text);
            let item = ItemSeed(sieve).deserialize(&mut from)?;
            from.end()?;
            Ok(item)
        }
        Kept::Fields(fields) => fields.read(text),
    }
}

struct ListSeed<'w>(Kept<'w>);

impl<'de> DeserializeSeed<'de> for ListSeed<'_> {
    type Value = List;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<List, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ListSeed<'_> {
    type Value = List;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<List, A::Error> {
        let mut list = List { envelope: Map::new(), items: None };
        while let Some(key) = map.next_key::<String>()? {
            if key == "items" {
                list.items = map.next_value_seed(ItemsSeed(self.0))?;
            } else {
                list.envelope.insert(key, map.next_value()?);
            }
        }
        Ok(list)
    }
}

struct ItemsSeed<'w>(Kept<'w>);

impl<'de> DeserializeSeed<'de> for ItemsSeed<'_> {
    type Value = Option<Vec<Value>>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ItemsSeed<'_> {
    type Value = Option<Vec<Value>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("items")
    }

    /// Go's empty list.
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Some(Vec::new()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut read = Vec::new();
        match self.0 {
            Kept::Wanted(sieve) => {
                while let Some(item) = items.next_element_seed(ItemSeed(sieve))? {
                    read.push(item);
                }
            }
            Kept::Fields(fields) => {
                while let Some(item) = items.next_element_seed(fields)? {
                    read.push(item);
                }
            }
        }
        Ok(Some(read))
    }
}

struct ItemSeed<'w>(Sieve<'w>);

impl<'de> DeserializeSeed<'de> for ItemSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ItemSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        let mut is_wanted = true;
        while let Some(key) = map.next_key::<String>()? {
            if key == "metadata" {
                let metadata = map.next_value_seed(MetadataSeed(self.0))?;
                is_wanted = still(is_wanted, metadata.is_wanted)?;
                object.insert(key, Value::Object(metadata.fields));
            } else if is_wanted || is_type(&key) {
                object.insert(key, map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if is_wanted {
            return Ok(Value::Object(object));
        }
        // Fields that came before the metadata.
        object.retain(|key, _| is_type(key) || key == "metadata");
        Ok(Value::Object(object))
    }
}

/// Updates whether an item is wanted. An item whose name appears twice is an error if it becomes wanted, as its fields were skipped.
fn still<E: serde::de::Error>(before: bool, now: bool) -> Result<bool, E> {
    if now && !before { Err(E::custom("it is named twice")) } else { Ok(now) }
}

fn is_type(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind")
}

fn is_name(key: &str) -> bool {
    matches!(key, "name" | "namespace")
}

struct MetadataSeed<'w>(Sieve<'w>);

struct Metadata {
    fields: Map<String, Value>,
    is_wanted: bool,
}

impl<'de> DeserializeSeed<'de> for MetadataSeed<'_> {
    type Value = Metadata;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Metadata, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for MetadataSeed<'_> {
    type Value = Metadata;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the metadata of an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metadata, A::Error> {
        let sieve = self.0;
        let mut fields = Map::new();
        let mut is_wanted = true;
        while let Some(key) = map.next_key::<String>()? {
            if !is_wanted && !is_name(&key) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let names = is_name(&key);
            fields.insert(key, map.next_value()?);
            if names && fields.contains_key("name") && (sieve.by_name || fields.contains_key("namespace")) {
                is_wanted = still(is_wanted, sieve.wants_named(&fields))?;
            }
        }
        is_wanted = still(is_wanted, sieve.wants_named(&fields))?;
        if !is_wanted {
            fields.retain(|key, _| is_name(key));
        }
        Ok(Metadata { fields, is_wanted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(body: &Value, wants: &(dyn Fn(&str, &str) -> bool + Sync), by_name: bool) -> (Vec<Value>, Vec<Value>) {
        let list = list(body.to_string().as_bytes(), Kept::Wanted(Sieve { wants, by_name })).unwrap();
        assert_eq!(list.envelope.get("kind"), Some(&json!("WidgetList")));
        let mut whole = Vec::new();
        let mut named = Vec::new();
        for item in list.items.unwrap() {
            let wanted = Kept::Wanted(Sieve { wants, by_name }).wants(&item);
            if wanted { whole.push(item) } else { named.push(item) }
        }
        (whole, named)
    }

    fn of(items: &[Value]) -> Value {
        json!({"items": items, "kind": "WidgetList"})
    }

    #[test]
    fn what_nobody_wants_keeps_its_type_and_its_name() {
        let widget = |namespace: &str, name: &str| {
            json!({"apiVersion": "example.com/v1", "kind": "Widget", "data": [1],
                "metadata": {"annotations": {"a": "b"}, "name": name, "namespace": namespace, "uid": "1"}, "spec": {"a": [1, 2]}})
        };
        let all = of(&[widget("shop", "a"), widget("bank", "a"), widget("shop", "b")]);
        let name = |namespace: &str, name: &str| json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name, "namespace": namespace}});
        let (whole, named) = read(&all, &|namespace, name| (namespace, name) == ("shop", "a"), false);
        assert_eq!(whole, [widget("shop", "a")]);
        assert_eq!(named, [name("bank", "a"), name("shop", "b")]);
        let (whole, named) = read(&all, &|_, name| name == "b", true);
        assert_eq!((whole, named.len()), (vec![widget("shop", "b")], 2));
    }

    /// Without what was left out it would not be the object.
    #[test]
    fn an_item_that_is_named_twice_is_not_read() {
        for item in [
            r#"{"metadata":{"name":"b","uid":"1","name":"a"}}"#,
            r#"{"metadata":{"name":"b"},"spec":1,"metadata":{"name":"a"}}"#,
        ] {
            let text = format!(r#"{{"kind":"WidgetList","items":[{item}]}}"#);
            assert!(
                list(text.as_bytes(), Kept::Wanted(Sieve { wants: &|_, name| name == "a", by_name: true })).is_err()
            );
            assert!(list(text.as_bytes(), Kept::ALL).is_ok());
        }
    }

    /// Deeper than what is read: it does not matter in what nobody wants.
    #[test]
    fn what_nobody_wants_may_be_deep() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        let text = format!(r#"{{"kind":"WidgetList","items":[{{"metadata":{{"name":"a"}},"spec":{deep}}}]}}"#);
        let read = |wants: &(dyn Fn(&str, &str) -> bool + Sync)| {
            list(text.as_bytes(), Kept::Wanted(Sieve { wants, by_name: true }))
        };
        assert!(read(&|_, _| false).is_ok());
        assert!(read(&|_, _| true).is_err());
    }

    proptest! {
        #[test]
        fn what_is_wanted_is_read_as_it_is(names in prop::collection::vec("[a-c]{1,2}", 0..6), fields in prop::collection::vec("[a-z]{1,8}", 0..5)) {
            let item = |name: &String| {
                let mut item = Map::new();
                for field in &fields {
                    item.insert(field.clone(), json!({field: [name, null, 1.5, true]}));
                }
                item.insert("metadata".to_owned(), json!({"name": name, "labels": {"x": name}}));
                Value::Object(item)
            };
            let items: Vec<Value> = names.iter().map(item).collect();
            prop_assert_eq!(read(&of(&items), &|_, _| true, true), (items.clone(), Vec::new()));
            let (whole, named) = read(&of(&items), &|_, name| name.starts_with('a'), false);
            prop_assert_eq!(whole.len() + named.len(), items.len());
            prop_assert_eq!(whole, items.into_iter().filter(|item| item["metadata"]["name"].as_str().unwrap().starts_with('a')).collect::<Vec<_>>());
        }
    }
}
