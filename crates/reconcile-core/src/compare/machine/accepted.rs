//! The answer of a server that accepts the apply.

use serde_json::Value;
use structured_merge::{Ownership, prune, with_string_data};

use super::{ComparisonMachine, State};
use crate::compare::decision::ComparisonResult;
use crate::compare::diff::Evidence;
use crate::compare::live_object::LiveObject;
use crate::compare::patch::version;
use crate::compare::prediction::{Prediction, unreadable_owners};

impl ComparisonMachine<'_> {
    /// Takes the answer of a server that would apply the manifest.
    pub(super) fn applied(&mut self, live: Option<Box<LiveObject>>, object: Value) -> State {
        let Some(live) = live else { return State::Done(ComparisonResult::Missing(Evidence::Server)) };
        if version(&live.current.object) == version(&object) || self.rounds == 0 {
            return self.predicted(*live, object);
        }
        self.rounds -= 1;
        State::Reading { answer: object, live }
    }

    /// Takes the answer to the apply, if it belongs to the version that was read.
    pub(super) fn predicted(&self, live: LiveObject, answer: Value) -> State {
        let api_version = self.context.target.key.gvk.api_version();
        let owners = Ownership::of(&answer, &self.context.policy.manager);
        if let Some(diagnostic) = unreadable_owners(&owners) {
            return State::Done(ComparisonResult::Unknown(diagnostic));
        }
        let claims = owners.our_fields();
        let in_the_way = live.removed.clone();
        let live = Box::new(live);
        let object = answer;
        let evidence = Evidence::Server;
        let mut prediction = Box::new(Prediction { object, owners, evidence, in_the_way, rewrites_records: false });
        let before = &live.current;
        let settled = before.owners.with_fields_displaced(
            &before.object,
            self.context.schema,
            &claims,
            &live.removed,
            &api_version,
            self.context.policy,
        );
        let Some(settled) = settled else { return State::Done(ComparisonResult::Predicted { live, prediction }) };
        let stays = structured_merge::fields_of(live.sent(self.context.target), self.context.schema);
        let stays = with_string_data(&self.context.target.key.gvk, stays, &[]);
        let kept = settled.fields_of_others().union(&stays);
        let pruned = prune(&prediction.object, self.context.schema, &settled.our_fields(), &kept);
        let before = std::mem::replace(&mut prediction.object, pruned);
        if before == prediction.object {
            return State::Done(ComparisonResult::Predicted { live, prediction });
        }
        State::Pruning { live, prediction }
    }
}
