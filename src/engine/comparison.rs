//! Stages 2 and 3 for a set of targets: read the live objects, ask the server, and judge in the plan's order.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use futures::StreamExt as _;
use structured_merge::TypeRef;
use tokio::sync::SetOnce;

use crate::client::{Cluster, MOST_IN_FLIGHT};
use crate::compare::{
    Action, ComparisonMachine, ComparisonResult, DefinedKinds, Evidence, Finding, Policy, Redactor, leave_out_nulls,
    may_hold_refused_nulls,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::begun::{Begun, Known, is_only_looked_for};
use crate::engine::event::{Event, EventSink, Stage};
use crate::engine::interrupt::Interrupt;
use crate::engine::judge::{Decision, Judge};
use crate::live::autoscalers::{AutoscalerSource, Unlisted};
use crate::live::fetch::{fetch_into, get};
use crate::live::types::Types;
use crate::live::{LiveState, Target};
use crate::plan::Plan;
use crate::rules::ReadinessRules;

/// What all comparisons of one run share.
pub(crate) struct Comparison<'a> {
    /// The connection.
    pub cluster: &'a Cluster,
    /// Whose manager we are, and which fields are not ours: with the autoscalers that were read.
    pub policy: Policy,
    /// Types of the kinds at hand.
    pub types: Types,
    /// Numbers for secrets.
    pub redactor: Redactor,
    /// Where autoscalers are found, unless their changes count as drift.
    autoscalers: Option<AutoscalerSource>,
    /// What to know about the run as a whole.
    pub warnings: BTreeSet<String>,
    /// Why objects were not proven in sync, a line each.
    pub unproven: Vec<String>,
    /// Ctrl-C.
    pub interrupt: Interrupt,
    /// Who hears how far it is.
    pub events: &'a dyn EventSink,
    /// When objects are ready, as the configuration says.
    pub readiness: Arc<ReadinessRules>,
}

impl<'a> Comparison<'a> {
    /// Nothing compared yet.
    pub fn new(
        cluster: &'a Cluster,
        policy: &'a Policy,
        cache: Option<&Path>,
        interrupt: Interrupt,
        events: &'a dyn EventSink,
    ) -> Self {
        let (types, redactor) = (Types::new(cache), Redactor::default());
        Self {
            cluster,
            policy: policy.clone(),
            types,
            redactor,
            autoscalers: None,
            warnings: BTreeSet::new(),
            unproven: Vec::new(),
            interrupt,
            events,
            readiness: Arc::default(),
        }
    }

    /// The same, which leaves to autoscalers what they change.
    pub fn respecting(mut self, autoscalers: Option<AutoscalerSource>) -> Self {
        self.autoscalers = autoscalers;
        self
    }

    /// With what the configuration says of readiness.
    pub fn with_readiness(self, readiness: &Arc<ReadinessRules>) -> Self {
        Self { readiness: Arc::clone(readiness), ..self }
    }

    /// Leaves out of custom resources the nulls that their types do not allow; types are read where there may be some.
    pub async fn leave_out_nulls(&mut self, plan: &mut Plan) {
        let may_hold = |target: &&Target| may_hold_refused_nulls(target);
        let resources: Vec<_> =
            plan.targets().filter(may_hold).filter_map(|target| target.resource.as_ref().ok()).collect();
        if !resources.is_empty() {
            self.types.load(self.cluster, resources.into_iter().filter(|found| !found.pending)).await;
            leave_out_nulls(&mut plan.targets_mut().collect::<Vec<_>>(), |gvk| self.types.of(gvk));
        }
    }

    /// Compares targets, which stand in the order of the plan: one decision for each.
    pub async fn compare(&mut self, targets: &[&Target]) -> Vec<Decision> {
        let known: SetOnce<Known> = SetOnce::new();
        let own = (std::mem::take(&mut self.types), self.policy.clone());
        let read = Known::read(self.cluster, targets, self.autoscalers.as_ref(), own);
        let compare = async |index: usize, state| {
            let known = known.wait().await;
            match targets.get(index) {
                Some(target) => known.begin(target, state),
                None => Begun::Read(state),
            }
        };
        let (begun, _) =
            futures::join!(fetch_into(self.cluster, targets, &compare), async { known.set(read.await).is_ok() });
        let mut found = Vec::new();
        if let Some(known) = known.get() {
            let warning = |kind: &Unlisted| kind.warning(targets, begun.iter().map(Begun::state));
            self.warnings.extend(known.unlisted.iter().filter_map(warning));
            found = self.ask(known, targets, begun).await;
        }
        if let Some(Known { types, policy, .. }) = known.into_inner() {
            (self.types, self.policy) = (types, policy);
        }
        let mut decisions: Vec<Decision> = Vec::with_capacity(targets.len());
        let mut changing = DefinedKinds::default();
        let mut unproven = Vec::new();
        let judge = self.judge();
        for (index, (target, found)) in targets.iter().zip(found).enumerate() {
            let own = found.unproven.as_ref().filter(|_| target.elsewhere().is_none());
            unproven.extend(own.map(|why| format!("not proven: {}: {why}", target.key)));
            let types_will_change = changing.place_of(&target.key.gvk).is_some();
            let decision = judge.decide(target, found, self.types.of(&target.key.gvk), types_will_change);
            if decision.verdict().action() != Action::None {
                changing.add(index, target);
            }
            decisions.push(decision);
        }
        self.unproven.extend(unproven);
        decisions
    }

    /// Returns true if a definition that another part has is as its manifest says, as far as can be seen.
    pub async fn is_settled(&self, crd: &Target) -> bool {
        let Ok(resource) = &crd.resource else { return true };
        let state = get(self.cluster, crd, resource).await;
        if matches!(state, LiveState::Absent) {
            return false;
        }
        let of = self.types.of(&crd.key.gvk);
        let found = self.ask_one(self.judge(), of, (crd, Begun::Read(state)), false).await;
        let decision = self.judge().decide(crd, found, self.types.of(&crd.key.gvk), false);
        matches!(decision.verdict().action(), Action::None | Action::Unknown)
    }

    /// The judge of the run.
    fn judge(&self) -> Judge<'_> {
        Judge { policy: &self.policy, redactor: &self.redactor }
    }

    /// Asks about all targets at once. Objects whose namespace or kind is only in this input cannot be asked about yet.
    async fn ask(&self, known: &Known, targets: &[&Target], begun: Vec<Begun<'_>>) -> Vec<ComparisonResult> {
        let coming: BTreeSet<&str> = targets
            .iter()
            .zip(&begun)
            .filter(|(target, begun)| target.key.gvk.is_namespace() && begun.is_absent())
            .map(|(target, _)| target.key.name.as_str())
            .collect();
        let is_coming = |target: &Target| target.key.namespace.as_deref().is_some_and(|name| coming.contains(name));
        let judge = Judge { policy: &known.policy, redactor: &self.redactor };
        // Only what is not finished takes part: of ten thousand objects a few may be asked about, and those at the same time.
        let mut found: Vec<Option<ComparisonResult>> = Vec::with_capacity(targets.len());
        let mut open = Vec::new();
        for (target, begun) in targets.iter().zip(begun) {
            let too_early = begun.is_absent() && is_coming(target);
            found.push(match begun {
                Begun::Found(done) => Some(done),
                begun => {
                    open.push((found.len(), *target, begun, too_early));
                    None
                }
            });
        }
        let mut finished = targets.len().saturating_sub(open.len());
        self.events.receive(Event::Advanced(Stage::Compare, finished));
        let questions = open.into_iter().map(async |(index, target, begun, too_early)| {
            let of = known.types.of(&target.key.gvk);
            (index, self.ask_one(judge, of, (target, begun), too_early).await)
        });
        let mut answers = futures::stream::iter(questions).buffer_unordered(MOST_IN_FLIGHT);
        while let Some((index, answer)) = answers.next().await {
            if let Some(place) = found.get_mut(index) {
                *place = Some(answer);
            }
            finished = finished.saturating_add(1);
            self.events.receive(Event::Advanced(Stage::Compare, finished));
        }
        drop(answers);
        found.into_iter().flatten().collect()
    }

    async fn ask_one(
        &self,
        judge: Judge<'_>,
        of: TypeRef<'_>,
        (target, begun): (&Target, Begun<'_>),
        too_early: bool,
    ) -> ComparisonResult {
        let begun = match begun {
            Begun::Read(state) if is_only_looked_for(target) => return seen(state).into(),
            begun => begun,
        };
        let resource = match &target.resource {
            _ if self.interrupt.is_set() => {
                let message = "the run was interrupted before this object was compared";
                return Finding::Unknown(Diagnostic::new(Code::Interrupted, message)).into();
            }
            Err(trouble) => return Finding::Unknown(trouble.clone()).into(),
            Ok(resource) if resource.pending || too_early => return Finding::Missing(Evidence::Local).into(),
            Ok(resource) => resource,
        };
        let machine = match begun {
            Begun::Found(found) => return found,
            Begun::Asking(machine) => *machine,
            Begun::Read(state) => ComparisonMachine::new(target, state, of, judge.policy),
        };
        judge.ask(self.cluster, (target, resource), machine).await
    }
}

/// What is found of an object that only has to be there.
fn seen(state: LiveState) -> Finding {
    match state {
        LiveState::Present(_) => Finding::Proven(None),
        LiveState::Absent => Finding::Missing(Evidence::Local),
        LiveState::Unreadable(trouble) => Finding::Unknown(trouble),
    }
}
