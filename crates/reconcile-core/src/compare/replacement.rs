//! Deleting and recreating an object: the permission to do it, its cost, and the object that probes whether the creation would
//! succeed.

use serde_json::{Map, Value};
use structured_merge::{FieldPath, GroupVersionKind, ObjectKey, ObjectMeta as _, PathElement, Quantity};

use crate::live::Target;
use crate::live::discreet::denied_by_policy;
use crate::object::{indefinite, kept_from_deletion};
use crate::request::{Cause, StatusError};

/// The annotation that allows the replacement of an object whose contents cannot be recreated.
pub const REPLACE: &str = "kubectl-reconcile/replace";

/// Maximum number of fields that are immutable as a whole to look at.
const MOST_IMMUTABLE: usize = 20;

/// The reason why an object must not be replaced: its deletion would also delete data that no manifest holds, or an annotation of the
/// manifest or the live object keeps it. Only an annotation in the manifest allows it, because others can annotate the live object.
pub fn replace_guard(target: &Target, live: &Value) -> Option<String> {
    let gvk = &target.key.gvk;
    let desired = target.desired.object();
    if desired.annotation(REPLACE) == Some("allow") {
        return None;
    }
    let volumes = ["PersistentVolume", "PersistentVolumeClaim"];
    if let Some(size) = larger_claim(target, live) {
        return Some(format!(
            "a claim cannot shrink: write `{size}` into the manifest, as `kubectl reconcile pull` does"
        ));
    }
    let is_protected =
        gvk.is_namespace() || gvk.is_crd() || gvk.group.is_empty() && volumes.contains(&gvk.kind.as_str());
    if is_protected {
        let kind = indefinite(&gvk.kind);
        return Some(format!("{kind} is only replaced when its manifest has the annotation `{REPLACE}: allow`"));
    }
    let keep = kept_from_deletion(desired).or_else(|| kept_from_deletion(live))?;
    Some(format!(
        "it is kept because of its annotation `{keep}`, and only replaced when its manifest has `{REPLACE}: allow`"
    ))
}

/// The size of a live claim, if the manifest asks for less: somebody has expanded it, and a new one would be empty.
pub(super) fn larger_claim<'l>(target: &Target, live: &'l Value) -> Option<&'l str> {
    let gvk = &target.key.gvk;
    if !gvk.group.is_empty() || gvk.kind != "PersistentVolumeClaim" {
        return None;
    }
    let size = |object: &'_ Value| object.pointer("/spec/resources/requests/storage").cloned();
    let parse =
        |value: Value| Quantity::parse(value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned).as_str());
    let wanted = parse(size(target.desired.object())?)?;
    let held = parse(size(live)?)?;
    (wanted < held).then(|| live.pointer("/spec/resources/requests/storage")?.as_str())?
}

/// The command that sets the resources of the containers of a running Pod, if nothing else differs (KEP-1287): the update of a Pod is
/// refused, and its subresource `resize` takes CPU and memory.
pub(super) fn resize<'p>(key: &ObjectKey, differing: impl Iterator<Item = &'p FieldPath>) -> Option<String> {
    let mut differing = differing.peekable();
    let is_pod = key.gvk.group.is_empty() && key.gvk.kind == "Pod";
    if !is_pod || differing.peek().is_none() || !differing.all(is_resizable) {
        return None;
    }
    let namespace = key.namespace.as_ref().map(|namespace| format!(" -n {namespace}")).unwrap_or_default();
    Some(format!("`kubectl patch pod {}{namespace} --subresource resize`", key.name))
}

/// Returns true for the amount of CPU or memory that a container of a Pod requests or may use.
fn is_resizable(path: &FieldPath) -> bool {
    let [spec, containers, PathElement::Key(_), resources, amounts, resource] = path.elements() else { return false };
    let is_one_of = |element: &PathElement, names: &[&str]| matches!(element, PathElement::Field(name) if names.contains(&name.as_str()));
    is_one_of(spec, &["spec"])
        && is_one_of(containers, &["containers"])
        && is_one_of(resources, &["resources"])
        && is_one_of(amounts, &["requests", "limits"])
        && is_one_of(resource, &["cpu", "memory"])
}

/// The losses and interruptions that the deletion of the object causes, one sentence each.
pub fn cost(gvk: &GroupVersionKind, live: &Value) -> Vec<String> {
    let number = |pointer: &str| live.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let pods = |count: u64| match count {
        0 => None,
        1 => Some("replacing it deletes its pod".to_owned()),
        count => Some(format!("replacing it deletes its {count} pods")),
    };
    let sentences = match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Namespace") => vec![Some("replacing it deletes everything in it".to_owned())],
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            vec![Some("replacing it deletes all objects of the kind that it defines".to_owned())]
        }
        ("", "PersistentVolumeClaim" | "PersistentVolume") => {
            vec![Some("replacing it may delete the data of its volume, as the reclaim policy says".to_owned())]
        }
        ("", "Service") => vec![address(live)],
        ("", "Pod") => vec![Some("replacing it ends its containers".to_owned())],
        ("batch", "Job") => {
            let counts = ["/status/active", "/status/succeeded", "/status/failed"].map(number);
            let all = counts.into_iter().fold(0, u64::saturating_add);
            vec![pods(all), Some("replacing it runs it again".to_owned())]
        }
        ("apps", "DaemonSet") => vec![pods(number("/status/currentNumberScheduled"))],
        ("apps", "StatefulSet") => {
            let goes = "/spec/persistentVolumeClaimRetentionPolicy/whenDeleted";
            let has_claims = live.pointer("/spec/volumeClaimTemplates").is_some();
            let claims = match live.pointer(goes).and_then(Value::as_str) {
                Some("Delete") => "replacing it deletes the volume claims of its pods",
                _ => "the volume claims of its pods stay",
            };
            vec![pods(number("/status/replicas")), has_claims.then(|| claims.to_owned())]
        }
        ("apps" | "", "Deployment" | "ReplicaSet" | "ReplicationController") => vec![pods(number("/status/replicas"))],
        _ => Vec::new(),
    };
    sentences.into_iter().flatten().collect()
}

fn address(service: &Value) -> Option<String> {
    match service.pointer("/spec/type").and_then(Value::as_str) {
        Some("ExternalName") => None,
        Some("LoadBalancer") => {
            Some("replacing it releases its load balancer and its addresses: both may change".to_owned())
        }
        _ => Some("replacing it releases its cluster IP: it may change".to_owned()),
    }
}

/// Returns true if every cause of a refusal could be about an immutable field. The server uses only these two reasons for that
/// (apimachinery `pkg/util/validation/field`), and uses them for invalid values too. A value that is reported missing in such a
/// field belongs to the same complaint.
pub(super) fn may_be_immutable(status: &StatusError) -> bool {
    status.code == 422
        && !status.causes.is_empty()
        && outermost(status).all(|cause| {
            let is_possible = ["FieldValueInvalid", "FieldValueForbidden"].contains(&cause.reason.as_str());
            is_possible && !cause.field.is_empty() && !cause.field.starts_with("metadata.")
        })
}

/// The causes, without those about something inside a field that is immutable as a whole.
pub(super) fn outermost(status: &StatusError) -> impl Iterator<Item = &Cause> {
    let is_immutable = |cause: &&Cause| cause.message.ends_with("field is immutable");
    let immutable: Vec<&str> =
        status.causes.iter().filter(is_immutable).map(|cause| cause.field.as_str()).take(MOST_IMMUTABLE).collect();
    let is_within = move |cause: &Cause| {
        let below = |field: &&str| cause.field.strip_prefix(*field).is_some_and(|rest| rest.starts_with(['.', '[']));
        immutable.iter().any(below)
    };
    status.causes.iter().filter(move |cause| !is_within(cause))
}

/// The object whose creation is tried, under its own name: the server looks at the values, and asks its policies and webhooks, before it
/// finds that the object exists (apiserver `pkg/registry/generic/registry/store.go`, `create`). Under another name, it would find fault with
/// the name as well. It does not ask for what the live object holds alone and its deletion gives up. `None` for a
/// CustomResourceDefinition, which only its manifest allows to replace.
pub fn probe_object(gvk: &GroupVersionKind, object: &Value, live: &Value) -> Option<Value> {
    if gvk.is_crd() {
        return None;
    }
    let mut trial = object.clone();
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Service") => {
            if let Some(Value::Object(spec)) = trial.get_mut("spec") {
                give_up_addresses(spec, live.get("spec").unwrap_or(&Value::Null));
            }
        }
        // There is one default.
        ("scheduling.k8s.io", "PriorityClass") if live.get("globalDefault") == Some(&Value::Bool(true)) => {
            trial.as_object_mut()?.remove("globalDefault");
        }
        _ => {}
    }
    Some(trial)
}

/// Returns true if the server refuses a trial only because the object exists: it would create it otherwise.
pub fn is_in_its_own_way(status: &StatusError) -> bool {
    status.code == 409 && status.reason == "AlreadyExists"
}

/// Returns true if the refusal of a trial says nothing against the values of the object. Quotas and policies come after the validation.
pub(super) fn accepts_values(status: &StatusError) -> bool {
    is_in_its_own_way(status)
        || status.code == 403 && status.message.contains(" is forbidden: exceeded quota: ")
        || denied_by_policy(&status.message).is_some()
}

/// Removes the addresses and ports that the live service holds, as no other service can get them. All others are tried.
fn give_up_addresses(spec: &mut Map<String, Value>, live: &Value) {
    spec.retain(|name, value| {
        let is_address = ["clusterIP", "clusterIPs", "healthCheckNodePort", "loadBalancerIP"].contains(&name.as_str());
        !is_address || value.as_str() == Some("None") || live.get(name).is_some_and(|held| held != value)
    });
    let ports = |spec: &Value| spec.get("ports").and_then(Value::as_array).cloned().unwrap_or_default();
    let held = ports(live);
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        let is_held = |wanted: &Value| held.iter().any(|port| port.get("nodePort") == Some(wanted));
        if let Value::Object(port) = port
            && port.get("nodePort").is_some_and(is_held)
        {
            port.remove("nodePort");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::Scalar;

    use super::*;

    #[test]
    fn a_trial_has_the_own_name_and_wants_nothing_that_is_given_up() {
        let job = json!({"metadata": {"name": "migrate"}, "spec": {"a": 1}});
        assert_eq!(probe_object(&GroupVersionKind::new("batch/v1", "Job"), &job, &job), Some(job));
        let class = |is_default: bool| json!({"metadata": {"name": "normal"}, "globalDefault": is_default, "value": 1});
        let kind = GroupVersionKind::new("scheduling.k8s.io/v1", "PriorityClass");
        let trial = probe_object(&kind, &class(true), &class(true));
        assert_eq!(trial, Some(json!({"metadata": {"name": "normal"}, "value": 1})));
        assert_eq!(probe_object(&kind, &class(true), &class(false)), Some(class(true)));
        let definition = GroupVersionKind::new("apiextensions.k8s.io/v1", "CustomResourceDefinition");
        assert_eq!(probe_object(&definition, &json!({}), &json!({})), None);
    }

    #[test]
    fn the_trial_of_a_service_wants_no_address_that_is_taken() {
        let manifest = json!({"metadata": {"name": "web"}, "spec": {"clusterIP": "10.0.0.5", "ports": [{"port": 80, "nodePort": 30000}]}});
        let service = GroupVersionKind::new("v1", "Service");
        assert_eq!(probe_object(&service, &manifest, &manifest).unwrap()["spec"], json!({"ports": [{"port": 80}]}));
        let other = json!({"spec": {"clusterIP": "10.0.0.6", "ports": [{"port": 80, "nodePort": 30001}]}});
        assert_eq!(probe_object(&service, &manifest, &other).unwrap()["spec"], manifest["spec"]);
    }

    #[test]
    fn a_pod_of_which_only_the_resources_differ_can_be_resized() {
        let key = |kind: &str| ObjectKey {
            gvk: GroupVersionKind::new("v1", kind),
            namespace: Some("shop".into()),
            name: "web".into(),
        };
        let web = PathElement::key([("name".to_owned(), Scalar::Text("web".to_owned()))]);
        let container = |list: &str| FieldPath::of(&["spec", list]).child(web.clone());
        let amount =
            |amounts: &str, resource: &str| container("containers").field("resources").field(amounts).field(resource);
        let sizes = [amount("requests", "cpu"), amount("limits", "memory")];
        let command = Some("`kubectl patch pod web -n shop --subresource resize`".to_owned());
        assert_eq!(resize(&key("Pod"), sizes.iter()), command);
        assert_eq!(resize(&key("Node"), sizes.iter()), None);
        assert_eq!(resize(&key("Pod"), [].iter()), None);
        let image = container("containers").field("image");
        let storage = amount("requests", "ephemeral-storage");
        for other in [image, storage, container("containers").field("resources")] {
            assert_eq!(resize(&key("Pod"), sizes.iter().chain([&other])), None, "{other}");
        }
    }

    #[test]
    fn the_cost_names_pods_volumes_and_addresses() {
        let cost_of =
            |api_version: &str, kind: &str, live: Value| cost(&GroupVersionKind::new(api_version, kind), &live);
        assert_eq!(
            cost_of("apps/v1", "Deployment", json!({"status": {"replicas": 3}})),
            ["replacing it deletes its 3 pods"]
        );
        assert_eq!(cost_of("apps/v1", "Deployment", json!({"status": {}})), [] as [&str; 0]);
        assert_eq!(
            cost_of("batch/v1", "Job", json!({"status": {"active": u64::MAX, "failed": 1}})),
            ["replacing it deletes its 18446744073709551615 pods", "replacing it runs it again"]
        );
        let set = json!({"spec": {"volumeClaimTemplates": []}, "status": {"replicas": 1}});
        assert_eq!(
            cost_of("apps/v1", "StatefulSet", set),
            ["replacing it deletes its pod", "the volume claims of its pods stay"]
        );
        assert_eq!(cost_of("v1", "ConfigMap", json!({})), [] as [&str; 0]);
        assert_eq!(cost_of("v1", "Service", json!({"spec": {"type": "ExternalName"}})), [] as [&str; 0]);
    }
}
