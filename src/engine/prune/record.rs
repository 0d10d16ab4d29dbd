//! The parent's list: more than the members before the pass, and exactly the members after it.
//!
//! Other runs may change the same set at the same time. A run that takes a kind or a namespace off the list looks for members there
//! afterwards, and a run whose objects have joined the set looks at the list afterwards: whichever is later sees what the other did.

use std::collections::BTreeSet;

use apply_set::{Inventory, Member, PART_OF, ParentState, PruneDecision};
use reconcile_core::compare::ROUNDS;
use reconcile_core::diagnostic::{Code, Diagnostic};

use super::delete::PruneEntry;
use super::judged::Judged;
use super::parent::Recorded;
use super::search::{MemberSearch, Scope, Unsearched, find};
use crate::client::Cluster;
use crate::engine::interrupt::Interrupt;

impl Judged {
    /// Writes the parent before the pass: it lists the kinds and namespaces of present and future members, so that no member is lost
    /// whatever happens. The error says why the pass cannot begin.
    pub async fn begin(&mut self, cluster: &Cluster, interrupt: &Interrupt) -> Result<(), String> {
        if interrupt.is_set() {
            return Ok(());
        }
        let mut members = self.coverage.listed.union(self.desired.inventory());
        let are_members =
            |entry: &&PruneEntry| matches!(entry.decision, PruneDecision::Prune(_) | PruneDecision::Keep(_));
        self.entries.iter().filter(are_members).for_each(|entry| members.add(entry.key()));
        self.known = self.named().union(&members);
        self.known.namespaces.extend(self.set().parent.namespace.clone());
        let listed = self.list(cluster, &members).await;
        self.notes.warnings.extend(self.parent.take_warnings());
        let Err(Diagnostic { code, message, hint, .. }) = listed else { return Ok(()) };
        self.is_held = true;
        let message = format!("{}, the parent of the apply set, cannot be written: {message}", self.parent.set.parent);
        let hint = hint.as_deref().unwrap_or("nothing was applied, because new members could not be recorded");
        self.notes.errors.push(Diagnostic::new(code, message).with_hint(hint));
        Err("the parent of the apply set could not be written".to_owned())
    }

    /// Writes the parent after the pass: if everything is done, it lists exactly the remaining members, and in any case those that have
    /// joined the set.
    pub(super) async fn end(&mut self, cluster: &Cluster, is_complete: bool, has_joined: bool) {
        let members = self.desired.inventory().clone();
        let listed = if is_complete {
            self.list_only(cluster, &members, has_joined).await
        } else if has_joined {
            self.list_joined(cluster, &members).await
        } else {
            Ok(())
        };
        let again = self.parent.take_warnings().into_iter().filter(|text| !self.notes.warnings.contains(text));
        self.notes.warnings.extend(again.collect::<Vec<_>>());
        let Err(Diagnostic { code, message, hint, .. }) = listed else { return };
        let message = format!("{} cannot be updated: {message}", self.parent.set.parent);
        let hint =
            hint.as_deref().unwrap_or("run again, so that the set lists the kinds and namespaces of its members");
        self.notes.errors.push(Diagnostic::new(code, message).with_hint(hint));
    }

    /// The kinds and namespaces that the parent lists, trusted or not.
    fn named(&self) -> Inventory {
        self.parent.state.as_ref().map(ParentState::named).unwrap_or_default()
    }

    /// Makes the parent list the members that have joined the set, if another run took their kinds or namespaces off the list.
    async fn list_joined(&mut self, cluster: &Cluster, members: &Inventory) -> Result<(), Diagnostic> {
        self.parent.read_again(cluster).await?;
        self.list(cluster, members).await
    }

    /// Makes the parent list exactly the remaining members. A list with kinds or namespaces that this run does not know of, because others
    /// are about to have members there, only gets longer.
    async fn list_only(&mut self, cluster: &Cluster, members: &Inventory, has_joined: bool) -> Result<(), Diagnostic> {
        if has_joined {
            self.parent.read_again(cluster).await?;
        }
        for _ in 0..ROUNDS {
            if !self.named().is_within(&self.known) {
                break;
            }
            match self.parent.write(cluster, members).await {
                Recorded::Written => return self.list_latecomers(cluster, members.clone()).await,
                Recorded::Failed(diagnostic) => return Err(diagnostic),
                Recorded::Moved => self.parent.read_again(cluster).await?,
            }
        }
        let message = "somebody else changed the apply set in the meantime: its list may have kinds or namespaces without members";
        self.notes.warnings.push(message.to_owned());
        self.list(cluster, members).await
    }

    /// Makes the parent list these kinds and namespaces, beside those that it lists.
    async fn list(&mut self, cluster: &Cluster, members: &Inventory) -> Result<(), Diagnostic> {
        for _ in 0..ROUNDS {
            let now = self.parent.state.as_ref().map(|state| state.inventory(&self.coverage.mentioned));
            match self.parent.write(cluster, &members.union(&now.unwrap_or_default())).await {
                Recorded::Written => return Ok(()),
                Recorded::Failed(diagnostic) => return Err(diagnostic),
                Recorded::Moved => self.parent.read_again(cluster).await?,
            }
        }
        Err(Diagnostic::new(Code::Conflict, "the parent of the apply set keeps changing").with_hint("run again"))
    }

    /// Lists the members again that other runs have added in kinds and namespaces that this one took off the list.
    async fn list_latecomers(&mut self, cluster: &Cluster, mut members: Inventory) -> Result<(), Diagnostic> {
        let searches = self.searches_off_the_list();
        if searches.is_empty() {
            return Ok(());
        }
        let found = find(cluster, searches, &format!("{PART_OF}={}", self.set().id)).await;
        let judged: BTreeSet<&str> = self.entries.iter().map(|entry| entry.member.member.uid()).collect();
        let found_members = found.objects.into_iter().map(|(resource, object)| Member::new(resource.gvk, object));
        for member in found_members.filter(|member| !judged.contains(member.uid())) {
            if matches!(self.desired.decide(&member), PruneDecision::Prune(_) | PruneDecision::Keep(_)) {
                members.add(&member.key);
            }
        }
        // Where nobody can look for now, there may be some.
        let unseen = found.unsearched.into_iter().filter(|one| one.diagnostic.code != Code::Forbidden);
        for Unsearched { kind, namespace, .. } in unseen {
            members.kinds.insert(kind);
            members.namespaces.extend(namespace);
        }
        self.list(cluster, &members).await
    }

    /// The collections that a search by the list would no longer find.
    fn searches_off_the_list(&self) -> Vec<MemberSearch> {
        let now = self.named();
        let off: Vec<String> = self.known.namespaces.difference(&now.namespaces).cloned().collect();
        let all = self.known.union(&now);
        let searches = self.resources.iter().filter_map(|(kind, resource)| {
            let is_off = !now.kinds.contains(kind);
            let namespaces = if is_off { all.namespaces.iter().cloned().collect() } else { off.clone() };
            let is_new = is_off || resource.namespaced && !off.is_empty();
            let scope = Scope::Namespaces(namespaces);
            (all.kinds.contains(kind) && is_new).then(|| MemberSearch { resource: resource.clone(), scope })
        });
        searches.collect()
    }
}
