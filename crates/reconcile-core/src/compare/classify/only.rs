//! `--only`: the differences that a pass resolves. The others keep their live values in it, as fields do that a rule ignores.
//!
//! ```text
//! finding ─chosen?─┬─ all of its differences ─▶ as without the flag
//!                  ├─ none of them ─▶ the object is left as it is
//!                  └─ some ─▶ compared again, with the others as ignored fields ─▶ only the chosen ones are left
//! ```

use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{Change, FieldPath, FieldSet, Lookup, ManagedObject, Op, PathElement};

use crate::compare::diff::{Action, Class, FieldChange, LeftDifference, Replacement, Side};
use crate::compare::object_diff::ObjectDiff;
use crate::compare::secrecy::Secrecy;
use crate::diagnostic::{Code, Diagnostic};
use crate::live::Target;
use crate::manifest::BaseObject;

/// The differences that a pass resolves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// True for every difference.
    pub drift: bool,
    /// True for those that were made manually.
    pub manual: bool,
    /// True for those of objects that have to be replaced.
    pub replace: bool,
    /// The classes.
    pub classes: BTreeSet<Class>,
    /// The sides.
    pub sides: BTreeSet<Side>,
}

impl Chosen {
    /// Returns true if a difference of an object that needs this action is resolved. What is chosen are differences of manifests: an object
    /// joins the apply set of the run in any case, as it would never be pruned without its label.
    pub fn has(&self, change: &FieldChange, action: Action) -> bool {
        let is_drift = change.is_drift();
        is_drift && self.drift
            || self.manual && change.is_manual()
            || is_drift && self.replace && action == Action::Replace
            || self.classes.contains(&change.class)
            || change.side.is_some_and(|side| self.sides.contains(&side))
            || change.joins_set()
    }

    /// Returns true if the pass gives an object a new name with its content, whatever the creation and the deletion are on their own: the
    /// manifest changed, or the cluster if the base has the new one as well.
    pub fn has_renamed(&self, is_in_base: bool) -> bool {
        let class = if is_in_base { Class::ChangedByOther } else { Class::Pending };
        self.has(&FieldChange::of_object(Op::Change, class), Action::Update)
    }

    /// Returns true if all differences of a former object are resolved, which is lost as a whole with what others added to its data.
    pub fn has_all_of_former(&self, changes: &[FieldChange]) -> bool {
        let is_data = |path: &FieldPath| {
            let first = path.elements().first();
            matches!(first, Some(PathElement::Field(name)) if ["data", "binaryData"].contains(&name.as_str()))
        };
        let is_lost =
            |change: &&FieldChange| change.is_drift() || change.class == Class::Unmanaged && is_data(&change.path);
        changes.iter().filter(is_lost).all(|change| {
            let side = change.side.or(Some(Side::Cluster));
            self.has(&FieldChange { side, ..change.clone() }, Action::Update)
        })
    }

    /// The changes that the pass must not make, if it makes others of the same object.
    pub(crate) fn to_leave(&self, diff: &ObjectDiff) -> Vec<FieldChange> {
        let writes = |change: &&FieldChange| change.is_drift() || change.class == Class::Released;
        let (made, left): (Vec<&FieldChange>, Vec<&FieldChange>) =
            diff.changes.iter().filter(writes).partition(|change| self.has(change, diff.action));
        let is_written = made.iter().any(|change| change.is_drift());
        if is_written { left.into_iter().cloned().collect() } else { Vec::new() }
    }

    /// The changes that the pass has to make, as far as the order of lists is not all of them.
    pub(crate) fn made(&self, diff: &ObjectDiff) -> Vec<FieldPath> {
        let made = diff.drift().filter(|change| change.op != Op::Move && self.has(change, diff.action));
        made.map(|change| change.path.clone()).collect()
    }

    /// The changes that the pass would leave in values of which it makes other changes, and that the API writes as a whole: with the rest of
    /// such a value, it would claim what it leaves.
    pub(crate) fn torn(&self, diff: &ObjectDiff) -> BTreeSet<FieldPath> {
        let parts = diff.drift().filter_map(|change| Some((change.part_of.as_deref()?, change)));
        let (made, left): (Vec<_>, Vec<_>) = parts.partition(|(_, change)| self.has(change, diff.action));
        let made: BTreeSet<&FieldPath> = made.into_iter().map(|(whole, _)| whole).collect();
        left.into_iter().filter(|(whole, _)| made.contains(whole)).map(|(_, change)| change.path.clone()).collect()
    }

    /// Returns true if the pass removes a value for the side that changed and leaves an addition beside it, of which no record tells the side:
    /// one value under a new name, as a port, a key or the source of a volume.
    pub(crate) fn halves_a_rename(&self, diff: &ObjectDiff) -> bool {
        let above = |change: &FieldChange| Some(FieldPath::from(change.path.elements().split_last()?.1.to_vec()));
        let is_left = |change: &&FieldChange| {
            change.op == Op::Add && change.side == Some(Side::Either) && !self.has(change, diff.action)
        };
        let added: BTreeSet<FieldPath> = diff.drift().filter(is_left).filter_map(above).collect();
        let mut removed = diff.drift().filter(|change| {
            let is_of_side = change.side.is_some_and(|side| self.sides.contains(&side));
            change.op == Op::Remove && is_of_side && !self.drift && !self.classes.contains(&change.class)
        });
        removed.any(|change| above(change).is_some_and(|above| added.contains(&above)))
    }

    /// Returns true if the pass creates an object that does not exist.
    pub fn creates(&self, target: &Target) -> bool {
        self.has(&on_side_of_base(FieldChange::missing(Value::Null), target), Action::Create)
    }

    /// Turns the result of a comparison into that of the pass. `left` are the differences that it was compared without.
    pub(crate) fn settle(&self, diff: &mut ObjectDiff, target: &Target, live: Option<&Value>, left: &[FieldChange]) {
        match diff.action {
            Action::Create => {
                let Some(change) = diff.changes.first().cloned() else { return };
                let change = on_side_of_base(change, target);
                if !self.has(&change, Action::Create) {
                    *diff = ObjectDiff::leaving(diff.evidence, &change);
                }
            }
            Action::None | Action::Update | Action::Replace => self.settle_fields(diff, target, live, left),
            Action::Delete | Action::Unknown => {}
        }
    }

    /// Marks what is left of the fields of an object, which may be left as it is, or cannot be written.
    fn settle_fields(&self, diff: &mut ObjectDiff, target: &Target, live: Option<&Value>, left: &[FieldChange]) {
        let action = diff.action;
        let is_made = |change: &FieldChange| self.has(change, action);
        let (made, rest): (Vec<&FieldChange>, Vec<&FieldChange>) = diff.drift().partition(|change| is_made(change));
        let is_written = !made.is_empty();
        let rest: Vec<LeftDifference> = rest.into_iter().filter_map(LeftDifference::of).collect();
        if is_written && !rest.is_empty() && action != Action::Replace {
            *diff = inseparable(target, live, rest.iter().map(|left| &left.path), None);
            return;
        }
        let is_whole = is_written && rest.is_empty();
        diff.left = left.iter().filter_map(LeftDifference::of).chain(rest).collect();
        if !is_whole {
            diff.left.sort_by(|one, other| one.path.cmp(&other.path));
        }
        if is_written {
            diff.changes.retain(|change| is_made(change) || !change.is_drift());
            if action == Action::Replace && !diff.left.is_empty() {
                diff.replacement = Some(Replacement::Protected);
                let hint = "a replacement writes the whole object: choose all of its differences with `--only`";
                if let Some(reason) = &mut diff.notes.reason {
                    reason.hint = Some(hint.to_owned());
                }
            }
            return;
        }
        let follows = |class| matches!(class, Class::Adopted | Class::Released | Class::Consequence);
        diff.changes.retain(|change| is_made(change) || !(change.is_drift() || follows(change.class)));
        diff.conflicts.clear();
        diff.action = Action::None;
        diff.replacement = None;
        diff.notes.versions = None;
        diff.notes.reason = None;
    }
}

/// A missing object on the side that its base shows, if there is one.
fn on_side_of_base(missing: FieldChange, target: &Target) -> FieldChange {
    let side = target.base.get().map(BaseObject::state).map(Side::of_missing);
    FieldChange { side: side.or(missing.side), ..missing }
}

/// The result for an object of which the API changes what is chosen only together with what is left; `reason` is what the server says to the
/// chosen alone.
pub(crate) fn inseparable<'p>(
    target: &Target,
    live: Option<&Value>,
    left: impl Iterator<Item = &'p FieldPath>,
    reason: Option<&str>,
) -> ObjectDiff {
    let left = match Secrecy::of_target(target, live).listed(left) {
        named if named.is_empty() => "those that `--only` leaves".to_owned(),
        named => format!("{named}, which `--only` leaves"),
    };
    let reason = reason.unwrap_or("not written");
    let message = format!("the chosen differences cannot be applied without {left}: {reason}");
    let hint = "choose all of its differences with `--only`, or none";
    ObjectDiff::unknown(Diagnostic::new(Code::Invalid, message).with_hint(hint))
}

/// The result for an object of which the pass would write parts of a value that the API writes as a whole.
pub(crate) fn torn_value<'p>(
    target: &Target,
    live: Option<&Value>,
    left: impl ExactSizeIterator<Item = &'p FieldPath>,
) -> ObjectDiff {
    let parts = if left.len() == 1 { "it is a part" } else { "they are parts" };
    inseparable(target, live, left, Some(&format!("{parts} of a value that is written as a whole")))
}

/// The result for an object of which the pass would make one half of a change only.
pub(crate) fn half_renamed() -> ObjectDiff {
    let message = "a value is removed, and `--only` leaves one beside it whose side no record tells: not written";
    let hint = "choose `either` as well, if they are one change, or compare with `--base`, which tells their sides";
    ObjectDiff::unknown(Diagnostic::new(Code::Invalid, message).with_hint(hint))
}

/// Returns true if an apply, of which `changes` are the results, takes away or replaces the live value of a difference that is left, or
/// a part of it that has an owner. What the server sets in it for nobody may follow from another field.
pub(crate) fn is_lost(left: &FieldChange, live: &ManagedObject, result: &Value, changes: &[Change]) -> bool {
    let path = &left.path;
    if left.op == Op::Move || Lookup::of(&live.object).value(path).is_none() {
        return false;
    }
    if Lookup::of(result).value(path).is_none() {
        return true;
    }
    let is_owned = |path: &FieldPath| live.owners.entries().any(|entry| entry.fields.contains_at_or_below(path));
    let is_part = |change: &&Change| path.is_prefix_of(&change.path) && change.op != Op::Add && change.op != Op::Move;
    let mut parts = changes.iter().filter(is_part);
    parts.any(|change| change.path == *path || is_owned(&change.path))
}

/// The fields that a pass leaves, each with everything below it. The order of a list is none.
pub(crate) fn left_fields(left: &[FieldChange]) -> FieldSet {
    left.iter().filter(|change| change.op != Op::Move).map(|change| change.path.clone()).collect()
}
