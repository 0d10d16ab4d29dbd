//! The one judge: what `diff` and `apply` show, what is judged again when an object changes while it is written, and what captured
//! objects are compared with.
//!
//! ```text
//! LiveState ─find: ComparisonMachine ⇄ dry_run ⇄ server─▶ ComparisonResult ─decide─▶ Decision { finding, assessment }
//!     └─ captured (no server to ask) ───────────────▶ Assessment
//! ```

use structured_merge::TypeRef;

use crate::client::Cluster;
use crate::compare::{
    Assessment, CompareContext, ComparisonMachine, ComparisonResult, Finding, ObjectVerdict, Policy, Redactor, offline,
    verdict,
};
use crate::engine::dry_run::drive;
use crate::live::{LiveState, Resource, Target, fetch};

/// What was found and decided about one object, as far as a write needs it.
#[derive(Clone, Debug)]
pub struct Decision {
    /// What the comparison rests on.
    pub finding: Finding,
    /// What was shown.
    pub assessment: Assessment,
}

impl Decision {
    /// The verdict that was shown.
    #[must_use]
    pub fn verdict(&self) -> &ObjectVerdict {
        &self.assessment.verdict
    }
}

/// Judges one object at a time.
#[derive(Clone, Copy)]
pub(crate) struct Judge<'a> {
    /// Whose manager we are, and what may be taken from others.
    pub policy: &'a Policy,
    /// Numbers for secrets, those of the run: what was shown as one number is one value still.
    pub redactor: &'a Redactor,
}

impl Judge<'_> {
    /// Finds out what an apply would make of a live object, and asks the server where that cannot be proven. Objects may be asked
    /// about in any order.
    pub async fn find(
        self,
        cluster: &Cluster,
        (target, resource): (&Target, &Resource),
        live: LiveState,
        of: TypeRef<'_>,
    ) -> ComparisonResult {
        self.ask(cluster, (target, resource), ComparisonMachine::new(target, live, of, self.policy)).await
    }

    /// The same with a comparison that has begun.
    pub async fn ask(
        self,
        cluster: &Cluster,
        (target, resource): (&Target, &Resource),
        mut machine: ComparisonMachine<'_>,
    ) -> ComparisonResult {
        drive(cluster, target, resource, &self.policy.manager, &mut machine).await;
        machine.into_result()
    }

    /// The decision that follows from a finding. Objects must come in a fixed order, for the numbers of their secrets.
    /// `types_will_change` says whether the kind's CustomResourceDefinition changes in this input.
    pub fn decide(
        self,
        target: &Target,
        found: ComparisonResult,
        of: TypeRef<'_>,
        types_will_change: bool,
    ) -> Decision {
        let ComparisonResult { finding, warnings, .. } = found;
        let context = CompareContext { of, policy: self.policy, types_will_change };
        let mut assessment = verdict(target, &finding, context, self.redactor);
        assessment.warnings.extend(warnings);
        Decision { finding, assessment }
    }

    /// Reads an object once more and judges it as it is now. None where it cannot be read.
    pub async fn judge_again(
        self,
        cluster: &Cluster,
        (target, resource): (&Target, &Resource),
        of: TypeRef<'_>,
    ) -> Option<Decision> {
        let live = fetch::get(cluster, target, resource).await;
        if matches!(live, LiveState::Unreadable(_)) {
            return None;
        }
        let found = self.find(cluster, (target, resource), live, of).await;
        Some(self.decide(target, found, of, false))
    }

    /// The verdict on an object that was captured before, without a server to ask.
    pub fn captured(self, target: &Target, state: &LiveState, of: TypeRef<'_>) -> Assessment {
        let context = CompareContext { of, policy: self.policy, types_will_change: false };
        offline(target, state, context, self.redactor)
    }
}
