//! Fields and annotations that a server, a controller or kubectl writes, so that the output of `kubectl get -o yaml` works as input.

use serde_json::Value;
use structured_merge::{GroupVersionKind, LAST_APPLIED, SERVER_METADATA};

/// Annotations in which a component of Kubernetes keeps its books on objects of a kind, by group, kind and key. In a manifest they are
/// a copy of what the component once wrote. Annotations that people set as well, such as `pv.kubernetes.io/provisioned-by` of a volume
/// that was made by hand, are not among them.
const OF_CONTROLLERS: [(&str, &str, &str); 27] = [
    // `pkg/controller/deployment/util/deployment_util.go`
    ("apps", "Deployment", "deployment.kubernetes.io/revision"),
    ("apps", "ReplicaSet", "deployment.kubernetes.io/revision"),
    ("apps", "ReplicaSet", "deployment.kubernetes.io/revision-history"),
    ("apps", "ReplicaSet", "deployment.kubernetes.io/desired-replicas"),
    ("apps", "ReplicaSet", "deployment.kubernetes.io/max-replicas"),
    // `k8s.io/api/apps/v1/types.go`, `DeprecatedTemplateGeneration`
    ("apps", "DaemonSet", "deprecated.daemonset.template.generation"),
    ("apps", "ControllerRevision", "deprecated.daemonset.template.generation"),
    // `k8s.io/component-helpers/storage/volume/pv_helpers.go`, `pkg/volume/util/util.go`
    ("", "PersistentVolumeClaim", "pv.kubernetes.io/bind-completed"),
    ("", "PersistentVolumeClaim", "pv.kubernetes.io/bound-by-controller"),
    ("", "PersistentVolumeClaim", "pv.kubernetes.io/migrated-to"),
    ("", "PersistentVolumeClaim", "volume.kubernetes.io/selected-node"),
    ("", "PersistentVolumeClaim", "volume.kubernetes.io/storage-provisioner"),
    ("", "PersistentVolumeClaim", "volume.beta.kubernetes.io/storage-provisioner"),
    ("", "PersistentVolumeClaim", "volume.kubernetes.io/storage-resizer"),
    ("", "PersistentVolume", "pv.kubernetes.io/bound-by-controller"),
    ("", "PersistentVolume", "pv.kubernetes.io/migrated-to"),
    // `k8s.io/api/core/v1/annotation_key_constants.go`
    ("", "Endpoints", "endpoints.kubernetes.io/last-change-trigger-time"),
    ("", "Endpoints", "endpoints.kubernetes.io/over-capacity"),
    ("discovery.k8s.io", "EndpointSlice", "endpoints.kubernetes.io/last-change-trigger-time"),
    ("", "Node", "node.alpha.kubernetes.io/ttl"),
    ("storage.k8s.io", "CSINode", "storage.alpha.kubernetes.io/migrated-plugins"),
    // client-go `tools/leaderelection/resourcelock`, before leases
    ("", "Endpoints", "control-plane.alpha.kubernetes.io/leader"),
    ("", "ConfigMap", "control-plane.alpha.kubernetes.io/leader"),
    // `k8s.io/api/batch/v1/types.go`
    ("batch", "Job", "batch.kubernetes.io/job-tracking"),
    ("batch", "Job", "batch.kubernetes.io/cronjob-scheduled-timestamp"),
    // `pkg/apis/autoscaling/annotations.go`
    ("autoscaling", "HorizontalPodAutoscaler", "autoscaling.alpha.kubernetes.io/conditions"),
    ("autoscaling", "HorizontalPodAutoscaler", "autoscaling.alpha.kubernetes.io/current-metrics"),
];

/// Removes them from an object. Returns the names of those that had a value.
pub(super) fn leave_out_bookkeeping(object: &mut Value, gvk: &GroupVersionKind) -> Vec<String> {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return Vec::new() };
    let mut left_out = Vec::new();
    for name in SERVER_METADATA {
        if metadata.remove(name).is_some_and(|value| !value.is_null()) {
            left_out.push(format!("`metadata.{name}`"));
        }
    }
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        let before = annotations.len();
        let is_for = |(group, kind, _): &&(&str, &str, &str)| gvk.group == *group && gvk.kind == *kind;
        let of_controllers = OF_CONTROLLERS.iter().filter(is_for).map(|(_, _, key)| *key);
        for key in std::iter::once(LAST_APPLIED).chain(of_controllers) {
            if annotations.remove(key).is_some() {
                left_out.push(format!("the annotation `{key}`"));
            }
        }
        if annotations.is_empty() && before > 0 {
            metadata.remove("annotations");
        }
    }
    left_out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_controllers_write_is_left_out_of_their_kinds_alone() {
        let annotations = json!({"deployment.kubernetes.io/revision": "3", "team": "shop", LAST_APPLIED: "{}"});
        let left = |api_version: &str, kind: &str| {
            let mut object = json!({"metadata": {"uid": "1", "annotations": annotations}});
            let names = leave_out_bookkeeping(&mut object, &GroupVersionKind::new(api_version, kind));
            (names.len(), object["metadata"]["annotations"].clone())
        };
        assert_eq!(left("apps/v1", "Deployment"), (3, json!({"team": "shop"})));
        let kept = json!({"deployment.kubernetes.io/revision": "3", "team": "shop"});
        assert_eq!(left("example.com/v1", "Deployment"), (2, kept));
        let mut only = json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": "3"}}});
        leave_out_bookkeeping(&mut only, &GroupVersionKind::new("apps/v1", "Deployment"));
        assert_eq!(only, json!({"metadata": {}}));
    }
}
