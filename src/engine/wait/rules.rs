//! The readiness rules of the crate `kstatus`, for a [`GroupVersionKind`], and those of the configuration.

use jiff::Timestamp;
use kstatus::GroupKindRef;
pub use kstatus::Owned;
use serde_json::Value;
use structured_merge::GroupVersionKind;

use reconcile_core::live::readiness::{ObjectReadiness, ReadinessState};
use reconcile_core::rules::ReadinessRule;

fn group_kind(gvk: &GroupVersionKind) -> GroupKindRef<'_> {
    GroupKindRef::new(&gvk.group, &gvk.kind)
}

/// The readiness of a live object, from the object alone.
pub fn readiness(gvk: &GroupVersionKind, object: &Value, now: Timestamp) -> ObjectReadiness {
    kstatus::readiness(group_kind(gvk), object, now).into()
}

/// The readiness of a live object by a rule of the configuration, which replaces the rule of its kind.
pub fn readiness_by(rule: &ReadinessRule, object: &Value) -> ObjectReadiness {
    kstatus::before_rules(object).unwrap_or_else(|| rule.readiness(object)).into()
}

/// The readiness of a live object. For a workload that is not ready, the message includes what is wrong with its Pods.
pub fn readiness_with_pods(
    gvk: &GroupVersionKind,
    object: &Value,
    owned: &Owned<'_>,
    now: Timestamp,
) -> ObjectReadiness {
    kstatus::readiness_with_pods(group_kind(gvk), object, owned, now).into()
}

/// The label selector of a workload in the form of a query.
pub fn selector_of(gvk: &GroupVersionKind, object: &Value) -> Option<String> {
    kstatus::selector_of(group_kind(gvk), object)
}

/// Returns true if an object is ready and stays so until somebody changes or deletes it: no controller writes a status for its kind,
/// or, as for a Service, only once.
pub fn is_settled(gvk: &GroupVersionKind, object: &Value, now: Timestamp) -> bool {
    let is_service = gvk.group.is_empty() && gvk.kind == "Service";
    let is_silent = structured_merge::builtin_kind(gvk).is_some_and(|kind| !kind.status);
    (is_silent || is_service) && readiness(gvk, object, now).is_current()
}

/// Returns true if the Pods of a workload can explain its readiness.
pub fn needs_pods(gvk: &GroupVersionKind, readiness: &ObjectReadiness) -> bool {
    has_pods(gvk) && matches!(readiness.state, ReadinessState::InProgress | ReadinessState::Failed)
}

/// Returns true if objects of this kind run Pods of their own.
pub fn has_pods(gvk: &GroupVersionKind) -> bool {
    kstatus::has_pods(group_kind(gvk))
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
