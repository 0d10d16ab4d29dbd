//! Creates one object.
//!
//! ```text
//! plain:     apply of a first version ─201─▶ created
//!                                     ─409─▶ somebody was first ─ another run of ours: left unchanged
//!                                                               ─ others: apply without force; what only they have is reported
//! confirmed, or after a deletion: POST ─201─▶ our fields become applied ones ─▶ apply changes nothing
//!                                      ─409─▶ somebody was first: left unchanged
//! ```

use std::collections::BTreeSet;
use std::time::Duration;

use http::StatusCode;
use reconcile_core::compare::{
    Class, CompareContext, Decision, FieldChange, LiveObject, ObjectDiff, Policy, ROUNDS, WriteAs,
};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::LiveState;
use reconcile_core::text::coded;
use serde_json::Value;
use structured_merge::{FieldSet, ManagedFieldsEntry, ObjectMeta as _, Operation, Ownership};

use super::lost::{is_open, may_be_done};
use super::{Writer, Written};
use crate::client::{RequestError, Retry};
use crate::engine::backoff::Backoff;
use crate::live::answer::Asked;
use crate::live::fetch;

/// The number of fields of others that a warning names.
const NAMED: usize = 5;
/// The first wait before a creation is repeated whose answer was lost.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The wait after which it is not repeated any more.
const LAST_PAUSE: Duration = Duration::from_secs(4);
/// The outcome of a creation that must not write to an existing object.
pub(super) enum Creation {
    /// The object was created; with a warning, if there is one.
    Done(Option<String>),
    /// Somebody else created it first, and nothing was written.
    Taken,
    /// The server refused it: nothing was created.
    Refused(RequestError),
    /// It is unknown whether the object was created.
    Unknown(RequestError),
}

/// Kinds of failures of a creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Miss {
    /// Nothing was created.
    Refused,
    /// The object exists.
    Taken,
    /// It is unknown whether the object was created. The request may be repeated.
    Lost,
    /// It is unknown whether the object was created, and the server may still be processing the request.
    TimedOut,
}

fn is_worth_another(error: &RequestError, pause: Duration) -> bool {
    miss_of(error) != Miss::TimedOut && pause < LAST_PAUSE
}

fn miss_of(error: &RequestError) -> Miss {
    match error {
        RequestError::Status(status) => match (status.code, status.reason.as_str()) {
            (409, "AlreadyExists") => Miss::Taken,
            (503 | 504, _) => Miss::Lost,
            // An error of a proxy says nothing about the object.
            (code, _) if code >= 500 => Miss::TimedOut,
            _ => Miss::Refused,
        },
        RequestError::Interrupted { .. } | RequestError::Unreachable { .. } => Miss::Lost,
        RequestError::TimedOut { .. }
        | RequestError::TooSlow { .. }
        | RequestError::Unreadable { .. }
        | RequestError::Unexpected { .. }
        | RequestError::TooLarge { .. }
        | RequestError::TooDense { .. } => Miss::TimedOut,
        _ => Miss::Refused,
    }
}

impl Writer<'_> {
    /// Creates a missing object. If the user confirmed it, it is created as it was shown, or not at all.
    pub(super) async fn create(&self, shown: &ObjectDiff) -> Written {
        if !self.agreed && self.policy.writes == WriteAs::Apply {
            return self.create_by_apply(shown).await;
        }
        match self.create_new().await {
            Creation::Done(warning) => Written::Created.noting(warning),
            Creation::Refused(error) => self.failed(&error, None),
            Creation::Unknown(error) => self.lost(&error, None),
            Creation::Taken => match self.judge_again().await {
                // Another run of this program created it.
                Some(now) if now.diff.is_done() => Written::Created,
                Some(now) if !now.diff.same_difference(shown) => Written::Moved(Box::new(now.shown_diff(self.target))),
                _ => Written::Failed(
                    Diagnostic::new(Code::Conflict, "somebody else creates and deletes it at the same time")
                        .with_hint("run again"),
                ),
            },
        }
    }

    /// Creates the object by an apply. What another run under our manager's name created in the meantime, it leaves as it is: an apply would
    /// replace that.
    async fn create_by_apply(&self, shown: &ObjectDiff) -> Written {
        let error = match self.apply(&as_first_version(self.target.desired.to_tree()), false).await {
            Ok((StatusCode::CREATED, _)) => return Written::Created,
            Ok((_, object)) => return self.joined(object),
            Err(error) => error,
        };
        let is_taken = error.is_conflict();
        // A server with another storage may take no version of an object that does not exist.
        let is_version = error.status().is_some_and(|status| status.message.contains("resourceVersion"));
        if !is_taken && !is_version {
            return self.not_created(error, shown).await;
        }
        let may_be_ours = |live: &LiveState| match live {
            LiveState::Present(live) => Ownership::of(live, &self.policy.manager).ours.is_some(),
            LiveState::Absent => false,
            LiveState::Unreadable(_) => true,
        };
        if is_taken && may_be_ours(&fetch::get(self.cluster, self.target, self.resource).await) {
            return self.not_created(error, shown).await;
        }
        self.create_or_join(shown).await
    }

    /// Applies without force, so that nothing is taken from others who created it in the meantime.
    async fn create_or_join(&self, shown: &ObjectDiff) -> Written {
        match self.apply(&self.target.desired.to_tree(), false).await {
            Ok((StatusCode::CREATED, _)) => Written::Created,
            Ok((_, object)) => self.joined(object),
            Err(error) => self.not_created(error, shown).await,
        }
    }

    /// The end of a creation that failed. What exists as it should is the object that we created, if only the answer was lost, or what
    /// another run created.
    async fn not_created(&self, error: RequestError, shown: &ObjectDiff) -> Written {
        let is_taken = error.is_conflict();
        if !is_taken && !is_open(&error) {
            return self.failed(&error, None);
        }
        match self.judge_again().await {
            Some(now) if now.diff.is_done() => Written::Created,
            Some(now) if is_taken && !now.diff.same_difference(shown) => {
                Written::Moved(Box::new(now.shown_diff(self.target)))
            }
            None if !is_taken => self.lost(&error, None),
            Some(_) if may_be_done(&error) => self.lost(&error, None),
            _ => self.failed(&error, None),
        }
    }

    /// Handles an apply that should have created the object, and found an existing one. An object without any other owner is the one
    /// that we created, if the first answer was lost and the request was repeated.
    fn joined(&self, object: Value) -> Written {
        let live = LiveObject::new(CompareContext::new(self.target, self.schema, self.policy), object);
        let owners = &live.current.owners;
        if owners.others.is_empty() && owners.unreadable.is_empty() {
            return Written::Created;
        }
        let policy = Policy { show_unmanaged: true, ..self.policy.clone() };
        let context = CompareContext::new(self.target, self.schema, &policy);
        let decision = Decision::in_sync(context, live, self.redactor);
        let is_unmanaged = |change: &&FieldChange| change.class == Class::Unmanaged;
        let diff = decision.shown_diff(self.target);
        let unmanaged: Vec<&FieldChange> = diff.changes.iter().filter(is_unmanaged).collect();
        if unmanaged.is_empty() {
            return Written::Updated;
        }
        let owners: BTreeSet<&str> =
            unmanaged.iter().flat_map(|change| &change.managers).map(|owner| owner.manager.as_str()).collect();
        let owners = owners.into_iter().map(coded).collect::<Vec<_>>().join(", ");
        let mut fields: Vec<String> = unmanaged.iter().take(NAMED).map(|change| change.path.to_string()).collect();
        if let Some(more @ 1..) = unmanaged.len().checked_sub(NAMED) {
            fields.push(format!("and {more} more"));
        }
        let fields = fields.join(", ");
        let warning = format!(
            "somebody else created it in the meantime, with fields that are not in the manifest, set by {owners}: {fields}"
        );
        Written::Updated.noting(Some(warning))
    }

    /// Creates the object, and never writes to an existing one. The creation leaves an `Update` entry in `managedFields`, which is then
    /// turned into an `Apply` entry, so that the next pass has nothing to write.
    pub(super) async fn create_new(&self) -> Creation {
        let mut backoff = Backoff::new(FIRST_PAUSE, LAST_PAUSE);
        let mut is_repeated = false;
        loop {
            let pause = backoff.pause();
            let request = self.creation(&self.target.desired.to_tree()).write(Retry::Never);
            let answer = self.send(request).await;
            let asked = Asked::key(&self.target.key);
            let error = match answer.and_then(|reply| asked.read(self.cluster, reply.body())) {
                Ok(created) => return Creation::Done(self.recorded(created).await),
                Err(error) => error,
            };
            match miss_of(&error) {
                Miss::Refused => return Creation::Refused(error),
                Miss::Taken if !is_repeated => return Creation::Taken,
                Miss::Taken | Miss::Lost | Miss::TimedOut => {}
            }
            // The lost answer may have been about this very object.
            match fetch::get(self.cluster, self.target, self.resource).await {
                LiveState::Present(object) if self.is_created_by_us(&object) => {
                    return Creation::Done(self.recorded(object).await);
                }
                LiveState::Present(_) => return Creation::Taken,
                LiveState::Absent | LiveState::Unreadable(_) if is_worth_another(&error, pause) => {}
                LiveState::Absent => return Creation::Refused(error),
                LiveState::Unreadable(_) => return Creation::Unknown(error),
            }
            tokio::time::sleep(pause).await;
            is_repeated = true;
        }
    }

    /// Records the fields of a creation as applied, unless they are written by updates. Returns a warning if that fails.
    async fn recorded(&self, created: Value) -> Option<String> {
        if self.policy.writes == WriteAs::Apply { self.record_as_applied(created).await } else { None }
    }

    /// Returns true if an object was created by us, no matter what controllers have added to it since.
    fn is_created_by_us(&self, object: &Value) -> bool {
        let owners = Ownership::of(object, &self.policy.manager);
        owners.ours.is_none() && owners.others.iter().any(|entry| self.is_our_creation(entry))
    }

    fn is_our_creation(&self, entry: &ManagedFieldsEntry) -> bool {
        entry.manager == self.policy.manager
            && entry.operation == Operation::Update
            && entry.subresource.is_empty()
            && entry.api_version == self.target.key.gvk.api_version()
    }

    /// Turns the `Update` entry of a creation into an `Apply` entry. Returns a warning if that fails: the object itself is correct, and
    /// the next apply records the entry.
    async fn record_as_applied(&self, created: Value) -> Option<String> {
        let kind = self.target.kind();
        let claims = self
            .target
            .desired
            .with_object(|manifest| structured_merge::field_set(manifest, self.schema, kind.as_ref()));
        // A manifest without fields to own, such as a Namespace with only a name, leaves no entry.
        if claims.is_empty() {
            return None;
        }
        let error = match self.try_record(&created, &claims).await {
            Ok(()) => return None,
            Err(error) => error,
        };
        let why = match self.failed(&error, Some(&created)) {
            Written::Failed(diagnostic) => diagnostic.message,
            _ => String::new(),
        };
        Some(format!("it is created, but its fields are not recorded as applied until the next `apply`: {why}"))
    }

    async fn try_record(&self, created: &Value, claims: &FieldSet) -> Result<(), RequestError> {
        let uid = created.metadata("uid").cloned().unwrap_or_default();
        let mut now = created.clone();
        for round in 0.. {
            let Some(owners) = self.as_applied(&now, claims) else { break };
            let version = now.metadata("resourceVersion").cloned().unwrap_or_default();
            match self.record_owners(owners.to_json(&now), &version).await {
                Ok(_) => break,
                // Controllers write to new objects: it is repeated as long as our fields are ours.
                Err(error) if error.is_conflict() && round < ROUNDS => {
                    match fetch::get(self.cluster, self.target, self.resource).await {
                        LiveState::Present(again)
                            if again.metadata("uid") == Some(&uid) && self.same_claims(created, &again) =>
                        {
                            now = again;
                        }
                        _ => return Err(error),
                    }
                }
                Err(error) => return Err(error),
            }
        }
        // With an apply, the server itself computes the fields that we own.
        let mut body = self.target.desired.to_tree();
        if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
            metadata.insert("uid".into(), uid);
        }
        self.apply(&body, false).await.map(drop)
    }

    /// The owners of an object, with an `Apply` entry in place of the `Update` entry of our creation. `None` if there is no such entry, or
    /// if entries cannot be read.
    fn as_applied(&self, object: &Value, claims: &FieldSet) -> Option<Ownership> {
        let Ownership { ours, mut others, unreadable } = Ownership::of(object, &self.policy.manager);
        // Without an entry that cannot be read, the record would lose an owner.
        if !unreadable.is_empty() {
            return None;
        }
        let position = others.iter().position(|entry| ours.is_none() && self.is_our_creation(entry))?;
        let entry = others.remove(position);
        let ours = ManagedFieldsEntry { operation: Operation::Apply, fields: claims.clone(), ..entry };
        Some(Ownership { ours: Some(ours), others, unreadable })
    }

    /// Returns true if we still own all fields of our creation, or they are recorded as applied by now.
    fn same_claims(&self, created: &Value, now: &Value) -> bool {
        let claimed = |object: &Value| {
            let owners = Ownership::of(object, &self.policy.manager);
            let entry = owners.others.into_iter().find(|entry| self.is_our_creation(entry));
            (owners.ours.is_some(), entry.map(|entry| entry.fields))
        };
        let (is_applied, fields) = claimed(now);
        is_applied || fields == claimed(created).1
    }
}

/// The object with the version that no stored object has, as the first write to a cluster gets another one: the server refuses it where the
/// object exists, and gives a new object its own version (apiserver `registry/generic/registry/store.go`, `Update`).
fn as_first_version(mut object: Value) -> Value {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.entry("resourceVersion").or_insert_with(|| "1".into());
    }
    object
}
