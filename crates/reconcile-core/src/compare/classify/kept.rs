//! The fields that the manifest no longer has and that stay in the cluster.

use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{Change, ClaimStrength, FieldPath, FieldSet, Lookup, Op, claim_strength};

use super::Classifier;
use super::base::BaseComparison;
use super::conflicts::values_of;
use crate::compare::diff::{Class, FieldChange};
use crate::compare::secrecy::Secrecy;
use crate::text::listed;

/// Most managers that a warning names.
const NAMED: usize = 3;

impl Classifier<'_> {
    /// The fields that we owned, that the manifest no longer has, and that stay; with the co-owners that keep them.
    pub fn released(&self, live: &mut Lookup<'_>, found: &[FieldChange]) -> Vec<FieldChange> {
        let given_up = self.ours_before.difference(&self.ours_after);
        let differs = values_of(found);
        let mut outermost = FieldSet::new();
        let mut released = Vec::new();
        given_up.visit(&mut |path, _| {
            // A value may be ours as a whole where it was ours in parts: without the types, a list has no keys.
            let is_ours = self.ours_after.contains_at_or_below(path) || self.ours_after.covers(path);
            let stays = !is_ours && !differs.overlaps(path);
            if !stays || outermost.contains_at_or_above(path) {
                return;
            }
            if let Some(value) = live.value(path).cloned() {
                outermost.insert(path);
                let kept = Change { path: path.clone(), op: Op::Remove, from: Some(value.clone()), to: Some(value) };
                released.push(FieldChange::new(kept, Class::Released).with_managers(self.owners(path)));
            }
        });
        released
    }

    /// Warnings about the fields that were applied last, that the manifest no longer has, and that an apply leaves to the managers that own
    /// them, or without an owner.
    pub fn kept(&self, base: &BaseComparison<'_>, live: &mut Lookup<'_>, found: &[FieldChange]) -> Vec<String> {
        let told = found.iter().filter(|change| change.class != Class::Unmanaged || change.is_drift());
        let told: FieldSet = told.map(|change| change.path.clone()).collect();
        let mut managers = BTreeSet::new();
        let mut fields = Vec::new();
        let mut unowned = Vec::new();
        let kept: Vec<&FieldPath> = base.kept(live).collect();
        for path in kept.into_iter().filter(|path| !told.overlaps(path) && !self.live.ignores(path)) {
            let (theirs, owners) = self.claimants.best(path, self.schema());
            let ours = claim_strength(&self.ours_before, path, self.schema());
            if theirs == ClaimStrength::Own {
                managers.extend(owners.into_iter().map(|entry| entry.manager.as_str()));
                fields.push(path);
            } else if theirs.max(ours) == ClaimStrength::None && !self.has_default(path, live) {
                unowned.push(path);
            }
        }
        let owned = self.stay(fields, &format!("owned by {}", listed(managers, NAMED)));
        let them = if unowned.len() == 1 { "it" } else { "them" };
        let unowned = self.stay(unowned, &format!("no manager owns {them}, so that an apply does not remove {them}"));
        owned.into_iter().chain(unowned).collect()
    }

    /// A warning about fields that the manifest no longer has and that stay, although nobody but us owns them.
    pub fn kept_by_server(&self, fields: Vec<&FieldPath>) -> Option<String> {
        let them = if fields.len() == 1 { "it" } else { "them" };
        self.stay(fields, &format!("the server keeps {them} when an apply gives {them} up"))
    }

    fn stay(&self, fields: Vec<&FieldPath>, why: &str) -> Option<String> {
        let stay = match fields.as_slice() {
            [] => return None,
            [_] => "is no longer in the manifest and stays",
            _ => "are no longer in the manifest and stay",
        };
        let secrecy = Secrecy::of_target(self.context.target, Some(&self.live.current.object));
        Some(format!("{} {stay}: {why}", secrecy.listed(fields)))
    }

    /// Returns true if the live object may have the default of the server at a path.
    pub fn has_default(&self, path: &FieldPath, live: &mut Lookup<'_>) -> bool {
        let Some((_, above)) = path.elements().split_last() else { return false };
        let siblings = live.value(&FieldPath::from(above.to_vec())).and_then(Value::as_object);
        self.may_be_default(path, live.value(path), siblings)
    }
}
