//! The objects whose readiness is wanted, and the rules for it: those of the crate `kstatus`, and those of the configuration.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey};

use reconcile_core::compare::{Secrecy, readiness_by};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::readiness::{ObjectReadiness, ReadinessState};
use reconcile_core::live::{Resource, Target};
use reconcile_core::manifest::Record;
use reconcile_core::object::{may_be_secret, may_quote_secret};
use reconcile_core::rules::{ReadinessRule, ReadinessRules};

/// The field of a Job with the time after which it is deleted once it has finished.
pub(super) const TTL: &str = "/spec/ttlSecondsAfterFinished";

/// The message in the place of one that may quote a secret value.
const WITHHELD: &str = "the reason is left out because it may quote a secret value; kubectl shows it";

/// An object whose readiness is wanted.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The object.
    pub key: ObjectKey,
    /// The resource of the object, or the reason why it is not known.
    pub resource: Result<Arc<Resource>, Box<Diagnostic>>,
    /// True if it is deleted once it is done: a Job with `ttlSecondsAfterFinished` that is known to have existed.
    pub expires: bool,
    /// The rule of the configuration for its readiness.
    pub rule: Option<Arc<ReadinessRule>>,
    /// The record of the cluster that names it, if one does.
    pub record: Option<Arc<Record>>,
    /// True if its manifest is encrypted.
    pub is_encrypted: bool,
}

impl Watched {
    /// An object that may or may not exist.
    pub fn of(target: &Target, rules: &ReadinessRules) -> Self {
        let rule = target.desired.with_object(|object| rules.of(&target.key, object));
        let origin = &target.desired.origin;
        let (record, is_encrypted) = (origin.record.clone(), origin.is_encrypted);
        Self { key: target.key.clone(), resource: target.resource.clone(), expires: false, rule, record, is_encrypted }
    }

    /// An object that exists, or existed until it was done.
    pub fn existing(target: &Target, rules: &ReadinessRules) -> Self {
        let is_job = target.key.gvk.group == "batch" && target.key.gvk.kind == "Job";
        let expires = is_job && target.desired.object().pointer(TTL).is_some();
        Self { expires, ..Self::of(target, rules) }
    }

    /// The readiness of the object, from the object alone.
    pub(super) fn readiness(&self, object: &Value, now: Timestamp) -> ObjectReadiness {
        match &self.rule {
            Some(rule) => self.readiness_by(rule, object),
            None => readiness(&self.key.gvk, object, now),
        }
    }

    /// The readiness of a live object by a rule of the configuration, which replaces the rule of its kind.
    pub(super) fn readiness_by(&self, rule: &ReadinessRule, object: &Value) -> ObjectReadiness {
        let by_rule = || {
            let secrecy = Secrecy::of(&self.key.gvk, None, Some(object)).of_encrypted(self.is_encrypted);
            readiness_by(rule, &secrecy, object)
        };
        kstatus::before_rules(object).unwrap_or_else(by_rule).into()
    }

    /// The readiness of this live object as it may be shown: a message that may quote a secret value is left out.
    pub(super) fn shown(&self, readiness: ObjectReadiness, object: &Value) -> ObjectReadiness {
        let is_secret = self.is_encrypted
            || !may_be_secret(&self.key.gvk) && may_quote_secret(&self.key.gvk, &[object], &readiness.message);
        if readiness.message.is_empty() || !is_secret {
            return readiness;
        }
        ObjectReadiness { message: WITHHELD.to_owned(), ..readiness }
    }

    /// The reason why its record does not speak for this live object, of which nothing is shown then.
    pub(super) fn refusal(&self, object: &Value) -> Option<Diagnostic> {
        self.record.as_ref()?.refusal(&self.key, object)
    }

    /// Returns true if its Pods can explain its readiness. If it has a rule, the rule alone decides.
    pub(super) fn has_pods(&self) -> bool {
        self.rule.is_none() && kstatus::has_pods(&self.key.gvk)
    }
}

/// The readiness of a live object, from the object alone.
fn readiness(gvk: &GroupVersionKind, object: &Value, now: Timestamp) -> ObjectReadiness {
    kstatus::readiness(gvk, object, now).into()
}

/// Returns true if an object is ready and stays so until somebody changes or deletes it: no controller writes a status for its kind,
/// or, as for a Service, only once.
pub(super) fn is_settled(gvk: &GroupVersionKind, object: &Value, now: Timestamp) -> bool {
    let is_service = gvk.group.is_empty() && gvk.kind == "Service";
    let is_silent = structured_merge::builtin_kind(gvk).is_some_and(|kind| !kind.status);
    (is_silent || is_service) && readiness(gvk, object, now).is_current()
}

/// Returns true if the Pods of a workload can explain its readiness.
pub(super) fn needs_pods(gvk: &GroupVersionKind, readiness: &ObjectReadiness) -> bool {
    kstatus::has_pods(gvk) && matches!(readiness.state, ReadinessState::InProgress | ReadinessState::Failed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        "2026-11-20T10:00:00Z".parse().unwrap()
    }

    #[test]
    fn what_nobody_reports_on_is_settled_once_it_exists() {
        let settled =
            |api_version, kind, object: Value| is_settled(&GroupVersionKind::new(api_version, kind), &object, now());
        assert!(settled("v1", "ConfigMap", json!({"data": {}})));
        assert!(settled("rbac.authorization.k8s.io/v1", "Role", json!({})));
        assert!(settled("v1", "Service", json!({"status": {"loadBalancer": {}}})));
        assert!(!settled("example.com/v1", "Widget", json!({})), "its controller may not have seen it yet");
        assert!(!settled("v1", "Service", json!({"spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {}}})));
        assert!(!settled("v1", "ConfigMap", json!({"metadata": {"deletionTimestamp": "2026-11-20T10:00:00Z"}})));
        assert!(!settled("v1", "Namespace", json!({"status": {"phase": "Active"}})));
        assert!(!settled("apps/v1", "Deployment", json!({})));
    }
}
