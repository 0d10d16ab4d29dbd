//! The resources of a server, read from its discovery documents. A group whose API service is down is unavailable, which is not
//! the same as an unknown kind.

use std::collections::{BTreeMap, BTreeSet};

use apply_set::GroupKind;
use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectMeta as _};

use super::resource::Resource;
use crate::request::is_path_segment;

/// The result of looking up a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution<'c> {
    /// It is served.
    Known(&'c Resource),
    /// Its group and version are registered, but the API service behind them does not answer.
    Unavailable,
    /// The server has no such kind.
    Unknown,
}

/// All resources of a server.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    resources: BTreeMap<GroupVersionKind, Resource>,
    /// (group, version) pairs that are registered but do not answer.
    unavailable: BTreeSet<(String, String)>,
}

impl Discovery {
    /// The built-in kinds, for comparisons without a server, which need no plural names.
    #[must_use]
    pub fn builtin() -> Self {
        let resource = |info: &structured_merge::KindInfo| Resource {
            gvk: info.gvk.clone(),
            plural: String::new(),
            namespaced: info.namespaced,
            verbs: BTreeSet::new(),
            status: info.status,
            pending: false,
        };
        let resources =
            structured_merge::builtin().kinds().iter().map(|info| (info.gvk.clone(), resource(info))).collect();
        Self { resources, unavailable: BTreeSet::new() }
    }

    /// Looks a kind up.
    #[must_use]
    pub fn resolve(&self, gvk: &GroupVersionKind) -> Resolution<'_> {
        match self.resources.get(gvk) {
            Some(resource) => Resolution::Known(resource),
            None if self.unavailable.contains(&(gvk.group.clone(), gvk.version.clone())) => Resolution::Unavailable,
            None => Resolution::Unknown,
        }
    }

    /// All resources, by group, version and kind.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.resources.values()
    }

    /// Looks a kind up in its preferred version.
    #[must_use]
    pub fn resolve_kind(&self, kind: &GroupKind) -> Resolution<'_> {
        let served = self.resources().filter(|resource| GroupKind::from(&resource.gvk) == *kind);
        match served.max_by_key(|resource| resource.gvk.version_priority()) {
            Some(resource) => Resolution::Known(resource),
            None if self.unavailable.iter().any(|(group, _)| *group == kind.group) => Resolution::Unavailable,
            None => Resolution::Unknown,
        }
    }

    /// Each group and version that serves a kind of this name, such as `apps/v1`.
    #[must_use]
    pub fn versions_of(&self, kind: &str) -> Vec<String> {
        self.resources.keys().filter(|gvk| gvk.kind == kind).map(GroupVersionKind::api_version).collect()
    }

    /// Reads the answers to `/api` and `/apis`. Also returns the group-versions whose resources the server describes in separate
    /// documents, as servers without aggregated discovery do (KEP-3352). Returns `None` if an answer is not a list of API groups:
    /// an empty result would say that the server has no kinds at all.
    #[must_use]
    pub fn read(core: &Value, groups: &Value) -> Option<(Self, Vec<(String, String)>)> {
        let mut discovery = Self::default();
        let mut legacy = Vec::new();
        for (document, is_core) in [(core, true), (groups, false)] {
            match (text(document, "kind"), is_core) {
                ("APIGroupDiscoveryList", _) => discovery.add_aggregated(document),
                ("APIVersions", true) | ("APIGroupList", false) => {
                    legacy.extend(legacy_group_versions(document, is_core));
                }
                _ => return None,
            }
        }
        Some((discovery, legacy))
    }

    /// Adds the resources that the document of a group-version lists. Without a document, the group-version is unavailable.
    pub fn add_group_version(&mut self, group: String, version: String, document: Option<&Value>) {
        match document.filter(|document| text(document, "kind") == "APIResourceList") {
            Some(document) => self.add_legacy(&group, &version, document),
            None => drop(self.unavailable.insert((group, version))),
        }
    }

    /// Adds the kinds that a CustomResourceDefinition of the input defines and the server does not serve yet.
    pub fn expect(&mut self, crd: &Value) {
        self.define(crd, true);
    }

    /// Learns the kinds that a live CustomResourceDefinition defines, for comparisons without a server.
    pub fn learn_defined(&mut self, crd: &Value) {
        self.define(crd, false);
    }

    fn define(&mut self, crd: &Value, pending: bool) {
        let at = |pointer: &str| crd.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let versions = crd.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
        // No definition can add to the core group.
        let versions = versions.filter(|_| !at("/spec/group").is_empty());
        for version in versions.filter(|version| version.get("served") == Some(&Value::Bool(true))) {
            let version_name = text(version, "name").to_owned();
            self.add(Resource {
                gvk: GroupVersionKind { group: at("/spec/group"), version: version_name, kind: at("/spec/names/kind") },
                plural: at("/spec/names/plural"),
                namespaced: at("/spec/scope") == "Namespaced",
                verbs: ["get", "list", "patch"].map(ToOwned::to_owned).into(),
                status: version.pointer("/subresources/status").is_some(),
                pending,
            });
        }
    }

    /// Learns a kind from an object of it, for comparisons without a server: its scope shows in its metadata.
    pub fn learn(&mut self, object: &Value) {
        let at = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        if let (Some(api_version), Some(kind)) = (at("/apiVersion"), at("/kind")) {
            self.add(Resource {
                gvk: GroupVersionKind::new(api_version, kind),
                plural: kind.to_lowercase(),
                namespaced: at("/metadata/namespace").is_some(),
                verbs: ["get"].map(ToOwned::to_owned).into(),
                status: true,
                pending: false,
            });
        }
    }

    fn add_aggregated(&mut self, list: &Value) {
        for group in array(list, "items") {
            let group_name = group.name().unwrap_or_default();
            for version in array(group, "versions") {
                let version_name = text(version, "version");
                if text(version, "freshness") == "Stale" {
                    self.unavailable.insert((group_name.to_owned(), version_name.to_owned()));
                }
                for resource in array(version, "resources") {
                    let kind = resource.get("responseKind").unwrap_or(&Value::Null);
                    let subresources = array(resource, "subresources");
                    self.add(Resource {
                        gvk: GroupVersionKind {
                            group: group_name.to_owned(),
                            version: version_name.to_owned(),
                            kind: text(kind, "kind").to_owned(),
                        },
                        plural: text(resource, "resource").to_owned(),
                        namespaced: text(resource, "scope") == "Namespaced",
                        verbs: verbs(resource),
                        status: subresources.into_iter().any(|sub| text(sub, "subresource") == "status"),
                        pending: false,
                    });
                }
            }
        }
    }

    fn add_legacy(&mut self, group: &str, version: &str, list: &Value) {
        let resources = array(list, "resources");
        for resource in &resources {
            let name = text(resource, "name");
            if name.contains('/') {
                continue;
            }
            let status = format!("{name}/status");
            self.add(Resource {
                gvk: GroupVersionKind {
                    group: group.to_owned(),
                    version: version.to_owned(),
                    kind: text(resource, "kind").to_owned(),
                },
                plural: name.to_owned(),
                namespaced: resource.get("namespaced").and_then(Value::as_bool).unwrap_or(false),
                verbs: verbs(resource),
                status: resources.iter().any(|other| text(other, "name") == status),
                pending: false,
            });
        }
    }

    /// Adds a resource. Left out are kinds that cannot be read by name, such as the reviews of `authorization.k8s.io`, which store no
    /// objects, and kinds whose names cannot be segments of a path. If two resources serve one kind, the first one counts.
    pub fn add(&mut self, resource: Resource) {
        let GroupVersionKind { group, version, .. } = &resource.gvk;
        let has_path = is_path_segment(&resource.plural)
            && is_path_segment(version)
            && (group.is_empty() || is_path_segment(group));
        if has_path && resource.verbs.contains("get") {
            self.resources.entry(resource.gvk.clone()).or_insert(resource);
        }
    }
}

/// The group-versions that the documents of legacy discovery name (`APIVersions`, `APIGroupList`).
fn legacy_group_versions(document: &Value, is_core: bool) -> Vec<(String, String)> {
    if is_core {
        let versions = array(document, "versions").into_iter().filter_map(Value::as_str);
        return versions.map(|version| (String::new(), version.to_owned())).collect();
    }
    let of_group = |group| array(group, "versions").into_iter().map(|version| text(version, "groupVersion"));
    let all = array(document, "groups").into_iter().flat_map(of_group);
    all.filter_map(|name| name.split_once('/')).map(|(group, version)| (group.to_owned(), version.to_owned())).collect()
}

fn array<'v>(value: &'v Value, name: &str) -> Vec<&'v Value> {
    value.get(name).and_then(Value::as_array).map(|items| items.iter().collect()).unwrap_or_default()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn verbs(resource: &Value) -> BTreeSet<String> {
    array(resource, "verbs").into_iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_stale_group_is_unavailable_and_an_unlisted_kind_unknown() {
        let mut discovery = Discovery::default();
        discovery.add_aggregated(&json!({"kind": "APIGroupDiscoveryList", "items": [
            {"metadata": {"name": "apps"}, "versions": [{"version": "v1", "freshness": "Current", "resources": [
                {"resource": "deployments", "responseKind": {"kind": "Deployment"}, "scope": "Namespaced",
                 "verbs": ["get", "patch"], "subresources": [{"subresource": "status"}]}]}]},
            {"metadata": {"name": "metrics.k8s.io"}, "versions": [{"version": "v1beta1", "freshness": "Stale"}]}]}));
        let resolve = |api_version, kind| discovery.resolve(&GroupVersionKind::new(api_version, kind)).clone();
        assert!(
            matches!(resolve("apps/v1", "Deployment"), Resolution::Known(found) if found.namespaced && found.status)
        );
        assert_eq!(resolve("metrics.k8s.io/v1beta1", "PodMetrics"), Resolution::Unavailable);
        assert_eq!(resolve("apps/v1", "Deploymint"), Resolution::Unknown);
    }

    #[test]
    fn what_has_no_path_is_no_resource() {
        let mut discovery = Discovery::default();
        for (group, version, plural) in [
            ("example.com", "v1", "widgets/w"),
            ("example.com", "v1", ".."),
            ("example.com/v1/widgets", "v1", "widgets"),
            ("example.com", "", "widgets"),
            ("", "v1", "widgets"),
        ] {
            let versions = json!([{"name": version, "served": true}]);
            let names = json!({"kind": "Widget", "plural": plural});
            discovery.expect(
                &json!({"spec": {"group": group, "scope": "Namespaced", "names": names, "versions": versions}}),
            );
            let resource = json!({"resource": plural, "responseKind": {"kind": "Widget"}, "verbs": ["get"]});
            if !group.is_empty() {
                discovery.add_aggregated(&json!({"items": [{"metadata": {"name": group},
                    "versions": [{"version": version, "resources": [resource]}]}]}));
            }
        }
        assert_eq!(discovery.resources().count(), 0);
    }
}
