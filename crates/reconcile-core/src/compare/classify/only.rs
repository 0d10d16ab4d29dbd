//! `--only`: the differences that a pass resolves. The others keep their live values in it, as fields do that a rule ignores.
//!
//! ```text
//! finding ─chosen?─┬─ all of its differences ─▶ as without the flag
//!                  ├─ none of them ─▶ the object is left as it is
//!                  └─ some ─▶ compared again, with the others as ignored fields ─▶ only the chosen ones are left
//! ```

use std::collections::BTreeSet;

use structured_merge::{FieldPath, FieldSet, Op, PathElement};

use crate::compare::decision::object_verdict::ObjectVerdict;
use crate::compare::diff::{Action, Class, FieldChange, FieldDiff, LeftDifference, Replacement, Side};
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
    /// Returns true if a difference of an object that needs this action is resolved.
    pub fn has(&self, change: &FieldChange, action: Action) -> bool {
        let is_drift = change.is_drift();
        is_drift && self.drift
            || self.manual && change.is_manual()
            || is_drift && self.replace && action == Action::Replace
            || self.classes.contains(&change.class)
            || change.side.is_some_and(|side| self.sides.contains(&side))
    }

    /// Returns true if the pass gives objects a new name with their content: the manifest changed, whatever the creation and the deletion
    /// are on their own.
    pub fn has_renamed(&self) -> bool {
        self.has(&FieldChange::of_object(Op::Change, Class::Pending), Action::Update)
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

    /// The changes of a verdict that the pass must not make, if it makes others of the same object.
    pub(crate) fn to_leave(&self, verdict: &ObjectVerdict) -> Vec<FieldChange> {
        let action = verdict.action();
        let writes = |change: &&FieldChange| change.is_drift() || change.class == Class::Released;
        let (made, left): (Vec<&FieldChange>, Vec<&FieldChange>) =
            verdict.changes().iter().filter(writes).partition(|change| self.has(change, action));
        let is_written = made.iter().any(|change| change.is_drift());
        if is_written { left.into_iter().cloned().collect() } else { Vec::new() }
    }

    /// Turns the verdict of a comparison into that of the pass. `left` are the differences that it was compared without.
    pub(crate) fn settle(&self, verdict: &mut ObjectVerdict, target: &Target, left: &[FieldChange]) {
        let action = verdict.action();
        let settled = match verdict {
            ObjectVerdict::Create { desired, evidence } => {
                let mut change = FieldChange::missing(desired.to_tree());
                change.side = target.base.get().map(BaseObject::state).map(Side::of_missing).or(change.side);
                (!self.has(&change, action)).then(|| FieldDiff::leaving(*evidence, &change).into())
            }
            ObjectVerdict::InSync(fields) | ObjectVerdict::Update(fields) => self.fields(fields, action, left),
            ObjectVerdict::Replace { fields, reason } => {
                let alone = self.fields(fields, action, left);
                if alone.is_none() && !fields.left.is_empty() {
                    reason.replacement = Replacement::Protected;
                    reason.hint = Some(
                        "a replacement writes the whole object: choose all of its differences with `--only`".to_owned(),
                    );
                }
                alone
            }
            ObjectVerdict::Delete { .. } | ObjectVerdict::Kept { .. } | ObjectVerdict::Unknown(_) => None,
        };
        if let Some(settled) = settled {
            *verdict = settled;
        }
    }

    /// Marks what is left of the fields of an object. Returns another verdict, if the object is left as it is or cannot be written.
    fn fields(&self, fields: &mut FieldDiff, action: Action, left: &[FieldChange]) -> Option<ObjectVerdict> {
        fields.left = left.iter().filter_map(LeftDifference::of).collect();
        let is_made = |change: &FieldChange| self.has(change, action);
        let (made, rest): (Vec<&FieldChange>, Vec<&FieldChange>) =
            fields.changes.iter().filter(|change| change.is_drift()).partition(|change| is_made(change));
        let is_written = !made.is_empty();
        let rest: Vec<LeftDifference> = rest.into_iter().filter_map(LeftDifference::of).collect();
        if is_written && rest.is_empty() {
            return None;
        }
        if is_written && action != Action::Replace {
            let message = "the chosen differences cannot be applied without those that `--only` leaves: not written";
            let hint = "choose all of its differences with `--only`, or none";
            return Some(ObjectVerdict::Unknown(Diagnostic::new(Code::Conflict, message).with_hint(hint)));
        }
        fields.left.extend(rest);
        fields.left.sort_by(|one, other| one.path.cmp(&other.path));
        if is_written {
            fields.changes.retain(|change| is_made(change) || !change.is_drift());
            return None;
        }
        let follows = |class| matches!(class, Class::Adopted | Class::Released | Class::Consequence);
        fields.changes.retain(|change| is_made(change) || !(change.is_drift() || follows(change.class)));
        fields.conflicts.clear();
        fields.versions = None;
        Some(ObjectVerdict::InSync(fields.clone()))
    }
}

/// The fields that a pass leaves, each with everything below it. The order of a list is none.
pub(crate) fn left_fields(left: &[FieldChange]) -> FieldSet {
    left.iter().filter(|change| change.op != Op::Move).map(|change| change.path.clone()).collect()
}
