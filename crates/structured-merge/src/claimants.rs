//! The claims of many managers in one tree, so that finding the owners of a field does not walk through every set.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::object::{FieldPath, FieldSet, ManagedFieldsEntry, PathElement};
use crate::schema::{Shape, TypeRef, fields_of};

/// Largest number of managers that are named for one field; the latest are named. The API server merges updates of more
/// than ten managers into one entry (`managedfields/internal/capmanagers.go`); appliers are not bounded.
const NAMED: usize = 20;

/// Strength of a manager's claim on a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimStrength {
    /// The manager does not claim the field.
    None,
    /// The manager claims only a map or a list around the field. Where entries have owners of their own, this does not
    /// include the field, and an exact claim of another manager takes precedence.
    Above,
    /// The manager claims the field, a field in it, or a value around it that is replaced as a whole.
    Own,
}

/// Strength of a field set's claim on a path in an object with this schema.
pub fn claim_strength(mut set: &FieldSet, path: &FieldPath, mut schema: TypeRef<'_>) -> ClaimStrength {
    let mut elements = path.elements().iter().peekable();
    while let Some(element) = elements.next() {
        let Some((is_member, below)) = set.step(element) else { return ClaimStrength::None };
        schema = schema.step(element);
        match elements.peek() {
            Some(next) if below.is_empty() => return if is_member { above(schema, next) } else { ClaimStrength::None },
            _ => set = below,
        }
    }
    ClaimStrength::Own
}

/// Returns true if a set claims a value that the object lacks, or a part of it that would be stored. When a value is removed, the server
/// takes it out of every set (structured-merge-diff `merge/update.go`), but a claim stays on what it does not store, such as the empty
/// value of an environment variable: such a claim does not say that nobody has removed what is around it. `value` is the one to add, as it
/// would be stored, and `schema` its type.
pub fn claims_stored(set: &FieldSet, path: &FieldPath, value: &Value, schema: TypeRef<'_>) -> bool {
    // Without claims at the path, one above it includes the value.
    let Some(below) = set.below(path) else { return true };
    let is_item = path.elements().last().is_some_and(is_item);
    set.contains(path) || !is_item && has_stored(below, &fields_of(value, schema))
}

fn has_stored(claims: &FieldSet, stored: &FieldSet) -> bool {
    claims.nodes().any(|(element, is_claimed, below)| {
        let Some((is_stored, stored)) = stored.step(element) else { return false };
        is_claimed && is_stored || (is_claimed || !is_item(element)) && has_stored(below, stored)
    })
}

/// Returns true for an item that a claim on a part of it never goes without, unless the item is removed.
fn is_item(element: &PathElement) -> bool {
    matches!(element, PathElement::Key(_))
}

/// Strength that a claim on a value of this type has for the fields in it.
fn above(schema: TypeRef<'_>, next: &PathElement) -> ClaimStrength {
    // Positions occur only in lists that are replaced as a whole.
    let is_whole = schema.is_atomic_type() || *schema.shape() == Shape::Opaque || matches!(next, PathElement::Index(_));
    if is_whole { ClaimStrength::Own } else { ClaimStrength::Above }
}

/// The claims of several managers.
#[derive(Debug)]
pub struct Claimants<'e> {
    entries: &'e [ManagedFieldsEntry],
    root: Node<'e>,
}

#[derive(Debug, Default)]
struct Node<'e> {
    /// Managers whose sets have this path or one below it.
    here: Vec<usize>,
    /// Managers whose sets end here.
    ends: Vec<usize>,
    below: BTreeMap<&'e PathElement, Node<'e>>,
}

impl<'e> Claimants<'e> {
    /// Builds the tree from the entries of `managedFields`.
    pub fn of(entries: &'e [ManagedFieldsEntry]) -> Self {
        let mut root = Node::default();
        for (index, entry) in entries.iter().enumerate() {
            root.add(index, &entry.fields);
        }
        Self { entries, root }
    }

    /// Returns true if a manager claims the path, or a value above it without claiming anything in that value.
    pub fn is_claimed(&self, path: &FieldPath) -> bool {
        let mut node = &self.root;
        for element in path.elements() {
            match node.below.get(element) {
                None => return false,
                Some(child) => node = child,
            }
            if !node.ends.is_empty() {
                return true;
            }
        }
        !self.entries.is_empty()
    }

    /// The managers that claim the path, or a value above it without claiming anything in that value.
    pub(crate) fn claiming(&self, path: &FieldPath) -> Vec<&'e ManagedFieldsEntry> {
        let mut found: Vec<&[usize]> = Vec::new();
        let mut node = &self.root;
        let mut elements = path.elements().iter().peekable();
        while let Some(child) = elements.next().and_then(|element| node.below.get(element)) {
            node = child;
            found.push(if elements.peek().is_some() { &node.ends } else { &node.here });
        }
        found.into_iter().flatten().filter_map(|index| self.entries.get(*index)).collect()
    }

    /// The strongest claim on a path, and the managers that have it, latest first.
    pub fn best(&self, path: &FieldPath, mut schema: TypeRef<'_>) -> (ClaimStrength, Vec<&'e ManagedFieldsEntry>) {
        let (mut own, mut around): (Vec<&[usize]>, Vec<&[usize]>) = (Vec::new(), Vec::new());
        let mut node = &self.root;
        let mut elements = path.elements().iter().peekable();
        while let Some(element) = elements.next() {
            let Some(child) = node.below.get(element) else { break };
            schema = schema.step(element);
            node = child;
            match elements.peek() {
                None => own.push(&node.here),
                Some(next) if above(schema, next) == ClaimStrength::Own => own.push(&node.ends),
                Some(_) => around.push(&node.ends),
            }
        }
        let named = |found: &[&[usize]]| -> Vec<&'e ManagedFieldsEntry> {
            let found = found.iter().rev().flat_map(|indices| indices.iter().rev()).take(NAMED);
            found.filter_map(|index| self.entries.get(*index)).collect()
        };
        for (strength, found) in [(ClaimStrength::Own, own), (ClaimStrength::Above, around)] {
            if found.iter().any(|indices| !indices.is_empty()) {
                return (strength, named(&found));
            }
        }
        (ClaimStrength::None, Vec::new())
    }
}

impl<'e> Node<'e> {
    fn add(&mut self, index: usize, set: &'e FieldSet) {
        for (element, is_member, below) in set.nodes() {
            let child = self.below.entry(element).or_default();
            child.here.push(index);
            if is_member && below.is_empty() {
                child.ends.push(index);
            }
            child.add(index, below);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{GroupVersionKind, Operation};
    use crate::schema::builtin;

    fn entry(manager: &str, paths: &[&[&str]]) -> ManagedFieldsEntry {
        let fields = paths.iter().map(|path| FieldPath::of(path)).collect();
        ManagedFieldsEntry::new(manager, Operation::Update, "v1", fields)
    }

    #[track_caller]
    fn best(entries: &[ManagedFieldsEntry], path: &FieldPath, schema: TypeRef<'_>) -> (ClaimStrength, Vec<String>) {
        let (strength, found) = Claimants::of(entries).best(path, schema);
        (strength, found.into_iter().map(|entry| entry.manager.clone()).collect())
    }

    #[test]
    fn an_exact_claim_counts_more_than_one_on_a_map_around_it() {
        let entries = [entry("map", &[&["spec", "context"]]), entry("field", &[&["spec", "context", "user"]])];
        let user = FieldPath::of(&["spec", "context", "user"]);
        assert_eq!(best(&entries, &user, TypeRef::untyped()), (ClaimStrength::Own, vec!["field".to_owned()]));
        assert_eq!(best(&entries[..1], &user, TypeRef::untyped()), (ClaimStrength::Above, vec!["map".to_owned()]));
        assert_eq!(claim_strength(&entries[0].fields, &user, TypeRef::untyped()), ClaimStrength::Above);
        let other = FieldPath::of(&["spec", "other"]);
        assert_eq!(best(&entries, &other, TypeRef::untyped()), (ClaimStrength::None, Vec::new()));
    }

    #[test]
    fn what_is_replaced_as_a_whole_is_claimed_as_a_whole() {
        let service = builtin().object(&GroupVersionKind::new("v1", "Service")).unwrap();
        let entries = [entry("a", &[&["spec", "selector"]])];
        let app = FieldPath::of(&["spec", "selector", "app"]);
        assert_eq!(best(&entries, &app, service), (ClaimStrength::Own, vec!["a".to_owned()]));
        assert_eq!(claim_strength(&entries[0].fields, &app, service), ClaimStrength::Own);
        let first = FieldPath::of(&["spec", "selector"]).child(PathElement::Index(0));
        assert_eq!(claim_strength(&entries[0].fields, &first, TypeRef::untyped()), ClaimStrength::Own);
    }

    #[test]
    fn a_few_of_very_many_managers_are_named() {
        let entries: Vec<_> = (0..100).map(|number| entry(&format!("m{number}"), &[&["data", "a"]])).collect();
        let (strength, named) = best(&entries, &FieldPath::of(&["data"]), TypeRef::untyped());
        assert_eq!((strength, named.len(), named[0].as_str()), (ClaimStrength::Own, NAMED, "m99"));
    }
}
