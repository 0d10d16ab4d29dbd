//! Writes one object by server-side apply, with the version that was judged as the lock.
//!
//! ```text
//! ObjectDiff ─▶ create: apply, or POST if nothing may be merged into an object that somebody else creates
//!            ─▶ replace: delete, wait until it is gone, create
//!            ─▶ update, adopt: [manual claims pass to us] ─▶ apply with uid and resourceVersion ─409─▶ judge again
//! ```

mod create;
mod delete;
mod lost;
mod replace;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};
use structured_merge::{
    FieldSet, ManagedObject, ObjectMeta as _, Op, Ownership, TypeRef, changes, merge, with_live_spelling,
    without_fields,
};

pub use create::{NotEstablished, wait_for_discovery, wait_until_established};
pub use delete::{DEFAULT_DELETE_TIMEOUT, Deleted, Deletion, DeletionDeadline, delete, wait_until_gone};
pub use lost::is_open;
use lost::{may_be_done, unknown_end};
pub use replace::{GRACE, Replacements};

use crate::client::{Address, Change, Cluster, RequestError, Retry, Warnings, WriteRequest};
use crate::engine::comparison::dry_run::drive_to_end;
use crate::live::answer::Asked;
use crate::live::fetch;
use reconcile_core::compare::{
    Action, ComparisonMachine, Decision, ForceConflicts, LiveObject, Membership, ObjectDiff, Policy, Prediction,
    ROUNDS, Redactor, Refusal, Replace, missing_namespace, refusal, takes_out,
};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::discreet::shown_warning_about;
use reconcile_core::live::{LiveState, Resource, Target, failed_request};
use reconcile_core::text::coded;

/// The outcome of a write.
#[derive(Clone, Debug)]
pub enum Written {
    /// It was created.
    Created,
    /// It was updated.
    Updated,
    /// Its fields were recorded as ours, and nothing else changed.
    Adopted,
    /// The server accepted the write, and left it as it was.
    WithoutEffect,
    /// It was deleted and recreated.
    Replaced,
    /// Somebody changed it after the difference was shown, so that it now differs in another way. It was left alone.
    Moved(Box<ObjectDiff>),
    /// It could not be written.
    Failed(Diagnostic),
    /// This outcome, with a warning.
    Noted(Box<Written>, String),
}

impl Written {
    fn noting(self, warning: Option<String>) -> Self {
        match warning {
            Some(warning) => Self::Noted(Box::new(self), warning),
            None => self,
        }
    }
}

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

/// The options of all writes of one pass.
#[derive(Clone, Copy)]
pub struct Writes<'a> {
    /// The connection.
    pub cluster: &'a Cluster,
    /// The policy: our field manager, and the fields that may be taken from others.
    pub policy: &'a Policy,
    /// The redactor of the run, so that equal secret values keep the same number.
    pub redactor: &'a Redactor,
    /// The time that the deletion for a replacement may take.
    pub deletion: Duration,
    /// True if the user confirmed the differences that were shown, so that no others may be written.
    pub agreed: bool,
    /// The replacements under way.
    pub replacements: &'a Replacements,
}

impl Writes<'_> {
    /// Writes one object that differs or is not ours yet. Sends nothing for any other.
    pub async fn write(&self, target: &Target, decision: &Decision, schema: TypeRef<'_>) -> Option<Written> {
        let Ok(resource) = &target.resource else { return None };
        let Self { policy, redactor, deletion, agreed, replacements, .. } = *self;
        // A write that was begun is finished, even if the run is interrupted.
        let cluster = &self.cluster.until_done();
        let warnings = &Warnings::default();
        let writer =
            Writer { cluster, target, resource, schema, policy, redactor, deletion, agreed, replacements, warnings };
        let shown = &decision.diff;
        let live = decision.live();
        let is_update = || shown.action == Action::Update || shown.is_ownership_only();
        let written = match (shown.action, live) {
            _ if !shown.conflicts.is_empty() => None,
            (Action::Create, _) => Some(writer.create(shown).await),
            (Action::Replace, Some(live)) if policy.replace == Replace::Immutable => {
                let target = &in_its_apply_set(target, decision.membership.as_ref());
                Some(Writer { target, ..writer }.replace(live, shown).await)
            }
            _ if decision.prediction().is_some() && is_update() => Some(writer.update(decision).await),
            _ => None,
        };
        // What the server warns of in its answers, unless the comparison has shown it.
        let warnings = warnings.take().into_iter().map(|text| shown_warning_about(target, live, text));
        let new = warnings.filter(|text| !decision.warnings.contains(text)).collect::<Vec<_>>();
        written.map(|written| new.into_iter().rev().fold(written, |written, text| written.noting(Some(text))))
    }
}

/// The target of a replacement: the new object stays in the apply set of the former one.
fn in_its_apply_set<'t>(target: &'t Target, membership: Option<&Membership>) -> Cow<'t, Target> {
    match membership {
        Some(Membership::Kept(id)) => {
            let mut target = target.clone();
            target.desired.join_apply_set(id);
            Cow::Owned(target)
        }
        _ => Cow::Borrowed(target),
    }
}

struct Writer<'a> {
    cluster: &'a Cluster,
    target: &'a Target,
    resource: &'a Resource,
    schema: TypeRef<'a>,
    policy: &'a Policy,
    redactor: &'a Redactor,
    deletion: Duration,
    agreed: bool,
    replacements: &'a Replacements,
    /// The warnings in all answers to this writer.
    warnings: &'a Warnings,
}

impl Writer<'_> {
    /// Writes until the object matches the shown result, as long as nobody makes it differ in another way. If a failed attempt left
    /// changes behind, a warning says so, unless a later attempt succeeds.
    async fn update(&self, shown: &Decision) -> Written {
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
        // Fields that the manifest dropped are included: they are removed only if no manual change claims them as well.
        let concerned = claims.union(&before.our_fields());
        let displaced = &after.in_the_way;
        let transferred = |owners: &Ownership| {
            owners.with_fields_displaced(live, self.schema, &concerned, displaced, &api_version, self.policy)
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

    /// Rewrites `metadata.managedFields` of the given version. Returns the new resourceVersion.
    async fn record_owners(&self, owners: Value, version: &Value) -> Result<Value, RequestError> {
        let patch = owners_patch(self.path(), &self.policy.manager, &owners, version);
        let reply = self.send(patch.write(Retry::Safe)).await?;
        let object = Asked::key(&self.target.key).read(self.cluster, reply.body())?;
        Ok(object.metadata("resourceVersion").cloned().unwrap_or_default())
    }

    /// Applies the body. Returns the status, which is 201 for a new object, and the object. An apply is idempotent, so it may be repeated.
    async fn apply(&self, body: &Value, force: bool) -> Result<(StatusCode, Value), RequestError> {
        let change = WriteRequest::apply(self.path(), &self.policy.manager, force, body);
        let reply = self.send(change.write(Retry::Safe)).await?;
        let object = Asked::key(&self.target.key).sent(body).read(self.cluster, reply.body())?;
        Ok((reply.status(), object))
    }

    async fn send(&self, change: impl Into<Change>) -> Result<Response<Bytes>, RequestError> {
        self.cluster.change(change, self.warnings).await
    }

    fn path(&self) -> Address {
        self.resource.object_path(self.target.key.namespace.as_deref(), &self.target.key.name)
    }

    /// Reads and compares the object again. Returns `None` if it cannot be read.
    async fn judge_again(&self) -> Option<Decision> {
        let live = fetch::get(self.cluster, self.target, self.resource).await;
        if matches!(live, LiveState::Unreadable(_)) {
            return None;
        }
        let mut machine = ComparisonMachine::new(self.target, live, self.schema, self.policy);
        drive_to_end(self.cluster, self.resource, &mut machine).await;
        Some(machine.decide(None, self.redactor))
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

    /// The diagnostic for a request that failed.
    fn failure(&self, error: &RequestError, live: Option<&Value>) -> Diagnostic {
        failed_request(self.target, live, error)
    }

    /// The end of a write whose answer was lost.
    fn lost(&self, error: &RequestError, live: Option<&Value>) -> Written {
        Written::Failed(unknown_end(self.failure(error, live), "written"))
    }

    fn failed(&self, error: &RequestError, live: Option<&Value>) -> Written {
        let Some(status) = error.refusal() else {
            return Written::Failed(self.failure(error, live));
        };
        Written::Failed(match refusal(self.target, live, self.schema, status) {
            Refusal::NoNamespace(name) => missing_namespace(&name),
            Refusal::Immutable(reason) => Diagnostic::new(Code::Invalid, reason),
            Refusal::Typed(diagnostic)
            | Refusal::NotTried(diagnostic)
            | Refusal::Early(diagnostic)
            | Refusal::Invalid(diagnostic, _)
            | Refusal::Other(diagnostic) => diagnostic,
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

/// `metadata.managedFields` of an object, as an update writes them.
fn recorded_owners(object: &Value) -> Value {
    object.metadata("managedFields").cloned().unwrap_or_else(|| json!([{}]))
}

/// The change of `metadata.managedFields` of this version of an object, and of nothing else.
pub fn owners_patch(object: Address, manager: &str, owners: &Value, version: &Value) -> WriteRequest {
    let operations = json!([
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
        {"op": "add", "path": "/metadata/managedFields", "value": owners},
    ]);
    WriteRequest::json_patch(object, manager, &operations)
}
