use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use structured_merge::ObjectKey;

use super::rules::{has_pods, readiness, readiness_by};
use crate::diagnostic::Diagnostic;
use crate::live::readiness::Readiness;
use crate::live::{Resource, Target};
use crate::rules::{ReadinessRule, ReadinessRules};

/// After how long a finished Job is deleted.
pub(super) const TTL: &str = "/spec/ttlSecondsAfterFinished";

/// An object whose readiness is wanted.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Which object it is.
    pub key: ObjectKey,
    /// Where such objects live, or why that is not known.
    pub resource: Result<Resource, Diagnostic>,
    /// Whether it is gone once it is done: a Job with `ttlSecondsAfterFinished` that is known to have existed.
    pub expires: bool,
    /// The rule of the configuration that says when it is ready.
    pub rule: Option<Arc<ReadinessRule>>,
}

impl Watched {
    /// An object of which nothing is known.
    #[must_use]
    pub fn of(target: &Target, rules: &ReadinessRules) -> Self {
        let rule = rules.of(&target.key, target.desired.object());
        Self { key: target.key.clone(), resource: target.resource.clone(), expires: false, rule }
    }

    /// An object that exists, or did until it was done.
    #[must_use]
    pub fn existing(target: &Target, rules: &ReadinessRules) -> Self {
        let is_job = target.key.gvk.group == "batch" && target.key.gvk.kind == "Job";
        let expires = is_job && target.desired.object().pointer(TTL).is_some();
        Self { expires, ..Self::of(target, rules) }
    }

    /// The readiness of the object by what it says itself.
    pub(super) fn readiness(&self, object: &Value, now: Timestamp) -> Readiness {
        match &self.rule {
            Some(rule) => readiness_by(rule, object),
            None => readiness(&self.key.gvk, object, now),
        }
    }

    /// Returns true if its Pods can tell why it is as it is. A rule has the last word.
    pub(super) fn has_pods(&self) -> bool {
        self.rule.is_none() && has_pods(&self.key.gvk)
    }
}
