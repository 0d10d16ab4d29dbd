//! Records of owners that the server may have kept as they were. Since 1.37 it does so as long as it cannot convert a custom resource to the
//! version of one of them (apimachinery `managedfields`, `UpdateNoErrors`): a field is enough that this version does not have. A dry run shows
//! it, as the server refuses that as well; without one, the types of the other versions do.

use serde_json::Value;
use structured_merge::{GroupVersionKind, TypeRef, builtin_kind};

use super::{ComparisonMachine, State};
use crate::compare::decision::ComparisonResult;
use crate::compare::diff::Evidence;
use crate::compare::live_object::LiveObject;
use crate::compare::rejection::fits;

impl ComparisonMachine<'_> {
    /// The other versions in which owners of a custom resource are recorded, if its comparison is done and no server was asked.
    pub fn recorded_versions(&self) -> Vec<GroupVersionKind> {
        let Some(live) = self.compared_with() else { return Vec::new() };
        let gvk = &self.context.target.key.gvk;
        let owners = &live.current.owners;
        let entries = owners.ours.iter().chain(&owners.others);
        let versions = entries.map(|entry| GroupVersionKind::new(&entry.api_version, &gvk.kind));
        versions.filter(|other| other != gvk && other.group == gvk.group).collect()
    }

    /// Takes note of records that may be old: the live object does not fit the type of one of these versions, or that is not known.
    pub fn check_records(&mut self, fits: impl Fn(&GroupVersionKind, &Value) -> bool) {
        let versions = self.recorded_versions();
        if let Some(live) = self.compared_with() {
            self.context.has_old_records = !versions.iter().all(|gvk| fits(gvk, &live.current.object));
        }
    }

    fn compared_with(&self) -> Option<&LiveObject> {
        match &self.state {
            State::Done(ComparisonResult::Predicted { live, prediction })
                if prediction.evidence == Evidence::Local && builtin_kind(&self.context.target.key.gvk).is_none() =>
            {
                Some(live)
            }
            _ => None,
        }
    }
}

/// Returns true if an object has only fields that a type has. False if nothing is known of the type.
pub fn is_convertible(object: &Value, schema: TypeRef<'_>) -> bool {
    schema.declares("kind") && fits(object, schema, true)
}
