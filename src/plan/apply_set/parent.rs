use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use structured_merge::{FieldPath, GroupVersionKind, ObjectKey, ObjectMeta as _, managed_fields};

use crate::object::GroupKind;

/// Label of a CustomResourceDefinition whose objects may be parents.
pub const IS_PARENT_TYPE: &str = "applyset.kubernetes.io/is-parent-type";

const ID: &str = "applyset.kubernetes.io/id";
const TOOLING: &str = "applyset.kubernetes.io/tooling";
const KINDS: &str = "applyset.kubernetes.io/contains-group-kinds";
/// What kubectl wrote before 1.28, and still reads.
const RESOURCES: &str = "applyset.kubernetes.io/contains-group-resources";
const NAMESPACES: &str = "applyset.kubernetes.io/additional-namespaces";

/// Our name in the parent's tooling annotation.
const TOOL: &str = "kubectl-reconcile";

/// An apply set, by its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplySet {
    /// The parent object.
    pub parent: ObjectKey,
    /// What its members carry as a label.
    pub id: String,
}

impl ApplySet {
    /// The set of a parent. The id is `applyset-BASE64URL(SHA-256(NAME.NAMESPACE.KIND.GROUP))-v1`, with nothing between the
    /// dots of what a parent does not have.
    #[must_use]
    pub fn of(parent: ObjectKey) -> Self {
        let ObjectKey { gvk: GroupVersionKind { group, kind, .. }, namespace, name } = &parent;
        let text = format!("{name}.{}.{kind}.{group}", namespace.as_deref().unwrap_or_default());
        let id = format!("applyset-{}-v1", URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes())));
        Self { parent, id }
    }

    /// Returns true for the set's parent, in whatever version. A parent without a namespace is in every namespace.
    #[must_use]
    pub fn is_parent(&self, gvk: &GroupVersionKind, namespace: &str, name: &str) -> bool {
        let parent = &self.parent;
        name == parent.name
            && (&gvk.group, &gvk.kind) == (&parent.gvk.group, &parent.gvk.kind)
            && parent.namespace.as_deref().is_none_or(|parents| parents == namespace)
    }
}

/// Where the members of a set are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Their kinds.
    pub kinds: BTreeSet<GroupKind>,
    /// Their namespaces, the parent's own included.
    pub namespaces: BTreeSet<String>,
}

impl Inventory {
    /// Adds the place of a member.
    pub fn add(&mut self, member: &ObjectKey) {
        self.kinds.insert(GroupKind::from(&member.gvk));
        self.namespaces.extend(member.namespace.clone());
    }

    /// Both together.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            kinds: self.kinds.union(&other.kinds).cloned().collect(),
            namespaces: self.namespaces.union(&other.namespaces).cloned().collect(),
        }
    }
}

/// Which kinds a parent says that its members have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// These.
    Kinds(BTreeSet<GroupKind>),
    /// Those of these resources, as in `deployments.apps`.
    Resources(Vec<String>),
    /// It does not say: all kinds have to be searched.
    Nothing,
}

/// Why a parent cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// One sentence.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// A parent as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct ParentState {
    /// Its uid.
    pub uid: String,
    /// The version that was read.
    pub resource_version: String,
    /// Which kinds its members have.
    pub listed: Listed,
    /// Which namespaces they are in, its own included.
    pub namespaces: BTreeSet<String>,
    /// Who keeps the set: us, or the tool whose set is continued.
    tooling: String,
    /// The annotations that a record is compared with.
    kinds: Option<String>,
    additional: String,
    /// Who else than the tool wrote them last.
    kinds_by: Option<String>,
    additional_by: Option<String>,
    /// The parent's own namespace.
    own_namespace: Option<String>,
}

impl ParentState {
    /// Reads a live parent. An object that is none does not become one: it may be anybody's. A parent of another tool is
    /// continued only where that tool is among those to `adopt`.
    pub fn of(set: &ApplySet, live: &Value, adopt: &BTreeSet<String>) -> Result<Self, Refusal> {
        let annotation = |name: &str| live.annotation(name);
        let parent = &set.parent;
        if live.is_terminating() {
            let message = format!("{parent}, the parent of the apply set, is being deleted");
            return Err(Refusal { message, hint: "run again when it is gone".to_owned() });
        }
        let id = live.label(ID);
        if let Some(id) = id.filter(|id| *id != set.id) {
            let message = format!("{parent} has the label `{ID}: {id}`, which is not the id of its apply set");
            return Err(Refusal {
                message,
                hint: format!("it has to be `{}`, so correct or remove the label", set.id),
            });
        }
        let (Some(_), Some(tooling)) = (id, annotation(TOOLING)) else {
            return Err(no_parent(set, id.is_some()));
        };
        let tool = tool_of(tooling);
        if tool != TOOL && !adopt.contains(tool) {
            let message = format!("the apply set of {parent} is managed by `{tool}`");
            let hint = format!(
                "continue it with `--adopt={tool}`, after which both tools can apply it, or choose another parent"
            );
            return Err(Refusal { message, hint });
        }
        let items = |text: &str| text.split(',').filter(|item| !item.is_empty()).map(ToOwned::to_owned).collect();
        let listed = match (annotation(KINDS), annotation(RESOURCES)) {
            (Some(kinds), _) => {
                let kinds: Vec<String> = items(kinds);
                Listed::Kinds(kinds.iter().map(|kind| GroupKind::parse(kind)).collect())
            }
            (None, Some(resources)) if !resources.is_empty() => Listed::Resources(items(resources)),
            (None, _) => Listed::Nothing,
        };
        let additional = annotation(NAMESPACES).unwrap_or_default();
        let mut namespaces: BTreeSet<String> = items(additional).into_iter().collect();
        if let Some(name) = namespaces.iter().find(|name| !is_namespace(name)) {
            let message = format!("{parent} has the annotation `{NAMESPACES}` with `{name}`, which names no namespace");
            return Err(Refusal { message, hint: "correct the annotation, a list separated by commas".to_owned() });
        }
        namespaces.extend(parent.namespace.clone());
        let text = |pointer: &str| live.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let list = if annotation(KINDS).is_some() { KINDS } else { RESOURCES };
        let author = |name: &str| annotation(name).and_then(|_| other_author(live, name, tool));
        Ok(Self {
            uid: text("/metadata/uid"),
            resource_version: text("/metadata/resourceVersion"),
            listed,
            namespaces,
            kinds: annotation(KINDS).map(ToOwned::to_owned),
            additional: additional.to_owned(),
            kinds_by: author(list),
            additional_by: author(NAMESPACES),
            own_namespace: parent.namespace.clone(),
            tooling: if tool == TOOL { own_tooling() } else { tooling.to_owned() },
        })
    }

    /// Returns true if it records this already, and the tool wrote it. Another version of ourselves in it is no reason to write.
    #[must_use]
    pub fn says(&self, record: &ParentAnnotations) -> bool {
        let is_own = self.kinds_by.is_none() && self.additional_by.is_none();
        is_own && self.kinds.as_ref() == Some(&record.kinds) && self.additional == record.namespaces
    }

    /// Returns true if members of this kind are where the parent says, so that they may be pruned: the tool wrote so, or the
    /// manifests name the kind as well. Whoever may write to the parent could name any other.
    #[must_use]
    pub fn vouches_for_kind(&self, kind: &GroupKind, mentioned: &Inventory) -> bool {
        self.kinds_by.is_none() || mentioned.kinds.contains(kind)
    }

    /// The namespaces that count in the same way.
    #[must_use]
    pub fn vouched_namespaces(&self, mentioned: &Inventory) -> BTreeSet<String> {
        let is_own = |name: &&String| Some(*name) == self.own_namespace.as_ref();
        let counts =
            |name: &&String| self.additional_by.is_none() || is_own(name) || mentioned.namespaces.contains(*name);
        self.namespaces.iter().filter(counts).cloned().collect()
    }

    /// Who else than the tool wrote the lists last.
    #[must_use]
    pub fn other_author(&self) -> Option<&str> {
        self.additional_by.as_deref().or(self.kinds_by.as_deref())
    }

    /// Where it says that there are members, as far as that counts.
    #[must_use]
    pub fn contents(&self, mentioned: &Inventory) -> Inventory {
        let mut kinds = match &self.listed {
            Listed::Kinds(kinds) => kinds.clone(),
            Listed::Resources(_) | Listed::Nothing => BTreeSet::new(),
        };
        kinds.retain(|kind| self.vouches_for_kind(kind, mentioned));
        Inventory { kinds, namespaces: self.vouched_namespaces(mentioned) }
    }

    /// Returns true if two readings record the same set, whatever else changed.
    #[must_use]
    pub fn same_record(&self, other: &Self) -> bool {
        (&self.kinds, &self.additional) == (&other.kinds, &other.additional)
    }
}

/// What a parent is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentAnnotations {
    tooling: String,
    kinds: String,
    namespaces: String,
}

impl ParentAnnotations {
    /// The record of these contents, in the form that kubectl writes: sorted, and without the parent's own namespace.
    #[must_use]
    pub fn of(set: &ApplySet, standing: Option<&ParentState>, contents: &Inventory) -> Self {
        let mut kinds: Vec<String> = contents.kinds.iter().map(ToString::to_string).collect();
        kinds.sort();
        let others = contents.namespaces.iter().filter(|name| Some(*name) != set.parent.namespace.as_ref());
        let namespaces: Vec<&str> = others.map(String::as_str).collect();
        let tooling = standing.map_or_else(own_tooling, |standing| standing.tooling.clone());
        Self { tooling, kinds: kinds.join(","), namespaces: namespaces.join(",") }
    }

    /// The field manager under which it is written: that of the tool that keeps the set, so that it can go on with it.
    #[must_use]
    pub fn manager(&self) -> String {
        format!("{}-applyset", tool_of(&self.tooling))
    }

    /// What to apply.
    #[must_use]
    pub fn manifest(&self, set: &ApplySet) -> Value {
        let ApplySet { parent, id } = set;
        let mut metadata = json!({
            "name": parent.name,
            "labels": { ID: id },
            "annotations": { TOOLING: self.tooling, KINDS: self.kinds, NAMESPACES: self.namespaces },
        });
        if let Some(namespace) = &parent.namespace {
            metadata["namespace"] = namespace.as_str().into();
        }
        json!({ "apiVersion": parent.gvk.api_version(), "kind": parent.gvk.kind, "metadata": metadata })
    }
}

/// Returns true if a namespace can have this name (RFC 1123).
fn is_namespace(name: &str) -> bool {
    name.len() <= 63 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Who wrote an annotation of a parent, where it was not the tool that keeps the set.
fn other_author(live: &Value, annotation: &str, tool: &str) -> Option<String> {
    let path = FieldPath::of(&["metadata", "annotations", annotation]);
    let mut owners = managed_fields(live).into_iter().filter(|entry| entry.fields.contains(&path)).peekable();
    let first = owners.peek().map_or_else(|| "somebody unknown".to_owned(), |entry| format!("`{}`", entry.manager));
    let is_own = owners.any(|entry| entry.manager.strip_suffix("-applyset") == Some(tool));
    (!is_own).then_some(first)
}

/// An object that exists, and is no parent of a set (kubectl `pkg/cmd/apply/applyset.go`, `FetchParent`).
fn no_parent(set: &ApplySet, has_id: bool) -> Refusal {
    let parent = &set.parent;
    let missing = if has_id { format!("annotation `{TOOLING}`") } else { format!("label `{ID}`") };
    let message = format!("{parent} exists, and is not the parent of an apply set: it has no {missing}");
    let hint = format!(
        "choose another name, or, if it is to be the parent, give it the label `{ID}: {}` and the annotation `{TOOLING}: {}`",
        set.id,
        own_tooling()
    );
    Refusal { message, hint }
}

fn own_tooling() -> String {
    format!("{TOOL}/v{}", env!("CARGO_PKG_VERSION"))
}

/// The tool's name: all before the last slash.
fn tool_of(tooling: &str) -> &str {
    tooling.rsplit_once('/').map_or(tooling, |(tool, _)| tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> ApplySet {
        let gvk = GroupVersionKind::new(api_version, kind);
        ApplySet::of(ObjectKey { gvk, namespace: namespace.map(ToOwned::to_owned), name: name.to_owned() })
    }

    /// An entry of `managedFields` of who wrote these annotations.
    fn written_by(manager: &str, annotations: &[&str]) -> Value {
        let fields: serde_json::Map<String, Value> =
            annotations.iter().map(|name| (format!("f:{name}"), json!({}))).collect();
        let fields = json!({"f:metadata": {"f:annotations": fields}});
        json!({"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields})
    }

    fn parent(labels: &Value, annotations: &Value) -> Value {
        json!({"metadata": {"uid": "u", "resourceVersion": "1", "labels": labels, "annotations": annotations}})
    }

    #[test]
    fn ids_are_those_of_kubectl() {
        for (set, id) in [
            (set("v1", "Secret", Some("test"), "my-set"), "applyset-0eFHV8ySqp7XoShsGvyWFQD3s96yqwHmzc4e0HR1dsY-v1"),
            (
                set("company.com/v1", "ApplySet", None, "my-set"),
                "applyset-rhp1a-HVAVT_dFgyEygyA1BEB82HPp2o10UiFTpqtAs-v1",
            ),
            (set("v1", "Secret", Some("as1"), "set1"), "applyset-T_ycqxUjnOYjhLAP_dNrVBEJzeuz2_C7ry_Q7gB4doo-v1"),
            (set("v1", "ConfigMap", Some("as1"), "cmset"), "applyset-69BKZ62qn4gPD2NmgxRYMxSjiAc8KWgBOXHNkFTJW-s-v1"),
        ] {
            assert_eq!(set.id, id);
        }
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let set = set("v1", "Secret", Some("shop"), "web");
        let kinds = ["Service", "Deployment.apps", "ConfigMap"].map(GroupKind::parse).into();
        let contents = Inventory { kinds, namespaces: ["shop", "b", "a"].map(ToOwned::to_owned).into() };
        let record = ParentAnnotations::of(&set, None, &contents);
        let mut manifest = record.manifest(&set);
        manifest["metadata"]["managedFields"] = json!([written_by("kubectl-reconcile-applyset", &[KINDS, NAMESPACES])]);
        let annotations = &manifest["metadata"]["annotations"];
        assert_eq!(annotations[KINDS], "ConfigMap,Deployment.apps,Service");
        assert_eq!(annotations[NAMESPACES], "a,b");
        let standing = ParentState::of(&set, &manifest, &BTreeSet::new()).unwrap();
        assert!(standing.says(&record));
        assert_eq!((&standing.listed, &standing.namespaces), (&Listed::Kinds(contents.kinds), &contents.namespaces));
        assert_eq!(record.manager(), "kubectl-reconcile-applyset");
    }

    #[test]
    fn an_empty_list_is_an_empty_set_and_no_list_is_an_unknown_one() {
        let set = set("v1", "Secret", Some("shop"), "web");
        let listed = |annotations: Value| {
            ParentState::of(&set, &parent(&json!({ID: set.id}), &annotations), &BTreeSet::new())
                .map(|standing| standing.listed)
        };
        assert_eq!(listed(json!({TOOLING: "kubectl-reconcile/v0", KINDS: ""})), Ok(Listed::Kinds(BTreeSet::new())));
        assert_eq!(listed(json!({TOOLING: "kubectl-reconcile/v0"})), Ok(Listed::Nothing));
        let old = json!({TOOLING: "kubectl-reconcile/v0", RESOURCES: "secrets,deployments.apps"});
        assert_eq!(listed(old), Ok(Listed::Resources(vec!["secrets".to_owned(), "deployments.apps".to_owned()])));
    }

    #[test]
    fn the_set_of_another_tool_is_continued_on_demand_and_stays_its_own() {
        let set = set("v1", "Secret", Some("shop"), "web");
        let mut live = parent(&json!({ID: set.id}), &json!({TOOLING: "kubectl/v1.36.3", KINDS: "", NAMESPACES: ""}));
        live["metadata"]["managedFields"] = json!([written_by("kubectl-applyset", &[KINDS, NAMESPACES])]);
        let refusal = ParentState::of(&set, &live, &["helm".to_owned()].into()).unwrap_err();
        assert!(refusal.hint.contains("--adopt=kubectl"), "{refusal:?}");
        let standing = ParentState::of(&set, &live, &["kubectl".to_owned()].into()).unwrap();
        let record = ParentAnnotations::of(&set, Some(&standing), &Inventory::default());
        assert_eq!(record.manager(), "kubectl-applyset");
        assert_eq!(record.manifest(&set)["metadata"]["annotations"][TOOLING], "kubectl/v1.36.3");
        assert!(standing.says(&record));
    }

    #[test]
    fn a_wrong_id_and_a_parent_on_its_way_out_are_refused() {
        let set = set("v1", "Secret", Some("shop"), "web");
        let forged = parent(&json!({ID: "applyset-other-v1"}), &json!({}));
        assert!(ParentState::of(&set, &forged, &BTreeSet::new()).unwrap_err().message.contains("applyset-other-v1"));
        let led_astray =
            parent(&json!({ID: set.id}), &json!({TOOLING: "kubectl-reconcile/v0", NAMESPACES: "shop,../../nodes"}));
        assert!(ParentState::of(&set, &led_astray, &BTreeSet::new()).unwrap_err().message.contains("../../nodes"));
        let going = json!({"metadata": {"deletionTimestamp": "2026-11-21T00:00:00Z"}});
        assert!(ParentState::of(&set, &going, &BTreeSet::new()).unwrap_err().message.contains("being deleted"));
    }
    #[test]
    fn an_object_that_is_no_parent_does_not_become_one() {
        let set = set("v1", "Secret", Some("shop"), "web");
        let tooling = json!({TOOLING: "kubectl-reconcile/v0", KINDS: "Namespace"});
        for (labels, annotations, missing) in [
            (json!({}), json!({}), ID),
            (json!({}), tooling.clone(), ID),
            (json!({ID: set.id}), json!({KINDS: "Namespace"}), TOOLING),
        ] {
            let refusal = ParentState::of(&set, &parent(&labels, &annotations), &BTreeSet::new()).unwrap_err();
            assert!(refusal.message.contains("is not the parent") && refusal.message.contains(missing), "{refusal:?}");
            assert!(refusal.hint.contains(&set.id), "{refusal:?}");
        }
        assert!(ParentState::of(&set, &parent(&json!({ID: set.id}), &tooling), &BTreeSet::new()).is_ok());
    }

    #[test]
    fn what_somebody_else_lists_counts_only_as_far_as_the_manifests_name_it() {
        let set = set("v1", "Secret", Some("shop"), "web");
        let annotations =
            json!({TOOLING: "kubectl-reconcile/v0", KINDS: "ConfigMap,Namespace", NAMESPACES: "data,finance"});
        let mentioned =
            Inventory { kinds: [GroupKind::parse("ConfigMap")].into(), namespaces: ["data".to_owned()].into() };
        let ours = written_by("kubectl-reconcile-applyset", &[KINDS, NAMESPACES]);
        let contents = |owners: Value| {
            let mut live = parent(&json!({ID: set.id}), &annotations);
            live["metadata"]["managedFields"] = owners;
            let standing = ParentState::of(&set, &live, &BTreeSet::new()).unwrap();
            let Inventory { kinds, namespaces } = standing.contents(&mentioned);
            let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
            let namespaces: Vec<String> = namespaces.into_iter().collect();
            (kinds.join(","), namespaces.join(","), standing.other_author().map(ToOwned::to_owned))
        };
        let found = |kinds: &str, namespaces: &str, by: Option<&str>| {
            (kinds.to_owned(), namespaces.to_owned(), by.map(ToOwned::to_owned))
        };
        assert_eq!(contents(json!([ours])), found("ConfigMap,Namespace", "data,finance,shop", None));
        let mallory = written_by("mallory", &[KINDS, NAMESPACES]);
        assert_eq!(contents(json!([mallory, ours])), found("ConfigMap,Namespace", "data,finance,shop", None));
        assert_eq!(contents(json!([mallory])), found("ConfigMap", "data,shop", Some("`mallory`")));
        assert_eq!(contents(json!([])), found("ConfigMap", "data,shop", Some("somebody unknown")));
        let kinds = written_by("kubectl-reconcile-applyset", &[KINDS]);
        let namespaces = written_by("kubectl-edit", &[NAMESPACES]);
        let edited = found("ConfigMap,Namespace", "data,shop", Some("`kubectl-edit`"));
        assert_eq!(contents(json!([kinds, namespaces])), edited);
        let other_tool = written_by("kubectl-applyset", &[KINDS, NAMESPACES]);
        assert_eq!(contents(json!([other_tool])).0, "ConfigMap");
    }
}
