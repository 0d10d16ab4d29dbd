//! Addresses and ports that the server has allocated to a Service. Where an update leaves them empty, it keeps them as long as the type of the
//! Service needs them (`pkg/registry/core/service/storage/storage.go`, `patchAllocatedValues`).

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::kinds::NODE_PORT;
use crate::object::GroupVersionKind;
use crate::schema::{TypeRef, item_element, items_by_element, may_be_defaulted};

/// The manifest of a Service with the allocated values of the live one in the place of empty values.
pub(crate) fn with_kept_allocations<'m>(manifest: Cow<'m, Value>, live: &Value, schema: TypeRef<'_>) -> Cow<'m, Value> {
    let gvk = GroupVersionKind::of(&manifest);
    let specs = (manifest.get("spec").and_then(Value::as_object), live.get("spec").and_then(Value::as_object));
    let (Some(wanted), Some(found)) = specs else { return manifest };
    if !gvk.group.is_empty() || gvk.kind != "Service" {
        return manifest;
    }
    let update = Update { wanted, found };
    let mut kept = update.addresses();
    kept.extend(update.ports(schema.field("spec").field("ports")));
    if kept.is_empty() {
        return manifest;
    }
    let mut manifest = manifest.into_owned();
    if let Some(Value::Object(spec)) = manifest.get_mut("spec") {
        spec.extend(kept);
    }
    Cow::Owned(manifest)
}

/// The `spec` of a Service in the manifest and in the cluster.
struct Update<'a> {
    wanted: &'a Map<String, Value>,
    found: &'a Map<String, Value>,
}

impl Update<'_> {
    /// A field as the update leaves it.
    fn merged(&self, name: &str) -> Option<&Value> {
        self.wanted.get(name).or_else(|| self.found.get(name))
    }

    /// Returns true if this holds before and after the update: of the type of the Service, and of the value of a field.
    fn stays(&self, field: &str, holds: impl Fn(&str, Option<&Value>) -> bool) -> bool {
        let of_type = |value: Option<&Value>| match value.and_then(Value::as_str) {
            None | Some("") => "ClusterIP".to_owned(),
            Some(service_type) => service_type.to_owned(),
        };
        let before = of_type(self.found.get("type"));
        let after = of_type(self.merged("type"));
        holds(&before, self.found.get(field)) && holds(&after, self.merged(field))
    }

    /// Returns true if a field is empty in the manifest, or does not change.
    fn is_kept(&self, name: &str) -> bool {
        self.merged(name).is_none_or(may_be_defaulted) || self.merged(name) == self.found.get(name)
    }

    /// The live value of a field that is empty in the manifest.
    fn kept(&self, name: &str) -> Option<(String, Value)> {
        let is_empty = self.wanted.get(name).is_some_and(may_be_defaulted);
        let live = self.found.get(name).filter(|_| is_empty)?;
        Some((name.to_owned(), live.clone()))
    }

    fn addresses(&self) -> Map<String, Value> {
        let mut kept = Map::new();
        if self.is_kept("clusterIP") && self.stays("clusterIP", |service_type, _| service_type != "ExternalName") {
            kept.extend(self.kept("clusterIP"));
            kept.extend(self.kept("clusterIPs"));
            // The families follow from the addresses (`alloc.go`, `initIPFamilyFields`). A headless Service has none.
            if self.is_kept("clusterIPs") && self.found.get("clusterIP").is_some_and(|address| address != "None") {
                kept.extend(self.kept("ipFamilies"));
            }
        }
        let checks_health = |service_type: &str, policy: Option<&Value>| {
            service_type == "LoadBalancer" && policy.is_some_and(|policy| policy == "Local")
        };
        if self.stays("externalTrafficPolicy", checks_health) {
            kept.extend(self.kept("healthCheckNodePort"));
        }
        kept
    }

    fn ports(&self, list: TypeRef<'_>) -> Option<(String, Value)> {
        const ALLOCATES: &str = "allocateLoadBalancerNodePorts";
        let has_node_ports = |service_type: &str, allocates: Option<&Value>| match service_type {
            "NodePort" => true,
            "LoadBalancer" => allocates != Some(&Value::Bool(false)),
            _ => false,
        };
        let wanted = self.wanted.get("ports")?.as_array()?;
        let found = self.found.get("ports")?.as_array()?;
        let is_left_out = |port: &Value| port.get(NODE_PORT).is_some_and(may_be_defaulted);
        if !wanted.iter().any(is_left_out) || !self.stays(ALLOCATES, has_node_ports) {
            return None;
        }
        let found = items_by_element(found, list);
        let name_of = |port: &Value| port.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let port = |port: &Value| {
            let mut port = port.clone();
            let live = item_element(&port, list).and_then(|element| found.get(&element).copied());
            // The server finds the number by the name of the port.
            let live = live.filter(|live| port.get("name").is_none() || name_of(&port) == name_of(live));
            let number = live.and_then(|live| live.get(NODE_PORT));
            if let (Some(left), Some(number)) = (port.get_mut(NODE_PORT).filter(|left| may_be_defaulted(left)), number)
            {
                *left = number.clone();
            }
            port
        };
        Some(("ports".to_owned(), wanted.iter().map(port).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::builtin;
    use serde_json::json;

    /// The `spec` with what is kept.
    fn kept(wanted: &Value, found: &Value) -> Value {
        let service = |spec: &Value| json!({"apiVersion": "v1", "kind": "Service", "spec": spec});
        let schema = builtin().object(&GroupVersionKind::new("v1", "Service")).unwrap();
        with_kept_allocations(Cow::Owned(service(wanted)), &service(found), schema)["spec"].clone()
    }

    #[test]
    fn an_address_stays_unless_the_type_needs_none() {
        let found =
            json!({"type": "ClusterIP", "clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ipFamilies": ["IPv4"]});
        let wanted = json!({"clusterIP": "", "clusterIPs": [], "ipFamilies": []});
        assert_eq!(kept(&wanted, &found)["clusterIP"], "10.0.0.1");
        assert_eq!(kept(&wanted, &found)["clusterIPs"], json!(["10.0.0.1"]));
        assert_eq!(kept(&wanted, &found)["ipFamilies"], json!(["IPv4"]));
        let external = json!({"type": "ExternalName", "clusterIP": ""});
        assert_eq!(kept(&external, &found), external);
        let other = json!({"clusterIP": "10.0.0.2", "clusterIPs": []});
        assert_eq!(kept(&other, &found), other);
        let headless = json!({"clusterIP": "None", "clusterIPs": ["None"], "ipFamilies": ["IPv4"]});
        assert_eq!(kept(&wanted, &headless), json!({"clusterIP": "None", "clusterIPs": ["None"], "ipFamilies": []}));
    }

    #[test]
    fn a_node_port_stays_with_the_name_of_its_port() {
        let found =
            json!({"type": "NodePort", "ports": [{"name": "a", "port": 80, "protocol": "TCP", "nodePort": 30080}]});
        let number = |service_type: &str, name: &str| {
            let wanted = json!({"type": service_type, "ports": [{"name": name, "port": 80, "nodePort": 0}]});
            kept(&wanted, &found)["ports"][0]["nodePort"].clone()
        };
        assert_eq!([number("NodePort", "a"), number("LoadBalancer", "a")], [30080, 30080]);
        assert_eq!([number("NodePort", "b"), number("ClusterIP", "a")], [0, 0]);
    }

    #[test]
    fn a_health_check_port_stays_while_traffic_stays_local() {
        let found = json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 30090});
        assert_eq!(kept(&json!({"healthCheckNodePort": 0}), &found)["healthCheckNodePort"], 30090);
        let wanted = json!({"externalTrafficPolicy": "Cluster", "healthCheckNodePort": 0});
        assert_eq!(kept(&wanted, &found), wanted);
    }
}
