//! The parent's list: more than the members before the pass, and exactly the members after it.
//!
//! Other runs may change the same set at the same time. A run that takes a kind or a namespace off the list looks for members there
//! afterwards, and a run whose objects have joined the set looks at the list afterwards: whichever is later sees what the other did.

use apply_set::{Inventory, PART_OF, ParentState, PruneDecision};
use reconcile_core::compare::ROUNDS;
use reconcile_core::diagnostic::{Code, Diagnostic};

use super::delete::PruneEntry;
use super::judged::Judged;
use super::parent::Recorded;
use super::search::{ListedMember, MemberSearch, Unsearched, find};
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
        let listed = self.list_remaining(cluster, is_complete, has_joined).await;
        let again = self.parent.take_warnings().into_iter().filter(|text| !self.notes.warnings.contains(text));
        self.notes.warnings.extend(again.collect::<Vec<_>>());
        let Err(Diagnostic { code, message, hint, .. }) = listed else { return };
        let message = format!("{} cannot be updated: {message}", self.parent.set.parent);
        let hint =
            hint.as_deref().unwrap_or("run again, so that the set lists the kinds and namespaces of its members");
        self.notes.errors.push(Diagnostic::new(code, message).with_hint(hint));
    }

    async fn list_remaining(
        &mut self,
        cluster: &Cluster,
        is_complete: bool,
        has_joined: bool,
    ) -> Result<(), Diagnostic> {
        let members = self.desired.inventory().clone();
        let before = self.parent.state.clone();
        if has_joined {
            self.parent.read_again(cluster).await?;
        }
        if !is_complete {
            return if has_joined { self.list(cluster, &members).await } else { Ok(()) };
        }
        for _ in 0..ROUNDS {
            if self.is_disturbed || !self.parent.is_undisturbed(before.as_ref(), &members) {
                break;
            }
            match self.parent.write(cluster, &members).await {
                Recorded::Written(_) => return self.list_latecomers(cluster, before, members).await,
                Recorded::Failed(diagnostic) => return Err(diagnostic),
                Recorded::Moved => self.parent.read_again(cluster).await?,
            }
        }
        let message = "somebody else changed the apply set in the meantime: its list may have kinds or namespaces without members";
        self.notes.warnings.push(message.to_owned());
        self.list(cluster, &members).await
    }

    /// Makes the parent list these kinds and namespaces, beside those that it lists.
    async fn list(&mut self, cluster: &Cluster, members: &Inventory) -> Result<(), Diagnostic> {
        for _ in 0..ROUNDS {
            let now = self.parent.state.as_ref().map(|state| state.inventory(&self.coverage.mentioned));
            match self.parent.write(cluster, &members.union(&now.unwrap_or_default())).await {
                Recorded::Written(_) => return Ok(()),
                Recorded::Failed(diagnostic) => return Err(diagnostic),
                Recorded::Moved => {
                    self.is_disturbed = true;
                    self.parent.read_again(cluster).await?;
                }
            }
        }
        Err(Diagnostic::new(Code::Conflict, "the parent of the apply set keeps changing").with_hint("run again"))
    }

    /// Lists the members again that another run has added in kinds and namespaces that this one took off the list.
    async fn list_latecomers(
        &mut self,
        cluster: &Cluster,
        before: Option<ParentState>,
        mut members: Inventory,
    ) -> Result<(), Diagnostic> {
        let (Some(before), Some(now)) = (before, &self.parent.state) else { return Ok(()) };
        let listed = |state: &ParentState| state.inventory(&self.coverage.mentioned);
        let (before, now) = (listed(&before), listed(now));
        let searches: Vec<MemberSearch> =
            self.searches.iter().filter_map(|search| search.of_what_left(&before, &now)).collect();
        if searches.is_empty() {
            return Ok(());
        }
        let found = find(cluster, searches, &format!("{PART_OF}={}", self.set().id)).await;
        let is_new = |listed: &ListedMember| {
            let uid = listed.member.uid();
            !self.entries.iter().any(|entry| entry.member.member.uid() == uid)
                && matches!(self.desired.decide(&listed.member), PruneDecision::Prune(_) | PruneDecision::Keep(_))
        };
        let objects = found.objects.into_iter();
        let listed =
            objects.map(|(resource, object)| ListedMember::new(resource, object, &self.parent, &self.coverage));
        for late in listed.filter(is_new) {
            members.add(&late.member.key);
        }
        // Where it cannot be looked, there may be some.
        for Unsearched { kind, namespace, .. } in found.unsearched {
            members.kinds.insert(kind);
            members.namespaces.extend(namespace);
        }
        self.list(cluster, &members).await
    }
}
