//! `--prune --applyset`: the manifests join an apply set, and its members that no manifest names any more are deleted.
//!
//! ```text
//! prepare: the parent, labels on the manifests ─▶ search: its members ─▶ judge: who goes ─▶ shown
//!                          act: the parent lists a superset ─▶ (the pass) ─▶ deletions ─▶ the parent lists what is left
//! ```

mod act;
mod delete;
mod prepare;
mod search;

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey};

use crate::client::Cluster;
use crate::compare::{Action, ObjectVerdict, Policy, Redactor, Replace, Secrecy};
use crate::desired::DesiredSet;
use crate::diagnostic::Diagnostic;
use crate::engine::event::{Event, EventSink};
use crate::engine::interrupt::Interrupt;
use crate::engine::write::DEFAULT_DELETE_TIMEOUT;
use crate::live::apply_set::Search;
use crate::live::resolve::Namespaces;
use crate::live::{Discovery, Resource, Target};
use crate::object::GroupKind;
use crate::plan::apply_set::{
    ApplySet, DesiredMembers, Inventory, Member, ParentAnnotations, ParentState, PruneDecision, PruneStep,
};
use crate::report::{ApplySetInfo, Command, Failure, ObjectReport, ParentAction, Report};

pub(crate) use prepare::Requested;

/// The apply set of one run.
struct Pruning {
    set: ApplySet,
    resource: Resource,
    adopt: BTreeSet<String>,
    /// The parent as it was read last; none where there is none yet.
    standing: Option<ParentState>,
    /// Where the parent says that there are members, as far as that counts and the server still knows the kinds.
    listed: Inventory,
    /// Where the manifests put objects.
    mentioned: Inventory,
    searches: Vec<Search>,
    /// Kinds that the parent lists and the server does not serve.
    unknown: Vec<GroupKind>,
    /// Kinds whose members could not be looked for, with the namespace where it is only one.
    unseen: Vec<(GroupKind, Option<String>)>,
    /// Members that were listed and cannot be read.
    unreadable: Vec<ObjectKey>,
    /// Whether members that the parent does not list are pruned, too.
    recovers: bool,
    found: Vec<Member>,
    wanted: Option<DesiredMembers>,
    members: Vec<Entry>,
    parent_action: ParentAction,
    warnings: Vec<String>,
    errors: Vec<Diagnostic>,
    /// Whether nothing may be written, as the parent cannot be.
    is_held: bool,
    /// Whether what cannot be changed is replaced.
    replaces: bool,
    /// The namespaces that manifests name.
    named_namespaces: BTreeSet<String>,
}

/// A member that is not wanted, on its way.
struct Entry {
    turn: PruneStep,
    member: Member,
    fate: PruneDecision,
    report: ObjectReport,
}

impl Pruning {
    fn new(set: ApplySet, resource: Resource, adopt: BTreeSet<String>, standing: Option<ParentState>) -> Self {
        Self {
            set,
            resource,
            adopt,
            standing,
            listed: Inventory::default(),
            mentioned: Inventory::default(),
            searches: Vec::new(),
            unknown: Vec::new(),
            unseen: Vec::new(),
            unreadable: Vec::new(),
            recovers: false,
            found: Vec::new(),
            wanted: None,
            members: Vec::new(),
            parent_action: ParentAction::None,
            warnings: Vec::new(),
            errors: Vec::new(),
            is_held: false,
            replaces: false,
            named_namespaces: BTreeSet::new(),
        }
    }

    fn judge(&mut self, targets: &[&Target], policy: &Policy, redactor: &Redactor) {
        let wanted = DesiredMembers::of(&self.set, targets, policy).recovering(self.recovers);
        let mut wanted = wanted.without_sight_of(std::mem::take(&mut self.unseen));
        // Nobody knows what they are: they stay, and so does what they live in.
        self.unreadable.drain(..).for_each(|member| wanted.keep(&member));
        self.named_namespaces = targets.iter().filter_map(|target| concerned(&target.key)).collect();
        self.replaces = policy.replace == Replace::Immutable;
        let unwanted = wanted.unwanted(std::mem::take(&mut self.found));
        let (turns, unwanted): (Vec<PruneStep>, Vec<Member>) = unwanted.into_iter().unzip();
        let fates = wanted.fates(&unwanted);
        let members = turns.into_iter().zip(unwanted).zip(fates);
        self.members = members.map(|((turn, member), fate)| Entry::new(turn, member, fate, redactor)).collect();
        let record = ParentAnnotations::of(&self.set, self.standing.as_ref(), &wanted.contents);
        self.parent_action = match &self.standing {
            None => ParentAction::Create,
            Some(standing) if standing.says(&record) => ParentAction::None,
            Some(_) => ParentAction::Update,
        };
        self.wanted = Some(wanted);
    }

    fn tell(&self, report: Report) -> Report {
        let deleted = report.objects.iter().filter(|object| object.is_deletion());
        let elsewhere: BTreeSet<String> = deleted.filter_map(|object| concerned(&object.key)).collect();
        let elsewhere = elsewhere.difference(&self.named_namespaces).cloned().collect();
        let set = ApplySetInfo::new(&self.set.id, &self.set.parent, self.parent_action).deleting_in(elsewhere);
        let mut report = report.with_apply_set(set);
        report.warnings.extend(self.warnings.iter().cloned());
        let is_in_the_way = |object: &&ObjectReport| match object.action {
            Action::Unknown => true,
            Action::Replace => !self.replaces,
            _ => !object.conflicts.is_empty(),
        };
        if report.command == Command::Diff && report.summary.delete > 0 {
            let in_the_way = report.objects.iter().find(is_in_the_way).map(|object| object.key.to_string());
            report
                .warnings
                .extend(in_the_way.map(|key| format!("`apply` would prune nothing until {key} can be applied")));
        }
        report.with_errors(self.errors.clone())
    }
}

/// The apply set of a run that has one; without one, there is nothing to do.
pub(crate) struct Prune(Option<Pruning>);

impl Prune {
    /// Finds the parent, and makes sure that no manifest is a member of another set.
    pub async fn prepare(
        requested: Option<&Requested>,
        adopt: &BTreeSet<String>,
        server: (&Cluster, &Discovery, &Namespaces),
        desired: &DesiredSet,
    ) -> Result<Self, Failure> {
        let Some(requested) = requested else { return Ok(Self(None)) };
        Ok(Self(Some(Pruning::prepare(requested, adopt, server, desired).await?)))
    }

    /// The set that the objects of the manifests join.
    pub fn set(&self) -> Option<&ApplySet> {
        self.0.as_ref().map(|pruning| &pruning.set)
    }

    /// Lists the members.
    pub async fn search(&mut self, cluster: &Cluster) {
        if let Some(pruning) = &mut self.0 {
            pruning.search(cluster).await;
        }
    }

    /// Decides who goes, among the members that were found, after the redactor has shown all objects of the manifests.
    pub fn judge(&mut self, targets: &[&Target], policy: &Policy, redactor: &Redactor, events: &dyn EventSink) {
        if let Some(pruning) = &mut self.0 {
            pruning.judge(targets, policy, redactor);
            pruning.members.iter().for_each(|entry| events.receive(Event::Compared(&entry.report)));
        }
    }

    /// How many members there are that no manifest names.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |pruning| pruning.members.len())
    }

    /// Returns true if there is anything to write: members to delete, or the parent's list.
    pub fn has_work(&self) -> bool {
        self.0.as_ref().is_some_and(|pruning| {
            pruning.parent_action != ParentAction::None
                || pruning.members.iter().any(|entry| entry.fate == PruneDecision::Pruned)
        })
    }

    /// The namespace of a parent that does not exist yet.
    pub fn new_namespace(&self) -> Option<&str> {
        let pruning = self.0.as_ref().filter(|pruning| pruning.standing.is_none())?;
        pruning.set.parent.namespace.as_deref()
    }

    /// Before the pass: the parent lists where members are and where they will be. The error says why the pass cannot begin.
    pub async fn begin(&mut self, cluster: &Cluster, interrupt: &Interrupt) -> Result<(), String> {
        match &mut self.0 {
            Some(pruning) if !interrupt.is_set() => pruning.begin(cluster).await,
            _ => Ok(()),
        }
    }

    /// After the pass: deletes what is not wanted, unless objects of the pass are `left`.
    pub async fn act(
        &mut self,
        cluster: &Cluster,
        left: usize,
        (timeout, interrupt): (Option<Duration>, &Interrupt),
        events: &dyn EventSink,
    ) {
        if let Some(pruning) = &mut self.0 {
            pruning.act(cluster, left, (timeout.unwrap_or(DEFAULT_DELETE_TIMEOUT), interrupt), events).await;
        }
    }

    /// Adds what is to be said of the set as a whole.
    pub fn tell(&self, report: Report) -> Report {
        match &self.0 {
            Some(pruning) => pruning.tell(report),
            None => report,
        }
    }
}

impl Entry {
    fn new(turn: PruneStep, member: Member, fate: PruneDecision, redactor: &Redactor) -> Self {
        let verdict = match fate.reason() {
            None => {
                let reason = "no manifest names it any more".to_owned();
                ObjectVerdict::Delete { live: shown(&member, redactor), reason }
            }
            Some(reason) => ObjectVerdict::Kept { reason: reason.to_owned() },
        };
        Self { report: ObjectReport::unwanted(&member.key, verdict), turn, member, fate }
    }
}

/// The namespace that a deletion concerns: the one that an object is in, or the one that it is.
fn concerned(key: &ObjectKey) -> Option<String> {
    if key.gvk.is_namespace() { Some(key.name.clone()) } else { key.namespace.clone() }
}

/// The live object without its record of owners, and without secret values.
fn shown(member: &Member, redactor: &Redactor) -> Value {
    let mut object = member.object.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    redactor.value(&Secrecy::of(&member.key.gvk, None, Some(&object)), &FieldPath::root(), &object)
}
