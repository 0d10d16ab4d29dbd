//! The answer of a server that accepts the apply.

use serde_json::Value;
use structured_merge::{
    Change, Lookup, Op, Ownership, RefusedNull, TypeRef, changes, merge, prune, take_out_refused_nulls,
    with_string_data,
};

use super::{ComparisonMachine, State};
use crate::compare::decision::ComparisonResult;
use crate::compare::diff::Evidence;
use crate::compare::live_object::LiveObject;
use crate::compare::patch::version;
use crate::compare::prediction::{CompareContext, Prediction, unreadable_owners};
use crate::compare::rejection::refusal::{Refusal, refusal};
use crate::compare::replacement::is_in_its_own_way;
use crate::live::Target;
use crate::request::{Cause, RequestError, StatusError};

/// Returns true if an apply has taken out a part of the manifest: when a map or list loses everything that we had applied, the server removes
/// it or sets it to null, and it takes out fields that do not fit another one that changes. The next apply makes a map or list empty again.
pub fn takes_out(sent: &Value, before: &Value, after: &Value, target: &Target, schema: TypeRef<'_>) -> bool {
    let merged = merge(sent, after, schema);
    let mut before = Lookup::of(before);
    let left = changes(after, &merged, schema, target.status_is_apart());
    let is_gone = |change: &Change| change.op == Op::Add || change.from == Some(Value::Null);
    left.iter().any(|change| is_gone(change) && before.value(&change.path).is_some())
}

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
        let Some(settled) = settled else { return self.settled(live, prediction) };
        let stays = structured_merge::fields_of(live.sent(self.context.target), self.context.schema);
        let stays = with_string_data(&self.context.target.key.gvk, stays, &[]);
        let kept = settled.fields_of_others().union(&stays);
        let pruned = prune(&prediction.object, self.context.schema, &settled.our_fields(), &kept);
        if let Some(refusal) = self.nulled(&live, &pruned) {
            return State::Done(ComparisonResult::Refused { live: Some(live), refusal });
        }
        let before = std::mem::replace(&mut prediction.object, pruned);
        if before == prediction.object {
            return self.settled(live, prediction);
        }
        State::Pruning { live, prediction }
    }

    /// Ends with the result of an apply; of one that takes out a part of the manifest, once the server takes that back.
    pub(super) fn settled(&self, live: Box<LiveObject>, prediction: Box<Prediction>) -> State {
        let CompareContext { target, schema, .. } = self.context;
        if takes_out(live.sent(target), &live.current.object, &prediction.object, target, schema) {
            State::Filling { live, prediction, refused: None }
        } else {
            State::Done(ComparisonResult::Predicted { live, prediction })
        }
    }

    /// Takes the rejection of what the apply takes out and the next one would put back: half of the manifest would be written.
    pub(super) fn filling_rejected(
        &mut self,
        live: Box<LiveObject>,
        prediction: Box<Prediction>,
        refused: Option<Refusal>,
        error: &RequestError,
    ) -> State {
        let CompareContext { target, schema, .. } = self.context;
        match (error.refusal(), refused) {
            (Some(status), None) if status.code == 409 => self.pruning_rejected(live, error),
            (Some(status), None) if matches!(status.code, 400 | 403 | 422) => {
                match refusal(target, Some(&live.current.object), schema, status) {
                    Refusal::NotTried(_) => State::Done(ComparisonResult::Predicted { live, prediction }),
                    refusal => State::Filling { live, prediction, refused: Some(refusal) },
                }
            }
            (Some(status), Some(refusal)) if matches!(status.code, 400 | 403 | 422) && !is_in_its_own_way(status) => {
                State::Done(ComparisonResult::Refused { live: Some(live), refusal })
            }
            _ => State::Done(ComparisonResult::Predicted { live, prediction }),
        }
    }

    /// The refusal of an apply that leaves null where the type of a custom resource does not allow it: of a map or list that loses its last
    /// entries (structured-merge-diff `typed/remove.go`). Only the apply itself is refused so, once the fields are ours, and no dry run before.
    pub(super) fn nulled(&self, live: &LiveObject, after: &Value) -> Option<Refusal> {
        let CompareContext { target, schema, .. } = self.context;
        if !schema.stores_as_sent() {
            return None;
        }
        let nulls = take_out_refused_nulls(&mut after.clone(), schema);
        let is_new =
            |null: &&RefusedNull| null.path.value_in(&live.current.object).is_some_and(|value| !value.is_null());
        let cause = |null: &RefusedNull| Cause {
            reason: "FieldValueTypeInvalid".to_owned(),
            message: "Invalid value: \"null\"".to_owned(),
            field: null.path.to_string(),
        };
        let causes: Vec<Cause> = nulls.iter().filter(is_new).map(cause).collect();
        let status = StatusError { causes, ..StatusError::refusal(422, "Invalid", "the object would be invalid") };
        (!status.causes.is_empty()).then(|| refusal(target, Some(&live.current.object), schema, &status))
    }
}
