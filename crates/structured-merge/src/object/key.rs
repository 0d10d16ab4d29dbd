use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Longest DNS subdomain, in bytes.
pub const MAX_SUBDOMAIN: usize = 253;

/// Returns true for a DNS subdomain, as the names of most objects are (RFC 1123; apimachinery `pkg/util/validation`,
/// `IsDNS1123Subdomain`). Its labels between the dots may have any length.
pub fn is_dns_subdomain(text: &str) -> bool {
    let is_edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_label = |label: &str| {
        label.starts_with(is_edge) && label.ends_with(is_edge) && label.chars().all(|c| is_edge(c) || c == '-')
    };
    text.len() <= MAX_SUBDOMAIN && text.split('.').all(is_label)
}

/// Longest DNS label, in bytes.
pub const MAX_LABEL: usize = 63;

/// Returns true for a DNS label, as the names of namespaces are (`IsDNS1123Label`). Nothing else may get into the path of a request.
pub fn is_dns_label(text: &str) -> bool {
    text.len() <= MAX_LABEL && !text.contains('.') && is_dns_subdomain(text)
}

/// The type of an object. All copies of it share its names, because the objects of an input are of few types.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GroupVersionKind(Arc<TypeNames>);

/// The names in the type of an object.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TypeNames {
    /// API group, such as `apps`; empty for the core group.
    pub group: String,
    /// API version, such as `v1`.
    pub version: String,
    /// Kind, such as `Deployment`.
    pub kind: String,
}

impl Deref for GroupVersionKind {
    type Target = TypeNames;

    fn deref(&self) -> &TypeNames {
        &self.0
    }
}

impl GroupVersionKind {
    /// Splits the `apiVersion` of a manifest into group and version.
    pub fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self::in_group(group, version, kind)
    }

    /// A kind of a group, which is empty for the core group.
    pub fn in_group(group: impl Into<String>, version: impl Into<String>, kind: impl Into<String>) -> Self {
        Self(Arc::new(TypeNames { group: group.into(), version: version.into(), kind: kind.into() }))
    }

    /// Reads the type of an object; parts that the object does not state are empty.
    pub fn of(object: &Value) -> Self {
        let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
        Self::new(text("apiVersion"), text("kind"))
    }

    /// `group/version`, or the version alone in the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Rank of the version among the versions of its kind, the preferred one highest: stable before beta before alpha,
    /// then by number (apimachinery `version.CompareKubeAwareVersionStrings`).
    pub fn version_priority(&self) -> (u8, u32, u32) {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let Some(rest) = self.version.strip_prefix('v') else { return (0, 0, 0) };
        let (major, stage) = rest.split_at(digits(rest));
        let Ok(major) = major.parse() else { return (0, 0, 0) };
        for (rank, name) in [(3, ""), (2, "beta"), (1, "alpha")] {
            match stage.strip_prefix(name) {
                Some("") => return (rank, major, 0),
                Some(minor) if rank < 3 && digits(minor) == minor.len() => {
                    return (rank, major, minor.parse().unwrap_or_default());
                }
                _ => {}
            }
        }
        (0, 0, 0)
    }

    /// Returns true if this is the core group's `Secret`, in any version: its values are never shown.
    pub fn is_secret(&self) -> bool {
        self.group.is_empty() && self.kind == "Secret"
    }

    /// Returns true if this is a core `Namespace`.
    pub fn is_namespace(&self) -> bool {
        self.group.is_empty() && self.kind == "Namespace"
    }

    /// Returns true if this is a `CustomResourceDefinition`.
    pub fn is_crd(&self) -> bool {
        self.group == "apiextensions.k8s.io" && self.kind == "CustomResourceDefinition"
    }
}

/// Makes the objects of one type share its names, when each was read by itself.
#[derive(Debug, Default)]
pub struct SharedTypes(HashSet<GroupVersionKind>);

impl SharedTypes {
    /// Replaces a type by the equal one that was seen first.
    pub fn share(&mut self, gvk: &mut GroupVersionKind) {
        match self.0.get(gvk) {
            Some(known) => *gvk = known.clone(),
            None => _ = self.0.insert(gvk.clone()),
        }
    }
}

/// A kind in all versions. The group is empty for the core group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKind {
    /// Kind, such as `Deployment`.
    pub kind: String,
    /// API group, such as `apps`.
    pub group: String,
}

impl GroupKind {
    /// Parses the form in which an apply set lists a kind: everything behind the first dot is the group (apimachinery
    /// `schema.ParseGroupKind`).
    pub fn parse(text: &str) -> Self {
        let (kind, group) = text.split_once('.').unwrap_or((text, ""));
        Self { kind: kind.to_owned(), group: group.to_owned() }
    }
}

impl From<&GroupVersionKind> for GroupKind {
    fn from(gvk: &GroupVersionKind) -> Self {
        Self { kind: gvk.kind.clone(), group: gvk.group.clone() }
    }
}

/// `Deployment.apps`, or `ConfigMap` in the core group.
impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if self.group.is_empty() { Ok(()) } else { write!(f, ".{}", self.group) }
    }
}

/// Identity of an object: its type, its namespace (`None` if cluster-scoped) and its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The type as the manifest names it.
    pub gvk: GroupVersionKind,
    /// The namespace; `None` for a cluster-scoped object.
    pub namespace: Option<String>,
    /// `metadata.name`.
    pub name: String,
}

impl ObjectKey {
    /// The namespace of the object, or its own name if it is a namespace.
    pub fn own_namespace(&self) -> Option<&str> {
        if self.gvk.is_namespace() { Some(&self.name) } else { self.namespace.as_deref() }
    }

    /// The group, kind, namespace and name: the same for an object in every version of its kind.
    pub fn without_version(&self) -> (&str, &str, Option<&str>, &str) {
        (&self.gvk.group, &self.gvk.kind, self.namespace.as_deref(), &self.name)
    }

    /// Returns true if another key is of the same object, perhaps in another version.
    pub fn is_of_same_object(&self, other: &Self) -> bool {
        self.without_version() == other.without_version()
    }
}

/// `Deployment shop/web`, or `Namespace shop`.
impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.gvk.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

/// Metadata and conditions of any Kubernetes object, read from its JSON (apimachinery `pkg/apis/meta/v1/types.go`,
/// `ObjectMeta`).
///
/// ```
/// use serde_json::json;
/// use structured_merge::ObjectMeta as _;
///
/// let web = json!({"kind": "Pod", "metadata": {"name": "web", "labels": {"app": "shop"}, "finalizers": ["example.com/a"]}});
/// assert_eq!(web.name(), Some("web"));
/// assert_eq!(web.label("app"), Some("shop"));
/// assert_eq!(web.finalizers().collect::<Vec<_>>(), ["example.com/a"]);
/// assert!(!web.is_terminating());
/// ```
pub trait ObjectMeta {
    /// A field of `metadata`.
    fn metadata(&self, field: &str) -> Option<&Value>;

    /// `metadata.name`
    fn name(&self) -> Option<&str> {
        self.metadata("name")?.as_str()
    }

    /// `metadata.uid`
    fn uid(&self) -> Option<&str> {
        self.metadata("uid")?.as_str()
    }

    /// `metadata.resourceVersion`
    fn resource_version(&self) -> Option<&str> {
        self.metadata("resourceVersion")?.as_str()
    }

    /// The value of a label.
    fn label(&self, name: &str) -> Option<&str> {
        self.metadata("labels")?.get(name)?.as_str()
    }

    /// The value of an annotation.
    fn annotation(&self, name: &str) -> Option<&str> {
        self.metadata("annotations")?.get(name)?.as_str()
    }

    /// `metadata.finalizers`
    fn finalizers(&self) -> impl Iterator<Item = &str> {
        list(self.metadata("finalizers")).iter().filter_map(Value::as_str)
    }

    /// `metadata.ownerReferences`
    fn owner_references(&self) -> &[Value] {
        list(self.metadata("ownerReferences"))
    }

    /// The entries of `metadata.managedFields` as they are written.
    fn raw_managed_fields(&self) -> &[Value] {
        list(self.metadata("managedFields"))
    }

    /// `status.conditions`
    fn conditions(&self) -> &[Value];

    /// Returns true if there is a condition of this type with this status: `True`, `False` or `Unknown`.
    fn has_condition(&self, kind: &str, status: &str) -> bool {
        let is = |condition: &Value, name: &str, value: &str| condition.get(name).is_some_and(|found| found == value);
        self.conditions().iter().any(|condition| is(condition, "type", kind) && is(condition, "status", status))
    }

    /// Returns true if the object is being deleted.
    fn is_terminating(&self) -> bool {
        self.metadata("deletionTimestamp").is_some()
    }
}

impl ObjectMeta for Value {
    fn metadata(&self, field: &str) -> Option<&Value> {
        self.get("metadata")?.get(field)
    }

    fn conditions(&self) -> &[Value] {
        list(self.get("status").and_then(|status| status.get("conditions")))
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Fields of `metadata` that only a server writes (apimachinery `pkg/apis/meta/v1/types.go`, `ObjectMeta`). They are
/// never a difference.
pub const SERVER_METADATA: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];
/// Labels of a Job's Pods that the server makes from the Job's uid, and rejects in a manifest
/// (`pkg/registry/batch/job/strategy.go`).
const OF_JOBS: [&str; 2] = ["batch.kubernetes.io/controller-uid", "controller-uid"];

/// The object without the fields that only a server writes, so that it can be created again.
pub fn without_system_fields(object: &Value) -> Value {
    let mut object = object.clone();
    let Value::Object(fields) = &mut object else { return object };
    fields.remove("status");
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        metadata.retain(|name, _| !SERVER_METADATA.contains(&name.as_str()));
    }
    let is_job = fields.get("kind").is_some_and(|kind| kind == "Job");
    if is_job && object.pointer("/spec/manualSelector") != Some(&Value::Bool(true)) {
        if let Some(Value::Object(spec)) = object.get_mut("spec") {
            spec.remove("selector");
        }
        for labels in ["/metadata/labels", "/spec/template/metadata/labels"] {
            if let Some(Value::Object(labels)) = object.pointer_mut(labels) {
                labels.retain(|name, _| !OF_JOBS.contains(&name.as_str()));
            }
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn api_version_splits_into_group_and_version_and_back() {
        let deployment = GroupVersionKind::new("apps/v1", "Deployment");
        assert_eq!((deployment.group.as_str(), deployment.version.as_str()), ("apps", "v1"));
        assert_eq!(deployment.api_version(), "apps/v1");
        assert_eq!(GroupVersionKind::new("v1", "Secret").api_version(), "v1");
    }

    #[test]
    fn a_kind_is_written_as_it_is_read() {
        for (text, kind, group) in
            [("ConfigMap", "ConfigMap", ""), ("Deployment.apps", "Deployment", "apps"), ("A.b.c", "A", "b.c")]
        {
            let parsed = GroupKind::parse(text);
            assert_eq!((parsed.kind.as_str(), parsed.group.as_str()), (kind, group));
            assert_eq!(parsed.to_string(), text);
        }
    }

    #[test]
    fn versions_rank_by_stability_and_then_by_number() {
        let rank = |version: &str| GroupVersionKind::new(&format!("example.com/{version}"), "A").version_priority();
        let ranked = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2"];
        assert!(ranked.windows(2).all(|pair| rank(pair[0]) > rank(pair[1])));
        assert!(["foo1", "v1gamma1", "vbeta1"].iter().all(|odd| rank(odd) < rank("v1alpha1")));
    }

    #[test]
    fn a_key_reads_kind_then_namespace_and_name() {
        let gvk = GroupVersionKind::new("apps/v1", "Deployment");
        let key = ObjectKey { gvk, namespace: Some("shop".into()), name: "web".into() };
        assert_eq!(key.to_string(), "Deployment shop/web");
    }

    #[test]
    fn what_is_missing_or_of_another_type_is_nothing() {
        for object in [json!(null), json!({}), json!({"metadata": []}), json!({"metadata": {"name": 1, "labels": "x"}})]
        {
            assert_eq!((object.name(), object.uid(), object.label("x")), (None, None, None), "{object}");
            assert_eq!(object.finalizers().count() + object.conditions().len(), 0, "{object}");
        }
        let terminating =
            json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"conditions": [{}]}});
        assert!(terminating.is_terminating() && terminating.conditions().len() == 1);
    }
}
