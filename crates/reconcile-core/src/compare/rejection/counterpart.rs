//! Fields that only the live object has, and for which the server blames another field: the limit of a request, and the controller beside
//! another one. Both fields are valid without the other.

use serde_json::Value;
use structured_merge::{FieldPath, PathElement, item_element};

use super::cursor::{Cursor, follow_validation};
use super::rejected_object::RejectedObject;
use crate::request::Cause;

/// The field or item of the live object that contradicts the one which a cause names, if the manifest does not have it.
pub(super) fn counterpart(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause) -> Option<FieldPath> {
    limit_of_request(subject, merged, cause).or_else(|| other_controller(subject, merged, cause))
}

/// The limit that is below a request of the manifest (`k8s.io/kubernetes` `pkg/apis/core/validation`, `ValidateContainerResourceRequirements`:
/// `must be less than or equal to memory limit of 64Mi`, or `must be equal to` it, at `requests` or at the resource below it). It is
/// `limits` as a whole if nothing else is in there.
fn limit_of_request(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause) -> Option<FieldPath> {
    let (_, rest) = cause.message.split_once("equal to ")?;
    let (resource, _) = rest.split_once(" limit of ")?;
    let own = follow_validation(Cursor::root(subject.manifest(), subject.schema), merged, &cause.field);
    let elements = own.path.elements();
    let depth =
        elements.iter().rposition(|element| matches!(element, PathElement::Field(name) if name == "requests"))?;
    let requirements = FieldPath::from(elements.get(..depth)?.to_vec());
    let requested = requirements.field("requests").field(resource);
    let has = |path: &FieldPath| path.value_in(subject.manifest()).is_some_and(|value| !value.is_null());
    let limits = requirements.field("limits");
    let limit = limits.field(resource);
    if !has(&requested) || has(&limit) {
        return None;
    }
    let there = limits.value_in(merged)?.as_object().filter(|there| there.contains_key(resource))?;
    Some(if there.len() == 1 && !has(&limits) { limits } else { limit })
}

/// The owner reference that is the controller of the live object beside the one of the manifest (apimachinery
/// `pkg/api/validation/objectmeta.go`, `ValidateOwnerReferences`: the cause is the list). A reference that both have is that of the
/// manifest, which replaces it as a whole.
fn other_controller(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause) -> Option<FieldPath> {
    let list = FieldPath::of(&["metadata", "ownerReferences"]);
    if cause.field != list.to_string() || !cause.message.contains("Only one reference can have Controller set to true")
    {
        return None;
    }
    let schema = subject.schema.at(list.elements());
    let is_controller = |item: &&Value| item.get("controller") == Some(&Value::Bool(true));
    let references = |object| Some(list.value_in(object)?.as_array()?.iter().filter(is_controller));
    // Two controllers in the manifest are its own mistake.
    if references(subject.manifest()).is_none_or(|own| own.count() != 1) {
        return None;
    }
    let mut paths =
        references(merged)?.filter_map(|item| item_element(item, schema)).map(|element| list.child(element));
    paths.find(|path| !subject.claims().contains_at_or_below(path))
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use serde_json::json;
    use structured_merge::{ObjectKey, builtin};

    use super::*;
    use crate::diagnostic::{Code, Diagnostic};
    use crate::live::Target;
    use crate::manifest::{DesiredObject, read_alone};

    fn found(manifest: &Value, live: &Value, field: &str, message: &str) -> Option<String> {
        let manifest = read_alone(manifest.to_string().into_bytes()).unwrap();
        let key = ObjectKey { gvk: manifest.gvk().clone(), namespace: Some("shop".into()), name: "web".into() };
        let desired = DesiredObject::of(manifest, Some("shop"), true);
        let schema = builtin().object(&key.gvk).unwrap();
        let target = Target {
            key,
            resource: Err(Box::new(Diagnostic::new(Code::Failed, ""))),
            versions: [].into(),
            desired,
            base: OnceLock::new(),
            shard_member: None,
        };
        let cause = Cause { reason: "FieldValueInvalid".into(), message: message.into(), field: field.into() };
        let subject = RejectedObject::of_manifest(&target, Some(live), schema);
        counterpart(&subject, &subject.merged(), &cause).map(|path| path.to_string())
    }

    fn pod(resources: &Value) -> Value {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
            "spec": {"containers": [{"name": "web", "resources": resources}]}})
    }

    #[test]
    fn a_limit_of_the_cluster_contradicts_a_request_of_the_manifest() {
        let field = "spec.containers[0].resources.requests";
        let too_much = "Invalid value: \"128Mi\": must be less than or equal to memory limit of 64Mi";
        let limit = |manifest: &Value, live: &Value, field: &str| found(&pod(manifest), &pod(live), field, too_much);
        let manifest = json!({"requests": {"memory": "128Mi"}});
        let live = json!({"limits": {"memory": "64Mi"}});
        let limits = Some("spec.containers[name=web].resources.limits".to_owned());
        assert_eq!(limit(&manifest, &live, field), limits);
        assert_eq!(limit(&manifest, &live, &format!("{field}.memory")), limits);
        // Other limits stay.
        let memory = limits.map(|limits| format!("{limits}.memory"));
        assert_eq!(limit(&manifest, &json!({"limits": {"memory": "64Mi", "cpu": "1"}}), field), memory);
        let with_cpu = json!({"requests": {"memory": "128Mi"}, "limits": {"cpu": "1"}});
        assert_eq!(limit(&with_cpu, &json!({"limits": {"memory": "64Mi", "cpu": "1"}}), field), memory);
        // Where the manifest has both, or not even the request, the limit is not in its way.
        assert_eq!(limit(&json!({"requests": {"memory": "128Mi"}, "limits": {"memory": "64Mi"}}), &live, field), None);
        assert_eq!(limit(&json!({"requests": {"cpu": "1"}}), &live, field), None);
        let devices = "Invalid value: \"2\": must be equal to nvidia.com/gpu limit of 1";
        let live = json!({"limits": {"nvidia.com/gpu": "1", "cpu": "1"}});
        assert_eq!(
            found(&pod(&json!({"requests": {"nvidia.com/gpu": "2"}})), &pod(&live), field, devices),
            Some("spec.containers[name=web].resources.limits[\"nvidia.com/gpu\"]".to_owned())
        );
    }

    #[test]
    fn another_controller_of_the_cluster_contradicts_that_of_the_manifest() {
        let refused = "Invalid value: []: Only one reference can have Controller set to true. Found \"true\" in references for A/a and B/b";
        let with = |references: &Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "ownerReferences": references}});
        let reference = |uid: &str, controller: Option<bool>| {
            let mut reference = json!({"apiVersion": "v1", "kind": "Node", "name": uid, "uid": uid});
            if let Some(controller) = controller {
                reference["controller"] = controller.into();
            }
            reference
        };
        let controller =
            |manifest: &Value, live: &Value| found(&with(manifest), &with(live), "metadata.ownerReferences", refused);
        let ours = json!([reference("a", Some(true))]);
        let theirs = json!([reference("a", None), reference("b", Some(true))]);
        assert_eq!(controller(&ours, &theirs).as_deref(), Some("metadata.ownerReferences[uid=b]"));
        // A mistake of the manifest itself.
        assert_eq!(controller(&json!([reference("a", Some(true)), reference("b", Some(true))]), &theirs), None);
        assert_eq!(controller(&json!([reference("a", None)]), &theirs), None);
    }
}
