//! The values that the server gives fields of built-in kinds where a manifest has none.

use serde_json::{Map, Value, json};
use structured_merge::{TypeRef, is_default};

/// The service account of a Pod.
const ACCOUNT: &str = "serviceAccountName";

/// Returns true if the server gives a field this value where a manifest has none. `siblings` are the fields of the same map, as far as
/// they are known.
///
/// OpenAPI publishes few defaults. [`TypeRef::default_of_empty`] knows those of fields that are no pointers in Go. Those of pointers are in
/// `SetDefaults_*` of `k8s.io/kubernetes/pkg/apis/core/v1/defaults.go`; their types are known by the fields that they declare. In the Pod
/// template of a custom resource the server sets only what the definition says. A default that is missing here is pulled into the manifest,
/// where it changes nothing, and counts as added by whom the record names.
pub(crate) fn is_known_default(value: &Value, name: &str, siblings: &Map<String, Value>, schema: TypeRef<'_>) -> bool {
    // Each of the two names of an account sets the other one. This one is what somebody sets, and the deprecated one follows.
    let of_siblings = || schema.default_of_empty(name, |name| siblings.get(name)).filter(|_| name != ACCOUNT);
    is_default(value, name, schema) || of_siblings().as_ref() == Some(value) || is_pointer_default(value, name, schema)
}

/// Returns true if the server gives a field this value that is a pointer in Go, whatever is beside it.
fn is_pointer_default(value: &Value, name: &str, schema: TypeRef<'_>) -> bool {
    let default = match name {
        "allocateLoadBalancerNodePorts" if schema.declares("loadBalancerClass") => json!(true),
        "defaultMode" if schema.declares("items") || schema.declares("sources") => json!(0o644),
        "type" if ["path", "type"].iter().all(|field| schema.declares(field)) && schema.field_names().count() == 2 => {
            json!("")
        }
        _ => return false,
    };
    schema.is_builtin() && *value == default
}

/// The values that the server usually sets in a field of a built-in kind where a manifest has none (`SetDefaults_*` of
/// `k8s.io/kubernetes/pkg/apis`); empty if none is known. They decide where no record of owners and no base knows the field.
pub(super) fn usual_defaults(name: &str) -> Vec<Value> {
    match name {
        "replicas"
        | "completions"
        | "parallelism"
        | "timeoutSeconds"
        | "successThreshold"
        | "failedJobsHistoryLimit" => vec![json!(1)],
        "failureThreshold" | "successfulJobsHistoryLimit" => vec![json!(3)],
        "backoffLimit" => vec![json!(6)],
        "revisionHistoryLimit" | "periodSeconds" => vec![json!(10)],
        "terminationGracePeriodSeconds" => vec![json!(30)],
        "progressDeadlineSeconds" => vec![json!(600)],
        "defaultMode" => vec![json!(0o644)],
        "suspend" | "immutable" => vec![json!(false)],
        "restartPolicy" => vec![json!("Always")],
        "dnsPolicy" => vec![json!("ClusterFirst")],
        "schedulerName" => vec![json!("default-scheduler")],
        "imagePullPolicy" => vec![json!("IfNotPresent"), json!("Always")],
        "terminationMessagePath" => vec![json!("/dev/termination-log")],
        "terminationMessagePolicy" => vec![json!("File")],
        "scheme" => vec![json!("HTTP")],
        "sessionAffinity" => vec![json!("None")],
        "type" => vec![json!("ClusterIP"), json!("Opaque"), json!("RollingUpdate")],
        "internalTrafficPolicy" | "externalTrafficPolicy" => vec![json!("Cluster")],
        "protocol" => vec![json!("TCP")],
        "podManagementPolicy" => vec![json!("OrderedReady")],
        "completionMode" => vec![json!("NonIndexed")],
        "concurrencyPolicy" => vec![json!("Allow")],
        "volumeMode" => vec![json!("Filesystem")],
        _ => Vec::new(),
    }
}
