//! Rules of the API server for single kinds, beyond what their types say: fields that it counts up or copies itself, node ports that it
//! chooses, `stringData` of Secrets, and limits of a `LimitRange` that follow from others.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::changes::Change;
use super::claimants::Claimants;
use super::object::{FieldPath, FieldSet, GroupVersionKind, ManagedFieldsEntry, PathElement};
use super::schema::{Shape, TypeRef, builtin_kind, item_element, items_by_element};

/// The field of a Service's port.
pub(crate) const NODE_PORT: &str = "nodePort";
/// Annotations that the server makes from fields of the object, by group, kind and key. The server ignores their values
/// in a manifest.
const MADE: [(&str, &str, &str); 3] = [
    // `pkg/registry/apps/daemonset/strategy.go` counts up with every change of the template, `pkg/apis/apps/v1/conversion.go`
    // serves the number as an annotation.
    ("apps", "DaemonSet", "deprecated.daemonset.template.generation"),
    // `pkg/apis/autoscaling/v1/conversion.go` serves what `v1` has no fields for in the status.
    ("autoscaling", "HorizontalPodAutoscaler", "autoscaling.alpha.kubernetes.io/conditions"),
    ("autoscaling", "HorizontalPodAutoscaler", "autoscaling.alpha.kubernetes.io/current-metrics"),
];
/// Two fields of a struct with one meaning: setting one sets both. The second one takes precedence.
const TWINS: [(&str, &str); 4] = [
    // `pkg/apis/core/v1/conversion.go`, `Convert_core_PodSpec_To_v1_PodSpec`
    ("serviceAccount", "serviceAccountName"),
    // `pkg/apis/core/v1/conversion.go`, `Convert_core_NodeSpec_To_v1_NodeSpec`
    ("podCIDR", "podCIDRs"),
    // `pkg/registry/core/service/storage/storage.go`, `normalizeClusterIPs`
    ("clusterIPs", "clusterIP"),
    // `pkg/api/persistentvolumeclaim/util.go`, `NormalizeDataSources`
    ("dataSourceRef", "dataSource"),
];

/// Returns true if a field of a type is the node port of a Service's port.
pub(crate) fn is_node_port(name: &str, schema: TypeRef<'_>) -> bool {
    name == NODE_PORT && schema.declares("targetPort")
}

/// Returns true if a Service has node ports before and after an apply of the manifest, with a different number for each
/// port.
pub(crate) fn keeps_node_ports(manifest: &Value, live: &Value, gvk: &GroupVersionKind) -> bool {
    if !gvk.group.is_empty() || gvk.kind != "Service" {
        return false;
    }
    let wanted = |name: &str| manifest.get("spec").and_then(|spec| spec.get(name));
    let found = |name: &str| live.get("spec").and_then(|spec| spec.get(name));
    let allocates = match found("type").and_then(Value::as_str) {
        Some("NodePort") => true,
        Some("LoadBalancer") => found("allocateLoadBalancerNodePorts") != Some(&Value::Bool(false)),
        _ => false,
    };
    let is_same = |name: &str| wanted(name).is_none_or(|value| Some(value) == found(name));
    let ports = found("ports").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut numbers: Vec<i64> =
        ports.iter().filter_map(|port| port.get(NODE_PORT)?.as_i64()).filter(|number| *number != 0).collect();
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    allocates && wanted("type") == found("type") && is_same("allocateLoadBalancerNodePorts") && numbers.len() == count
}

/// The manifest with the live numbers of the node ports that it leaves to the server (`nodePort:` without a value), if these are kept.
///
/// The server gives a port without a number the node port of the live port of the same *name*
/// (`pkg/registry/core/service/storage/alloc.go`, `patchAllocatedValues`), and a new one if there is no such port. So
/// an apply that only renames a port would change its node port as well. To avoid this, the apply states the live
/// number.
pub fn with_node_ports<'m>(manifest: Cow<'m, Value>, live: &Value, schema: TypeRef<'_>) -> Cow<'m, Value> {
    let list = schema.field("spec").field("ports");
    let Some(found) = live.pointer("/spec/ports").and_then(Value::as_array) else { return manifest };
    if !keeps_node_ports(&manifest, live, &GroupVersionKind::of(&manifest)) {
        return manifest;
    }
    let found = items_by_element(found, list);
    let mut manifest = manifest.into_owned();
    let ports = manifest.pointer_mut("/spec/ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten() {
        let number = item_element(port, list).and_then(|element| found.get(&element)?.get(NODE_PORT));
        if let (Some(left @ Value::Null), Some(number)) = (port.get_mut(NODE_PORT), number) {
            *left = number.clone();
        }
    }
    Cow::Owned(manifest)
}

/// Returns true if a port of a Service has no `targetPort` in the manifest, so that the server fills in the port itself
/// (`SetDefaults_Service`).
pub(crate) fn is_filled_from_port(name: &str, wanted: &Value, found: &Map<String, Value>, schema: TypeRef<'_>) -> bool {
    let is_none = || wanted.is_null() || wanted.as_i64() == Some(0) || wanted.as_str() == Some("");
    name == "targetPort"
        && schema.declares("nodePort")
        && is_none()
        && found.get("port").is_some_and(|port| found.get("targetPort") == Some(port))
}

/// The `limits` of a `LimitRange` with what the server fills in for containers (`SetDefaults_LimitRangeItem`): defaults are the largest
/// values, and default requests are the defaults or, without these, the smallest values.
pub(crate) fn with_limits_filled<'m>(limits: &'m Value, schema: TypeRef<'_>) -> Cow<'m, Value> {
    let Value::Array(items) = limits else { return Cow::Borrowed(limits) };
    let item = schema.item();
    if !(item.declares("defaultRequest") && item.declares("maxLimitRequestRatio")) || item.stores_as_sent() {
        return Cow::Borrowed(limits);
    }
    let mut filled = items.clone();
    let of_containers = filled.iter_mut().filter_map(Value::as_object_mut);
    for item in of_containers.filter(|item| item.get("type").and_then(Value::as_str) == Some("Container")) {
        for (from, to) in [("max", "default"), ("default", "defaultRequest"), ("min", "defaultRequest")] {
            let Some(Value::Object(values)) = item.get(from).cloned() else { continue };
            let mut all = item.get(to).and_then(Value::as_object).cloned().unwrap_or_default();
            for (name, value) in values {
                all.entry(name).or_insert(value);
            }
            if !all.is_empty() {
                item.insert(to.to_owned(), Value::Object(all));
            }
        }
    }
    if filled == *items { Cow::Borrowed(limits) } else { Cow::Owned(Value::Array(filled)) }
}

/// A Secret with its `stringData` moved into `data`, as the server stores it.
pub fn with_string_data_folded(manifest: &Value) -> Cow<'_, Value> {
    if !GroupVersionKind::of(manifest).is_secret() {
        return Cow::Borrowed(manifest);
    }
    let mut manifest = manifest.clone();
    if let Some(fields) = manifest.as_object_mut()
        && let Some(Value::Object(texts)) = fields.remove("stringData")
    {
        let data = fields.entry("data").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(data) = data {
            for (name, text) in texts {
                data.insert(name, encoded(text.as_str().unwrap_or_default()).into());
            }
        }
    }
    Cow::Owned(manifest)
}

/// A Secret to apply, with the texts in `data` that have the live value and that others own as texts (`stringData`); `None` if there are
/// none.
///
/// The server compares a text with no value, so an apply of an equal one would be a conflict, and with force it would take the text from
/// its owners. In `data`, both own it.
pub fn with_equal_texts_in_data(manifest: &Value, live: &Value, others: &[&ManagedFieldsEntry]) -> Option<Value> {
    let texts = manifest.get("stringData").and_then(Value::as_object)?;
    let data = live.get("data").and_then(Value::as_object)?;
    let is_equal = |key: &str, text: &Value| {
        let text = text.as_str().map(encoded);
        text.is_some() && data.get(key).and_then(Value::as_str) == text.as_deref()
    };
    let is_owned = |key: &str| {
        let path = FieldPath::of(&["stringData", key]);
        others.iter().any(|owner| owner.fields.contains(&path))
    };
    let is_moved = |(key, text): &(&String, &Value)| is_owned(key) && is_equal(key, text);
    let (moved, left): (Vec<_>, Vec<_>) = texts.iter().partition(is_moved);
    let own = manifest.get("data").filter(|data| !data.is_null());
    if moved.is_empty() || own.is_some_and(|data| !data.is_object()) {
        return None;
    }
    let mut into = own.and_then(Value::as_object).cloned().unwrap_or_default();
    into.extend(moved.into_iter().filter_map(|(key, _)| Some((key.clone(), data.get(key)?.clone()))));
    let mut manifest = manifest.clone();
    let fields = manifest.as_object_mut()?;
    fields.insert("data".to_owned(), Value::Object(into));
    if left.is_empty() {
        fields.remove("stringData");
    } else {
        let left = left.into_iter().map(|(key, text)| (key.clone(), text.clone()));
        fields.insert("stringData".to_owned(), Value::Object(left.collect()));
    }
    Some(manifest)
}

/// Encodes a text of `stringData` as it is in `data`.
pub(crate) fn encoded(text: &str) -> String {
    STANDARD.encode(text)
}

/// Adds `data.KEY` for each `stringData.KEY` in the fields of a Secret. Such keys are stored in `data`, where they have
/// no recorded owner until another manager writes them.
pub fn with_string_data(gvk: &GroupVersionKind, fields: FieldSet, others: &[ManagedFieldsEntry]) -> FieldSet {
    if !gvk.is_secret() {
        return fields;
    }
    let data = PathElement::Field("data".to_owned());
    let claimants = Claimants::of(others);
    let mut aliases = FieldSet::new();
    let texts = fields.step(&PathElement::Field("stringData".to_owned())).map(|(_, texts)| texts);
    for (key, _, _) in texts.into_iter().flat_map(FieldSet::nodes) {
        let path = FieldPath::from(vec![data.clone(), key.clone()]);
        if !claimants.is_claimed(&path) {
            aliases.insert(&path);
        }
    }
    fields.union(&aliases)
}

/// The owners of an object, with `data.KEY` for each `stringData.KEY` in the fields of a Secret, unless somebody has written the key in
/// `data` since. The server compares texts with no value: the manager that applied them last wrote them then.
pub fn owners_with_string_data<'e>(
    gvk: &GroupVersionKind,
    owners: &'e [ManagedFieldsEntry],
) -> Cow<'e, [ManagedFieldsEntry]> {
    let string_data = PathElement::Field("stringData".to_owned());
    if !gvk.is_secret() || owners.iter().all(|owner| owner.fields.step(&string_data).is_none()) {
        return Cow::Borrowed(owners);
    }
    let claimants = Claimants::of(owners);
    let with_data = |owner: &ManagedFieldsEntry| {
        let mut fields = owner.fields.clone();
        let texts = owner.fields.step(&string_data).map(|(_, texts)| texts);
        for (key, _, _) in texts.into_iter().flat_map(FieldSet::nodes) {
            let path = FieldPath::from(vec![PathElement::Field("data".to_owned()), key.clone()]);
            if claimants.claiming(&path).into_iter().all(|other| other.time < owner.time) {
                fields.insert(&path);
            }
        }
        ManagedFieldsEntry { fields, ..owner.clone() }
    };
    Cow::Owned(owners.iter().map(with_data).collect())
}

/// The field in which the server keeps one of a manifest: it moves the texts of a Secret (`stringData`) into its `data`.
pub fn stored_at(gvk: &GroupVersionKind, path: &FieldPath) -> FieldPath {
    match path.elements() {
        [PathElement::Field(first), PathElement::Field(key)] if gvk.is_secret() && first == "stringData" => {
            FieldPath::of(&["data", key])
        }
        _ => path.clone(),
    }
}

/// The field in which a manifest has one that the server keeps: a value in `data` of a Secret may come from a text (`stringData`).
pub fn written_at(path: &FieldPath, manifest: &Value) -> FieldPath {
    match path.elements() {
        [PathElement::Field(first), PathElement::Field(key)]
            if first == "data"
                && GroupVersionKind::of(manifest).is_secret()
                && manifest.get("stringData").is_some_and(|texts| texts.get(key).is_some()) =>
        {
            FieldPath::of(&["stringData", key])
        }
        _ => path.clone(),
    }
}

/// Removes the changes that only follow from the server's own bookkeeping: fields that it counts up or copies when another field
/// changes. Nobody wrote such a change, as with `metadata.generation`.
pub fn leave_out_bookkeeping(changes: &mut Vec<Change>, gvk: &GroupVersionKind, manifest: &Value, schema: TypeRef<'_>) {
    if builtin_kind(gvk).is_none() {
        return;
    }
    let differs: FieldSet = changes.iter().map(|change| change.path.clone()).collect();
    changes.retain(|change| {
        !is_made(gvk, &change.path)
            && !is_nothing_both_times(change, schema)
            && !is_copy(&change.path, &differs, manifest, schema)
    });
}

fn is_made(gvk: &GroupVersionKind, path: &FieldPath) -> bool {
    made(gvk).any(|made| made == *path)
}

/// The fields of a kind that only the server writes, whatever a manifest or a client says.
pub fn made_fields(gvk: &GroupVersionKind) -> FieldSet {
    made(gvk).filter(|_| builtin_kind(gvk).is_some()).collect()
}

fn made(gvk: &GroupVersionKind) -> impl Iterator<Item = FieldPath> {
    let of_kind = MADE.iter().filter(|(group, kind, _)| gvk.group == *group && gvk.kind == *kind);
    of_kind.map(|(_, _, key)| FieldPath::of(&["metadata", "annotations", key]))
}

/// Returns true if a list or a map without entries is null in one object and empty in the other. In memory, Go
/// distinguishes a nil slice from an empty one (`rules` of a Role, which is always served); stored, both are the same. Inside of JSON
/// without a type, such as the `default` of a definition's schema, a null is a value.
fn is_nothing_both_times(change: &Change, schema: TypeRef<'_>) -> bool {
    let from = change.from.as_ref();
    let to = change.to.as_ref();
    let is_null = |value: Option<&Value>| value.is_some_and(Value::is_null);
    if !is_null(from) && !is_null(to) {
        return false;
    }
    let Some((last, above)) = change.path.elements().split_last() else { return false };
    let parent = schema.at(above);
    if matches!(parent.shape(), Shape::Opaque | Shape::Untyped) {
        return false;
    }
    let schema = parent.step(last);
    let is_nothing = |value: Option<&Value>| match value {
        None | Some(Value::Null) => true,
        Some(Value::Array(items)) => items.is_empty() && matches!(schema.shape(), Shape::List(..)),
        Some(Value::Object(map)) => map.is_empty() && schema.is_free_map(),
        Some(_) => false,
    };
    is_nothing(from) && is_nothing(to)
}

/// Returns true if a path is in the twin that the manifest leaves out, and its twin changes as well.
fn is_copy(path: &FieldPath, differs: &FieldSet, manifest: &Value, mut schema: TypeRef<'_>) -> bool {
    for (at, element) in path.elements().iter().enumerate() {
        if let PathElement::Field(name) = element
            && let Some((twin, is_second)) = twin_of(name)
            && schema.declares(name)
            && schema.declares(twin)
        {
            let parent = FieldPath::from(path.elements().get(..at).unwrap_or_default().to_vec());
            let wants = |name: &str| parent.value_in(manifest).is_some_and(|parent| parent.get(name).is_some());
            let is_left_to_server = !wants(name) && (wants(twin) || !is_second);
            return is_left_to_server && differs.overlaps(&parent.field(twin));
        }
        schema = schema.step(element);
    }
    false
}

/// The twin of a field, and true if the field is the second of the two.
fn twin_of(name: &str) -> Option<(&'static str, bool)> {
    TWINS.iter().find_map(|(first, second)| match name {
        _ if name == *first => Some((*second, false)),
        _ if name == *second => Some((*first, true)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::changes::changes;
    use crate::schema::builtin;

    /// The paths that remain of the changes from one object to another.
    #[track_caller]
    fn left(api_version: &str, kind: &str, manifest: &Value, from: &Value, to: &Value) -> Vec<String> {
        let gvk = GroupVersionKind::new(api_version, kind);
        let schema = builtin().object(&gvk).unwrap_or(TypeRef::untyped());
        let mut found = changes(from, to, schema, true);
        leave_out_bookkeeping(&mut found, &gvk, manifest, schema);
        found.iter().map(|change| change.path.to_string()).collect()
    }

    #[test]
    fn counters_are_no_changes_whatever_the_manifest_says() {
        let counted = |number: &str, owner: &str| json!({"metadata": {"annotations": {"deprecated.daemonset.template.generation": number, "owner": owner}}});
        let from = counted("2", "a");
        let to = counted("3", "b");
        for manifest in [json!({}), counted("1", "b")] {
            assert_eq!(left("apps/v1", "DaemonSet", &manifest, &from, &to), ["metadata.annotations.owner"]);
        }
        assert_eq!(left("apps/v1", "Deployment", &json!({}), &from, &to).len(), 2);
        let none = json!({"metadata": {}});
        let only = json!({"metadata": {"annotations": {"deprecated.daemonset.template.generation": "1"}}});
        assert_eq!(left("apps/v1", "DaemonSet", &none, &none, &only), [""; 0]);
    }

    #[test]
    fn of_two_twins_the_one_in_the_manifest_is_shown() {
        let pod = |spec: Value| json!({"spec": {"template": {"spec": spec}}});
        let both = |name: &str| pod(json!({"serviceAccount": name, "serviceAccountName": name}));
        let shown = |manifest: Value| left("apps/v1", "Deployment", &manifest, &both("b"), &both("a"));
        let at = |name: &str| format!("spec.template.spec.{name}");
        assert_eq!(shown(pod(json!({"serviceAccountName": "a"}))), [at("serviceAccountName")]);
        assert_eq!(shown(pod(json!({"serviceAccount": "a"}))), [at("serviceAccount")]);
        assert_eq!(shown(both("a")), [at("serviceAccount"), at("serviceAccountName")]);
        assert_eq!(shown(pod(json!({}))), [at("serviceAccountName")]);
        // Alone, it is how the server resolves a manifest that contradicts itself.
        let from = pod(json!({"serviceAccount": "b"}));
        let to = pod(json!({"serviceAccount": "a"}));
        assert_eq!(left("apps/v1", "Deployment", &json!({}), &from, &to), [at("serviceAccount")]);
        let service = |ip: &str| json!({"spec": {"clusterIP": ip, "clusterIPs": [ip]}});
        let manifest = json!({"spec": {"clusterIP": "10.0.0.2"}});
        assert_eq!(left("v1", "Service", &manifest, &service("10.0.0.1"), &service("10.0.0.2")), ["spec.clusterIP"]);
    }

    #[test]
    fn nothing_is_no_change_from_null_in_built_in_kinds() {
        let role = |rules: Value| json!({"rules": rules});
        let kind = ("rbac.authorization.k8s.io/v1", "ClusterRole");
        for (from, to) in [(json!(null), json!([])), (json!([]), json!(null))] {
            assert_eq!(left(kind.0, kind.1, &json!({}), &role(from.clone()), &role(to.clone())), [""; 0]);
            assert_eq!(left("example.com/v1", "Role", &json!({}), &role(from), &role(to)), ["rules"]);
        }
        assert_eq!(left(kind.0, kind.1, &json!({}), &json!({}), &role(json!(null))), [""; 0]);
        let rules = json!([{"verbs": ["get"], "resources": ["pods"]}]);
        assert_eq!(left(kind.0, kind.1, &json!({}), &role(json!(null)), &role(rules)), ["rules"]);
        // A pointer to a struct, nil or not.
        let policy = |peer: Value| json!({"spec": {"template": {"spec": {"securityContext": peer}}}});
        assert_eq!(left("apps/v1", "Deployment", &json!({}), &policy(json!(null)), &policy(json!({}))).len(), 1);
    }
}
