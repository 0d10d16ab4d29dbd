//! Node ports that the manifest of a Service leaves to the server (`nodePort:` without a value).
//!
//! The server gives a port without a number the node port of the live port of the same *name*
//! (`pkg/registry/core/service/storage/alloc.go`, `patchAllocatedValues`), and a new one if there is no such port. So
//! an apply that only renames a port would change its node port as well. To avoid this, the apply states the live
//! number.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::object::GroupVersionKind;
use crate::schema::{TypeRef, item_element, items_by_element};

/// The field of a Service's port.
const NODE_PORT: &str = "nodePort";

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

/// The manifest with the live numbers of the node ports that it leaves to the server, if these are kept.
pub fn with_node_ports<'m>(manifest: Cow<'m, Value>, live: &Value, schema: TypeRef<'_>) -> Cow<'m, Value> {
    let text = |name: &str| manifest.get(name).and_then(Value::as_str).unwrap_or_default();
    let gvk = GroupVersionKind::new(text("apiVersion"), text("kind"));
    let list = schema.field("spec").field("ports");
    let Some(found) = live.pointer("/spec/ports").and_then(Value::as_array) else { return manifest };
    if !keeps_node_ports(&manifest, live, &gvk) {
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
