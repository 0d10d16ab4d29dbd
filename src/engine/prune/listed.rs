//! The second state: the members are listed.

use std::collections::{BTreeMap, BTreeSet};

use apply_set::{DesiredMembers, Inventory, Member, ParentState, PruneDecision, PruneRules, Reason, Trust, part_of};
use reconcile_core::compare::{Action, FieldChange, Policy, Redactor, Side};
use reconcile_core::live::Target;
use reconcile_core::object::generated::Generated;
use reconcile_core::object::kept_from_pruning;
use reconcile_core::plan::deletion::{PruneStep, prune_order};
use serde_json::Value;
use structured_merge::{Applier as _, GroupKind, ManagedFieldsEntry, ObjectKey};

use super::delete::PruneEntry;
use super::judged::Judged;
use super::planned::{Listed, Planned};
use super::search::{ListedMember, created_at};
use crate::engine::comparison::MembersOfBase;
use crate::engine::event::EventSink;

impl Listed {
    /// Decides which members are deleted. It runs after the comparison, so that the redactor has numbered the secrets of the manifests.
    /// `new` are the objects with generated names that do not exist yet: the former ones go with them, or stay with them. `base` are
    /// the members that only the base has.
    pub fn judge(
        self,
        targets: &[&Target],
        new: &BTreeSet<Generated>,
        base: &MembersOfBase,
        policy: &Policy,
        redactor: &Redactor,
        events: &dyn EventSink,
    ) -> Judged {
        let mut desired = self.desired(targets, policy);
        let Self { planned, members, .. } = self;
        let Planned { parent, coverage, searches, pruned_by, mut notes, limits, required, .. } = planned;
        let listed: BTreeSet<String> = members.iter().map(|listed| listed.member.uid().to_owned()).collect();
        let unwanted = in_prune_order(desired.unwanted(members));
        let in_base = targets.iter().filter(|target| target.is_same_in_base());
        let in_base: BTreeSet<Generated> = in_base.filter_map(|target| Generated::of(&target.key)).collect();
        let (mut entries, renamed) = decided(unwanted, &mut desired, new, &in_base, base, policy);
        let namespaces: BTreeSet<String> =
            targets.iter().filter_map(|target| target.key.own_namespace().map(ToOwned::to_owned)).collect();
        let strangers = entries.iter().filter(|entry| matches!(entry.decision, PruneDecision::NotAMember(_)));
        let members = listed.len().saturating_sub(strangers.count());
        limits.mark(&mut entries, namespaces.iter().cloned().chain(required).collect(), members);
        notes.warnings.extend(strange_set(&entries, &listed, &renamed, targets));
        for entry in &entries {
            entry.announce(redactor, events);
        }
        // What goes off the list, the shard that prunes takes off.
        let listed = parent.state.as_ref().filter(|_| pruned_by.is_some()).map(ParentState::named);
        let parent_change = parent.change(&desired.inventory().union(&listed.unwrap_or_default()));
        let of_manifests = targets.iter().filter_map(|target| target.resource.as_deref().ok().cloned());
        let resources = searches.into_iter().map(|search| search.resource).chain(of_manifests);
        let resources = resources.map(|resource| (GroupKind::from(&resource.gvk), resource)).collect();
        Judged {
            parent,
            coverage,
            resources,
            desired,
            entries,
            renamed,
            parent_change,
            notes,
            is_held: false,
            known: Inventory::default(),
            namespaces,
            pruned_by,
        }
    }

    /// The members that the manifests name, and the unreadable ones, which are kept.
    fn desired(&self, targets: &[&Target], policy: &Policy) -> DesiredMembers {
        let Self { planned, members, unreadable, outside } = self;
        let Planned { parent, recovers, unseen, hooks, .. } = planned;
        let rules =
            PruneRules { trust: trust(policy), keep: kept_from_pruning, recover: *recovers, unseen: unseen.clone() };
        let mut desired = DesiredMembers::new(&parent.set, rules);
        for target in targets {
            // An object that the API refuses now may be a member since an earlier run. A Namespace that the run creates is none.
            let is_known = target.resource.is_ok() || target.desired.is_refused();
            let joins = is_known && !outside.contains(&target.key);
            desired.add(&target.key, joins && target.desired.with_object(|object| part_of(object).is_some()));
        }
        for hook in hooks {
            let is_it = |listed: &ListedMember| listed.member.key.is_of_same_object(hook);
            desired.add(hook, members.iter().any(is_it));
        }
        // Unreadable members are kept, and so are their namespaces and definitions.
        for member in unreadable {
            desired.keep(member);
        }
        desired
    }
}

/// Decides about the members without a manifest. Returns them, and which of them are the former ones of objects under `new` generated names;
/// those in `in_base` have the new name in the base as well.
fn decided(
    unwanted: Vec<(PruneStep, ListedMember)>,
    desired: &mut DesiredMembers,
    new: &BTreeSet<Generated>,
    in_base: &BTreeSet<Generated>,
    base: &MembersOfBase,
    policy: &Policy,
) -> (Vec<PruneEntry>, BTreeSet<Generated>) {
    let members: Vec<&Member> = unwanted.iter().map(|(_, listed)| &listed.member).collect();
    let mut decisions = desired.decide_all(&members);
    let renamed: BTreeSet<Generated> = going(&decisions, &members).filter(|one| new.contains(one)).collect();
    let side = |member: &&Member| if base.changed.contains(&member.key) { Side::Both } else { Side::Manifest };
    let sides: Vec<Side> = members.iter().map(side).collect();
    leave(&mut decisions, &members, &sides, Pairs { renamed: &renamed, in_base }, desired, policy);
    let entries = unwanted.into_iter().zip(decisions).zip(sides);
    let entries = entries.map(|((unwanted, decision), side)| {
        let is_encrypted = base.encrypted.contains(&unwanted.1.member.key);
        PruneEntry::new(unwanted, decision, side, is_encrypted)
    });
    (entries.collect(), renamed)
}

/// The members with generated names that are to be deleted, each by what stays the same under a new name.
fn going<'m>(decisions: &'m [PruneDecision], members: &'m [&Member]) -> impl Iterator<Item = Generated> {
    let going = decisions.iter().zip(members).filter(|(decision, _)| decision.is_prune());
    going.filter_map(|(_, member)| Generated::of(&member.key))
}

/// The objects that come under new names.
#[derive(Clone, Copy)]
struct Pairs<'a> {
    /// Those of which members go.
    renamed: &'a BTreeSet<Generated>,
    /// Those that the base has under their new names.
    in_base: &'a BTreeSet<Generated>,
}

/// Keeps the members whose deletion is not among the differences that the run resolves. The former one of a new object under a generated
/// name is part of the change of that object, and where that is left, so are all of this name.
fn leave(
    decisions: &mut [PruneDecision],
    members: &[&Member],
    sides: &[Side],
    Pairs { renamed, in_base }: Pairs<'_>,
    desired: &mut DesiredMembers,
    policy: &Policy,
) {
    let Some(chosen) = &policy.only else { return };
    let deletes = |side: Side| chosen.has(&FieldChange::pruned(Value::Null).on(side), Action::Delete);
    let mut newest: BTreeMap<Generated, &str> = BTreeMap::new();
    let going = decisions.iter().zip(members).filter(|(decision, _)| decision.is_prune());
    for (generated, member) in going.filter_map(|(_, member)| Some((Generated::of(&member.key)?, member))) {
        let time = newest.entry(generated).or_default();
        *time = (*time).max(created_at(member));
    }
    let going = decisions.iter_mut().zip(members).zip(sides).filter(|((decision, _), _)| decision.is_prune());
    for ((decision, member), side) in going {
        let former = Generated::of(&member.key).filter(|generated| renamed.contains(generated));
        let is_chosen = match former {
            Some(generated) if !chosen.has_renamed(in_base.contains(&generated)) => false,
            Some(generated) => deletes(*side) || newest.get(&generated) == Some(&created_at(member)),
            None => deletes(*side),
        };
        if !is_chosen {
            *decision = PruneDecision::Keep(Reason::NotChosen);
            desired.settle(&member.key, decision);
        }
    }
}

/// A warning if the manifests name none of the members that exist, not even under a new name, and some of those go: it may be the set of
/// other manifests.
fn strange_set(
    entries: &[PruneEntry],
    listed: &BTreeSet<String>,
    renamed: &BTreeSet<Generated>,
    targets: &[&Target],
) -> Option<String> {
    let goes = entries.iter().filter(|entry| entry.decision.is_prune()).count();
    if goes == 0 || targets.is_empty() || entries.len() < listed.len() || !renamed.is_empty() {
        return None;
    }
    let them = if goes == 1 { "1 member is".to_owned() } else { format!("{goes} members are") };
    Some(format!(
        "no manifest names a member of the apply set, and {them} to be deleted: check that `--applyset` names the set of these manifests"
    ))
}

fn in_prune_order(members: Vec<ListedMember>) -> Vec<(PruneStep, ListedMember)> {
    let nodes: Vec<(&ObjectKey, &Value)> =
        members.iter().map(|listed| (&listed.member.key, &listed.member.object)).collect();
    let steps = prune_order(&nodes);
    let mut members: Vec<(PruneStep, ListedMember)> = steps.into_iter().zip(members).collect();
    members.sort_by_key(|(step, _)| *step);
    members
}

/// The managers whose label is trusted: our own, those to adopt, and those of manual changes.
fn trust(policy: &Policy) -> Box<Trust> {
    let policy = policy.clone();
    Box::new(move |entry: &ManagedFieldsEntry| {
        entry.manager == policy.manager || policy.adopts(entry) || policy.is_manual(entry)
    })
}

#[cfg(test)]
mod tests {
    use apply_set::PART_OF;
    use serde_json::json;
    use structured_merge::managed_fields;

    use super::*;

    #[test]
    fn only_managers_that_mean_the_label_are_trusted() {
        let policy = Policy { adopt: ["helm".to_owned()].into(), ..Policy::of("us") };
        let trust = trust(&policy);
        for (manager, operation, is_trusted) in [
            ("us", "Apply", true),
            ("us", "Update", true),
            ("helm", "Apply", true),
            ("helm", "Update", true),
            ("kubectl-client-side-apply", "Update", true),
            ("kubectl-label", "Update", true),
            ("before-first-apply", "Update", true),
            ("kubectl", "Apply", false),
            ("mallory", "Update", false),
            ("mallory", "Apply", false),
            ("velero-server", "Update", false),
        ] {
            let fields = json!({"f:metadata": {"f:labels": {format!("f:{PART_OF}"): {}}}});
            let entry = json!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields});
            let entries = managed_fields(&json!({"metadata": {"managedFields": [entry]}}));
            assert_eq!(entries.iter().any(&trust), is_trusted, "{manager}");
        }
    }
}
