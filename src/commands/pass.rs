//! The pass of `apply`: every object in its turn, wave by wave.

use futures::StreamExt as _;

use super::comparison::Comparison;
use crate::apply::{Decision, Written, catalog_with, wait_until_established, write};
use crate::compare::{Action, Evidence, Finding, defines};
use crate::live::Trouble;
use crate::live::fetch::IN_FLIGHT;
use crate::live::resolve::{Target, resource_of};
use crate::plan::Wave;
use crate::report::{ErrorInfo, ObjectReport, Outcome};

/// All objects of one run, compared and then acted on.
pub(super) struct Pass<'a> {
    comparison: Comparison<'a>,
    entries: Vec<Entry>,
}

/// One object on its way through the pass.
struct Entry {
    target: Target,
    decision: Decision,
    report: ObjectReport,
}

/// Why an object isn't written.
enum Skip {
    Interrupted,
    Needs(String),
}

impl<'a> Pass<'a> {
    /// Compares targets, which stand in the order of the plan.
    pub async fn compare(mut comparison: Comparison<'a>, targets: Vec<Target>) -> Self {
        let decisions = comparison.compare(&targets.iter().collect::<Vec<_>>()).await;
        let entries = targets.into_iter().zip(decisions).map(|(target, decision)| Entry::new(target, decision));
        Self { comparison, entries: entries.collect() }
    }

    /// The objects as they stand now.
    pub fn objects(&self) -> Vec<ObjectReport> {
        self.entries.iter().map(|entry| entry.report.clone()).collect()
    }

    /// What they are, in the same order.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.entries.iter().map(|entry| &entry.target)
    }

    /// Why objects were not proven in sync, a line each.
    pub fn doubts(&self) -> &[String] {
        &self.comparison.doubts
    }

    /// Writes what differs; `done` hears of each object in the order of the plan.
    pub async fn act(&mut self, done: impl Fn(&ObjectReport)) {
        let mut start = 0;
        while let Some(first) = self.entries.get(start) {
            let wave = Wave::of(&first.target.key.gvk);
            let of_wave = |entry: &&Entry| Wave::of(&entry.target.key.gvk) == wave;
            let end = start + self.entries[start..].iter().take_while(of_wave).count();
            self.write(start..end, &done).await;
            if wave == Wave::Foundations {
                self.build_on(end).await;
            }
            start = end;
        }
    }

    /// Writes one wave, its objects in parallel.
    async fn write(&mut self, wave: std::ops::Range<usize>, done: &impl Fn(&ObjectReport)) {
        let this: &Self = self;
        let writes = this.entries[wave.clone()].iter().map(|entry| async move {
            if this.comparison.interrupt.is_set() {
                return Err(Skip::Interrupted);
            }
            if let Some(cause) = this.missing_foundation(entry) {
                return Err(Skip::Needs(cause));
            }
            let Comparison { cluster, policy, types, redactor, .. } = &this.comparison;
            let of = types.of(&entry.target.key.gvk);
            Ok(write(cluster, &entry.target, &entry.decision, of, policy, redactor).await)
        });
        let results: Vec<_> = futures::stream::iter(writes).buffered(IN_FLIGHT).collect().await;
        for (entry, result) in self.entries[wave].iter_mut().zip(results) {
            entry.settle(result);
            done(&entry.report);
        }
    }

    /// The Namespace or the CustomResourceDefinition of this input that an object needs, if it could not be created.
    fn missing_foundation(&self, entry: &Entry) -> Option<String> {
        let key = &entry.target.key;
        let is_foundation = |other: &&Entry| Wave::of(&other.target.key.gvk) == Wave::Foundations;
        let foundation = self.entries.iter().take_while(is_foundation).find(|other| {
            let at = &other.target.key;
            let contains = at.gvk.is_namespace() && key.namespace.as_ref() == Some(&at.name);
            other.decision.diff.action == Action::Create
                && matches!(other.report.outcome, Some(Outcome::Failed | Outcome::Skipped))
                && (contains || defines(&other.target, &entry.target))
        });
        foundation.map(|other| other.target.key.to_string())
    }

    /// Once the foundations stand: waits for new kinds, reads the catalog again, and compares what could not be asked
    /// about before.
    async fn build_on(&mut self, end: usize) {
        let cluster = self.comparison.cluster;
        let mut changed = Vec::new();
        for entry in &mut self.entries[..end] {
            let is_written = matches!(entry.report.outcome, Some(Outcome::Created | Outcome::Updated));
            if entry.target.key.gvk.is_crd() && is_written {
                match wait_until_established(cluster, &entry.target).await {
                    Ok(()) => changed.push(entry.target.clone()),
                    Err(trouble) => entry.fail(trouble),
                }
            }
        }
        let provisional = self.entries[end..].iter().filter(|entry| entry.is_provisional());
        let awaited: Vec<_> = provisional
            .filter(|entry| changed.iter().any(|crd| defines(crd, &entry.target)))
            .map(|entry| entry.target.key.gvk.clone())
            .collect();
        if !changed.is_empty()
            && let Ok(catalog) = catalog_with(cluster, &awaited).await
        {
            self.comparison.types.forget();
            for entry in self.entries[end..].iter_mut().filter(|entry| entry.is_provisional()) {
                entry.target.resource = resource_of(&entry.target.manifest, &catalog);
            }
        }
        let again: Vec<usize> = (end..self.entries.len())
            .filter(|index| self.entries[*index].is_provisional())
            .filter(|index| self.missing_foundation(&self.entries[*index]).is_none())
            .collect();
        let targets: Vec<&Target> = again.iter().map(|index| &self.entries[*index].target).collect();
        let decisions = self.comparison.compare(&targets).await;
        for (index, decision) in again.into_iter().zip(decisions) {
            let entry = &mut self.entries[index];
            *entry = Entry::new(entry.target.clone(), decision);
        }
    }
}

impl Entry {
    fn new(target: Target, decision: Decision) -> Self {
        Self { report: ObjectReport::new(&target, decision.diff.clone()), target, decision }
    }

    /// Whether the server could not be asked, as something of this input has to come first.
    fn is_provisional(&self) -> bool {
        let is_local = self.decision.diff.evidence == Some(Evidence::Local);
        match &self.decision.finding {
            Finding::Missing(evidence) => *evidence == Evidence::Local,
            Finding::Refused { .. } => is_local && self.decision.diff.action != Action::Replace,
            Finding::Proven(_) | Finding::Predicted { .. } | Finding::Unknown(_) => false,
        }
    }

    fn settle(&mut self, result: Result<Option<Written>, Skip>) {
        self.report.outcome = Some(match result {
            Err(Skip::Interrupted) => self.skipped("the run was interrupted".to_owned()),
            Err(Skip::Needs(cause)) => self.skipped(format!("{cause} could not be created")),
            Ok(None) => self.left_alone(),
            Ok(Some(Written::Created)) => Outcome::Created,
            Ok(Some(Written::Updated)) => Outcome::Updated,
            Ok(Some(Written::Adopted)) => Outcome::Adopted,
            Ok(Some(Written::Failed(trouble))) => return self.fail(trouble),
            Ok(Some(Written::Moved(diff))) => {
                self.report.changes = diff.changes;
                self.report.conflicts = diff.conflicts;
                let message = "it changed while it was applied, and differs otherwise now: left alone";
                return self.fail(Trouble::new("Conflict", message).with_hint("run again"));
            }
        });
    }

    fn left_alone(&mut self) -> Outcome {
        match self.decision.diff.action {
            _ if !self.decision.diff.conflicts.is_empty() => Outcome::Conflict,
            Action::None => Outcome::Unchanged,
            Action::Replace => {
                let reason = self.decision.diff.reason.as_deref().unwrap_or_default();
                self.report.reason = Some(format!("{reason}: it has to be deleted and created anew"));
                Outcome::Failed
            }
            _ => {
                let trouble = self.decision.diff.trouble.as_ref();
                let why = trouble.map(|trouble| format!(": {}", trouble.message)).unwrap_or_default();
                self.skipped(format!("it could not be compared{why}"))
            }
        }
    }

    fn skipped(&mut self, reason: String) -> Outcome {
        self.report.reason = Some(reason);
        Outcome::Skipped
    }

    fn fail(&mut self, trouble: Trouble) {
        self.report.error = Some(ErrorInfo::from(trouble));
        self.report.outcome = Some(Outcome::Failed);
    }
}
