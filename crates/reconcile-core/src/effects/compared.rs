use serde_json::Value;
use structured_merge::ObjectKey;

use crate::compare::{Action, Decision, FieldChange, ObjectVerdict, Replacement};
use crate::live::Target;

/// The part that an object takes in an apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It stays as it is.
    Nothing,
    /// It is created.
    Create,
    /// Its fields are changed.
    Update,
    /// It is deleted and created again.
    Replace,
}

/// An object before and after an apply.
#[derive(Clone, Copy)]
pub(super) struct Compared<'a> {
    /// The object.
    pub key: &'a ObjectKey,
    /// The live object, or the manifest of an object in sync; `None` if it does not exist.
    pub before: Option<&'a Value>,
    /// The object after the apply.
    pub after: &'a Value,
    /// The differences that the apply writes.
    pub changes: &'a [FieldChange],
    /// The step of the apply that writes it.
    pub step: Step,
}

impl<'a> Compared<'a> {
    /// A tree of the manifest, for as long as effects are looked for; null if it has none. Of an object that stays as it is, only a Pod
    /// template and a selector count.
    pub fn manifest(target: &Target, decision: &Decision) -> Value {
        let counts = decision.verdict.action() != Action::None || Kind::of(&target.key).stands_alone();
        if counts { target.desired.to_tree() } else { Value::Null }
    }

    /// The object of a target with this [`manifest`](Self::manifest).
    pub fn of(target: &'a Target, manifest: &'a Value, decision: &'a Decision) -> Self {
        let live = decision.live();
        let is_missing = matches!(decision.verdict, ObjectVerdict::Create { .. });
        // Nothing is kept of most live objects in sync, which are as their manifests say.
        let before = live.or((!is_missing).then_some(manifest));
        let still =
            Self { key: &target.key, before, after: before.unwrap_or(manifest), changes: &[], step: Step::Nothing };
        // Objects of other shards are written by other runs.
        if target.other_shard().is_some() || !decision.verdict.conflicts().is_empty() {
            return still;
        }
        match (&decision.verdict, decision.prediction()) {
            (ObjectVerdict::Create { .. }, _) => Self { after: manifest, step: Step::Create, ..still },
            (ObjectVerdict::Update(fields), Some(prediction)) => {
                Self { after: &prediction.object, changes: &fields.changes, step: Step::Update, ..still }
            }
            (ObjectVerdict::Replace { fields, reason }, _) if reason.replacement == Replacement::Allowed => {
                Self { after: manifest, changes: &fields.changes, step: Step::Replace, ..still }
            }
            _ => still,
        }
    }

    /// The kind, as far as this module knows it.
    pub fn kind(&self) -> Kind {
        Kind::of(self.key)
    }

    /// The namespace; empty without one.
    pub fn namespace(&self) -> &'a str {
        self.key.namespace.as_deref().unwrap_or_default()
    }

    /// The template of its Pods after the apply: of a Pod, itself.
    pub fn template_after(&self) -> Option<&'a Value> {
        template(self.kind(), self.after)
    }

    /// The template of its Pods before the apply.
    pub fn template_before(&self) -> Option<&'a Value> {
        template(self.kind(), self.before?)
    }
}

fn template(kind: Kind, object: &Value) -> Option<&Value> {
    match kind {
        Kind::Pod => Some(object),
        Kind::CronJob => object.pointer("/spec/jobTemplate/spec/template"),
        Kind::Other | Kind::Service | Kind::ConfigMap | Kind::Secret => None,
        _ => object.pointer("/spec/template"),
    }
}

/// The kinds with effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Deployment,
    StatefulSet,
    DaemonSet,
    ReplicaSet,
    ReplicationController,
    Job,
    CronJob,
    Pod,
    Service,
    ConfigMap,
    Secret,
    Other,
}

impl Kind {
    /// Returns true if an object of the kind counts even if it stays as it is.
    fn stands_alone(self) -> bool {
        !matches!(self, Self::ConfigMap | Self::Secret | Self::Other)
    }

    pub fn of(key: &ObjectKey) -> Self {
        match (key.gvk.group.as_str(), key.gvk.kind.as_str()) {
            ("apps", "Deployment") => Self::Deployment,
            ("apps", "StatefulSet") => Self::StatefulSet,
            ("apps", "DaemonSet") => Self::DaemonSet,
            ("apps", "ReplicaSet") => Self::ReplicaSet,
            ("", "ReplicationController") => Self::ReplicationController,
            ("batch", "Job") => Self::Job,
            ("batch", "CronJob") => Self::CronJob,
            ("", "Pod") => Self::Pod,
            ("", "Service") => Self::Service,
            ("", "ConfigMap") => Self::ConfigMap,
            ("", "Secret") => Self::Secret,
            _ => Self::Other,
        }
    }
}
