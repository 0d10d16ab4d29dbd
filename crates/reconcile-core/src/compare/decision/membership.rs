//! The apply set that a live object belongs to, where its manifest does not name that set.

use apply_set::{PART_OF, part_of};
use serde_json::Value;
use structured_merge::ObjectMeta as _;

use crate::diagnostic::{Code, Diagnostic};

/// The treatment of live objects in an apply set that neither their manifests nor the run name (`--leave-applyset`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnnamedSet {
    /// They stay in the set.
    #[default]
    Stay,
    /// They leave the set: its label is removed.
    Leave,
}

/// The apply set that an object does not leave, by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Membership {
    /// The manifest names no set, so that the object stays in this one.
    Kept(String),
    /// The object was to leave this set, and stays in it because others own the label.
    Unremovable(String),
    /// The run would put the object into another set. An object belongs to at most one (KEP-3659), so it is refused.
    Refused(String),
}

impl Membership {
    /// The id of the set.
    pub fn id(&self) -> &str {
        match self {
            Self::Kept(id) | Self::Unremovable(id) | Self::Refused(id) => id,
        }
    }

    /// The set of a live object whose manifest has the label of another one.
    pub(crate) fn in_another_set(manifest: &Value, live: &Value) -> Option<Self> {
        let wanted = part_of(manifest)?;
        let id = part_of(live)?;
        (wanted != id).then(|| Self::Refused(id.to_owned()))
    }

    /// The error for an object that is refused, by the id of its set.
    pub(crate) fn refusal(&self) -> Option<Diagnostic> {
        let Self::Refused(id) = self else { return None };
        let message = format!("it belongs to another apply set, `{id}`");
        let hint = "name that set with `--prune --applyset`, or take it out first with `--leave-applyset`";
        Some(Diagnostic::new(Code::Conflict, message).with_hint(hint))
    }
}

/// The id of the set of a live object whose manifest has no label of a set.
pub(crate) fn unnamed_set<'v>(manifest: &Value, live: &'v Value) -> Option<&'v str> {
    part_of(live).filter(|_| manifest.label(PART_OF).is_none())
}
