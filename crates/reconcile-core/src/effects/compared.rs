use serde_json::Value;
use structured_merge::ObjectKey;

use crate::compare::{Action, Decision, FieldChange, Replacement};
use crate::live::Target;

/// A ConfigMap or a Secret: its namespace, whether it is a Secret, and its name.
pub(super) type Holder<'a> = (&'a str, bool, &'a str);

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
    /// The action of the apply that writes it, if one does.
    pub action: Action,
}

impl<'a> Compared<'a> {
    /// A tree of the manifest, for as long as effects are looked for; null if it has none. Of an object that stays as it is, only a Pod
    /// template and a selector count.
    pub fn manifest(target: &Target, decision: &Decision) -> Value {
        let counts = decision.diff.action != Action::None || Kind::of(&target.key).stands_alone();
        if counts { target.desired.to_tree() } else { Value::Null }
    }

    /// The object of a target with this [`manifest`](Self::manifest).
    pub fn of(target: &'a Target, manifest: &'a Value, decision: &'a Decision) -> Self {
        let live = decision.live();
        let diff = &decision.diff;
        let is_missing = diff.action == Action::Create;
        // Nothing is kept of most live objects in sync, which are as their manifests say.
        let before = live.or((!is_missing).then_some(manifest));
        let still =
            Self { key: &target.key, before, after: before.unwrap_or(manifest), changes: &[], action: Action::None };
        // Objects of other shards are written by other runs.
        if target.other_shard().is_some() || !diff.conflicts.is_empty() {
            return still;
        }
        match (diff.action, decision.prediction()) {
            (Action::Create, _) => Self { after: manifest, action: Action::Create, ..still },
            (Action::Update, Some(prediction)) => {
                Self { after: &prediction.object, changes: &diff.changes, action: Action::Update, ..still }
            }
            (Action::Replace, _) if diff.replacement == Some(Replacement::Allowed) => {
                Self { after: manifest, changes: &diff.changes, action: Action::Replace, ..still }
            }
            _ => still,
        }
    }

    /// The kind, as far as this module knows it.
    pub fn kind(&self) -> Kind {
        Kind::of(self.key)
    }

    /// The ConfigMap or the Secret that it is, if it is one.
    pub fn holder(&self) -> Option<Holder<'a>> {
        let kind = self.kind();
        matches!(kind, Kind::ConfigMap | Kind::Secret)
            .then(|| (self.namespace(), kind == Kind::Secret, &*self.key.name))
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
