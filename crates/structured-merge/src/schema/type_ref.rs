//! Types along a path: one step at a time, from an object down.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::table::{Field, ListKind, MapShape, ScalarKind, Shape, TypeId, TypeTable};
use crate::object::{GroupVersionKind, PathElement, Scalar};

const UNTYPED: Shape = Shape::Untyped;

/// A type in its table, which a walk takes along down a value. Untyped if nothing is known of the value.
#[derive(Clone, Copy, Debug)]
pub struct TypeRef<'t>(Option<(&'t TypeTable, TypeId)>);

impl TypeTable {
    /// The type of a kind's objects.
    pub fn object(&self, gvk: &GroupVersionKind) -> Option<TypeRef<'_>> {
        self.kind(gvk).map(|info| self.at(info.root))
    }

    pub(super) fn at(&self, id: TypeId) -> TypeRef<'_> {
        TypeRef(Some((self, id)))
    }

    /// Adds a type of another table, with all types that it refers to.
    pub(super) fn copy(&mut self, schema: TypeRef<'_>) -> TypeId {
        match schema.0 {
            Some((table, id)) => self.copy_from(table, id, &mut HashMap::new()),
            None => self.push(Shape::Untyped),
        }
    }

    fn copy_from(&mut self, other: &TypeTable, id: TypeId, copied: &mut HashMap<TypeId, TypeId>) -> TypeId {
        if let Some(known) = copied.get(&id) {
            return *known;
        }
        // It is added before the types that it refers to, as types can be recursive.
        let own = self.push(Shape::Untyped);
        copied.insert(id, own);
        let mut shape = other.at(id).shape().clone();
        match &mut shape {
            Shape::Map(map) => {
                for part in map.fields.values_mut().map(|field| &mut field.id).chain(&mut map.rest) {
                    *part = self.copy_from(other, *part, copied);
                }
            }
            Shape::List(_, item) => *item = self.copy_from(other, *item, copied),
            Shape::Scalar(_) | Shape::Opaque | Shape::Untyped => {}
        }
        if let Some(slot) = self.types.get_mut(own as usize) {
            *slot = shape;
        }
        own
    }
}

impl<'t> TypeRef<'t> {
    /// The unknown type.
    pub fn untyped() -> Self {
        Self(None)
    }

    /// The table that it is in, if it is known.
    pub(super) fn table(self) -> Option<&'t TypeTable> {
        self.0.map(|(table, _)| table)
    }

    /// Form of the value.
    pub fn shape(self) -> &'t Shape {
        self.0.and_then(|(table, id)| table.types.get(id as usize)).unwrap_or(&UNTYPED)
    }

    /// The struct or map that it is.
    fn map(self) -> Option<&'t MapShape> {
        match self.shape() {
            Shape::Map(map) => Some(map),
            _ => None,
        }
    }

    fn declared(self, name: &str) -> Option<&'t Field> {
        self.map()?.fields.get(name)
    }

    /// The type of a map's entry.
    pub fn field(self, name: &str) -> TypeRef<'t> {
        let (Some((table, _)), Some(map)) = (self.0, self.map()) else { return TypeRef::untyped() };
        map.fields.get(name).map(|field| field.id).or(map.rest).map_or_else(TypeRef::untyped, |id| table.at(id))
    }

    /// Returns true if a field is declared by name; false for an entry of a free map.
    pub fn declares(self, name: &str) -> bool {
        self.declared(name).is_some()
    }

    /// Returns true if it is known that a value of this type has no such field, nor any entry of this name.
    pub fn lacks(self, name: &str) -> bool {
        self.map().is_some_and(|map| !map.fields.contains_key(name) && map.rest.is_none())
    }

    /// The names of the declared fields.
    pub fn field_names(self) -> impl Iterator<Item = &'t str> {
        self.map().into_iter().flat_map(|map| map.fields.keys()).map(String::as_str)
    }

    /// The fields that a custom resource has to have, because no default adds them.
    pub fn required(self) -> impl Iterator<Item = &'t str> {
        let fields = self.map().into_iter().flat_map(|map| &map.fields);
        fields.filter(|(_, field)| field.required).map(|(name, _)| name.as_str())
    }

    /// The known default of a field.
    pub fn default_of(self, name: &str) -> Option<&'t Value> {
        self.declared(name)?.default.as_ref()
    }

    /// The default that the server stores where a field is empty, if it does not depend on other fields.
    pub(super) fn constant_default_of_empty(self, name: &str) -> Option<&'t Value> {
        self.declared(name)?.default_of_empty.as_ref()
    }

    /// Returns true if a field or entry must not be null.
    pub fn refuses_null(self, name: &str) -> bool {
        let refuses = |map: &MapShape| map.fields.get(name).map_or(map.rest_refuses_null, |field| field.refuses_null);
        self.map().is_some_and(refuses)
    }

    /// Returns true if the server stores empty values and nulls as they are sent: in custom resources, and where no type is known.
    pub fn stores_as_sent(self) -> bool {
        match self.shape() {
            Shape::Map(map) => map.stored_as_sent,
            Shape::Opaque | Shape::Untyped => true,
            _ => false,
        }
    }

    /// The default by which the server replaces a null, if it does.
    pub fn default_of_null(self, name: &str) -> Option<&'t Value> {
        self.declared(name).filter(|field| field.replaces_null)?.default.as_ref()
    }

    /// The type of a list's items.
    pub fn item(self) -> TypeRef<'t> {
        match (self.0, self.shape()) {
            (Some((table, _)), Shape::List(_, item)) => table.at(*item),
            _ => TypeRef::untyped(),
        }
    }

    /// The type one step down: of an entry of a map, or of the items of a list.
    pub fn step(self, element: &PathElement) -> TypeRef<'t> {
        match element {
            PathElement::Field(name) => self.field(name),
            PathElement::Key(_) | PathElement::Member(_) | PathElement::Index(_) => self.item(),
        }
    }

    /// The type at a path below this one.
    pub fn at(self, path: &[PathElement]) -> TypeRef<'t> {
        path.iter().fold(self, Self::step)
    }

    /// Rule by which the list merges; atomic if unknown.
    pub fn list_kind(self) -> &'t ListKind {
        match self.shape() {
            Shape::List(kind, _) => kind,
            _ => &ListKind::Atomic,
        }
    }

    /// Returns true if a value of this type is replaced as a whole.
    pub fn is_atomic(self, value: &Value) -> bool {
        match (value, self.shape()) {
            (_, Shape::Opaque) => true,
            (Value::Object(_), Shape::Map(map)) => map.atomic,
            (Value::Array(_), _) => *self.list_kind() == ListKind::Atomic,
            _ => false,
        }
    }

    /// Returns true if any value of this type is replaced as a whole: an atomic map, struct or list.
    pub fn is_atomic_type(self) -> bool {
        match self.shape() {
            Shape::Map(map) => map.atomic,
            Shape::List(kind, _) => *kind == ListKind::Atomic,
            _ => false,
        }
    }

    /// Returns true if this is a map of entries without names of their own, such as labels.
    pub fn is_free_map(self) -> bool {
        self.map().is_some_and(|map| map.fields.is_empty() && map.rest.is_some())
    }

    /// Type of the scalar; `Any` if unknown.
    pub fn scalar(self) -> ScalarKind {
        match self.shape() {
            Shape::Scalar(kind) => *kind,
            _ => ScalarKind::Any,
        }
    }
}

/// The path element of an item of a keyed list or of a set: keys that the item leaves out take their defaults, as in
/// structured-merge-diff (`typed/helpers.go`, `listItemToPathElement`). A key with neither a value nor a default is
/// left out of the element. `None` for an item without any key, and for a member of a set that is not a scalar.
pub fn item_element(item: &Value, list: TypeRef<'_>) -> Option<PathElement> {
    match list.list_kind() {
        ListKind::Atomic => None,
        ListKind::Set => {
            let is_scalar = !(item.is_null() || item.is_array() || item.is_object());
            is_scalar.then(|| PathElement::Member(Scalar::from_json(item)))
        }
        ListKind::Keyed(keys) => {
            let item = item.as_object()?;
            let schema = list.item();
            let value = |key: &String| item.get(key).or_else(|| schema.default_of(key));
            let pairs: Vec<_> =
                keys.iter().filter_map(|key| Some((key.clone(), Scalar::from_json(value(key)?)))).collect();
            (!pairs.is_empty()).then(|| PathElement::key(pairs))
        }
    }
}

/// The path element of an item that has a position in its list: the position itself in an atomic list.
pub(crate) fn element_at(index: usize, item: &Value, list: TypeRef<'_>) -> Option<PathElement> {
    match list.list_kind() {
        ListKind::Atomic => Some(PathElement::index(index)),
        ListKind::Keyed(_) | ListKind::Set => item_element(item, list),
    }
}

/// The positions of the items of an associative list by their elements; if several items have one key, that of the first one.
pub(crate) fn places(items: &[Value], list: TypeRef<'_>) -> BTreeMap<PathElement, usize> {
    let elements = items.iter().enumerate().rev();
    elements.filter_map(|(index, item)| Some((item_element(item, list)?, index))).collect()
}

/// Returns true if no two of these are equal.
pub(crate) fn all_different<T: Ord>(elements: impl IntoIterator<Item = T>) -> bool {
    let mut sorted: Vec<T> = elements.into_iter().collect();
    sorted.sort();
    sorted.windows(2).all(|pair| pair.first() != pair.last())
}

/// The items of an associative list by their elements; if several items have one key, the first one.
pub fn items_by_element<'v>(items: &'v [Value], list: TypeRef<'_>) -> BTreeMap<PathElement, &'v Value> {
    let mut found = BTreeMap::new();
    for item in items {
        if let Some(element) = item_element(item, list) {
            found.entry(element).or_insert(item);
        }
    }
    found
}
