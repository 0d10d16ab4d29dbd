//! The pass of `apply`: every object in its turn, wave by wave, and inside a wave as what it needs is done.

use std::ops::Range;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;

use super::comparison::Comparison;
use crate::apply::{Decision, Written, catalog_with, wait_until_established, write};
use crate::compare::{Action, Evidence, Finding, ObjectDiff, Redactor, defines};
use crate::live::Trouble;
use crate::live::fetch::IN_FLIGHT;
use crate::live::resolve::{Target, resource_of};
use crate::plan::{Plan, Queue, Strength};
use crate::report::{ErrorInfo, ObjectReport, Outcome};

/// All objects of one run, compared and then acted on.
pub(super) struct Pass<'a> {
    comparison: Comparison<'a>,
    plan: Plan,
    decisions: Vec<Decision>,
    reports: Vec<ObjectReport>,
    /// How many objects were told of, in the order of the plan.
    told: usize,
    /// Whether somebody agreed to what was shown, and to nothing else.
    agreed: bool,
}

/// Why an object isn't written.
enum Skip {
    Interrupted,
    Needs { what: String, which: &'static str },
}

impl<'a> Pass<'a> {
    /// Compares the objects of a plan.
    pub async fn compare(mut comparison: Comparison<'a>, plan: Plan) -> Self {
        let decisions = comparison.compare(&plan.targets.iter().collect::<Vec<_>>()).await;
        let pairs = plan.targets.iter().zip(&decisions);
        let reports = pairs.map(|(target, decision)| ObjectReport::new(target, decision.diff.clone())).collect();
        Self { comparison, plan, decisions, reports, told: 0, agreed: false }
    }

    /// The objects as they stand now.
    pub fn objects(&self) -> Vec<ObjectReport> {
        self.reports.clone()
    }

    /// What they are, in the same order.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.plan.targets.iter()
    }

    /// The numbers that secrets have in this run.
    pub fn redactor(&self) -> &Redactor {
        &self.comparison.redactor
    }

    /// Creates a Namespace of this input before everything else, where it doesn't exist.
    pub async fn create_namespace(&mut self, name: &str) {
        let is_it = |target: &Target| target.key.gvk.is_namespace() && target.key.name == name;
        let Some(index) = self.plan.targets.iter().position(is_it) else { return };
        let (target, decision) = (&self.plan.targets[index], &self.decisions[index]);
        if decision.diff.action != Action::Create || self.comparison.interrupt.is_set() {
            return;
        }
        let Comparison { cluster, policy, types, redactor, .. } = &self.comparison;
        let written = write(cluster, target, decision, types.of(&target.key.gvk), policy, redactor).await;
        settle(&mut self.reports[index], decision, Ok(written));
    }

    /// Writes nothing, for a reason that concerns all objects.
    pub fn hold(&mut self, reason: &str) {
        for (report, decision) in self.reports.iter_mut().zip(&self.decisions).filter(|(r, _)| r.outcome.is_none()) {
            report.outcome = Some(match left_alone(report, decision) {
                Outcome::Unchanged if report.is_ownership_only() => skip(report, reason.to_owned()),
                Outcome::Skipped if report.action != Action::Unknown => skip(report, reason.to_owned()),
                left => left,
            });
        }
    }

    /// Why objects were not proven in sync, a line each.
    pub fn doubts(&self) -> &[String] {
        &self.comparison.doubts
    }

    /// Whether there is something to write.
    pub fn has_work(&self) -> bool {
        self.reports.iter().any(|report| {
            let is_change = !matches!(report.action, Action::None | Action::Unknown) || report.is_ownership_only();
            is_change && report.conflicts.is_empty()
        })
    }

    /// What turns out to differ otherwise, once it can be compared with the server's help, is left alone from here on.
    pub fn hold_what_differs_from_what_was_shown(&mut self) {
        self.agreed = true;
    }

    /// Writes what differs; `done` hears of each object in the order of the plan.
    pub async fn act(&mut self, done: impl Fn(&ObjectReport)) {
        let mut start = 0;
        while let Some(wave) = self.plan.waves.get(start).copied() {
            let end = start + self.plan.waves[start..].iter().take_while(|other| **other == wave).count();
            self.write(start..end, &done).await;
            self.build_on(start..end).await;
            start = end;
        }
    }

    /// Writes one wave: what doesn't need each other in parallel.
    async fn write(&mut self, wave: Range<usize>, done: &impl Fn(&ObjectReport)) {
        let Self { comparison, plan, decisions, reports, told, .. } = self;
        let Comparison { cluster, policy, types, redactor, interrupt, .. } = &*comparison;
        let mut queue = Queue::of(plan, wave);
        let mut under_way = FuturesUnordered::new();
        loop {
            while under_way.len() < IN_FLIGHT
                && let Some(index) = queue.take()
            {
                // One Namespace may have had to come before everything else.
                if reports[index].outcome.is_some() {
                    queue.done(index);
                    continue;
                }
                let (target, decision) = (&plan.targets[index], &decisions[index]);
                let skip = skipped(plan, reports, index, interrupt.is_set());
                let of = types.of(&target.key.gvk);
                under_way.push(async move {
                    match skip {
                        Some(skip) => (index, Err(skip)),
                        None => (index, Ok(write(cluster, target, decision, of, policy, redactor).await)),
                    }
                });
            }
            let finished = under_way.next().await.map(|(index, result)| {
                settle(&mut reports[index], &decisions[index], result);
                queue.done(index);
            });
            while let Some(report) = reports.get(*told).filter(|report| report.outcome.is_some()) {
                done(report);
                *told += 1;
            }
            if finished.is_none() {
                break;
            }
        }
    }

    /// Once a wave stands that others build on: waits for new kinds, reads the catalog again, and compares what could not be
    /// asked about before.
    async fn build_on(&mut self, wave: Range<usize>) {
        let is_foundation = |index: usize| {
            let gvk = &self.plan.targets[index].key.gvk;
            gvk.is_namespace() || gvk.is_crd()
        };
        let written = |report: &ObjectReport| {
            matches!(report.outcome, Some(Outcome::Created | Outcome::Updated | Outcome::Replaced))
        };
        let foundations: Vec<usize> =
            wave.clone().filter(|index| is_foundation(*index) && written(&self.reports[*index])).collect();
        if foundations.is_empty() {
            return;
        }
        let later = wave.end..self.plan.targets.len();
        self.learn_kinds(&foundations, later.clone()).await;
        let again: Vec<usize> = later
            .filter(|index| self.is_provisional(*index))
            .filter(|index| blocked(&self.plan, &self.reports, *index).is_none())
            .collect();
        let targets: Vec<&Target> = again.iter().map(|index| &self.plan.targets[*index]).collect();
        let decisions = self.comparison.compare(&targets).await;
        for (index, mut decision) in again.into_iter().zip(decisions) {
            if self.agreed && !decision.diff.same_difference(&self.decisions[index].diff) {
                let message = "it differs otherwise than was shown: left alone";
                decision.diff = ObjectDiff::unknown(Trouble::new("Conflict", message).with_hint("run again"));
            }
            self.reports[index] = ObjectReport::new(&self.plan.targets[index], decision.diff.clone());
            self.decisions[index] = decision;
        }
    }

    /// Waits until the kinds that were just defined are served, and finds their resources.
    async fn learn_kinds(&mut self, foundations: &[usize], later: Range<usize>) {
        let cluster = self.comparison.cluster;
        let mut crds: Vec<&Target> = Vec::new();
        for index in foundations.iter().copied().filter(|index| self.plan.targets[*index].key.gvk.is_crd()) {
            let crd = &self.plan.targets[index];
            match wait_until_established(cluster, crd).await {
                Ok(()) => crds.push(crd),
                Err(trouble) => fail(&mut self.reports[index], trouble),
            }
        }
        if crds.is_empty() {
            return;
        }
        let provisional: Vec<usize> = later.filter(|index| self.is_provisional(*index)).collect();
        let targets = provisional.iter().map(|index| &self.plan.targets[*index]);
        let defined = targets.filter(|target| crds.iter().any(|crd| defines(crd, target)));
        let awaited: Vec<_> = defined.map(|target| target.key.gvk.clone()).collect();
        if let Ok(catalog) = catalog_with(cluster, &awaited).await {
            self.comparison.types.forget();
            for index in provisional {
                let target = &mut self.plan.targets[index];
                target.resource = resource_of(&target.manifest, &catalog);
            }
        }
    }

    /// Whether the server could not be asked, as something of this input has to come first.
    fn is_provisional(&self, index: usize) -> bool {
        let Decision { finding, diff } = &self.decisions[index];
        match finding {
            Finding::Missing(evidence) => *evidence == Evidence::Local,
            Finding::Refused { .. } => diff.evidence == Some(Evidence::Local) && diff.action != Action::Replace,
            Finding::Proven(_) | Finding::Predicted { .. } | Finding::Unknown(_) => false,
        }
    }
}

/// Why an object that would be written is not.
fn skipped(plan: &Plan, reports: &[ObjectReport], index: usize, interrupted: bool) -> Option<Skip> {
    let report = &reports[index];
    let is_left_alone = matches!(report.action, Action::None | Action::Unknown) && !report.is_ownership_only();
    match interrupted {
        true => Some(Skip::Interrupted),
        false if is_left_alone || !report.conflicts.is_empty() => None,
        false => blocked(plan, reports, index),
    }
}

/// What an object needs and doesn't have.
fn blocked(plan: &Plan, reports: &[ObjectReport], index: usize) -> Option<Skip> {
    plan.needs[index].iter().find_map(|need| {
        let other = &reports[need.on];
        let which = match other.outcome {
            Some(Outcome::Failed) if other.action == Action::Create => "could not be created",
            Some(Outcome::Failed) => "could not be written",
            Some(Outcome::Conflict) => "was left alone",
            Some(Outcome::Skipped) if other.action == Action::Unknown => "could not be compared",
            Some(Outcome::Skipped) => "was skipped",
            _ => return None,
        };
        let is_missed = match need.strength {
            Strength::Order => false,
            Strength::Existence | Strength::Inside => other.action == Action::Create,
            Strength::Success | Strength::Explicit => true,
        };
        is_missed.then(|| Skip::Needs { what: other.key.to_string(), which })
    })
}

fn settle(report: &mut ObjectReport, decision: &Decision, result: Result<Option<Written>, Skip>) {
    report.outcome = Some(match result {
        Err(Skip::Interrupted) => skip(report, "the run was interrupted".to_owned()),
        Err(Skip::Needs { what, which }) => skip(report, format!("it needs {what}, which {which}")),
        Ok(None) => left_alone(report, decision),
        Ok(Some(Written::Created)) => Outcome::Created,
        Ok(Some(Written::Updated)) => Outcome::Updated,
        Ok(Some(Written::Adopted)) => Outcome::Adopted,
        Ok(Some(Written::Replaced)) => Outcome::Replaced,
        Ok(Some(Written::Failed(trouble))) => return fail(report, trouble),
        Ok(Some(Written::Moved(diff))) => {
            report.changes = diff.changes;
            report.conflicts = diff.conflicts;
            let message = "it changed while it was applied, and differs otherwise now: left alone";
            return fail(report, Trouble::new("Conflict", message).with_hint("run again"));
        }
    });
}

fn left_alone(report: &mut ObjectReport, decision: &Decision) -> Outcome {
    match decision.diff.action {
        _ if !decision.diff.conflicts.is_empty() => Outcome::Conflict,
        Action::None => Outcome::Unchanged,
        Action::Replace => {
            let reason = decision.diff.reason.as_deref().unwrap_or_default();
            report.reason = Some(format!("{reason}: it has to be deleted and created anew"));
            Outcome::Failed
        }
        _ => {
            let trouble = decision.diff.trouble.as_ref();
            let why = trouble.map(|trouble| format!(": {}", trouble.message)).unwrap_or_default();
            skip(report, format!("it could not be compared{why}"))
        }
    }
}

fn skip(report: &mut ObjectReport, reason: String) -> Outcome {
    report.reason = Some(reason);
    Outcome::Skipped
}

fn fail(report: &mut ObjectReport, trouble: Trouble) {
    report.error = Some(ErrorInfo::from(trouble));
    report.outcome = Some(Outcome::Failed);
}
