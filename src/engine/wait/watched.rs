use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use structured_merge::ObjectKey;

use super::rules::{has_pods, readiness, readiness_by};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::readiness::ObjectReadiness;
use reconcile_core::live::{Resource, Target};
use reconcile_core::rules::{ReadinessRule, ReadinessRules};

/// The field of a Job with the time after which it is deleted once it has finished.
pub(super) const TTL: &str = "/spec/ttlSecondsAfterFinished";

/// An object whose readiness is wanted.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The object.
    pub key: ObjectKey,
    /// The resource of the object, or the reason why it is not known.
    pub resource: Result<Resource, Diagnostic>,
    /// True if it is deleted once it is done: a Job with `ttlSecondsAfterFinished` that is known to have existed.
    pub expires: bool,
    /// The rule of the configuration for its readiness.
    pub rule: Option<Arc<ReadinessRule>>,
}

impl Watched {
    /// An object that may or may not exist.
    pub fn of(target: &Target, rules: &ReadinessRules) -> Self {
        let rule = rules.of(&target.key, target.desired.object());
        Self { key: target.key.clone(), resource: target.resource.clone(), expires: false, rule }
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
            Some(rule) => readiness_by(rule, object),
            None => readiness(&self.key.gvk, object, now),
        }
    }

    /// Returns true if its Pods can explain its readiness. If it has a rule, the rule alone decides.
    pub(super) fn has_pods(&self) -> bool {
        self.rule.is_none() && has_pods(&self.key.gvk)
    }
}
