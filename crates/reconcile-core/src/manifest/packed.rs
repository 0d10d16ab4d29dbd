//! Objects in a form that needs little memory: a map of `serde_json` takes more than 600 bytes even if it has one entry, and a manifest has
//! many. An object is a text, from which a tree is made for as long as something looks at it.

use std::ops::Deref;
use std::sync::OnceLock;

use memchr::memmem;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The most levels of an object that is packed: `serde_json` reads no more than 128.
const DEEPEST: usize = 100;

/// An object that is a text most of the time.
#[derive(Clone, Debug)]
pub struct Packed {
    /// The object as JSON, unless it is a tree.
    text: Box<[u8]>,
    tree: Option<Box<Value>>,
    /// The tree of the text, once something has to keep it.
    read: OnceLock<Box<Value>>,
}

impl Packed {
    /// An object that stays a tree until it is packed.
    pub fn tree(object: Value) -> Self {
        Self { text: Box::default(), tree: Some(Box::new(object)), read: OnceLock::new() }
    }

    /// The object, of which a tree is kept from now on.
    pub fn get(&self) -> &Value {
        match &self.tree {
            Some(tree) => tree,
            None => self.read.get_or_init(|| Box::new(read(&self.text))),
        }
    }

    /// Looks at the object, and keeps no tree of it.
    pub fn with<T>(&self, look: impl FnOnce(&Value) -> T) -> T {
        match self.kept() {
            Some(tree) => look(tree),
            None => look(&read(&self.text)),
        }
    }

    /// Returns false only if no map in the object has this key, which needs no escapes in JSON. A text is searched faster than it is read.
    pub fn may_have(&self, key: &str) -> bool {
        self.tree.is_some() || memmem::find(&self.text, format!("\"{key}\":").as_bytes()).is_some()
    }

    /// A tree of its own.
    pub fn to_tree(&self) -> Value {
        self.kept().map_or_else(|| read(&self.text), Value::clone)
    }

    /// The tree, if one is kept.
    fn kept(&self) -> Option<&Value> {
        self.tree.as_deref().or_else(|| self.read.get().map(|tree| &**tree))
    }

    /// The object alone.
    pub fn into_tree(self) -> Value {
        let Self { text, tree, read: known } = self;
        tree.or_else(|| known.into_inner()).map_or_else(|| read(&text), |tree| *tree)
    }

    /// The object to be changed; it stays a tree until it is packed.
    pub fn get_mut(&mut self) -> &mut Value {
        let text = std::mem::take(&mut self.text);
        let tree = self.tree.take().or_else(|| self.read.take());
        self.tree.insert(tree.unwrap_or_else(|| Box::new(read(&text))))
    }

    /// Makes it a text again, unless it is nested so deeply that it could not be read.
    pub fn pack(&mut self) {
        if let Some(tree) = &self.tree
            && !is_deep(tree, DEEPEST)
            && let Ok(text) = serde_json::to_vec(tree)
        {
            // A copy has the size of the text: the memory of a vector stays up to twice as large.
            (self.text, self.tree) = (text.as_slice().into(), None);
        }
        self.read.take();
    }
}

/// Reads what was packed: numbers have no spelling of their own, so that the values are the same.
fn read(text: &[u8]) -> Value {
    serde_json::from_slice::<Value>(text).unwrap_or_default()
}

/// Returns true if a value has more than this number of levels.
fn is_deep(value: &Value, most: usize) -> bool {
    let Some(below) = most.checked_sub(1) else { return true };
    match value {
        Value::Object(map) => map.values().any(|value| is_deep(value, below)),
        Value::Array(items) => items.iter().any(|value| is_deep(value, below)),
        _ => false,
    }
}

impl Deref for Packed {
    type Target = Value;

    /// The object, of which a tree is kept from now on.
    fn deref(&self) -> &Value {
        self.get()
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.with(|object| object.serialize(to))
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Value::deserialize(from).map(Self::tree)
    }
}

impl From<Value> for Packed {
    fn from(object: Value) -> Self {
        let mut packed = Self::tree(object);
        packed.pack();
        packed
    }
}

impl PartialEq for Packed {
    fn eq(&self, other: &Self) -> bool {
        if self.tree.is_none() && other.tree.is_none() {
            return self.text == other.text;
        }
        self.with(|one| other.with(|other| one == other))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_and_texts_stay_as_they_are() {
        for value in [
            json!({"a": 1.0, "b": -0.0, "c": u64::MAX, "d": i64::MIN, "e": 1e300, "f": 0.1, "g": 99.999_999_999_999_99, "h": 1}),
            json!({"a": "\u{0}\u{2028}\"\\\u{7f}\u{1f600}", "": null, "b": [], "c": {}, "d": [true, false]}),
            json!([]),
            json!("a"),
        ] {
            let packed = Packed::from(value.clone());
            assert_eq!(packed.to_tree().to_string(), value.to_string());
            assert!(packed.tree.is_none() && packed.read.get().is_none());
            assert_eq!((packed.get(), packed.clone().into_tree()), (&value, value.clone()));
        }
    }

    #[test]
    fn what_is_deep_stays_a_tree() {
        let deep = (0..1000).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(Packed::from(deep.clone()).get(), &deep);
        let at_the_limit = (0..DEEPEST - 1).fold(json!(1), |inner, _| json!({"a": inner}));
        let packed = Packed::from(at_the_limit.clone());
        assert!(!packed.text.is_empty());
        assert_eq!(packed.into_tree(), at_the_limit);
    }

    #[test]
    fn keys_are_found_at_every_level() {
        let object = json!({"a": [{"b-c": {"d.e/f": 1}}], "g": "h"});
        for packed in [Packed::from(object.clone()), Packed::tree(object)] {
            assert!(["a", "b-c", "d.e/f", "g"].iter().all(|key| packed.may_have(key)));
        }
        let packed = Packed::from(json!({"a": ["b", "\"c\":"], "d": {"ef": "g"}}));
        assert!(["b", "c", "e", "f", "g", ""].iter().all(|key| !packed.may_have(key)));
    }

    #[test]
    fn a_change_stays() {
        let mut packed = Packed::from(json!({"a": 1}));
        assert_eq!(packed.get(), &json!({"a": 1}));
        packed.get_mut()["a"] = json!(2);
        assert_eq!((packed.text.len(), packed.get()), (0, &json!({"a": 2})));
        packed.pack();
        assert!(packed.tree.is_none() && packed.read.get().is_none());
        assert_eq!(packed, Packed::tree(json!({"a": 2})));
        assert_ne!(packed, Packed::from(json!({"a": 1})));
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were(number: f64, whole: i64) {
            let value = json!({"number": number, "whole": whole});
            prop_assert_eq!(Packed::from(value.clone()).into_tree().to_string(), value.to_string());
        }
    }
}
