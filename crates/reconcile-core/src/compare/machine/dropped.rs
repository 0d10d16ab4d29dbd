//! Fields that an apply takes away because the manifest does not have them. Only the comparison shows them, so that it is asked for their
//! autoscalers afterwards.

use serde_json::Value;
use structured_merge::FieldPath;

use super::{ComparisonMachine, State};
use crate::compare::decision::ComparisonResult;
use crate::compare::policy::Policy;

impl<'a> ComparisonMachine<'a> {
    /// Returns true if the comparison is done, and an apply would change or give up a field that only the live object has.
    pub fn drops(&self, field: &FieldPath) -> bool {
        let State::Done(result) = &self.state else { return false };
        let (live, prediction) = match result {
            ComparisonResult::Predicted { live, prediction } => (live, Some(prediction)),
            ComparisonResult::Refused { live: Some(live), .. } => (live, None),
            _ => return false,
        };
        let object = &live.current.object;
        let target = self.context.target;
        let has = |object: &Value| field.value_in(object).is_some_and(|value| !value.is_null());
        if !has(object) || live.ignores(field) || target.desired.with_object(has) {
            return false;
        }
        let changes = |result: &Value| field.value_in(result) != field.value_in(object);
        let is_changed = match prediction {
            Some(prediction) => changes(&prediction.object),
            None => changes(&self.context.predict(live.sent(target), &live.current).object),
        };
        is_changed || live.current.owners.our_fields().contains_at_or_below(field)
    }

    /// Compares an object whose comparison is done again, by a policy that knows more about it.
    pub fn compare_by(&mut self, policy: &'a Policy) {
        let Some(object) = self.live().cloned() else { return };
        self.context.policy = policy;
        self.compare_again(object);
    }
}
