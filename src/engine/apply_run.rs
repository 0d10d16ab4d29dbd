//! The pass of `apply`: every object in its turn, wave by wave, and inside a wave as what it needs is done.

use std::ops::Range;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;

use crate::client::Cluster;
use crate::compare::{Action, Evidence, Finding, ObjectDiff, Redactor, defines};
use crate::engine::comparison::Comparison;
use crate::engine::event::{Event, EventSink, Stage};
use crate::engine::interrupt::Interrupt;
use crate::engine::item::{self, blocked, is_change};
use crate::engine::wait::Watched;
use crate::engine::write::{DEFAULT_DELETE_TIMEOUT, Decision, Writes, wait_for_discovery, wait_until_established};
use crate::live::Trouble;
use crate::live::fetch::IN_FLIGHT;
use crate::live::resolve::{Target, resource_of};
use crate::plan::{Plan, ReadySet};
use crate::report::{ObjectReport, Outcome};

/// All objects of one run, compared and then acted on.
pub(crate) struct ApplyRun<'a> {
    comparison: Comparison<'a>,
    plan: Plan,
    decisions: Vec<Decision>,
    reports: Vec<ObjectReport>,
    /// How long what an author says comes first may take to become ready, where that is waited for.
    wait: Option<Duration>,
    /// Whether somebody agreed to what was shown, and to nothing else.
    agreed: bool,
}

impl<'a> ApplyRun<'a> {
    /// Compares the objects of a plan.
    pub async fn compare(mut comparison: Comparison<'a>, mut plan: Plan) -> Self {
        let events = comparison.events;
        events.receive(Event::Began(Stage::Compare, plan.targets.len()));
        comparison.leave_out_nulls(&mut plan.targets).await;
        let decisions = comparison.compare(&plan.targets.iter().collect::<Vec<_>>()).await;
        events.receive(Event::Ended(Stage::Compare));
        let pairs = plan.targets.iter().zip(&decisions);
        let reports: Vec<ObjectReport> =
            pairs.map(|(target, decision)| ObjectReport::new(target, decision.diff.clone())).collect();
        reports.iter().for_each(|report| events.receive(Event::Compared(report)));
        Self { comparison, plan, decisions, reports, wait: None, agreed: false }
    }

    /// The objects as they stand now.
    pub fn objects(&self) -> &[ObjectReport] {
        &self.reports
    }

    /// How many objects are not as they are to be.
    pub fn left(&self) -> usize {
        self.reports.iter().filter(|report| !report.is_done()).count()
    }

    /// What they are, in the same order.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.plan.targets.iter()
    }

    /// The numbers that secrets have in this run.
    pub fn redactor(&self) -> &Redactor {
        &self.comparison.redactor
    }

    /// The connection.
    pub fn cluster(&self) -> &'a Cluster {
        self.comparison.cluster
    }

    /// Who hears what happens.
    pub fn events(&self) -> &'a dyn EventSink {
        self.comparison.events
    }

    /// Whether the run is to stop.
    pub fn interrupt(&self) -> &Interrupt {
        &self.comparison.interrupt
    }

    /// The objects that were proven in sync.
    pub fn proven(&self) -> impl Iterator<Item = &Target> {
        let both = self.plan.targets.iter().zip(&self.reports);
        both.filter(|(_, report)| report.evidence == Some(Evidence::Proven)).map(|(target, _)| target)
    }

    /// What the pass left in the cluster as the manifests say, changed or not. What could not be written is not what was asked
    /// for.
    pub fn existing(&self) -> Vec<Watched> {
        let exists = |object: &ObjectReport| {
            use Outcome::{Adopted, Conflict, Created, Replaced, Unchanged, Updated};
            matches!(object.outcome, Some(Created | Updated | Adopted | Replaced | Unchanged | Conflict))
        };
        let both = self.plan.targets.iter().zip(&self.reports);
        both.filter(|(_, report)| exists(report)).map(|(target, _)| Watched::existing(target)).collect()
    }

    /// Creates a Namespace of this input before everything else, where it doesn't exist.
    pub async fn create_namespace(&mut self, name: &str) {
        let is_it = |target: &Target| target.key.gvk.is_namespace() && target.key.name == name;
        let Some(index) = self.plan.targets.iter().position(is_it) else { return };
        let (target, decision) = (&self.plan.targets[index], &self.decisions[index]);
        if decision.diff.action != Action::Create || self.comparison.interrupt.is_set() {
            return;
        }
        let of = self.comparison.types.of(&target.key.gvk);
        let written = writes(&self.comparison, self.wait, self.agreed).write(target, decision, of).await;
        item::settle(&mut self.reports[index], decision, Ok(written));
        self.comparison.events.receive(Event::Written(&self.reports[index]));
    }

    /// Writes nothing, for a reason that concerns all objects.
    pub fn hold(&mut self, reason: &str) {
        for (report, decision) in self.reports.iter_mut().zip(&self.decisions).filter(|(r, _)| r.outcome.is_none()) {
            report.outcome = Some(match item::left_alone(report, decision) {
                Outcome::Unchanged if report.is_ownership_only() => item::skip(report, reason.to_owned()),
                Outcome::Skipped if report.action != Action::Unknown => item::skip(report, reason.to_owned()),
                left => left,
            });
            self.comparison.events.receive(Event::Revised(report));
        }
    }

    /// Why objects were not proven in sync, a line each.
    pub fn doubts(&self) -> &[String] {
        &self.comparison.doubts
    }

    /// From here on, what an author says comes first has to become ready, in this time each.
    pub fn wait_for_dependencies(&mut self, timeout: Option<Duration>) {
        self.wait = timeout;
    }

    /// Whether there is something to write.
    pub fn has_work(&self) -> bool {
        self.reports.iter().any(is_change)
    }

    /// What turns out to differ otherwise, once it can be compared with the server's help, is left alone from here on.
    pub fn hold_what_differs_from_what_was_shown(&mut self) {
        self.agreed = true;
    }

    /// Writes what differs.
    pub async fn act(&mut self) {
        let mut start = 0;
        while let Some(wave) = self.plan.waves.get(start).copied() {
            let end = start + self.plan.waves[start..].iter().take_while(|other| **other == wave).count();
            self.write(start..end).await;
            self.build_on(start..end).await;
            start = end;
        }
    }

    /// Writes one wave: what doesn't need each other in parallel.
    async fn write(&mut self, wave: Range<usize>) {
        let Self { comparison, plan, decisions, reports, wait, agreed } = self;
        let Comparison { cluster, types, interrupt, events, .. } = &*comparison;
        let writes = writes(comparison, *wait, *agreed);
        let mut queue = ReadySet::of(plan, wave);
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
                let skip = item::skipped(plan, reports, index, interrupt.is_set());
                let first =
                    wait.filter(|_| is_change(&reports[index])).map(|timeout| (timeout, item::explicit(plan, index)));
                let of = types.of(&target.key.gvk);
                under_way.push(async move {
                    let unready = match first {
                        Some((timeout, first)) if skip.is_none() => {
                            item::unready(cluster, &first, timeout, interrupt).await
                        }
                        _ => None,
                    };
                    match skip.or(unready) {
                        Some(skip) => (index, Err(skip)),
                        None => (index, Ok(writes.write(target, decision, of).await)),
                    }
                });
            }
            let Some((index, result)) = under_way.next().await else { break };
            let was_tried = result.is_ok();
            let report = &mut reports[index];
            item::settle(report, &decisions[index], result);
            events.receive(if was_tried { Event::Written(report) } else { Event::Skipped(report) });
            queue.done(index);
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
            self.comparison.events.receive(Event::Compared(&self.reports[index]));
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
                Err(trouble) => {
                    item::fail(&mut self.reports[index], trouble);
                    self.comparison.events.receive(Event::Revised(&self.reports[index]));
                }
            }
        }
        if crds.is_empty() {
            return;
        }
        let provisional: Vec<usize> = later.filter(|index| self.is_provisional(*index)).collect();
        let targets = provisional.iter().map(|index| &self.plan.targets[*index]);
        let defined = targets.filter(|target| crds.iter().any(|crd| defines(crd, target)));
        let awaited: Vec<_> = defined.map(|target| target.key.gvk.clone()).collect();
        if let Ok(catalog) = wait_for_discovery(cluster, &awaited).await {
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

/// How this run writes. A replacement is not left half-way because others were to be looked at for a short time only.
fn writes<'a>(comparison: &'a Comparison<'_>, wait: Option<Duration>, agreed: bool) -> Writes<'a> {
    let Comparison { cluster, policy, redactor, interrupt, .. } = comparison;
    let deletion = wait.unwrap_or_default().max(DEFAULT_DELETE_TIMEOUT);
    Writes { cluster, policy, redactor, deletion, agreed, half_way: interrupt.half_way() }
}
