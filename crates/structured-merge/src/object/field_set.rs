use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::{FieldPath, PathElement, Scalar};

/// A set of field paths as a tree, such as the fields that a field manager owns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    children: BTreeMap<PathElement, Node>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    /// True if the path that ends here is itself in the set.
    member: bool,
    below: FieldSet,
}

impl FieldSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns true if no path is in the set.
    pub fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    /// Adds one path. The root (the whole object) is never a member.
    pub fn insert(&mut self, path: &FieldPath) {
        let Some((last, parents)) = path.elements().split_last() else { return };
        let mut set = self;
        for element in parents {
            set = &mut set.children.entry(element.clone()).or_default().below;
        }
        set.children.entry(last.clone()).or_default().member = true;
    }

    /// Removes one path. The paths below it stay.
    pub(crate) fn remove(&mut self, path: &[PathElement]) {
        let Some((first, rest)) = path.split_first() else { return };
        let Some(node) = self.children.get_mut(first) else { return };
        if rest.is_empty() {
            node.member = false;
        } else {
            node.below.remove(rest);
        }
        if !node.member && node.below.is_empty() {
            self.children.remove(first);
        }
    }

    /// Adds the paths below an element, with or without the element itself. Builds a set from the leaves up.
    pub(crate) fn graft(&mut self, element: PathElement, member: bool, below: Self) {
        if member || !below.is_empty() {
            let node = self.children.entry(element).or_default();
            node.member |= member;
            if node.below.is_empty() {
                node.below = below;
            } else {
                node.below = std::mem::take(&mut node.below).union(&below);
            }
        }
    }

    /// The first step of each path: the element, true if the path that ends there is in the set, and the paths below.
    pub fn nodes(&self) -> impl Iterator<Item = (&PathElement, bool, &FieldSet)> {
        self.children.iter().map(|(element, node)| (element, node.member, &node.below))
    }

    /// Returns true if exactly this path is in the set.
    pub fn contains(&self, path: &FieldPath) -> bool {
        self.node(path).is_some_and(|node| node.member)
    }

    /// Returns true if the set includes the value at this path or a part of it: the path itself or one below it is in
    /// the set, or a path above it is owned as a whole (an atomic list, map or struct has no paths below its own).
    pub fn covers(&self, path: &FieldPath) -> bool {
        let mut set = self;
        for element in path.elements() {
            match set.children.get(element) {
                None => return false,
                Some(node) if node.below.is_empty() => return node.member,
                Some(node) => set = &node.below,
            }
        }
        true
    }

    /// Returns true if this path or one below it is in the set.
    pub fn contains_at_or_below(&self, path: &FieldPath) -> bool {
        path.elements().is_empty() && !self.is_empty() || self.node(path).is_some()
    }

    /// Returns true if this path or one above it is in the set.
    pub fn contains_at_or_above(&self, path: &FieldPath) -> bool {
        let mut set = self;
        for element in path.elements() {
            match set.children.get(element) {
                None => return false,
                Some(node) if node.member => return true,
                Some(node) => set = &node.below,
            }
        }
        false
    }

    /// Returns true if a path of the set is this one, above it or below it.
    pub fn overlaps(&self, path: &FieldPath) -> bool {
        self.contains_at_or_below(path) || self.contains_at_or_above(path)
    }

    fn node(&self, path: &FieldPath) -> Option<&Node> {
        let (last, parents) = path.elements().split_last()?;
        let mut set = self;
        for element in parents {
            set = &set.children.get(element)?.below;
        }
        set.children.get(last)
    }

    /// All paths in the set, in order: parents before their children.
    pub fn paths(&self) -> Vec<FieldPath> {
        let mut paths = Vec::new();
        self.visit(&mut |path, _| paths.push(path.clone()));
        paths
    }

    /// The paths of the set that have no other path of the set below them.
    pub fn leaves(&self) -> Vec<FieldPath> {
        let mut leaves = Vec::new();
        self.visit(&mut |path, below| {
            if below.is_empty() {
                leaves.push(path.clone());
            }
        });
        leaves
    }

    /// The first path of the set.
    pub fn first(&self) -> Option<FieldPath> {
        let mut path = FieldPath::root();
        let mut set = self;
        while let Some((element, node)) = set.children.first_key_value() {
            path.push(element.clone());
            if node.member {
                return Some(path);
            }
            set = &node.below;
        }
        None
    }

    /// Calls `see` with each path, in order, and the paths below it. The path is borrowed, so that a deep set costs no
    /// copies.
    pub fn visit(&self, see: &mut impl FnMut(&FieldPath, &Self)) {
        fn descend(set: &FieldSet, at: &mut FieldPath, see: &mut impl FnMut(&FieldPath, &FieldSet)) {
            for (element, node) in &set.children {
                at.push(element.clone());
                if node.member {
                    see(at, &node.below);
                }
                descend(&node.below, at, see);
                at.pop();
            }
        }
        descend(self, &mut FieldPath::root(), see);
    }

    /// The paths that are in either set.
    pub fn union(mut self, other: &Self) -> Self {
        for (element, node) in &other.children {
            let mine = self.children.entry(element.clone()).or_default();
            mine.member |= node.member;
            mine.below = std::mem::take(&mut mine.below).union(&node.below);
        }
        self
    }

    /// The paths that are in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |mine, theirs| mine && theirs)
    }

    /// The paths that are in this set and not in the other.
    pub fn difference(&self, other: &Self) -> Self {
        self.combine(other, |mine, theirs| mine && !theirs)
    }

    fn combine(&self, other: &Self, keep: fn(bool, bool) -> bool) -> Self {
        let nothing = Node::default();
        let mut result = Self::new();
        for (element, node) in &self.children {
            let theirs = other.children.get(element).unwrap_or(&nothing);
            let below = node.below.combine(&theirs.below, keep);
            result.graft(element.clone(), keep(node.member, theirs.member), below);
        }
        result
    }

    /// The node for a path of one step: true if the path is in the set, and the paths below it.
    pub fn step(&self, element: &PathElement) -> Option<(bool, &Self)> {
        self.children.get(element).map(|node| (node.member, &node.below))
    }

    /// The paths below a path, which begin there; `None` if neither it nor one below is in the set.
    pub fn below(&self, path: &FieldPath) -> Option<&Self> {
        path.elements().iter().try_fold(self, |set, element| Some(set.step(element)?.1))
    }

    /// The subset of paths that satisfy a condition.
    pub fn filter(&self, keep: impl Fn(&FieldPath) -> bool) -> Self {
        let mut result = Self::new();
        self.visit(&mut |path, _| {
            if keep(path) {
                result.insert(path);
            }
        });
        result
    }

    /// Removes a field and everything below it.
    pub(crate) fn remove_field(&mut self, name: &str) {
        self.children.remove(&PathElement::Field(name.to_owned()));
    }
}

impl FromIterator<FieldPath> for FieldSet {
    fn from_iter<I: IntoIterator<Item = FieldPath>>(paths: I) -> Self {
        let mut set = Self::new();
        for path in paths {
            set.insert(&path);
        }
        set
    }
}

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
    use serde_json::json;

    use super::*;

    fn set(paths: &[&[&str]]) -> FieldSet {
        paths.iter().map(|path| FieldPath::of(path)).collect()
    }

    #[test]
    fn algebra_works_on_members_not_on_shared_ancestors() {
        let a = set(&[&["spec", "a"], &["spec", "b"]]);
        let b = set(&[&["spec", "b"], &["spec", "c"]]);
        assert_eq!(a.intersection(&b), set(&[&["spec", "b"]]));
        assert_eq!(a.difference(&b), set(&[&["spec", "a"]]));
        assert_eq!(a.clone().union(&b), set(&[&["spec", "a"], &["spec", "b"], &["spec", "c"]]));
        assert!(a.difference(&a).is_empty());
    }

    #[test]
    fn an_atomic_parent_covers_what_is_below_it_but_a_granular_one_does_not() {
        let atomic = set(&[&["spec", "args"]]);
        assert!(atomic.covers(&FieldPath::of(&["spec", "args"]).child(PathElement::Index(1))));
        let item = set(&[&["spec", "item"], &["spec", "item", "name"]]);
        assert!(item.covers(&FieldPath::of(&["spec", "item", "name"])));
        assert!(!item.covers(&FieldPath::of(&["spec", "item", "image"])));
        assert!(item.covers(&FieldPath::of(&["spec"])));
    }

    #[test]
    fn a_path_overlaps_what_is_above_and_below_it_and_nothing_beside_it() {
        let paths = set(&[&["spec", "a", "b"]]);
        for path in [&["spec"][..], &["spec", "a"], &["spec", "a", "b"], &["spec", "a", "b", "c"]] {
            assert!(paths.overlaps(&FieldPath::of(path)), "{path:?}");
        }
        for path in [&["status"][..], &["spec", "b"], &["spec", "a", "c"]] {
            assert!(!paths.overlaps(&FieldPath::of(path)), "{path:?}");
        }
        assert!(paths.contains_at_or_above(&FieldPath::of(&["spec", "a", "b", "c"])));
        assert!(!paths.contains_at_or_above(&FieldPath::of(&["spec", "a"])));
        assert_eq!(paths.first(), Some(FieldPath::of(&["spec", "a", "b"])));
        assert_eq!(FieldSet::new().first(), None);
    }

    #[test]
    fn removing_a_path_leaves_what_is_below_it_and_no_empty_branch() {
        let mut paths = set(&[&["metadata"], &["metadata", "labels"], &["metadata", "name"]]);
        paths.remove(FieldPath::of(&["metadata"]).elements());
        paths.remove(FieldPath::of(&["metadata", "name"]).elements());
        paths.remove(FieldPath::of(&["spec", "name"]).elements());
        assert_eq!(paths, set(&[&["metadata", "labels"]]));
        paths.remove(FieldPath::of(&["metadata", "labels"]).elements());
        assert!(paths.is_empty());
    }

    #[test]
    fn removing_a_field_removes_what_is_below_it() {
        let mut only = set(&[&["status"], &["status", "phase"]]);
        only.remove_field("status");
        assert!(only.is_empty());
    }

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
