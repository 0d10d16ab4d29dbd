//! The defaults that the server stores where a built-in kind has an empty value.
//!
//! A field that is no pointer in Go does not distinguish an empty value from no value, so that `SetDefaults_*` of its API group
//! (`k8s.io/kubernetes/pkg/apis/<group>/<version>/defaults.go`, `zz_generated.defaults.go`) replaces both. Pointers keep their empty values
//! and have no row here. A missing row shows a difference where nobody asks the server, and hides none.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::type_ref::TypeRef;

/// The API group of roles.
const RBAC: &str = "rbac.authorization.k8s.io";

/// The default for an empty field of a type of OpenAPI, if it does not depend on other fields.
pub(super) fn constant_default(schema: &str, field: &str) -> Option<Value> {
    let name = schema.strip_prefix("io.k8s.api.")?;
    Some(match (name, field) {
        ("core.v1.Container" | "core.v1.EphemeralContainer", "terminationMessagePath") => json!("/dev/termination-log"),
        ("core.v1.Container" | "core.v1.EphemeralContainer", "terminationMessagePolicy") => json!("File"),
        ("core.v1.ContainerPort" | "core.v1.ServicePort" | "core.v1.EndpointPort", "protocol") => json!("TCP"),
        ("core.v1.HTTPGetAction", "path") => json!("/"),
        ("core.v1.HTTPGetAction", "scheme") => json!("HTTP"),
        ("core.v1.ISCSIVolumeSource" | "core.v1.ISCSIPersistentVolumeSource", "iscsiInterface") => json!("default"),
        ("core.v1.ObjectFieldSelector" | "core.v1.PersistentVolumeClaim", "apiVersion") => json!("v1"),
        ("core.v1.PersistentVolumeClaim", "kind") => json!("PersistentVolumeClaim"),
        ("core.v1.PersistentVolumeClaimStatus", "phase") => json!("Pending"),
        ("core.v1.PersistentVolumeSpec", "persistentVolumeReclaimPolicy")
        | ("apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", "whenDeleted" | "whenScaled") => json!("Retain"),
        ("core.v1.PodSpec", "dnsPolicy") => json!("ClusterFirst"),
        ("core.v1.PodSpec", "restartPolicy") => json!("Always"),
        ("core.v1.PodSpec", "schedulerName") => json!("default-scheduler"),
        ("core.v1.Probe", "failureThreshold") => json!(3),
        ("core.v1.Probe", "periodSeconds") => json!(10),
        ("core.v1.Probe", "successThreshold" | "timeoutSeconds") => json!(1),
        ("core.v1.RBDVolumeSource" | "core.v1.RBDPersistentVolumeSource", "keyring") => json!("/etc/ceph/keyring"),
        ("core.v1.RBDVolumeSource" | "core.v1.RBDPersistentVolumeSource", "pool") => json!("rbd"),
        ("core.v1.RBDVolumeSource" | "core.v1.RBDPersistentVolumeSource", "user") => json!("admin"),
        ("core.v1.ScaleIOVolumeSource" | "core.v1.ScaleIOPersistentVolumeSource", "fsType") => json!("xfs"),
        ("core.v1.ScaleIOVolumeSource" | "core.v1.ScaleIOPersistentVolumeSource", "storageMode") => {
            json!("ThinProvisioned")
        }
        ("core.v1.Secret", "type") => json!("Opaque"),
        ("core.v1.ServiceSpec", "sessionAffinity") => json!("None"),
        ("core.v1.ServiceSpec", "type") => json!("ClusterIP"),
        (
            "apps.v1.DaemonSetUpdateStrategy" | "apps.v1.DeploymentStrategy" | "apps.v1.StatefulSetUpdateStrategy",
            "type",
        ) => json!("RollingUpdate"),
        ("apps.v1.StatefulSetSpec", "podManagementPolicy") => json!("OrderedReady"),
        ("autoscaling.v2.HorizontalPodAutoscalerSpec", "metrics") => {
            let target = json!({"type": "Utilization", "averageUtilization": 80});
            json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}])
        }
        ("batch.v1.CronJobSpec", "concurrencyPolicy") => json!("Allow"),
        ("batch.v1.PodFailurePolicyOnPodConditionsPattern", "status") => json!("True"),
        ("flowcontrol.v1.FlowSchemaSpec", "matchingPrecedence") => json!(1000),
        ("flowcontrol.v1.QueuingConfiguration", "handSize") => json!(8),
        ("flowcontrol.v1.QueuingConfiguration", "queueLengthLimit") => json!(50),
        ("flowcontrol.v1.QueuingConfiguration", "queues") => json!(64),
        ("rbac.v1.RoleRef", "apiGroup") => json!(RBAC),
        ("resource.v1.DeviceSubRequest" | "resource.v1.ExactDeviceRequest", "allocationMode") => json!("ExactCount"),
        ("resource.v1.DeviceToleration", "operator") => json!("Equal"),
        ("storage.v1.CSIDriverSpec", "volumeLifecycleModes") => json!(["Persistent"]),
        _ => return None,
    })
}

impl TypeRef<'_> {
    /// The default that the server stores where a field of this struct is empty. `sibling` returns the values of the other fields. `None` if
    /// the field keeps its empty value or has none, and if the default is unknown.
    pub fn default_of_empty<'v>(self, field: &str, sibling: impl Fn(&str) -> Option<&'v Value>) -> Option<Value> {
        if !self.is_builtin() {
            return None;
        }
        if let Some(constant) = self.constant_default_of_empty(field) {
            return Some(constant.clone());
        }
        let text = |name: &str| sibling(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let has_items = |name: &str| sibling(name).and_then(Value::as_array).is_some_and(|items| !items.is_empty());
        match field {
            "imagePullPolicy" if self.declares("terminationMessagePath") => pull_policy(text("image")?),
            "pullPolicy" if self.declares("reference") => pull_policy(text("reference")?),
            "targetPort" if self.declares("nodePort") => sibling("port").cloned(),
            "externalTrafficPolicy" if self.declares("clusterIP") => {
                let is_external = match text("type") {
                    Some("LoadBalancer" | "NodePort") => true,
                    Some("ClusterIP") | None => has_items("externalIPs"),
                    Some(_) => false,
                };
                is_external.then(|| json!("Cluster"))
            }
            // Setting one of the two sets both.
            "serviceAccount" if self.declares("dnsPolicy") => text("serviceAccountName").map(Value::from),
            "serviceAccountName" if self.declares("dnsPolicy") => text("serviceAccount").map(Value::from),
            "policyTypes" if self.declares("podSelector") => {
                Some(if has_items("egress") { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) })
            }
            "apiGroup" if self.declares("namespace") && self.default_of(field) == Some(&json!(RBAC)) => {
                matches!(text("kind"), Some("User" | "Group")).then(|| json!(RBAC))
            }
            "count" if self.declares("allocationMode") => {
                matches!(text("allocationMode"), None | Some("ExactCount")).then(|| json!(1))
            }
            "singular" if self.declares("listKind") => Some(text("kind")?.to_lowercase().into()),
            "listKind" if self.declares("singular") => Some(format!("{}List", text("kind")?).into()),
            _ => None,
        }
    }
}

/// The default of the policy by which an image is pulled (`SetDefaults_Container`). `None` if it is uncertain whether the image has a tag.
fn pull_policy(image: &str) -> Option<Value> {
    // Names in upper case are invalid, and have no tag then.
    if image.contains(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let (name, digest) = image.split_once('@').map_or((image, None), |(name, digest)| (name, Some(digest)));
    // A colon before the last slash belongs to the port of a registry.
    let tag = name.rsplit('/').next().and_then(|name| name.split_once(':')).map(|(_, tag)| tag);
    let is_latest = tag == Some("latest") || tag.is_none() && digest.is_none();
    Some(json!(if is_latest { "Always" } else { "IfNotPresent" }))
}

/// Returns true if a value is an empty text, number or list, which the server may replace by a default.
pub(crate) fn may_be_defaulted(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Returns true if a value is or has such an empty value: few have.
fn has_empty_value(value: &Value) -> bool {
    may_be_defaulted(value)
        || match value {
            Value::Object(map) => map.values().any(has_empty_value),
            Value::Array(items) => items.iter().any(has_empty_value),
            _ => false,
        }
}

/// A value that is replaced as a whole, with defaults in the place of empty values.
pub(crate) fn with_empty_values_filled<'m>(value: &'m Value, schema: TypeRef<'_>) -> Cow<'m, Value> {
    if !schema.is_builtin() || !has_empty_value(value) {
        return Cow::Borrowed(value);
    }
    match value {
        Value::Object(map) => {
            let filled = map.iter().map(|(name, child)| {
                let default = may_be_defaulted(child)
                    .then(|| schema.default_of_empty(name, |sibling| map.get(sibling)))
                    .flatten();
                let child = default.unwrap_or_else(|| with_empty_values_filled(child, schema.field(name)).into_owned());
                (name.clone(), child)
            });
            Cow::Owned(Value::Object(filled.collect::<Map<_, _>>()))
        }
        Value::Array(items) => {
            Cow::Owned(items.iter().map(|item| with_empty_values_filled(item, schema.item()).into_owned()).collect())
        }
        _ => Cow::Borrowed(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::GroupVersionKind;
    use crate::schema::builtin;

    fn filled(api_version: &str, kind: &str, pointer: &str, value: &Value) -> Value {
        let object = builtin().object(&GroupVersionKind::new(api_version, kind)).unwrap();
        let steps = pointer.split('/').skip(1);
        let schema = steps.fold(object, |schema, step| if step == "0" { schema.item() } else { schema.field(step) });
        with_empty_values_filled(value, schema).into_owned()
    }

    #[test]
    fn an_empty_pull_policy_follows_from_the_image() {
        let policy = |image: &str| {
            let container = json!({"image": image, "imagePullPolicy": ""});
            filled("v1", "Pod", "/spec/containers/0", &container)["imagePullPolicy"].clone()
        };
        for image in ["web", "web:latest", "registry:5000/web"] {
            assert_eq!(policy(image), "Always", "{image}");
        }
        for image in ["web:1", "web@sha256:00", "registry:5000/web:1", "web:1@sha256:00"] {
            assert_eq!(policy(image), "IfNotPresent", "{image}");
        }
        for image in ["", "Web"] {
            assert_eq!(policy(image), "", "{image}");
        }
    }

    #[test]
    fn a_default_may_depend_on_other_fields() {
        let subject = |kind: &str| {
            let subject = json!({"kind": kind, "apiGroup": ""});
            filled("rbac.authorization.k8s.io/v1", "RoleBinding", "/subjects/0", &subject)["apiGroup"].clone()
        };
        assert_eq!([subject("User"), subject("Group"), subject("ServiceAccount")], [RBAC, RBAC, ""]);
        let policy =
            |spec: &Value| filled("networking.k8s.io/v1", "NetworkPolicy", "/spec", spec)["policyTypes"].clone();
        assert_eq!(policy(&json!({"policyTypes": [], "egress": []})), json!(["Ingress"]));
        assert_eq!(policy(&json!({"policyTypes": [], "egress": [{}]})), json!(["Ingress", "Egress"]));
        let service = |spec: &Value| filled("v1", "Service", "/spec", spec)["externalTrafficPolicy"].clone();
        assert_eq!(service(&json!({"type": "NodePort", "externalTrafficPolicy": ""})), "Cluster");
        assert_eq!(service(&json!({"externalIPs": ["10.0.0.1"], "externalTrafficPolicy": ""})), "Cluster");
        assert_eq!(service(&json!({"externalTrafficPolicy": ""})), "");
    }

    #[test]
    fn pointers_and_custom_resources_keep_empty_values() {
        let port = json!({"port": 80, "protocol": ""});
        assert_eq!(filled("networking.k8s.io/v1", "NetworkPolicy", "/spec/ingress/0/ports/0", &port), port);
        assert_eq!(filled("discovery.k8s.io/v1", "EndpointSlice", "/ports/0", &port), port);
        let template = json!({"spec": {"dnsPolicy": "", "replicas": 0}});
        assert_eq!(with_empty_values_filled(&template, TypeRef::untyped()).into_owned(), template);
    }
}
