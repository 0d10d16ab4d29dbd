//! Objects that nothing explains: no manifest, no owner, no apply set, and not made by the cluster itself.
//!
//! Anybody who may write an object can give it a label or an owner. Both count only if what they point to exists and is
//! explained itself, up to a manifest, the parent of an apply set, or an object that is in no namespace.

use std::collections::{BTreeSet, HashMap, HashSet};

use apply_set::{ApplySet, ID, PART_OF, TOOLING, part_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use structured_merge::{GroupKind, GroupVersionKind, ObjectKey, ObjectMeta as _};

use crate::live::is_builtin_group;
use crate::object::Projection;

/// The fields of an object that [`unexplained`] reads, and those that identify it.
pub const EXPLAINING_FIELDS: Projection = {
    use Projection::{Fields, Whole};
    const OWNER: Projection =
        Fields(&[("apiVersion", Whole), ("kind", Whole), ("name", Whole), ("uid", Whole), ("controller", Whole)]);
    const ANNOTATIONS: Projection = Fields(&[(SERVICE_ACCOUNT, Whole), (TOOLING, Whole)]);
    const METADATA: Projection = Fields(&[
        ("name", Whole),
        ("namespace", Whole),
        ("uid", Whole),
        ("labels", Fields(&[(PART_OF, Whole), (ID, Whole)])),
        ("annotations", ANNOTATIONS),
        ("ownerReferences", OWNER),
    ]);
    Fields(&[("apiVersion", Whole), ("kind", Whole), ("type", Whole), ("metadata", METADATA)])
};

/// The type of a Secret with the token of a service account. Only such a Secret does the cluster make, and delete with its account.
pub const TOKEN_TYPE: &str = "kubernetes.io/service-account-token";

/// The annotation of a Secret with the token of a service account.
const SERVICE_ACCOUNT: &str = "kubernetes.io/service-account.name";

/// Kinds whose objects are created and deleted along with other objects.
const TRANSIENT: [(&str, &str); 8] = [
    ("", "Endpoints"),
    ("", "Event"),
    ("apps", "ControllerRevision"),
    ("coordination.k8s.io", "Lease"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("events.k8s.io", "Event"),
    ("metrics.k8s.io", "PodMetrics"),
    ("resource.k8s.io", "ResourceClaim"),
];

/// A kind by its group and its name.
type KindName = (&'static str, &'static str);

/// The objects that the controllers of built-in kinds make: the owner, and its object, each by group and kind. Other built-in owners explain
/// nothing; what the controllers of custom kinds make is not known.
const MADE: [(KindName, KindName); 17] = [
    (("apps", "DaemonSet"), ("", "Pod")),
    (("apps", "DaemonSet"), ("apps", "ControllerRevision")),
    (("apps", "Deployment"), ("apps", "ReplicaSet")),
    (("apps", "ReplicaSet"), ("", "Pod")),
    (("apps", "StatefulSet"), ("", "Pod")),
    (("apps", "StatefulSet"), ("", CLAIM)),
    (("apps", "StatefulSet"), ("apps", "ControllerRevision")),
    (("batch", "CronJob"), ("batch", "Job")),
    (("batch", "Job"), ("", "Pod")),
    (("batch", "Job"), ("scheduling.k8s.io", "Workload")),
    (("batch", "Job"), ("scheduling.k8s.io", "PodGroup")),
    (("", "Node"), ("", "Pod")),
    (("", "Pod"), ("", CLAIM)),
    (("", "ReplicationController"), ("", "Pod")),
    (("", "Service"), ("discovery.k8s.io", "EndpointSlice")),
    (("", "ServiceAccount"), ("", "Secret")),
    // cert-manager, for the annotations of an Ingress.
    (("networking.k8s.io", "Ingress"), ("cert-manager.io", "Certificate")),
];

/// The kind of claims. The retention policy of a StatefulSet makes it, or its Pod, an owner that is no controller.
const CLAIM: &str = "PersistentVolumeClaim";

/// Returns true if an owner of this kind may have made an object.
fn makes(owner: &GroupKind, made: &GroupVersionKind, is_controller: bool) -> bool {
    let pair = ((owner.group.as_str(), owner.kind.as_str()), (made.group.as_str(), made.kind.as_str()));
    let needs_controller = made.kind != CLAIM && owner.kind != "ServiceAccount";
    !is_builtin_group(&owner.group) || MADE.contains(&pair) && (is_controller || !needs_controller)
}

/// Objects that every namespace has.
const GENERATED: [(&str, &str); 3] =
    [("ConfigMap", "kube-root-ca.crt"), ("ConfigMap", "openshift-service-ca.crt"), ("ServiceAccount", "default")];

/// Returns true for an object that is a token of a service account if it has [`TOKEN_TYPE`], which is not in its metadata.
pub fn may_be_token(gvk: &GroupVersionKind, object: &Value) -> bool {
    gvk.is_secret() && object.annotation(SERVICE_ACCOUNT).is_some()
}

/// Returns true for a kind whose objects are never reported.
pub fn is_transient(gvk: &GroupVersionKind) -> bool {
    TRANSIENT.contains(&(gvk.group.as_str(), gvk.kind.as_str()))
}

/// The reason why the owner or the apply set that an object names does not explain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FalseClaim {
    /// It has the label of an apply set that has no parent.
    SetWithoutParent,
    /// Its owner does not exist.
    OwnerMissing,
    /// Its owner is not explained either.
    OwnerUnmanaged,
    /// Its owner makes no objects of this kind.
    OwnerOfOtherKind,
}

/// An object that nothing explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnexplainedObject {
    /// Its identity.
    pub key: ObjectKey,
    /// The reason why what it names does not explain it.
    pub claim: Option<FalseClaim>,
}

/// The owner that an object names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamedOwner {
    /// Its kind.
    pub kind: GroupKind,
    /// The namespace of the object. That of the owner is the same, unless it is in none.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its uid; the account of a token is named without one.
    pub uid: Option<String>,
}

/// The reasons that explain objects, besides each other.
#[derive(Debug, Default)]
pub struct Explanations<'e> {
    /// The objects of the manifests.
    pub wanted: &'e [&'e ObjectKey],
    /// The id of the apply set of this run.
    pub set: Option<&'e str>,
    /// Owners that could not be read: the objects that name them count as explained.
    pub unreadable: BTreeSet<NamedOwner>,
}

/// The objects that nothing explains.
#[derive(Debug, Default)]
pub struct Unexplained {
    /// The objects, sorted.
    pub objects: Vec<UnexplainedObject>,
    /// The owners that they name and that are not among the found objects.
    pub missing: BTreeSet<NamedOwner>,
}

/// Finds the objects that nothing explains. Each one is given with its kind in the server's preferred version; its metadata is
/// enough, and the type of a token of a service account. An object that two groups serve is reported once, and one that is in no namespace never.
pub fn unexplained(found: &[(GroupVersionKind, Value)], explanations: &Explanations<'_>) -> Unexplained {
    let objects: Vec<FoundObject<'_>> = found.iter().map(FoundObject::new).collect();
    let index = FoundIndex::of(&objects);
    let is_explained = explained(&objects, &index, explanations);
    let mut seen = HashSet::new();
    let mut unexplained = Unexplained::default();
    for (object, _) in objects.iter().zip(&is_explained).filter(|(_, is_explained)| !**is_explained) {
        let is_new = object.uid.is_none_or(|uid| seen.insert(uid));
        if !is_new || is_transient(&object.key.gvk) {
            continue;
        }
        let owners = || object.owners.iter().map(|(owner, _)| owner);
        let missing: BTreeSet<NamedOwner> =
            owners().filter(|owner| index.find(owner).next().is_none()).cloned().collect();
        let has_explained_owner =
            || owners().flat_map(|owner| index.find(owner)).any(|at| is_explained.get(at) == Some(&true));
        let claim = match object.set {
            Some(_) => Some(FalseClaim::SetWithoutParent),
            None if object.owners.is_empty() => None,
            None if !missing.is_empty() => Some(FalseClaim::OwnerMissing),
            None if has_explained_owner() => Some(FalseClaim::OwnerOfOtherKind),
            None => Some(FalseClaim::OwnerUnmanaged),
        };
        unexplained.missing.extend(missing);
        unexplained.objects.push(UnexplainedObject { key: object.key.clone(), claim });
    }
    unexplained.objects.sort_by(|a, b| a.key.cmp(&b.key));
    unexplained
}

/// An object, and what it names.
struct FoundObject<'f> {
    key: ObjectKey,
    uid: Option<&'f str>,
    /// The owners that it names, each with whether one of its kind may have made the object.
    owners: Vec<(NamedOwner, bool)>,
    /// The id of the apply set that it is a member of.
    set: Option<&'f str>,
    /// The id of the apply set that it is the parent of.
    parent_of: Option<&'f str>,
}

impl<'f> FoundObject<'f> {
    fn new((gvk, object): &'f (GroupVersionKind, Value)) -> Self {
        let text = |name: &str| object.metadata(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let key = ObjectKey {
            gvk: gvk.clone(),
            namespace: text("namespace").map(ToOwned::to_owned),
            name: text("name").unwrap_or_default().to_owned(),
        };
        let owners = owners(&key, object);
        // Everybody can write the label of a parent, but the id belongs to the name of one object.
        let id = object.label(ID).filter(|_| object.annotation(TOOLING).is_some());
        let parent_of = id.filter(|id| *id == ApplySet::of(key.clone()).id);
        Self { key, uid: object.uid(), owners, set: part_of(object), parent_of }
    }

    /// Returns true for an object that every namespace has.
    fn is_generated(&self) -> bool {
        self.key.gvk.group.is_empty() && GENERATED.contains(&(self.key.gvk.kind.as_str(), self.key.name.as_str()))
    }
}

/// The owners that an object names, and the account of a token.
fn owners(key: &ObjectKey, object: &Value) -> Vec<(NamedOwner, bool)> {
    let owner = |kind: GroupVersionKind, name: &str, uid: Option<&str>, is_controller: bool| {
        let kind = GroupKind::from(&kind);
        let makes = makes(&kind, &key.gvk, is_controller);
        let namespace = key.namespace.clone();
        let uid = uid.map(ToOwned::to_owned);
        (NamedOwner { kind, namespace, name: name.to_owned(), uid }, makes)
    };
    let references = object.owner_references().iter().map(|reference| {
        let text = |name: &str| reference.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_controller = reference.get("controller") == Some(&Value::Bool(true));
        let kind = GroupVersionKind::new(text("apiVersion"), text("kind"));
        owner(kind, text("name"), Some(text("uid")), is_controller)
    });
    let is_token = key.gvk.is_secret() && object.get("type").and_then(Value::as_str) == Some(TOKEN_TYPE);
    let account = object.annotation(SERVICE_ACCOUNT).filter(|_| is_token);
    references
        .chain(account.map(|name| owner(GroupVersionKind::new("v1", "ServiceAccount"), name, None, false)))
        .collect()
}

/// The found objects by their uids and names.
struct FoundIndex<'o> {
    objects: &'o [FoundObject<'o>],
    by_uid: HashMap<&'o str, Vec<usize>>,
    by_name: HashMap<(GroupKind, Option<&'o str>, &'o str), usize>,
}

impl<'o> FoundIndex<'o> {
    fn of(objects: &'o [FoundObject<'o>]) -> Self {
        let mut by_uid: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut by_name = HashMap::new();
        for (at, object) in objects.iter().enumerate() {
            if let Some(uid) = object.uid {
                by_uid.entry(uid).or_default().push(at);
            }
            let ObjectKey { gvk, namespace, name } = &object.key;
            by_name.insert((GroupKind::from(gvk), namespace.as_deref(), name.as_str()), at);
        }
        Self { objects, by_uid, by_name }
    }

    /// The objects that are this owner: in the namespace of the object, or in none.
    fn find<'i>(&'i self, owner: &'i NamedOwner) -> impl Iterator<Item = usize> + 'i {
        let named = match &owner.uid {
            Some(_) => None,
            None => self.by_name.get(&(owner.kind.clone(), owner.namespace.as_deref(), owner.name.as_str())),
        };
        let same = owner.uid.as_deref().and_then(|uid| self.by_uid.get(uid)).into_iter().flatten();
        let fits = |at: &&usize| {
            let Some(FoundObject { key, .. }) = self.objects.get(**at) else { return false };
            // Two groups may serve the same object.
            let is_named = key.gvk.kind == owner.kind.kind && key.name == owner.name;
            is_named && (key.namespace.is_none() || key.namespace == owner.namespace)
        };
        same.filter(fits).chain(named).copied()
    }

    /// The stateful sets that may have made a claim of a template, `TEMPLATE-SET-NUMBER`. Such claims have no owner by default.
    fn stateful_sets(&self, claim: &ObjectKey) -> Vec<usize> {
        let is_claim = claim.gvk.group.is_empty() && claim.gvk.kind == "PersistentVolumeClaim";
        let Some((name, number)) = claim.name.rsplit_once('-').filter(|_| is_claim) else { return Vec::new() };
        if number.is_empty() || !number.bytes().all(|c| c.is_ascii_digit()) {
            return Vec::new();
        }
        let set_at = |at: usize| {
            let kind = GroupKind { kind: "StatefulSet".to_owned(), group: "apps".to_owned() };
            self.by_name.get(&(kind, claim.namespace.as_deref(), name.get(at.saturating_add(1)..)?))
        };
        name.match_indices('-').filter(|(at, _)| *at > 0).filter_map(|(at, _)| set_at(at)).copied().collect()
    }
}

/// The owners that may have made an object.
fn makers<'o>(object: &'o FoundObject<'_>) -> impl Iterator<Item = &'o NamedOwner> {
    object.owners.iter().filter(|(_, makes)| *makes).map(|(owner, _)| owner)
}

/// For each object, true if something explains it.
fn explained(objects: &[FoundObject<'_>], index: &FoundIndex<'_>, explanations: &Explanations<'_>) -> Vec<bool> {
    let identity = |key: &ObjectKey| (GroupKind::from(&key.gvk), key.namespace.clone(), key.name.clone());
    let wanted: HashSet<_> = explanations.wanted.iter().map(|key| identity(key)).collect();
    let sets: HashSet<&str> = objects.iter().filter_map(|object| object.parent_of).chain(explanations.set).collect();
    // The objects that each object explains.
    let mut explains: Vec<Vec<usize>> = vec![Vec::new(); objects.len()];
    let mut explained = vec![false; objects.len()];
    let mut next = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        let is_explained = object.key.namespace.is_none()
            || object.parent_of.is_some()
            || object.is_generated()
            || object.set.is_some_and(|id| sets.contains(id))
            || wanted.contains(&identity(&object.key))
            || makers(object).any(|owner| explanations.unreadable.contains(owner));
        if is_explained {
            next.push(at);
        }
        let twins = object.uid.and_then(|uid| index.by_uid.get(uid)).into_iter().flatten().copied();
        let owners = makers(object).flat_map(|owner| index.find(owner));
        for by in owners.chain(twins).chain(index.stateful_sets(&object.key)) {
            if let Some(explains) = explains.get_mut(by) {
                explains.push(at);
            }
        }
    }
    while let Some(at) = next.pop() {
        if let Some(is_explained) = explained.get_mut(at)
            && !std::mem::replace(is_explained, true)
        {
            next.extend(explains.get(at).into_iter().flatten());
        }
    }
    explained
}

#[cfg(test)]
mod tests;
