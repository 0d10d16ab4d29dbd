//! A difference to decide about.

use structured_merge::ObjectKey;

use super::exact_rule::{exact_field, exact_managers, exact_target};
use crate::compare::{Action, Class, FieldChange, Replacement};
use crate::owners::Owner;

/// A difference of one object: of a field, or of the object as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The object.
    pub key: ObjectKey,
    /// The action that the object needs.
    pub action: Action,
    /// The permission to replace the object, if it has to be replaced.
    pub replacement: Option<Replacement>,
    /// The change. Its path is empty for an object that does not exist.
    pub change: FieldChange,
}

impl Difference {
    /// Returns true if the object as a whole differs: it does not exist.
    pub fn is_whole_object(&self) -> bool {
        self.change.path.elements().is_empty()
    }

    /// Returns true if a later comparison found the same difference; who made it and when does not matter.
    pub fn is_same(&self, change: &FieldChange) -> bool {
        let FieldChange { path, live, desired, .. } = &self.change;
        (path, live, desired) == (&change.path, &change.live, &change.desired)
    }

    /// The reason why an apply would not make the change; `None` if it would. `is_blocked` says that others own the field, and
    /// that the flags do not take it from them.
    pub fn refusal_to_apply(&self, is_blocked: bool) -> Option<String> {
        if is_blocked {
            let owners = self.change.managers.iter().map(|Owner { manager, .. }| format!("`{manager}`"));
            let owners = owners.collect::<Vec<_>>().join(", ");
            let owners = if owners.is_empty() { "another field manager".to_owned() } else { owners };
            return Some(format!("{owners} owns the field, and only `--force-conflicts` takes it"));
        }
        match (self.action, self.replacement) {
            (Action::Replace, Some(Replacement::Protected)) => {
                Some("an immutable field of the object differs, and it is protected from being replaced".to_owned())
            }
            (Action::Replace, Some(Replacement::NeedsFlag) | None) => Some(
                "an immutable field of the object differs, and only `--replace=immutable` deletes and recreates it"
                    .to_owned(),
            ),
            (Action::Create | Action::Update | Action::Replace, _) => None,
            (Action::None | Action::Delete | Action::Unknown, _) => Some("it is not an update".to_owned()),
        }
    }

    /// The reason why no ignore rule can cover the difference and nothing else; `None` if one can.
    pub fn refusal_to_ignore(&self) -> Option<String> {
        if self.is_whole_object() {
            return Some("rules ignore fields, and the object as a whole is missing".to_owned());
        }
        if self.change.class == Class::Reordered {
            return Some("a rule would hide the list, not only its order".to_owned());
        }
        if exact_target(&self.key).is_none() {
            return Some("a rule cannot name the object".to_owned());
        }
        if exact_field(&self.change.path, self.change.class).is_none() {
            return Some("a rule cannot name the field".to_owned());
        }
        exact_managers(&self.change.managers).err()
    }
}
