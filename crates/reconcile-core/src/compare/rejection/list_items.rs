//! Items for which the server refuses a list of type set or map, which it reads into items with different keys (structured-merge-diff
//! `typed/validate.go`, `visitListItems`, and `typed/helpers.go`, `listItemToPathElement`).

use std::collections::BTreeMap;

use serde_json::Value;
use structured_merge::{FieldPath, ListKind, PathElement, Scalar, TypeRef, builtin, item_element};

use super::cursor::Cursor;
use super::rejected_object::RejectedObject;
use crate::compare::secrecy::paths::is_secret_element;
use crate::compare::secrecy::texts_may_quote;
use crate::diagnostic::Diagnostic;
use crate::text::one_line;

/// Longest member of a set in a message, in characters.
const LONGEST_MEMBER: usize = 100;

/// A mistake of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemMistake {
    /// It is the second item with its key; the first one has this index.
    Second { first: usize },
    /// It has none of the keys.
    WithoutKey,
    /// It is null.
    Null,
}

/// The mistakes of the items of a list, with their indices. Items of another type than the list has are not among them.
pub(super) fn of_items(list: &Value, schema: TypeRef<'_>) -> Vec<(usize, ItemMistake)> {
    let (Value::Array(items), ListKind::Set | ListKind::Keyed(_)) = (list, schema.list_kind()) else {
        return Vec::new();
    };
    // The first item with a key, and whether a second one was found: more of them say nothing new.
    let mut seen: BTreeMap<PathElement, (usize, bool)> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(element) = item_element(item, schema) else {
            match item {
                Value::Null => found.push((index, ItemMistake::Null)),
                Value::Object(_) if *schema.list_kind() != ListKind::Set => {
                    found.push((index, ItemMistake::WithoutKey));
                }
                _ => {}
            }
            continue;
        };
        match seen.get_mut(&element) {
            None => drop(seen.insert(element, (index, false))),
            Some((_, true)) => {}
            Some((first, is_reported)) => {
                *is_reported = true;
                found.push((index, ItemMistake::Second { first: *first }));
            }
        }
    }
    found
}

/// The diagnostic for a mistake of the item at an index of the list at `cursor`.
pub(super) fn diagnostic(
    subject: &RejectedObject<'_>,
    list: &Cursor<'_>,
    index: usize,
    mistake: ItemMistake,
) -> Diagnostic {
    let mut item = list.clone();
    item.enter_index(index);
    match mistake {
        ItemMistake::Second { first } => repeated(subject, list, first, index),
        ItemMistake::Null => subject
            .diagnostic_at_value(&item, format!("{} is empty", subject.named(&item.path)))
            .with_hint("remove the item, or write its value"),
        ItemMistake::WithoutKey => {
            let (_, schema) = list.here();
            let keys: &[String] = if let ListKind::Keyed(keys) = schema.list_kind() { keys } else { &[] };
            without_key(subject, &item, keys)
        }
    }
}

/// The diagnostic for an item that has none of the keys of its list.
pub(super) fn without_key(subject: &RejectedObject<'_>, item: &Cursor<'_>, keys: &[String]) -> Diagnostic {
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    let message =
        format!("{} has no {}, which identifies the items of its list", subject.named(&item.path), keys.join(", "));
    subject.diagnostic_at_value(item, message)
}

/// The diagnostic for two items with one key: at the second item, with the first one marked as well.
pub(super) fn repeated(subject: &RejectedObject<'_>, list: &Cursor<'_>, first: usize, second: usize) -> Diagnostic {
    let (value, schema) = list.here();
    let element = value.get(second).and_then(|item| item_element(item, schema));
    let is_member = matches!(element, Some(PathElement::Member(_)));
    let element = element.filter(|element| !is_secret_element(element));
    let shown = |element: PathElement| match element {
        // A member of a set is a value, and is left out as a whole.
        PathElement::Key(_) => subject.secrecy().shown_element(&list.path.child(element.clone()), &element),
        element => element,
    };
    let element = element.map(shown);
    let shown = element.map(|element| match element {
        PathElement::Member(Scalar::Text(member)) => format!("`{}`", one_line(&member, LONGEST_MEMBER)),
        PathElement::Member(member) => format!("`{}`", member.to_json()),
        element => FieldPath::from(vec![element]).to_string(),
    });
    // A member of a set is a value, which may be secret. The keys of items are names, and parts of paths.
    let shown = shown.filter(|shown| !is_member || !texts_may_quote(subject.target, subject.live, shown));
    let origin = &subject.target.desired.origin;
    let mark = |index: usize| {
        let mut item = list.clone();
        item.enter_index(index);
        origin.positions.value_at(&item.steps).unwrap_or_else(|| origin.positions.nearest(&item.steps))
    };
    let first = mark(first);
    let message = format!(
        "{} has {} twice, first at {}:{}",
        subject.named(&list.path),
        shown.unwrap_or_else(|| "the same item".to_owned()),
        first.line,
        first.column
    );
    let hint = if is_member {
        "remove one of the two"
    } else if builtin().object(&subject.target.key.gvk).is_some() {
        "remove one of the two, or give it another key: server-side apply cannot write both, `kubectl replace` can if the kind allows them"
    } else {
        "remove one of the two, or give it another key"
    };
    origin.diagnostic_at(mark(second), Some(first), message).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use structured_merge::{GroupVersionKind, compile_definition};

    #[test]
    fn items_of_sets_and_keyed_lists_differ_by_their_keys() {
        let schema = builtin().object(&GroupVersionKind::new("v1", "Service")).unwrap();
        let of = |path: &[&str], list: Value| of_items(&list, schema.at(FieldPath::of(path).elements()));
        let ports = ["spec", "ports"];
        assert_eq!(of(&ports, json!([{"port": 80}, {"port": 80, "protocol": "UDP"}])), []);
        let same = json!([{"port": 80}, {"port": 80, "protocol": "TCP"}, {"port": 80}]);
        assert_eq!(of(&ports, same), [(1, ItemMistake::Second { first: 0 })]);
        assert_eq!(of(&ports, json!([null, 80, "a"])), [(0, ItemMistake::Null)]);
        // The protocol has a default.
        assert_eq!(of(&ports, json!([{"name": "a"}])), []);
        // So have the keys of most built-in lists.
        assert_eq!(of(&["metadata", "ownerReferences"], json!([{"name": "a"}])), []);
        let finalizers = ["metadata", "finalizers"];
        assert_eq!(of(&finalizers, json!(["a", "b", "a"])), [(2, ItemMistake::Second { first: 0 })]);
        assert_eq!(of(&finalizers, json!([{"a": 1}, {"a": 1}])), []);
        // A list that is replaced as a whole may hold anything.
        assert_eq!(of(&["spec", "externalIPs"], json!(["a", "a", null])), []);

        let list = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
            "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}}});
        let gvk = GroupVersionKind::new("example.com/v1", "Widget");
        let definition = json!({"spec": {"group": "example.com", "names": {"kind": "Widget"}, "versions": [{"name": "v1",
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"parts": list}}}}]}});
        let types = compile_definition(&definition, &gvk).unwrap();
        let keyed = types.object(&gvk).unwrap().field("parts");
        assert_eq!(of_items(&json!([{"name": "a"}, {"size": 1}]), keyed), [(1, ItemMistake::WithoutKey)]);
    }
}
