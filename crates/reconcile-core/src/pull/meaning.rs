//! The meaning of an edited text: the former objects with the accepted changes. The edits name items of lists by their positions; here, each
//! change is made by its path and the keys in it, one after the other, so that a value in a wrong item is found.

use kube_yaml::{Validation, read};
use manifest_edit::{Change, Edit, Step, apply};
use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey, Op, TypeRef, builtin, is_nothing};

use super::emptied::{gone_around, with_emptied};
use super::order::live_order_of;
use super::place::{place_of_new, steps, value_at};
use crate::compare::FieldChange;

/// A change that was accepted, with the edit that was made for it.
#[derive(Debug)]
pub struct Accepted<'a> {
    /// The object, and its place in the document.
    pub object: (&'a ObjectKey, Vec<Step>),
    /// The difference.
    pub change: &'a FieldChange,
    /// The edit.
    pub edit: &'a Edit,
    /// The live object, if an item of one of its lists is new or a value of it is gone.
    pub live: Option<&'a Value>,
}

/// The edits of accepted changes as they are made together in one text.
pub fn made_together(before: &[u8], accepted: &[Accepted<'_>]) -> Vec<Edit> {
    let emptied = |one: &Accepted<'_>| (one.edit.clone(), one.gone_around());
    with_emptied(before, &accepted.iter().map(emptied).collect::<Vec<_>>())
}

/// Returns true if an edited text has exactly the former objects with the accepted changes.
pub fn is_meant(before: &[u8], after: &[u8], accepted: &[Accepted<'_>]) -> bool {
    let former = read(before, Validation::Warn).documents;
    let edited = read(after, Validation::Warn).documents;
    former.len() == edited.len()
        && former.into_iter().zip(edited).all(|(former, edited)| {
            let own: Vec<&Accepted<'_>> = accepted.iter().filter(|one| one.edit.document == former.number).collect();
            with_changes(former.value, &own).is_some_and(|expected| expected == edited.value)
        })
}

/// A document with changes; `None` if one of them cannot be made.
fn with_changes(mut document: Value, accepted: &[&Accepted<'_>]) -> Option<Value> {
    // Nothing changes the keys by which the next change is made, and new items have their places beside those that stay.
    for accepted in in_phase(accepted, |change, _| change.op == Op::Move) {
        accepted.order(&mut document)?;
    }
    for accepted in in_phase(accepted, |_, edit| matches!(edit, Change::Set(_))) {
        let place = accepted.place(&document)?;
        apply(&mut document, &place, &accepted.edit.change).ok()?;
    }
    let mut document = without_removed(document, accepted)?;
    for accepted in in_phase(accepted, |_, edit| matches!(edit, Change::Insert { .. })) {
        let place = accepted.place_of_new(&document)?;
        apply(&mut document, &place, &accepted.edit.change).ok()?;
    }
    Some(document)
}

/// A document without what is removed; `None` if something to remove has no place.
fn without_removed(mut document: Value, accepted: &[&Accepted<'_>]) -> Option<Value> {
    let removed: Vec<&Accepted<'_>> = in_phase(accepted, |_, edit| matches!(edit, Change::Remove)).collect();
    let mut places: Vec<Vec<Step>> = removed.iter().map(|one| one.place(&document)).collect::<Option<_>>()?;
    let gone: Vec<(&Accepted<'_>, FieldPath)> =
        removed.iter().flat_map(|one| one.paths_gone(&document).into_iter().map(|path| (*one, path))).collect();
    // Of those without keys, the last one goes first.
    places.sort_unstable();
    places.dedup();
    for place in places.iter().rev() {
        apply(&mut document, place, &Change::Remove).ok()?;
    }
    for (of, path) in gone {
        let Some(place) = of.place_of(&path, &document) else { continue };
        if value_at(&document, &place).is_some_and(is_nothing) {
            apply(&mut document, &place, &Change::Remove).ok()?;
        }
    }
    Some(document)
}

fn in_phase<'p, 'a>(
    accepted: &'p [&'p Accepted<'a>],
    is_in: impl Fn(&FieldChange, &Change) -> bool + 'p,
) -> impl Iterator<Item = &'p Accepted<'a>> {
    accepted.iter().copied().filter(move |one| is_in(one.change, &one.edit.change))
}

impl Accepted<'_> {
    /// The place of the field as the document is now.
    fn place(&self, document: &Value) -> Option<Vec<Step>> {
        self.place_of(&self.change.path, document)
    }

    fn place_of(&self, path: &FieldPath, document: &Value) -> Option<Vec<Step>> {
        let (_, above) = &self.object;
        Some([above.clone(), steps(path, value_at(document, above)?)?].concat())
    }

    fn gone_around(&self) -> usize {
        gone_around(self.object.0, self.change, self.live)
    }

    /// The maps and lists around the field that the live object no longer has, the innermost first.
    fn paths_gone(&self, document: &Value) -> Vec<FieldPath> {
        let elements = self.change.path.elements();
        let above = (1..=self.gone_around()).filter_map(|levels| elements.get(..elements.len().checked_sub(levels)?));
        let above = above.map(|above| FieldPath::from(above.to_vec()));
        above.take_while(|path| self.place_of(path, document).is_some()).collect()
    }

    fn place_of_new(&self, document: &Value) -> Option<Vec<Step>> {
        let (_, above) = &self.object;
        let (place, _) = place_of_new(&self.change.path, value_at(document, above)?, self.live?)?;
        Some([above.clone(), place].concat())
    }

    fn order(&self, document: &mut Value) -> Option<()> {
        let (key, _) = self.object;
        let place = self.place(document)?;
        let schema = builtin().object(&key.gvk).unwrap_or_else(TypeRef::untyped);
        let order = live_order_of(value_at(document, &place)?, self.change, schema)?;
        apply(document, &place, &Change::Reorder(order)).ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::{GroupVersionKind, PathElement, Scalar};

    use super::*;
    use crate::compare::Class;

    const BEFORE: &str = "kind: Pod\nspec:\n  containers:\n  - name: a\n    image: a:1\n  - name: b\n    image: b:1\n";
    const AFTER: &str = "kind: Pod\nspec:\n  containers:\n  - name: b\n    image: b:2\n  - name: a\n    image: a:1\n";

    fn change(path: FieldPath, op: Op, live: Value, desired: Value) -> FieldChange {
        let change = structured_merge::Change { path, op, from: Some(live), to: Some(desired) };
        FieldChange::new(change, Class::ChangedByOther)
    }

    /// A list that was reversed, and a value in an item of it.
    #[test]
    fn a_value_in_the_wrong_item_is_found() {
        let key = ObjectKey { gvk: GroupVersionKind::new("v1", "Pod"), namespace: None, name: "q".to_owned() };
        let containers = FieldPath::of(&["spec", "containers"]);
        let b = PathElement::key(vec![("name".to_owned(), Scalar::from_json(&json!("b")))]);
        let image = change(containers.child(b).field("image"), Op::Change, json!("b:2"), json!("b:1"));
        let order = change(containers, Op::Move, json!(["b", "a"]), json!(["a", "b"]));
        let path = ["spec", "containers"].map(|key| Step::Key(key.to_owned())).to_vec();
        let edit = |path: Vec<Step>, change| Edit { document: 1, path, change };
        let edits = [
            edit(
                [path.clone(), vec![Step::Index(1), Step::Key("image".to_owned())]].concat(),
                Change::Set(json!("b:2")),
            ),
            edit(path, Change::Reorder(vec![1, 0])),
        ];
        let is_meant = |text: &str| {
            let one = |(change, edit)| Accepted { object: (&key, Vec::new()), change, edit, live: None };
            let accepted: Vec<_> = [&image, &order].into_iter().zip(&edits).map(one).collect();
            super::is_meant(BEFORE.as_bytes(), text.as_bytes(), &accepted)
        };
        let edited = manifest_edit::edit(BEFORE.as_bytes(), &edits);
        assert_eq!((String::from_utf8(edited.text).unwrap().as_str(), edited.refused), (AFTER, vec![]));
        assert!(is_meant(AFTER));
        assert!(!is_meant(&AFTER.replace("b:2", "b:1").replace("a:1", "b:2")), "the image of another container");
        assert!(!is_meant(&AFTER.replace("b:2", "b:1")), "a value that was not written");
        assert!(!is_meant(&BEFORE.replace("b:1", "b:2")), "the former order");
        assert!(!is_meant(&format!("{AFTER}  hostNetwork: true\n")), "something else");
    }
}
