//! The changes of one object as edits of its manifest.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use kube_yaml::{Document, Validation, read};
use manifest_edit::{Change, Edit, Refusal, Step, applied};
use serde_json::{Map, Value};
use structured_merge::{FieldPath, ObjectKey, Op, PathElement, TypeRef, builtin, item_element};

use super::defaults::{without_defaults, without_known_defaults};
use super::order::live_order_of;
use super::place::{place_of_new, steps, value_at};
use super::selection::Selection;
use super::switch::{in_place_of, other_halves};
use crate::compare::known_defaults::is_known_default;
use crate::compare::{Class, FieldChange, Side, holds_redacted};
use crate::manifest::Origin;
use crate::object::generated::differ_by_hashes;

/// A change of an object that was chosen.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The object.
    pub key: ObjectKey,
    /// The difference.
    pub change: FieldChange,
    /// The changes of the same object without which it is not made: the other halves of a switch.
    pub needs: Vec<FieldPath>,
    /// The edit of the manifest, or the reason why there is none.
    pub edit: Result<Edit, Obstacle>,
}

/// The reason why a change is not taken into a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It is a value of a Secret.
    Secret,
    /// The live value has a list in which two items have the same key.
    Duplicate,
    /// The order of a list differs, and nothing distinguishes its items.
    Order,
    /// The manifest is not in a regular file.
    NoFile,
    /// The manifest was rendered from this template.
    Rendered(String),
    /// The object is defined twice.
    Repeated,
    /// The text of the manifest is in the way.
    Text(Refusal),
    /// The file cannot be written, for this reason.
    File(String),
    /// The manifest has changed as well since the base.
    ChangedInBoth,
    /// It is the name of a generated object, whose content decides it.
    GeneratedName,
    /// A new item of a list has the name of an item of the manifest that stays; with the flag that chooses the removal of that as well.
    SameName(String),
    /// It is one half of a switch, and the change of this field is the other one, which is not pulled; with the flag that chooses both, if
    /// the other one was not chosen.
    Half(FieldPath, Option<String>),
    /// It is the removal of a field in whose place the live object has this one, which was not chosen; with the flag that chooses both.
    Replaced(FieldPath, String),
    /// The server would refuse the manifest with it, for this reason.
    Refused(String),
    /// Somebody answered no.
    Declined,
    /// An earlier answer, or the end of the answers, left it out.
    NotAsked,
}

/// A fragment for messages.
impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret => f.write_str("secret values are not written into manifests"),
            Self::Duplicate => f.write_str("two items of the live list have the same key, which no manifest may have"),
            Self::Order => f.write_str("the items of the list cannot be distinguished by their keys"),
            Self::NoFile => f.write_str("the manifest is not in a file that could be edited"),
            Self::Rendered(template) => {
                write!(f, "the manifest was rendered from {template}: change the template or its values")
            }
            Self::Repeated => f.write_str("the object is defined twice in the manifests: remove one of the copies"),
            Self::Text(refusal) => refusal.fmt(f),
            Self::File(reason) => f.write_str(reason),
            Self::ChangedInBoth => f.write_str("the manifest has changed as well since the base"),
            Self::GeneratedName => f.write_str("the name has the hash of the content, which the build sets"),
            Self::SameName(flag) => write!(
                f,
                "the manifest has an item with this name and another key, whose removal was not chosen: choose both with {flag}"
            ),
            Self::Half(path, Some(flag)) => write!(
                f,
                "the manifest has {path} in its place, and the cluster no longer has that: both go together, choose them with {flag}"
            ),
            Self::Replaced(path, flag) => write!(
                f,
                "the cluster has {path} in its place, and the manifest does not: both go together, choose them with {flag}"
            ),
            Self::Half(path, None) => write!(f, "it goes together with {path}, which is not pulled"),
            Self::Refused(reason) => write!(f, "the server would refuse the manifest with it: {reason}"),
            Self::Declined => f.write_str("the answer was no"),
            Self::NotAsked => f.write_str("it was not asked about"),
        }
    }
}

impl Obstacle {
    /// Returns true if somebody chose to leave the change out, by an answer about it or an earlier one.
    pub fn is_choice(&self) -> bool {
        matches!(self, Self::Declined | Self::NotAsked)
    }
}

/// Proposes edits, and reads each file once.
#[derive(Debug)]
pub struct Proposer<'s> {
    selection: &'s Selection,
    /// True if edits of what a kustomization built are proposed, which is in no file.
    is_built: bool,
    read: HashMap<Arc<str>, Vec<Document>>,
}

impl<'s> Proposer<'s> {
    /// Proposes edits for the changes that a selection chooses.
    pub fn new(selection: &'s Selection) -> Self {
        Self { selection, is_built: false, read: HashMap::new() }
    }

    /// Proposes edits of what a kustomization built.
    pub fn of_build(selection: &'s Selection) -> Self {
        Self { is_built: true, ..Self::new(selection) }
    }

    /// The chosen changes of one object, in their order. Values of Secrets are among them, each with its obstacle. New items of lists
    /// are put where they are in the live object, if it is given.
    pub fn proposals(
        &mut self,
        key: &ObjectKey,
        origin: &Origin,
        changes: &[FieldChange],
        live: Option<&Value>,
    ) -> Vec<Proposal> {
        let schema = builtin().object(&key.gvk).unwrap_or_else(TypeRef::untyped);
        let selection = self.selection;
        let is_named = |change: &FieldChange| is_field(change) && selection.chooses(key, change);
        let named: Vec<&FieldChange> = changes.iter().filter(|change| is_named(change)).collect();
        if named.is_empty() {
            return Vec::new();
        }
        let halves: Vec<Vec<&FieldChange>> =
            named.iter().map(|change| other_halves(change, changes, schema).collect()).collect();
        let mut along: Vec<&FieldChange> = halves.concat();
        along.retain(|half| !is_named(half) && selection.takes_along(half));
        let is_one = |one: &FieldChange, change: &FieldChange| std::ptr::eq(one, change);
        let is_along = |change: &FieldChange| along.iter().any(|half| is_one(half, change));
        let is_chosen = |change: &&FieldChange| is_named(change) || is_along(change);
        let chosen: Vec<&FieldChange> = changes.iter().filter(is_chosen).collect();
        // A removal that was not chosen by itself is made only with the change that it goes with.
        let others = |change: &FieldChange| -> Vec<&FieldChange> {
            let of_named = named.iter().zip(&halves);
            let mut others = Vec::new();
            for (named, halves) in of_named {
                if is_one(named, change) {
                    others.extend(halves);
                    others.extend(in_place_of(named, changes, schema));
                } else if is_along(change) && halves.iter().any(|half| is_one(half, change)) {
                    others.push(*named);
                }
            }
            others
        };
        let manifest = self.manifest(origin);
        let is_default =
            |change: &FieldChange| manifest.as_ref().is_ok_and(|manifest| manifest.has_by_default(change, schema));
        let proposal = |change: &FieldChange| Proposal {
            key: key.clone(),
            change: change.clone(),
            needs: others(change).into_iter().map(|other| other.path.clone()).collect(),
            edit: match change.side {
                Some(Side::Both) => Err(Obstacle::ChangedInBoth),
                // Where nothing can be edited, no other choice helps.
                _ if let Err(obstacle) = &manifest => Err(obstacle.clone()),
                _ if let Some(half) = others(change).into_iter().find(|half| !is_chosen(half)) => {
                    let (path, flag) = (half.path.clone(), selection.flag_for_both(change, half));
                    Err(if change.live.is_some() {
                        Obstacle::Half(path, Some(flag))
                    } else {
                        Obstacle::Replaced(path, flag)
                    })
                }
                _ if self.is_built && has_other_hash(change) => Err(Obstacle::GeneratedName),
                _ if let Some(other) =
                    changes.iter().find(|other| has_same_name(change, other) && !is_chosen(other)) =>
                {
                    Err(Obstacle::SameName(selection.flag_for_both(change, other)))
                }
                _ => manifest.as_ref().map_err(Clone::clone).and_then(|manifest| manifest.edit(change, schema, live)),
            },
        };
        chosen.into_iter().filter(|change| !is_default(change)).map(proposal).collect()
    }

    fn manifest(&mut self, origin: &Origin) -> Result<ManifestObject, Obstacle> {
        let text = origin.read_text();
        if text.file().is_none() && !self.is_built {
            return Err(Obstacle::NoFile);
        }
        if origin.is_repeated {
            return Err(Obstacle::Repeated);
        }
        if origin.is_encrypted {
            return Err(Obstacle::Secret);
        }
        // What a kustomization builds from it can be patched.
        if let Some(template) = origin.source.template.as_ref().filter(|_| !self.is_built) {
            return Err(Obstacle::Rendered(template.to_string()));
        }
        let name = if self.is_built { Arc::from("") } else { Arc::clone(&origin.source.file) };
        let documents = self.read.entry(name).or_insert_with(|| read(text.bytes(), Validation::Warn).documents);
        let document = documents.iter().find(|document| document.number == origin.source.document);
        let document = document.ok_or(Obstacle::Text(Refusal::Unreadable))?;
        let items = origin.source.items.iter();
        let above: Vec<Step> = items.flat_map(|item| [Step::Key("items".into()), Step::Index(*item)]).collect();
        let object = value_at(&document.value, &above).cloned().ok_or(Obstacle::Text(Refusal::NoPlace))?;
        Ok(ManifestObject { document: document.number, above, object })
    }
}

/// Returns true if a change adds an item to a list from which the other removes one with its name: both are one item with another key, as a
/// port with another number.
fn has_same_name(change: &FieldChange, other: &FieldChange) -> bool {
    let list_of = |change: &FieldChange| match change.path.elements().split_last() {
        Some((PathElement::Key(_), list)) => Some(list.to_vec()),
        _ => None,
    };
    let name = |item: Option<&Value>| item?.get("name")?.as_str().map(ToOwned::to_owned);
    let (FieldChange { live, desired: None, .. }, FieldChange { live: None, desired, .. }) = (change, other) else {
        return false;
    };
    name(live.as_deref()).is_some_and(|own| name(desired.as_deref()) == Some(own))
        && list_of(change).is_some_and(|list| list_of(other) == Some(list))
}

/// Returns true if only the hash of a generated name differs: a build sets it, and an edit would hold on to an object of another content.
fn has_other_hash(change: &FieldChange) -> bool {
    change.live.as_ref().zip(change.desired.as_ref()).is_some_and(|(live, desired)| differ_by_hashes(live, desired))
}

/// The edit of another manifest, or of a patch, that takes a change of an object. `above` is its place in the document.
pub(super) fn edit_of_manifest(
    document: usize,
    above: Vec<Step>,
    value: &Value,
    key: &ObjectKey,
    change: &FieldChange,
    live: Option<&Value>,
) -> Result<Edit, Obstacle> {
    let schema = builtin().object(&key.gvk).unwrap_or_else(TypeRef::untyped);
    ManifestObject { document, above, object: value.clone() }.edit(change, schema, live)
}

/// An object with changes of it; `None` if one of them has no place. Each change has the live object, if an item of one of its lists is new.
pub fn with_changes<'c>(
    object: &Value,
    key: &ObjectKey,
    changes: impl Iterator<Item = (&'c FieldChange, Option<&'c Value>)>,
) -> Option<Value> {
    let edit = |(change, live)| edit_of_manifest(1, Vec::new(), object, key, change, live).ok();
    let edits: Vec<Edit> = changes.map(edit).collect::<Option<_>>()?;
    applied(object, &edits.iter().collect::<Vec<_>>()).ok()
}

/// Returns true for a difference of one field that a manifest can have.
fn is_field(change: &FieldChange) -> bool {
    match change.path.elements().first() {
        Some(PathElement::Field(name)) => name != "status",
        _ => false,
    }
}

/// Returns true if changes are written with a look at the live object: it has the places of new items, and tells whether the map or the list
/// of something that is gone is gone as well.
pub fn needs_live(changes: &[FieldChange]) -> bool {
    let is_item = |change: &FieldChange| {
        matches!(change.path.elements().last(), Some(PathElement::Key(_) | PathElement::Member(_)))
    };
    changes.iter().any(|change| change.live.is_none() || change.desired.is_none() && is_item(change))
}

/// An object as its manifest has it, and its place in the file.
struct ManifestObject {
    document: usize,
    /// The path to the object in its document.
    above: Vec<Step>,
    object: Value,
}

impl ManifestObject {
    /// Returns true for a field that only the live object has, with the value that the server sets by itself.
    fn has_by_default(&self, change: &FieldChange, schema: TypeRef<'_>) -> bool {
        let (Class::Unmanaged, Some(live)) = (change.class, &change.live) else { return false };
        let Some((PathElement::Field(name), above)) = change.path.elements().split_last() else { return false };
        let written = steps(&FieldPath::from(above.to_vec()), &self.object);
        let siblings = written.and_then(|steps| value_at(&self.object, &steps)?.as_object());
        is_known_default(live, name, siblings.unwrap_or(&Map::new()), schema.at(above))
    }

    fn edit(&self, change: &FieldChange, schema: TypeRef<'_>, live: Option<&Value>) -> Result<Edit, Obstacle> {
        if change.values().any(holds_redacted) {
            return Err(Obstacle::Secret);
        }
        let mut below = steps(&change.path, &self.object).ok_or(Obstacle::Text(Refusal::NoPlace))?;
        let written = value_at(&self.object, &below);
        if change.op == Op::Move {
            let order = written.and_then(|written| live_order_of(written, change, schema));
            return Ok(self.edit_of(&below, Change::Reorder(order.ok_or(Obstacle::Order)?)));
        }
        let inserted = || place_of_new(&change.path, &self.object, live?).filter(|_| written.is_none());
        let schema = schema.at(change.path.elements());
        if change.live.as_ref().is_some_and(|live| has_duplicates(live, schema)) {
            return Err(Obstacle::Duplicate);
        }
        let edit = match (&change.live, written, &change.desired) {
            (None, ..) => Change::Remove,
            (Some(live), Some(written), Some(desired)) => Change::Set(without_defaults(live, written, desired, schema)),
            (Some(live), ..) => {
                let value = without_known_defaults(live, schema);
                match inserted() {
                    Some((place, rank)) => {
                        below = place;
                        Change::Insert { value, rank }
                    }
                    None => Change::Set(value),
                }
            }
        };
        Ok(self.edit_of(&below, edit))
    }

    fn edit_of(&self, below: &[Step], change: Change) -> Edit {
        Edit { document: self.document, path: [self.above.as_slice(), below].concat(), change }
    }
}

/// Returns true if a value has a list with two items of the same key.
pub(super) fn has_duplicates(value: &Value, schema: TypeRef<'_>) -> bool {
    match value {
        Value::Array(items) => {
            let mut seen = BTreeSet::new();
            let is_new = |element| seen.insert(element);
            !items.iter().filter_map(|item| item_element(item, schema)).all(is_new)
                || items.iter().any(|item| has_duplicates(item, schema.item()))
        }
        Value::Object(map) => map.iter().any(|(name, value)| has_duplicates(value, schema.field(name))),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::{GroupVersionKind, builtin};

    use super::*;

    #[test]
    fn items_with_the_same_key_are_found_at_any_depth() {
        let schema = builtin().object(&GroupVersionKind::new("v1", "Pod")).unwrap();
        let pod = |ports: Value| json!({"spec": {"containers": [{"name": "a", "ports": ports}, {"name": "b"}]}});
        let port = |protocol: &str| json!({"containerPort": 53, "protocol": protocol});
        assert!(!has_duplicates(&pod(json!([port("TCP"), port("UDP")])), schema));
        assert!(has_duplicates(&pod(json!([port("TCP"), {"containerPort": 53}])), schema));
        assert!(has_duplicates(&json!({"metadata": {"finalizers": ["x", "x"]}}), schema));
        assert!(!has_duplicates(&json!({"spec": {"tolerations": [{"key": "x"}, {"key": "x"}]}}), schema));
    }
}
