use serde_json::{Value, json};

/// Defaults that the server fills in inside lists and structs that are replaced as a whole. There, a field that only
/// the live object has is either a default or somebody's change. OpenAPI publishes few of the defaults; the source of
/// each is the `SetDefaults_*` function of its API group (`k8s.io/kubernetes/pkg/apis/<group>/<version>/defaults.go`).
/// A row that is missing here costs a question to the server, never a wrong answer.
pub(super) fn known_default(schema: &str, field: &str) -> Option<Value> {
    let name = schema
        .strip_prefix("io.k8s.api.")
        .or_else(|| schema.strip_prefix("io.k8s.apiextensions-apiserver.pkg.apis."))?;
    Some(match (name, field) {
        ("core.v1.ObjectFieldSelector" | "core.v1.PersistentVolumeClaim", "apiVersion") => json!("v1"),
        ("core.v1.ResourceFieldSelector", "divisor") => json!("0"),
        ("core.v1.ServiceAccountTokenProjection", "expirationSeconds") => json!(3600),
        ("core.v1.PersistentVolumeClaim", "kind") => json!("PersistentVolumeClaim"),
        ("core.v1.PersistentVolumeClaim", "status") => json!({"phase": "Pending"}),
        ("core.v1.PersistentVolumeClaimStatus", "phase") => json!("Pending"),
        ("core.v1.PersistentVolumeClaimSpec", "volumeMode") => json!("Filesystem"),
        ("rbac.v1.RoleRef" | "rbac.v1.Subject", "apiGroup") => json!("rbac.authorization.k8s.io"),
        ("networking.v1.NetworkPolicyPort" | "discovery.v1.EndpointPort" | "core.v1.EndpointPort", "protocol") => {
            json!("TCP")
        }
        (
            "admissionregistration.v1.RuleWithOperations" | "admissionregistration.v1.NamedRuleWithOperations",
            "scope",
        ) => {
            json!("*")
        }
        ("admissionregistration.v1.MatchResources", "matchPolicy") => json!("Equivalent"),
        ("admissionregistration.v1.MatchResources", "namespaceSelector" | "objectSelector") => json!({}),
        ("batch.v1.PodFailurePolicyOnPodConditionsPattern", "status") => json!("True"),
        ("resource.v1.ExactDeviceRequest" | "resource.v1.DeviceSubRequest", "allocationMode") => json!("ExactCount"),
        ("resource.v1.ExactDeviceRequest" | "resource.v1.DeviceSubRequest", "count") => json!(1),
        // Booleans and strings that are not pointers: no value means `false` or `""`.
        ("flowcontrol.v1.ResourcePolicyRule", "clusterScope")
        | ("apiextensions.v1.CustomResourceDefinitionVersion", "deprecated")
        | (
            "apiextensions.v1.JSONSchemaProps",
            "exclusiveMaximum"
            | "exclusiveMinimum"
            | "nullable"
            | "uniqueItems"
            | "x-kubernetes-embedded-resource"
            | "x-kubernetes-int-or-string",
        ) => json!(false),
        (
            "core.v1.ObjectReference",
            "apiVersion" | "fieldPath" | "kind" | "name" | "namespace" | "resourceVersion" | "uid",
        )
        | ("discovery.v1.EndpointPort", "name")
        | ("core.v1.Toleration", "effect" | "key" | "value")
        | ("core.v1.EndpointAddress", "hostname")
        | ("core.v1.EnvFromSource", "prefix")
        | ("core.v1.PersistentVolumeClaimSpec", "volumeName")
        | ("networking.v1.IngressRule", "host")
        | ("networking.v1.IngressTLS", "secretName")
        | ("networking.v1.HTTPIngressPath", "path")
        | ("rbac.v1.Subject", "namespace") => json!(""),
        _ => return None,
    })
}
