use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::{FieldPath, PathElement, Scalar};

/// Finds values by path in one object. Each list is indexed by its keys once, so that many paths through a long list do
/// not search it each time. Returns the same values as [`FieldPath::value_in`].
#[derive(Debug)]
pub struct Lookup<'v> {
    object: &'v Value,
    /// Indices by the address of the list; one for each choice of key names.
    lists: HashMap<*const Value, Vec<Index<'v>>>,
}

#[derive(Debug)]
struct Index<'v> {
    /// Names of the keys; empty for the members of a set.
    names: Vec<String>,
    items: BTreeMap<PathElement, &'v Value>,
}

impl<'v> Lookup<'v> {
    /// Creates the lookup for an object.
    pub fn of(object: &'v Value) -> Self {
        Self { object, lists: HashMap::new() }
    }

    /// The value at a path, if there is one.
    pub fn value(&mut self, path: &FieldPath) -> Option<&'v Value> {
        path.elements().iter().try_fold(self.object, |value, element| match element {
            PathElement::Field(name) => value.get(name),
            PathElement::Index(index) => value.get(usize::try_from(*index).ok()?),
            PathElement::Member(_) | PathElement::Key(_) => self.item(value, element),
        })
    }

    fn item(&mut self, list: &'v Value, element: &PathElement) -> Option<&'v Value> {
        let items = list.as_array()?;
        let keys = if let PathElement::Key(keys) = element { keys.as_slice() } else { &[] };
        let indices = self.lists.entry(std::ptr::from_ref(list)).or_default();
        let is_it = |index: &Index<'v>| index.names.iter().eq(keys.iter().map(|(name, _)| name));
        let position = indices.iter().position(is_it).unwrap_or_else(|| {
            indices.push(Index::of(items, keys.iter().map(|(name, _)| name.clone()).collect()));
            indices.len().saturating_sub(1)
        });
        indices.get(position)?.items.get(element).copied()
    }
}

impl<'v> Index<'v> {
    /// If several items have one key, the first one counts.
    fn of(items: &'v [Value], names: Vec<String>) -> Self {
        let mut index = Self { names, items: BTreeMap::new() };
        for item in items {
            let element = if index.names.is_empty() {
                Some(PathElement::Member(Scalar::from_json(item)))
            } else {
                let keys = index.names.iter().map(|name| Some((name.clone(), Scalar::from_json(item.get(name)?))));
                keys.collect::<Option<Vec<_>>>().map(PathElement::key)
            };
            if let Some(element) = element {
                index.items.entry(element).or_insert(item);
            }
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_index_finds_what_a_search_finds() {
        let object = json!({
            "ports": [{"port": 80, "protocol": "TCP", "name": "a"}, {"port": 80}, {"port": 80, "protocol": "TCP", "name": "b"}],
            "set": ["x", 1, "y"], "args": ["-v"], "empty": [], "text": "x",
        });
        let port = |protocol: &str| {
            PathElement::key([
                ("port".to_owned(), Scalar::Int(80)),
                ("protocol".to_owned(), Scalar::Text(protocol.to_owned())),
            ])
        };
        let name = |name: &str| PathElement::key([("name".to_owned(), Scalar::Text(name.to_owned()))]);
        let member = |text: &str| PathElement::Member(Scalar::Text(text.to_owned()));
        let paths = [
            FieldPath::root(),
            FieldPath::of(&["ports"]).child(port("TCP")).field("name"),
            FieldPath::of(&["ports"]).child(port("UDP")),
            FieldPath::of(&["ports"]).child(name("b")).field("port"),
            FieldPath::of(&["ports"]).child(PathElement::key([("port".to_owned(), Scalar::Int(80))])),
            FieldPath::of(&["set"]).child(member("y")),
            FieldPath::of(&["set"]).child(PathElement::Member(Scalar::Int(1))),
            FieldPath::of(&["set"]).child(member("z")),
            FieldPath::of(&["args"]).child(PathElement::Index(0)),
            FieldPath::of(&["text"]).child(member("x")),
            FieldPath::of(&["empty"]).child(name("a")),
        ];
        let mut lookup = Lookup::of(&object);
        for path in &paths {
            assert_eq!(lookup.value(path), path.value_in(&object), "{path}");
        }
        assert_eq!(lookup.value(&paths[1]), Some(&json!("a")));
        assert_eq!(lookup.value(&paths[5]), Some(&json!("y")));
    }
}
