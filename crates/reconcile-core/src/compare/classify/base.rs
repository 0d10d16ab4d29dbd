//! The side of each difference by a third version, the base: what was applied last.
//!
//! ```text
//! base = live, manifest differs           ─▶ the manifest changed
//! base = manifest, live differs           ─▶ the cluster changed
//! base, manifest and live all differ      ─▶ both changed: an apply overwrites what changed in the cluster
//! ```
//! Values are equal if an apply of the base would not change them, so that quantities, defaults and the order of keyed lists do not
//! matter. Where the base has no value, the live one is a change unless it is a default: a value that nobody put there.

use std::borrow::Cow;

use serde_json::Value;
use structured_merge::{
    Change, ClaimStrength, FieldPath, FieldSet, Lookup, ManagedFieldsEntry, Op, Operation, PathElement, TypeRef,
    changes, claim_strength, fields_of, is_nothing, merge, with_node_ports, with_string_data, with_string_data_folded,
};

use crate::compare::diff::{Class, FieldChange, Side};
use crate::compare::live_object::LiveObject;
use crate::compare::prediction::{CompareContext, Prediction};
use crate::manifest::BaseObject;

/// An object of the base, compared with the live object and with the object that an apply would leave.
pub(crate) struct BaseComparison<'a> {
    /// The object as the base has it; of an object that it does not have, nothing but an empty map.
    object: Cow<'a, Value>,
    is_same: bool,
    /// True if the base does not have the object.
    is_absent: bool,
    /// True if the base has it in another version of its kind, which may have other fields.
    is_of_other_version: bool,
    /// The fields that the base has.
    pub fields: FieldSet,
    /// The managers that own most of these fields through updates: they made the object from the base, and also own its defaults.
    makers: Vec<&'a ManagedFieldsEntry>,
    /// The fields that the manifest has and the base has not.
    added: FieldSet,
    /// The fields that the base has and of which the manifest no longer has a part, without those inside of them.
    dropped: Vec<FieldPath>,
    /// The fields whose live value is not that of the base.
    live: Differences,
    /// The fields whose value after an apply is not that of the base.
    desired: Differences,
    /// The fields in which the base and the manifest differ as they are written.
    written: FieldSet,
    /// The fields that admission or the server changes: their values tell nothing about the manifests.
    overridden: FieldSet,
    /// The fields that the apply takes out because the server would refuse them beside those of the manifest.
    in_the_way: FieldSet,
    schema: TypeRef<'a>,
}

/// The paths at which two versions of an object differ, and the order of the lists that are in another order.
struct Differences {
    values: FieldSet,
    orders: Vec<Change>,
}

/// The facts about a difference that are not in the base.
pub(crate) struct BaseRecords {
    /// Somebody put the live value there, where the base has none or only a part of it.
    pub is_put: bool,
    /// Another manager claims the field.
    pub is_theirs: bool,
    /// The base has no value, and the manifest has the one that the server sets then.
    pub adds_default: bool,
}

impl<'a> BaseComparison<'a> {
    /// Compares the base of an object with its other versions.
    pub fn of(
        context: CompareContext<'a>,
        live: &'a LiveObject,
        prediction: &Prediction,
        base: &'a BaseObject,
    ) -> Self {
        let CompareContext { target, schema, .. } = context;
        let (object, is_same) = match base {
            BaseObject::Same => (Cow::Borrowed(target.desired.object()), true),
            BaseObject::Differs(object) => (Cow::Borrowed(&**object), false),
            BaseObject::Absent => (Cow::Owned(Value::Object(serde_json::Map::new())), false),
        };
        let fields = |object: &Value| with_string_data(&target.key.gvk, fields_of(object, schema), &[]);
        let over = |manifest: &Value, object: &Value| {
            let manifest = with_node_ports(with_string_data_folded(manifest), object, schema);
            changes(object, &merge(&manifest, object, schema), schema, target.status_is_apart())
        };
        let of_base = fields(&object);
        let paths = |changes: Vec<Change>| changes.into_iter().map(|change| change.path).collect::<FieldSet>();
        let desired = Differences::of(over(&object, &prediction.object));
        let sent = live.sent(target);
        let of_manifest = fields(sent);
        // What `--only` leaves is not sent, and in the manifest all the same.
        let written = if live.sent.is_some() { fields(target.desired.object()) } else { FieldSet::new() };
        Self {
            added: of_manifest.difference(&of_base),
            dropped: dropped(&of_base, &of_manifest.union(&written), &with_string_data_folded(target.desired.object())),
            live: Differences::of(over(&object, &live.current.object)),
            written: paths(over(&object, &with_string_data_folded(sent))),
            overridden: paths(over(sent, &prediction.object)),
            in_the_way: prediction.in_the_way.clone(),
            schema,
            desired,
            makers: makers(&live.current.owners.others, &of_base),
            fields: of_base,
            is_same,
            is_absent: matches!(base, BaseObject::Absent),
            is_of_other_version: object
                .get("apiVersion")
                .is_some_and(|version| *version != target.key.gvk.api_version()),
            object: match with_string_data_folded(&object) {
                Cow::Borrowed(_) => object,
                Cow::Owned(folded) => Cow::Owned(folded),
            },
        }
    }

    /// The object as the base has it.
    pub fn object(&self) -> &Value {
        &self.object
    }

    /// Returns true if the base has a value at a path, or a part of one. An empty map has no entry, unless it is replaced as a whole.
    pub fn has(&self, path: &FieldPath) -> bool {
        claim_strength(&self.fields, path, self.schema) == ClaimStrength::Own
    }

    /// Returns true if a path is in an item of a list, or is one, that the base does not have.
    pub fn lacks_item_around(&self, path: &FieldPath) -> bool {
        let elements = path.elements();
        let is_item = |element: &PathElement| !matches!(element, PathElement::Field(_));
        let ends = elements.iter().enumerate().filter(|(_, element)| is_item(element)).map(|(at, _)| at);
        ends.filter_map(|at| elements.get(..=at)).any(|item| !self.has(&FieldPath::from(item.to_vec())))
    }

    /// Returns true if a manager made the object from the base.
    pub fn is_made_by(&self, entry: &ManagedFieldsEntry) -> bool {
        self.makers.iter().any(|maker| std::ptr::eq(*maker, entry))
    }

    /// The side that moved away from the base, if the base can tell; of a difference in which neither the manifest nor the live object seems
    /// to have moved, because the server or another field changes it, the one that the records tell.
    pub fn side(&self, change: &FieldChange, records: &BaseRecords, recorded: Side) -> Option<Side> {
        let path = &change.path;
        let BaseRecords { is_put, is_theirs, adds_default } = *records;
        // A list or a map that is replaced as a whole is added as a whole, and may differ in a part.
        let is_added = !adds_default && self.added.overlaps(path);
        // Whether the base had the label of a set, no manifest tells.
        if apply_set::label_path() == *path || self.is_of_other_version && !self.has(path) {
            return None;
        }
        // The object was applied from other manifests before: our record tells that nobody has changed the value since.
        if self.is_absent && recorded == Side::Manifest {
            return Some(recorded);
        }
        let (manifest, live) = if self.is_same {
            (false, true)
        } else if change.op == Op::Move {
            (self.desired.order_of(path).is_some(), self.live.order_of(path).is_some())
        } else if self.overridden.overlaps(path) && self.has(path) {
            (self.written.overlaps(path) || is_added, is_theirs || is_put)
        } else {
            let has_moved = self.live.values.overlaps(path);
            // An apply of the base would leave it: it goes with a field that the manifest changes.
            let goes_along = change.op == Op::Remove
                && change.class == Class::ChangedByOther
                && !has_moved
                && if self.in_the_way.overlaps(path) { self.changes_around(path) } else { self.changes_with(path) };
            (self.desired.values.overlaps(path) || is_added || goes_along, has_moved || is_put)
        };
        Some(match (manifest, live) {
            (true, true) => Side::Both,
            (false, true) => Side::Cluster,
            (false, false) if recorded != Side::Either => recorded,
            (false, false) if self.written.is_empty() && self.added.is_empty() => Side::Cluster,
            (true | false, false) => Side::Manifest,
        })
    }

    /// Returns true if the manifest changes the list or the struct that a path is in. An entry of a map is taken for one of the struct
    /// around the map: a limit is checked against a request.
    fn changes_around(&self, path: &FieldPath) -> bool {
        let Some((last, parent)) = path.elements().split_last() else { return true };
        let is_entry = matches!(last, PathElement::Field(name) if !self.schema.at(parent).declares(name));
        let around = if is_entry { parent.split_last().map_or(parent, |(_, above)| above) } else { parent };
        self.changes_at(&FieldPath::from(around.to_vec()))
    }

    /// Returns true if the manifest changes the part of the object that a path is in, such as its `spec`.
    fn changes_with(&self, path: &FieldPath) -> bool {
        let first = path.elements().get(..1).unwrap_or_default();
        self.changes_at(&FieldPath::from(first.to_vec()))
    }

    /// Returns true if the manifest changes a value at a path, around it or in it.
    fn changes_at(&self, around: &FieldPath) -> bool {
        let dropped = || self.dropped.iter().any(|path| around.is_prefix_of(path) || path.is_prefix_of(around));
        self.written.overlaps(around) || self.added.overlaps(around) || dropped()
    }

    /// The fields that the manifest no longer has, and that the live object has.
    pub fn kept(&self, live: &mut Lookup<'_>) -> impl Iterator<Item = &FieldPath> {
        let is_kept = move |path: &&FieldPath| live.value(path).is_some();
        self.dropped.iter().filter(|_| !self.is_of_other_version).filter(is_kept)
    }

    /// The value that the base has at a path; of a list in another order, the order.
    pub fn value(&self, change: &FieldChange) -> Option<Value> {
        match change.op {
            Op::Move => self.live.order_of(&change.path).or(change.live.as_deref()).cloned(),
            _ => Lookup::of(&self.object).value(&change.path).cloned(),
        }
    }
}

/// The fields of which the base has a part and the manifest has none, without those inside of them. Of an empty map or list, and of a
/// null, the manifest has nothing.
fn dropped(base: &FieldSet, manifest: &FieldSet, object: &Value) -> Vec<FieldPath> {
    let mut values = Lookup::of(object);
    let mut is_empty = |path: &[PathElement]| values.value(&FieldPath::from(path.to_vec())).is_some_and(is_nothing);
    let mut dropped: Vec<FieldPath> = Vec::new();
    base.difference(manifest).visit(&mut |path, _| {
        let elements = path.elements();
        let mut above = (1..=elements.len()).filter_map(|length| elements.get(..length));
        let outermost = above.find_map(|above| {
            let field = FieldPath::from(above.to_vec());
            let is_of_empty = above
                .split_last()
                .is_some_and(|(_, around)| !manifest.contains_at_or_below(&field) && is_empty(around));
            (!manifest.covers(&field) || is_of_empty).then_some(field)
        });
        dropped.extend(outermost.filter(|path| dropped.last() != Some(path)));
    });
    dropped
}

/// The managers that own more than half of these fields through updates.
fn makers<'a>(entries: &'a [ManagedFieldsEntry], fields: &FieldSet) -> Vec<&'a ManagedFieldsEntry> {
    let leaves = fields.leaves();
    let updates = entries.iter().filter(|entry| entry.operation == Operation::Update && entry.subresource.is_empty());
    let owned = |entry: &&ManagedFieldsEntry| leaves.iter().filter(|path| entry.fields.covers(path)).count();
    updates.filter(|entry| owned(entry).saturating_mul(2) > leaves.len()).collect()
}

impl Differences {
    fn of(changes: Vec<Change>) -> Self {
        let (orders, values): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.op == Op::Move);
        Self { values: values.into_iter().map(|change| change.path).collect(), orders }
    }

    /// The order of a list in the base, if it is another one.
    fn order_of(&self, path: &FieldPath) -> Option<&Value> {
        self.orders.iter().find(|change| change.path == *path)?.to.as_ref()
    }
}
