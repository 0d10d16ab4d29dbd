//! The resources of a server, read from its discovery documents. A group whose API service is down is unavailable, which is not
//! the same as an unknown kind.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use structured_merge::{GroupKind, GroupVersionKind, TypeNames};

use super::group_document::{Group, GroupDocument, MOST_IN_GROUP, legacy_resources};
use super::resource::Resource;
use crate::object::{Definition, MAX_LABEL, RBAC, is_rbac_resource, usual_plural};
use crate::request::is_path_segment;
use crate::text::similar;

/// The result of looking up a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution<'c> {
    /// It is served.
    Known(&'c Resource),
    /// Its group and version are registered, but the API service behind them does not answer.
    Unavailable,
    /// Its group has more kinds than are read.
    Oversized,
    /// The server has no such kind.
    Unknown,
}

/// All resources of a server.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// True if the kinds are the built-in types, and not those of a server.
    pub(super) is_built_in: bool,
    resources: BTreeMap<GroupVersionKind, Resource>,
    /// (group, version) pairs that are registered but do not answer.
    unavailable: BTreeSet<(String, String)>,
    /// Groups that have more kinds than are read.
    oversized: BTreeSet<String>,
    /// Other names of kinds, each with the kinds that have it.
    aliases: BTreeMap<String, BTreeSet<GroupKind>>,
    /// The kinds of the category `all`, which `kubectl get all` shows. Servers without aggregated discovery name none.
    in_all: BTreeSet<GroupKind>,
    /// Kinds whose objects can only be created, such as the reviews of `authorization.k8s.io`.
    created_only: BTreeSet<GroupVersionKind>,
    /// Kinds of definitions of the input that do not count, with the reason.
    uncounted: BTreeMap<GroupKind, String>,
}

impl Discovery {
    /// The built-in kinds, for comparisons without a server, which need no plural names.
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
        Self { is_built_in: true, resources, ..Self::default() }
    }

    /// The built-in kinds as a server probably serves them. Only the server's own documents say whether it does.
    pub fn assumed() -> Self {
        let mut discovery = Self::builtin();
        for resource in discovery.resources.values_mut() {
            resource.plural = usual_plural(&resource.gvk.kind);
            resource.verbs = ["get", "list"].map(ToOwned::to_owned).into();
        }
        discovery
    }

    /// Looks a kind up.
    pub fn resolve(&self, gvk: &GroupVersionKind) -> Resolution<'_> {
        match self.resources.get(gvk) {
            Some(resource) => Resolution::Known(resource),
            None if self.unavailable.contains(&(gvk.group.clone(), gvk.version.clone())) => Resolution::Unavailable,
            None if self.oversized.contains(&gvk.group) => Resolution::Oversized,
            None => Resolution::Unknown,
        }
    }

    /// Returns true if the server has a kind, and its objects can be created and not read.
    pub fn is_created_only(&self, gvk: &GroupVersionKind) -> bool {
        self.created_only.contains(gvk)
    }

    /// All resources, by group, version and kind.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.resources.values()
    }

    /// Looks a kind up in its preferred version.
    pub fn resolve_kind(&self, kind: &GroupKind) -> Resolution<'_> {
        let is_it = |gvk: &GroupVersionKind| gvk.kind == kind.kind && gvk.group == kind.group;
        let served = self.resources().filter(|resource| is_it(&resource.gvk));
        match served.max_by_key(|resource| resource.gvk.version_priority()) {
            Some(resource) => Resolution::Known(resource),
            None if self.unavailable.iter().any(|(group, _)| *group == kind.group) => Resolution::Unavailable,
            None if self.oversized.contains(&kind.group) => Resolution::Oversized,
            None => Resolution::Unknown,
        }
    }

    /// Each group and version that serves a kind of this name, such as `apps/v1`.
    pub fn versions_of(&self, kind: &str) -> Vec<String> {
        let served = self.resources().filter(|resource| resource.gvk.kind == kind && !resource.pending);
        served.map(|resource| resource.gvk.api_version()).collect()
    }

    /// The kinds of the category `all`, as far as the server names them: those of `kubectl get all`.
    pub fn category_all(&self) -> impl Iterator<Item = &GroupKind> {
        self.in_all.iter()
    }

    /// Adds a name of a kind.
    pub(super) fn add_alias(&mut self, kind: GroupKind, name: String) {
        self.aliases.entry(name).or_default().insert(kind);
    }

    /// Returns true if a kind has this name as well: in the singular, or a short one.
    pub fn has_alias(&self, gvk: &GroupVersionKind, name: &str) -> bool {
        self.aliases.get(name).is_some_and(|kinds| kinds.contains(&GroupKind::from(gvk)))
    }

    /// Returns true if a kind is in a group of the built-in types, and no server was asked about it.
    pub(super) fn is_judged_by_built_in_types(&self, gvk: &GroupVersionKind) -> bool {
        self.is_built_in && is_builtin_group(&gvk.group)
    }

    /// Returns true if a resource is of an API group of Kubernetes itself.
    pub(super) fn is_of_kubernetes(resource: &Resource) -> bool {
        resource.gvk.group.is_empty() || is_builtin_group(&resource.gvk.group)
    }

    /// The kind that was probably meant: in the same group, or else in any.
    pub fn similar_kind(&self, gvk: &GroupVersionKind) -> Option<&str> {
        // Manifests may name any number of kinds: only those that can be similar are compared.
        let is_near = |kind: &str| kind.len().abs_diff(gvk.kind.len()) <= 3;
        let kinds = || self.resources.keys().filter(|other| is_near(&other.kind));
        let in_group = kinds().filter(|other| other.group == gvk.group).map(|other| other.kind.as_str());
        let short = Some(gvk.kind.as_str()).filter(|kind| kind.len() <= MAX_LABEL)?;
        similar(short, in_group).or_else(|| similar(short, kinds().map(|other| other.kind.as_str())))
    }

    /// Takes the answers to `/api` and `/apis`. Also returns the group-versions whose resources the server describes in separate
    /// documents, as servers without aggregated discovery do (KEP-3352). Returns `None` if an answer is not a list of API groups:
    /// an empty result would say that the server has no kinds at all.
    pub fn read(core: GroupDocument, groups: GroupDocument) -> Option<(Self, Vec<(String, String)>)> {
        let mut discovery = Self::default();
        let mut legacy = Vec::new();
        for (document, is_core) in [(core, true), (groups, false)] {
            match (document.kind.as_str(), is_core) {
                ("APIGroupDiscoveryList", _) => {
                    for group in document.groups {
                        discovery.add_group(group);
                    }
                }
                ("APIVersions", true) | ("APIGroupList", false) => legacy.extend(document.group_versions),
                _ => return None,
            }
        }
        Some((discovery, legacy))
    }

    fn add_group(&mut self, group: Group) {
        let Group { name, resources, aliases, in_all, stale, is_oversized } = group;
        if is_oversized {
            self.oversized.insert(name);
            return;
        }
        for resource in resources {
            self.add(resource);
        }
        for (alias, kind) in aliases {
            self.add_alias(GroupKind { group: name.clone(), kind }, alias);
        }
        self.in_all.extend(in_all.into_iter().map(|kind| GroupKind { group: name.clone(), kind }));
        self.unavailable.extend(stale.into_iter().map(|version| (name.clone(), version)));
    }

    /// Adds the resources that the document of a group-version lists. Without a document, the group-version is unavailable.
    pub fn add_group_version(&mut self, group: String, version: String, document: Option<&Value>) {
        match document.and_then(|document| legacy_resources(&group, &version, document)) {
            Some(resources) if resources.len() > MOST_IN_GROUP => drop(self.oversized.insert(group)),
            Some(resources) => {
                for resource in resources {
                    self.add(resource);
                }
            }
            None => drop(self.unavailable.insert((group, version))),
        }
    }

    /// Adds the kinds that a CustomResourceDefinition of the input defines and the server does not serve yet. A definition that the
    /// API would refuse does not count, and neither does one whose resource or kind the server serves as something else: permissions
    /// for the one would be permissions for the other.
    pub fn expect(&mut self, crd: &Value) {
        let Some(definition) = Definition::read(crd) else { return };
        match self.served_otherwise(&definition) {
            None => self.define(&definition, true),
            Some(reason) => {
                let kind = GroupKind { group: definition.group.to_owned(), kind: definition.kind.to_owned() };
                self.uncounted.insert(kind, reason);
            }
        }
    }

    /// Learns the kinds that a live CustomResourceDefinition defines, for comparisons without a server.
    pub fn learn_defined(&mut self, crd: &Value) {
        if let Some(definition) = Definition::read(crd) {
            self.define(&definition, false);
        }
    }

    /// The reason why a CustomResourceDefinition of the input that defines this kind does not count, if there is one.
    pub fn uncounted(&self, gvk: &GroupVersionKind) -> Option<&str> {
        self.uncounted.get(&GroupKind::from(gvk)).map(String::as_str)
    }

    fn served_otherwise(&self, definition: &Definition<'_>) -> Option<String> {
        let Definition { group, plural, kind, .. } = definition;
        if is_builtin_group(group) {
            return Some(format!("`{group}` is an API group of Kubernetes itself"));
        }
        let mut others = self.resources().filter(|resource| resource.gvk.group == *group && !resource.pending);
        let other = others.find(|other| (other.plural == *plural) != (other.gvk.kind == *kind))?;
        Some(format!("the server has `{}` as the plural name of `{}` in `{group}`", other.plural, other.gvk.kind))
    }

    fn define(&mut self, definition: &Definition<'_>, pending: bool) {
        for version in &definition.served {
            self.add(Resource {
                gvk: GroupVersionKind::in_group(definition.group, version.name, definition.kind),
                plural: definition.plural.to_owned(),
                namespaced: definition.namespaced,
                verbs: ["get", "list", "patch"].map(ToOwned::to_owned).into(),
                status: version.status,
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

    /// Adds a resource. Left out are kinds that cannot be read by name, such as the reviews of `authorization.k8s.io`, which store no
    /// objects, kinds whose names cannot be segments of a path or are patterns of RBAC, and kinds in the group of RBAC that are not its
    /// own. If two resources serve one kind, the first one counts.
    pub fn add(&mut self, resource: Resource) {
        let TypeNames { group, version, kind } = &*resource.gvk;
        let is_name = |text: &str| is_path_segment(text) && !text.contains('*');
        let has_path = is_name(&resource.plural) && is_name(version) && (group.is_empty() || is_name(group));
        let is_meant = group != RBAC || is_rbac_resource(kind, &resource.plural);
        if !has_path || !is_meant {
            return;
        }
        if resource.verbs.contains("get") {
            self.resources.entry(resource.gvk.clone()).or_insert(resource);
        } else if resource.verbs.contains("create") {
            self.created_only.insert(resource.gvk);
        }
    }
}

/// The API groups of Kubernetes that have no kinds in the table of built-in types: those whose kinds store no objects, those that are off by
/// default, and one that was removed.
const OTHER_GROUPS: [&str; 8] = [
    "admission.k8s.io",
    "apidiscovery.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "extensions",
    "imagepolicy.k8s.io",
    "internal.apiserver.k8s.io",
    "storagemigration.k8s.io",
];

/// Returns true if an API group is one of Kubernetes itself.
pub(crate) fn is_builtin_group(group: &str) -> bool {
    OTHER_GROUPS.contains(&group) || structured_merge::builtin().kinds().iter().any(|kind| kind.gvk.group == group)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn aggregated(groups: &Value) -> Discovery {
        let read = |document: &Value| serde_json::from_value(document.clone()).unwrap();
        let core = json!({"kind": "APIGroupDiscoveryList", "items": []});
        Discovery::read(read(&core), read(groups)).unwrap().0
    }

    #[test]
    fn a_stale_group_is_unavailable_and_an_unlisted_kind_unknown() {
        let discovery = aggregated(&json!({"kind": "APIGroupDiscoveryList", "items": [
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
    fn a_kind_that_can_only_be_created_is_no_resource_and_is_known_as_one() {
        let review = |verbs: &Value| {
            aggregated(&json!({"kind": "APIGroupDiscoveryList", "items": [
                {"metadata": {"name": "authorization.k8s.io"}, "versions": [{"version": "v1", "freshness": "Current", "resources": [
                    {"resource": "subjectaccessreviews", "responseKind": {"kind": "SubjectAccessReview"}, "scope": "Cluster",
                     "verbs": verbs}]}]}]}))
        };
        let gvk = GroupVersionKind::new("authorization.k8s.io/v1", "SubjectAccessReview");
        for (verbs, expected) in [(json!(["create"]), true), (json!(["create", "get"]), false), (json!([]), false)] {
            assert_eq!(review(&verbs).is_created_only(&gvk), expected, "{verbs}");
        }
        assert_eq!(review(&json!(["create"])).resolve(&gvk), Resolution::Unknown);
    }

    #[test]
    fn what_has_no_path_is_no_resource() {
        let mut discovery = Discovery::default();
        for (group, version, plural) in [
            ("example.com", "v1", "widgets/w"),
            ("example.com", "v1", ".."),
            ("example.com", "v1", "*"),
            ("*", "v1", "widgets"),
            ("example.com/v1/widgets", "v1", "widgets"),
            ("example.com", "", "widgets"),
            ("", "v1", "widgets"),
        ] {
            discovery.expect(&definition(group, plural, "Widget", version));
            let resource = json!({"resource": plural, "responseKind": {"kind": "Widget"}, "verbs": ["get"]});
            if !group.is_empty() {
                let found =
                    aggregated(&json!({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": group},
                    "versions": [{"version": version, "resources": [resource]}]}]}));
                assert_eq!(found.resources().count(), 0, "{plural}.{group}/{version}");
            }
        }
        assert_eq!(discovery.resources().count(), 0);
    }

    fn definition(group: &str, plural: &str, kind: &str, version: &str) -> Value {
        json!({"metadata": {"name": format!("{plural}.{group}")}, "spec": {
            "group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
            "versions": [{"name": version, "served": true}]}})
    }

    fn served(group: &str, plural: &str, kind: &str) -> Resource {
        Resource {
            gvk: GroupVersionKind::in_group(group, "v1", kind),
            plural: plural.to_owned(),
            namespaced: true,
            verbs: ["get".to_owned()].into(),
            status: false,
            pending: false,
        }
    }

    #[test]
    fn a_definition_of_the_input_adds_kinds_and_takes_none_over() {
        let mut discovery = Discovery::default();
        discovery.add(served("example.com", "widgets", "Widget"));
        for (group, plural, kind, counts) in [
            ("example.com", "widgets", "Widget", true),
            ("example.com", "gadgets", "Gadget", true),
            ("example.org", "widgets", "Gadget", true),
            ("example.com", "widgets", "Other", false),
            ("example.com", "others", "Widget", false),
            ("rbac.authorization.k8s.io", "clusterrolebindings", "Widget", false),
            ("rbac.authorization.k8s.io", "clusterrolebindings", "ClusterRoleBinding", false),
            ("authorization.k8s.io", "widgets", "Widget", false),
            ("networking.k8s.io", "ingresses", "Ingress", false),
            ("gateway.networking.k8s.io", "gateways", "Gateway", true),
        ] {
            let mut discovery = discovery.clone();
            discovery.expect(&definition(group, plural, kind, "v2"));
            let gvk = GroupVersionKind::in_group(group, "v2", kind);
            assert_eq!(discovery.resolve(&gvk) != Resolution::Unknown, counts, "{plural}.{group} {kind}");
            assert_eq!(discovery.uncounted(&gvk).is_none(), counts, "{plural}.{group} {kind}");
        }
    }

    #[test]
    fn the_group_of_rbac_has_its_own_resources_only() {
        let mut discovery = Discovery::default();
        for (plural, kind) in
            [("clusterrolebindings", "Widget"), ("widgets", "ClusterRole"), ("roles", "Role"), ("*", "RoleBinding")]
        {
            discovery.add(served("rbac.authorization.k8s.io", plural, kind));
        }
        let kinds: Vec<&str> = discovery.resources().map(|resource| resource.gvk.kind.as_str()).collect();
        assert_eq!(kinds, ["Role"]);
    }
}
