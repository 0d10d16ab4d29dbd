//! Updates one object.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use structured_merge::{
    FieldSet, ManagedObject, ObjectMeta as _, Op, Ownership, changes, merge, with_live_spelling, without_fields,
};

use super::lost::{is_open, may_be_done};
use super::{Writer, Written, recorded_owners};
use crate::client::{RequestError, Retry, WriteRequest};
use crate::live::answer::Asked;
use crate::live::fetch;
use reconcile_core::compare::{Decision, ForceConflicts, LiveObject, Prediction, ROUNDS, takes_out};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::LiveState;
use reconcile_core::text::coded;

/// The end of a write that the server accepted.
enum Ending {
    /// It was done.
    Written,
    /// The object is as it was: it has its former version.
    WithoutEffect,
    /// It was done without what the server refuses, for this reason.
    InPart(Diagnostic),
}

/// The warning about a write without an effect: the comparison had shown one.
const WITHOUT_EFFECT: &str = "the server accepted the update and left the object as it was: something keeps the values of the cluster, such as an \
                              admission webhook that does not act in dry runs";

impl Writer<'_> {
    /// Writes until the object matches the shown result, as long as nobody makes it differ in another way. If a failed attempt left
    /// changes behind, a warning says so, unless a later attempt succeeds.
    pub(super) async fn update(&self, shown: &Decision) -> Written {
        let mut left_behind = None;
        match self.try_update(shown, &mut left_behind).await {
            Ok(done) => done,
            Err(failed) => failed.noting(left_behind),
        }
    }

    async fn try_update(&self, shown: &Decision, left_behind: &mut Option<String>) -> Result<Written, Written> {
        let done = if shown.diff.is_ownership_only() { Written::Adopted } else { Written::Updated };
        let mut rounds = 0..ROUNDS;
        let mut again: Option<Decision> = None;
        loop {
            let decision = again.as_ref().unwrap_or(shown);
            let (Some(live), Some(prediction)) = (decision.live_object(), decision.prediction()) else {
                return Err(Written::Moved(Box::new(decision.shown_diff(self.target))));
            };
            let error = match self.write_over(live, prediction, left_behind).await {
                Ok(Ending::WithoutEffect) if matches!(done, Written::Updated) => {
                    return Ok(Written::WithoutEffect.noting(Some(WITHOUT_EFFECT.to_owned())));
                }
                Ok(Ending::Written | Ending::WithoutEffect) => return Ok(done),
                Ok(Ending::InPart(refused)) => return Err(Written::Failed(refused)),
                Err(error) => error,
            };
            let failed = || Err(self.failed(&error, Some(&live.current.object)));
            let lost = || Err(self.lost(&error, Some(&live.current.object)));
            if !is_open(&error) && (!error.is_conflict() || rounds.next().is_none()) {
                return failed();
            }
            let Some(now) = self.judge_again().await else {
                return if is_open(&error) { lost() } else { failed() };
            };
            if now.diff.is_done() {
                // The write was done, and its answer was lost.
                return Ok(done);
            }
            if is_open(&error) {
                return if may_be_done(&error) { lost() } else { failed() };
            }
            if !now.diff.same_difference(&shown.diff) || !now.diff.conflicts.is_empty() {
                return Err(Written::Moved(Box::new(now.shown_diff(self.target))));
            }
            again = Some(now);
        }
    }

    /// Takes over manual claims that would stay next to ours, then applies. Both are locked to the version that was judged. If the apply
    /// fails, the claims are given back, so that nothing has changed; if that fails as well, `left_behind` is set.
    async fn write_over(
        &self,
        live: &LiveObject,
        after: &Prediction,
        left_behind: &mut Option<String>,
    ) -> Result<Ending, RequestError> {
        let wanted = live.sent(self.target);
        let ManagedObject { object: live, owners: before } = &live.current;
        if self.policy.updates(before) {
            return self.update_fields(live, wanted, after).await;
        }
        let api_version = self.target.key.gvk.api_version();
        let claims = after.owners.our_fields();
        let mut version = live.metadata("resourceVersion").cloned().unwrap_or_default();
        let mut has_taken_over = false;
        let displaced = &after.in_the_way;
        let transferred = |owners: &Ownership| {
            owners.with_fields_displaced(live, self.schema, &claims, displaced, &api_version, self.policy)
        };
        // Whether claims would stay depends on an apply with our current claims: our first apply takes over more than later ones.
        let with_current_claims = Ownership { ours: before.ours.clone(), ..after.owners.clone() };
        let settled = transferred(before).filter(|_| transferred(&with_current_claims).is_some());
        if let Some(settled) = settled.or_else(|| after.rewrites_records.then(|| before.clone())) {
            version = self.record_owners(settled.to_json(live), &version).await?;
            has_taken_over = true;
        }
        let mut body = with_live_spelling(wanted, live, self.schema);
        if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
            metadata.insert("uid".into(), live.metadata("uid").cloned().unwrap_or_default());
            metadata.insert("resourceVersion".into(), version.clone());
        }
        // The owners from whom fields may be taken were judged for this very version; adopted managers always yield.
        let force = self.policy.force != ForceConflicts::None || !self.policy.adopt.is_empty();
        match self.apply(&body, force).await {
            Ok((_, after)) => {
                // Not even the record of owners has changed.
                if !has_taken_over && after.metadata("resourceVersion") == Some(&version) {
                    return Ok(Ending::WithoutEffect);
                }
                let is_gone = takes_out(wanted, live, &after, self.target, self.schema);
                let refused = if is_gone { self.fill_in(body, &after).await } else { None };
                Ok(refused.map_or(Ending::Written, Ending::InPart))
            }
            Err(error) => {
                if has_taken_over {
                    *left_behind = self.give_back(live, &version).await;
                }
                Err(error)
            }
        }
    }

    /// Updates the fields that differ, as Helm 3 does: nothing else is sent, so that the owners of all other fields stay. It is locked to
    /// the version that was judged.
    async fn update_fields(&self, live: &Value, wanted: &Value, after: &Prediction) -> Result<Ending, RequestError> {
        let body = with_live_spelling(wanted, live, self.schema);
        let merged = merge(&body, live, self.schema);
        let removed = changes(live, &after.object, self.schema, self.target.status_is_apart());
        let removed = removed.into_iter().filter(|change| change.op == Op::Remove).map(|change| change.path);
        let removed = removed.collect::<FieldSet>().union(&after.in_the_way);
        let merged = without_fields(&merged, &removed, self.schema);
        let Some(mut patch) = merge_patch(live, &merged) else { return Ok(Ending::Written) };
        if let Some(patch) = patch.as_object_mut() {
            let metadata = patch.entry("metadata").or_insert_with(|| json!({}));
            metadata["uid"] = live.metadata("uid").cloned().unwrap_or_default();
            metadata["resourceVersion"] = live.metadata("resourceVersion").cloned().unwrap_or_default();
        }
        let patch = WriteRequest::merge_patch(self.path(), &self.policy.manager, &patch);
        let reply = self.send(patch.write(Retry::Safe)).await?;
        let after = Asked::key(&self.target.key).read(self.cluster, reply.body())?;
        let is_unchanged = after.metadata("resourceVersion") == live.metadata("resourceVersion");
        Ok(if is_unchanged { Ending::WithoutEffect } else { Ending::Written })
    }

    /// Applies once more, for what is gone. If others own it by now, they keep it, and the next comparison reports it. Returns the reason why
    /// the server refuses it.
    async fn fill_in(&self, mut body: Value, after: &Value) -> Option<Diagnostic> {
        if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
            metadata.insert("resourceVersion".into(), after.metadata("resourceVersion").cloned().unwrap_or_default());
        }
        let error = self.apply(&body, false).await.err().filter(|error| !error.is_conflict() && !is_open(error))?;
        let Written::Failed(reason) = self.failed(&error, Some(after)) else { return None };
        let message = format!("it was updated without what the server refuses: {}", reason.message);
        // The message tells more than the place of each mistake.
        Some(Diagnostic { message, details: Vec::new(), ..reason })
    }

    /// Gives back the claims that we took over for an apply that failed. Returns a warning if they stay ours. It is locked to the version
    /// after the takeover: if somebody has written since, the record is no longer ours to restore.
    async fn give_back(&self, live: &Value, version: &Value) -> Option<String> {
        let before = Ownership::of(live, &self.policy.manager);
        let error = self.record_owners(recorded_owners(live), version).await.err()?;
        let now = match fetch::get(self.cluster, self.target, self.resource).await {
            LiveState::Present(now) => Ownership::of(&now, &self.policy.manager),
            LiveState::Absent => return None,
            LiveState::Unreadable(_) => Ownership::default(),
        };
        let lost = before.lost(&now).into_iter().filter(|lost| !lost.fields.is_empty());
        let owners: BTreeSet<String> = lost.map(|lost| coded(&lost.entry.manager)).collect();
        // If none is lost, the record was restored, and only the answer was lost.
        (!owners.is_empty()).then(|| {
            let owners = owners.into_iter().collect::<Vec<_>>().join(", ");
            let why = self.failure(&error, Some(live)).message;
            let ours = &self.policy.manager;
            format!(
                "fields of {owners} now belong to `{ours}`, and could not be given back after the apply failed: {why}"
            )
        })
    }
}

/// The JSON merge patch (RFC 7386) that turns one object into another; `None` if they are equal.
fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return (before != after).then(|| after.clone());
    };
    let mut patch = Map::new();
    for (name, value) in after {
        let difference = match before.get(name) {
            Some(before) => merge_patch(before, value),
            None => Some(value.clone()),
        };
        patch.extend(difference.map(|difference| (name.clone(), difference)));
    }
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    patch.extend(gone.map(|name| (name.clone(), Value::Null)));
    (!patch.is_empty()).then_some(Value::Object(patch))
}
