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
mod replacements;
mod served;
mod update;

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Value, json};
use structured_merge::{ObjectMeta as _, TypeRef};

pub use delete::{DEFAULT_DELETE_TIMEOUT, Deleted, Deletion, DeletionDeadline, delete, wait_until_gone};
pub use lost::is_open;
use lost::unknown_end;
pub use replacements::{GRACE, Replacements};
pub use served::{NotEstablished, wait_for_discovery, wait_until_established};

use crate::client::{Address, Change, Cluster, RequestError, Retry, Warnings, WriteRequest};
use crate::engine::comparison::dry_run::drive_to_end;
use crate::live::answer::Asked;
use crate::live::fetch;
use reconcile_core::compare::{
    Action, ComparisonMachine, Decision, Membership, ObjectDiff, Policy, Redactor, Refusal, Replace, missing_namespace,
    refusal,
};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::discreet::shown_warning_about;
use reconcile_core::live::{LiveState, Resource, Target, failed_request};

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
