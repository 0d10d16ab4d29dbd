use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey, ObjectMeta as _};

use super::label::set_by_another;
use super::parent::{ApplySet, Inventory};
use super::prune_order::{PruneStep, turns};
use crate::compare::Policy;
use crate::live::{Resource, Target};
use crate::object::GroupKind;

/// The annotation that keeps an object from being pruned, with the value `keep`.
const PRUNE: &str = "kubectl-reconcile/prune";

/// A live object with the label of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Which object it is.
    pub key: ObjectKey,
    /// Where such objects live.
    pub resource: Resource,
    /// The object.
    pub object: Value,
    /// How the search came upon it.
    pub sight: Sight,
}

/// How a search came upon a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// The parent lists its kind and its namespace.
    Listed,
    /// Only a search beyond that found it, for a reason such as `the apply set's parent does not list it`.
    Beyond(String),
}

impl Member {
    /// An object as it was listed.
    #[must_use]
    pub fn new(resource: &Resource, object: Value) -> Self {
        let name = object.name().unwrap_or_default().to_owned();
        let namespace = object.metadata("namespace").and_then(Value::as_str).map(ToOwned::to_owned);
        let key = ObjectKey { gvk: resource.gvk.clone(), namespace, name };
        Self { key, resource: resource.clone(), object, sight: Sight::Listed }
    }

    /// Its uid.
    #[must_use]
    pub fn uid(&self) -> &str {
        self.object.uid().unwrap_or_default()
    }

    /// The version that was read.
    #[must_use]
    pub fn resource_version(&self) -> &str {
        self.object.resource_version().unwrap_or_default()
    }

    /// Returns true if it is being deleted.
    #[must_use]
    pub fn is_terminating(&self) -> bool {
        self.object.is_terminating()
    }
}

/// What becomes of a member that is not wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PruneDecision {
    /// It is deleted.
    Pruned,
    /// It stays a member, for this reason.
    Kept(String),
    /// It stays, for this reason, although it carries the label; the parent does not list it.
    Spared(String),
    /// It is no member, for this reason, although it carries the label; whatever it lives in may go with it.
    NotAMember(String),
}

impl PruneDecision {
    /// Why it is not pruned.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Pruned => None,
            Self::Kept(reason) | Self::Spared(reason) | Self::NotAMember(reason) => Some(reason),
        }
    }
}

/// What the manifests want, as far as members are concerned.
#[derive(Debug)]
pub struct DesiredMembers {
    set: ApplySet,
    policy: Policy,
    /// Whether what only a search beyond the parent's list found is pruned, too.
    recovers: bool,
    objects: BTreeSet<(GroupKind, Option<String>, String)>,
    /// Where there are members after the pass.
    pub contents: Inventory,
    /// Kinds whose members could not be looked for, with the namespace where it is only one.
    unseen: Vec<(GroupKind, Option<String>)>,
    /// The first wanted object of each namespace and of each kind.
    in_namespace: BTreeMap<String, ObjectKey>,
    of_kind: BTreeMap<GroupKind, ObjectKey>,
}

impl DesiredMembers {
    /// Everything that the manifests name. A kind that the server does not know has no members,
    /// and the parent is none.
    #[must_use]
    pub fn of(set: &ApplySet, targets: &[&Target], policy: &Policy) -> Self {
        let mut wanted = Self {
            set: set.clone(),
            policy: policy.clone(),
            recovers: false,
            objects: BTreeSet::new(),
            contents: Inventory::default(),
            unseen: Vec::new(),
            in_namespace: BTreeMap::new(),
            of_kind: BTreeMap::new(),
        };
        wanted.stays(&set.parent);
        for target in targets {
            wanted.objects.insert(identity(&target.key));
            // What the API would refuse now may be a member from before.
            let is_known = target.resource.is_ok() || target.desired.is_refused();
            if is_known && identity(&target.key) != identity(&set.parent) {
                wanted.contents.add(&target.key);
            }
            wanted.stays(&target.key);
        }
        wanted
    }

    /// Records kinds, in one or all namespaces, that could not be listed and may therefore hide members.
    #[must_use]
    pub fn without_sight_of(mut self, unseen: Vec<(GroupKind, Option<String>)>) -> Self {
        self.unseen = unseen;
        self
    }

    /// The same, where what only a search beyond the parent's list found is pruned, too.
    #[must_use]
    pub fn recovering(mut self, recovers: bool) -> Self {
        self.recovers = recovers;
        self
    }

    /// What becomes of a member is known: where it stays, so does what it lives in.
    pub fn settle(&mut self, member: &ObjectKey, fate: &PruneDecision) {
        match fate {
            PruneDecision::Kept(_) => self.keep(member),
            PruneDecision::Spared(_) => self.stays(member),
            PruneDecision::Pruned | PruneDecision::NotAMember(_) => {}
        }
    }

    /// A member stays, and so does what it lives in.
    pub fn keep(&mut self, member: &ObjectKey) {
        self.contents.add(member);
        self.stays(member);
    }

    fn stays(&mut self, key: &ObjectKey) {
        if let Some(namespace) = &key.namespace {
            self.in_namespace.entry(namespace.clone()).or_insert_with(|| key.clone());
        }
        self.of_kind.entry(GroupKind::from(&key.gvk)).or_insert_with(|| key.clone());
    }

    /// Returns true if the manifests name an object, in whatever version.
    #[must_use]
    pub fn has(&self, key: &ObjectKey) -> bool {
        self.objects.contains(&identity(key))
    }

    /// The members that are not wanted, each once, in the order in which they go, with their turns. Some objects are served under two groups:
    /// wanted under one, they are wanted.
    #[must_use]
    pub fn unwanted(&self, mut members: Vec<Member>) -> Vec<(PruneStep, Member)> {
        let wanted = members.iter().filter(|member| self.has(&member.key));
        let mut seen: BTreeSet<String> = wanted.map(|member| member.uid().to_owned()).collect();
        members.sort_by_cached_key(|member| {
            let ObjectKey { gvk, namespace, name } = &member.key;
            (gvk.kind.clone(), namespace.clone(), name.clone(), gvk.group.clone())
        });
        members.retain(|member| seen.insert(member.uid().to_owned()));
        let turns = turns(&members);
        let mut members: Vec<(PruneStep, Member)> = turns.into_iter().zip(members).collect();
        members.sort_by_key(|(turn, _)| *turn);
        members
    }

    /// What becomes of members that are not wanted, one fate for each. Those that stay keep what they live in; they are
    /// wanted from then on, as far as others are concerned.
    pub fn fates(&mut self, members: &[Member]) -> Vec<PruneDecision> {
        let mut fates: Vec<PruneDecision> = members.iter().map(|member| self.alone(member)).collect();
        for (member, fate) in members.iter().zip(&fates) {
            self.settle(&member.key, fate);
        }
        for (member, fate) in members.iter().zip(&mut fates).filter(|(_, fate)| **fate == PruneDecision::Pruned) {
            if let Some(reason) = self.inside(member) {
                *fate = PruneDecision::Kept(reason);
                self.contents.add(&member.key);
            }
        }
        fates
    }

    /// The fate of a member that changed after the others were judged.
    #[must_use]
    pub fn fate(&self, member: &Member) -> PruneDecision {
        match self.alone(member) {
            PruneDecision::Pruned => self.inside(member).map_or(PruneDecision::Pruned, PruneDecision::Kept),
            other => other,
        }
    }

    fn alone(&self, member: &Member) -> PruneDecision {
        let object = &member.object;
        if crate::object::part_of(object) != Some(self.set.id.as_str()) {
            return PruneDecision::NotAMember("kept because it left the apply set meanwhile".to_owned());
        }
        if identity(&member.key) == identity(&self.set.parent) {
            return PruneDecision::Kept("kept because it is the apply set's own parent".to_owned());
        }
        if let Some(fate) = set_by_another(member, &self.policy).or_else(|| self.unlisted(member)) {
            return fate;
        }
        // Nothing brings it back.
        if member.is_terminating() {
            return PruneDecision::Pruned;
        }
        if object.annotation(PRUNE) == Some("keep") {
            return PruneDecision::Kept(format!("kept because of its annotation `{PRUNE}: keep`"));
        }
        match owner(object) {
            Some(owner) => PruneDecision::Kept(format!("kept because {owner} owns it")),
            None => PruneDecision::Pruned,
        }
    }

    /// Why a member stays that only a search beyond the parent's list found: nobody asked for it. What takes others along
    /// is never deleted on the word of a label.
    fn unlisted(&self, member: &Member) -> Option<PruneDecision> {
        let Sight::Beyond(why) = &member.sight else { return None };
        let ObjectKey { gvk, namespace, .. } = &member.key;
        if gvk.is_namespace() || gvk.is_crd() {
            return Some(PruneDecision::Spared(format!(
                "kept because {why}, as it has to before a {} is deleted",
                gvk.kind
            )));
        }
        let is_next = self.contents.kinds.contains(&GroupKind::from(gvk))
            && namespace.as_ref().is_none_or(|name| self.contents.namespaces.contains(name));
        let (yet, now) = if is_next { (" yet", " now") } else { ("", "") };
        (!self.recovers)
            .then(|| PruneDecision::Spared(format!("kept because {why}{yet} (`--applyset-recover` deletes it{now})")))
    }

    /// What stays, or may, and would go along with a Namespace or a CustomResourceDefinition.
    fn inside(&self, member: &Member) -> Option<String> {
        let why = |reason: Option<String>| reason.map(|reason| format!("kept because {reason}"));
        if member.key.gvk.is_namespace() {
            let name = &member.key.name;
            let is_here =
                |(_, namespace): &&(GroupKind, Option<String>)| namespace.as_ref().is_none_or(|one| one == name);
            let unseen = || {
                self.unseen
                    .iter()
                    .find(is_here)
                    .map(|(kind, _)| format!("its objects of kind `{kind}` cannot be listed"))
            };
            let inside = self.in_namespace.get(name).map(|inside| format!("{inside} lives in it"));
            return why(inside.or_else(unseen));
        }
        let text = |pointer: &str| member.object.pointer(pointer).and_then(Value::as_str).map(ToOwned::to_owned);
        if member.key.gvk.is_crd() {
            let kind = GroupKind { kind: text("/spec/names/kind")?, group: text("/spec/group")? };
            let unseen = || {
                self.unseen
                    .iter()
                    .find(|(unseen, _)| *unseen == kind)
                    .map(|_| "its objects cannot be listed".to_owned())
            };
            let inside = self.of_kind.get(&kind).map(|inside| format!("it defines the kind of {inside}"));
            return why(inside.or_else(unseen));
        }
        None
    }
}

fn identity(key: &ObjectKey) -> (GroupKind, Option<String>, String) {
    (GroupKind::from(&key.gvk), key.namespace.clone(), key.name.clone())
}

/// The object that controls this one, or else the first that owns it.
fn owner(object: &Value) -> Option<ObjectKey> {
    let owners = object.owner_references();
    let controls = |owner: &&Value| owner.get("controller") == Some(&Value::Bool(true));
    let owner = owners.iter().find(controls).or_else(|| owners.first())?;
    let text = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or_default();
    let gvk = GroupVersionKind::new(text("apiVersion"), text("kind"));
    Some(ObjectKey { gvk, namespace: None, name: text("name").to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::PART_OF;
    use serde_json::json;

    fn resource(api_version: &str, kind: &str) -> Resource {
        let gvk = GroupVersionKind::new(api_version, kind);
        Resource { gvk, plural: kind.to_lowercase(), namespaced: true, verbs: [].into(), status: false, pending: false }
    }

    fn set() -> ApplySet {
        let gvk = GroupVersionKind::new("v1", "Secret");
        ApplySet::of(ObjectKey { gvk, namespace: Some("shop".into()), name: "set".into() })
    }

    fn member(kind: &str, metadata: &Value) -> Member {
        let fields = json!({"f:metadata": {"f:labels": {format!("f:{PART_OF}"): {}}}});
        let owners = json!([{"manager": "us", "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields}]);
        let mut object = json!({"metadata": {"name": "it", "namespace": "data", "labels": {PART_OF: set().id}}});
        object["metadata"]["managedFields"] = owners;
        for (name, value) in metadata.as_object().unwrap() {
            object["metadata"][name] = value.clone();
        }
        let api_version = if kind == "CustomResourceDefinition" { "apiextensions.k8s.io/v1" } else { "v1" };
        Member::new(&resource(api_version, kind), object)
    }

    fn fates(members: &[Member]) -> Vec<PruneDecision> {
        DesiredMembers::of(&set(), &[], &Policy::of("us")).fates(members)
    }

    #[test]
    fn a_member_that_is_not_wanted_goes_unless_something_speaks_for_it() {
        assert_eq!(fates(&[member("ConfigMap", &json!({}))]), [PruneDecision::Pruned]);
        for (metadata, reason) in [
            (json!({"annotations": {PRUNE: "keep"}}), "prune: keep"),
            (json!({"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "web"}]}), "Pod web owns it"),
        ] {
            let fate = &fates(&[member("ConfigMap", &metadata)])[0];
            assert!(matches!(fate, PruneDecision::Kept(text) if text.contains(reason)), "{fate:?}");
        }
        let left = member("ConfigMap", &json!({"labels": {PART_OF: "another"}}));
        assert!(matches!(fates(&[left])[0], PruneDecision::NotAMember(_)));
    }

    #[test]
    fn what_only_a_search_beyond_the_list_found_stays_unless_it_is_asked_for() {
        let beyond = |mut member: Member| {
            member.sight = Sight::Beyond("no parent lists it".to_owned());
            member
        };
        let found = [beyond(member("ConfigMap", &json!({}))), beyond(member("Namespace", &json!({"name": "b"})))];
        let spared = |reason: &str| PruneDecision::Spared(reason.to_owned());
        let namespace = spared("kept because no parent lists it, as it has to before a Namespace is deleted");
        let config_map = spared("kept because no parent lists it (`--applyset-recover` deletes it)");
        let mut wanted = DesiredMembers::of(&set(), &[], &Policy::of("us"));
        assert_eq!(wanted.fates(&found), [config_map, namespace.clone()]);
        assert_eq!(wanted.contents, Inventory::default(), "it is not listed from then on");
        let mut wanted = DesiredMembers::of(&set(), &[], &Policy::of("us")).recovering(true);
        assert_eq!(wanted.fates(&found), [PruneDecision::Pruned, namespace]);
        // What the parent is about to list is the next pass's to delete.
        let mut wanted = DesiredMembers::of(&set(), &[], &Policy::of("us"));
        wanted.contents.add(&found[0].key);
        let soon = spared("kept because no parent lists it yet (`--applyset-recover` deletes it now)");
        assert_eq!(wanted.fates(&found[..1]), [soon]);
    }

    #[test]
    fn a_namespace_stays_with_what_is_spared_in_it() {
        let mut namespace = member("Namespace", &json!({"name": "data"}));
        namespace.key.namespace = None;
        let found = fates(&[namespace, member("ConfigMap", &json!({"managedFields": []}))]);
        assert_eq!(found[0], PruneDecision::Kept("kept because ConfigMap data/it lives in it".into()));
        assert!(matches!(found[1], PruneDecision::Spared(_)), "{found:?}");
    }

    #[test]
    fn what_holds_a_kept_member_is_kept() {
        let keep = json!({"annotations": {PRUNE: "keep"}});
        let mut namespace = member("Namespace", &json!({"name": "data"}));
        namespace.key.namespace = None;
        let of_parent = member("Namespace", &json!({"name": "shop"}));
        let found = fates(&[namespace.clone(), of_parent, member("ConfigMap", &keep)]);
        assert_eq!(found[0], PruneDecision::Kept("kept because ConfigMap data/it lives in it".into()));
        assert_eq!(found[1], PruneDecision::Kept("kept because Secret shop/set lives in it".into()));
        assert_eq!(fates(&[namespace.clone()]), [PruneDecision::Pruned]);
        let unsure = |kind: &str, place: Option<&str>| {
            let unseen = (GroupKind::parse(kind), place.map(ToOwned::to_owned));
            DesiredMembers::of(&set(), &[], &Policy::of("us")).without_sight_of(vec![unseen])
        };
        for (place, is_kept) in [(None, true), (Some("data"), true), (Some("elsewhere"), false)] {
            let fate = unsure("Secret", place).fate(&namespace);
            assert_eq!(fate != PruneDecision::Pruned, is_kept, "{place:?}: {fate:?}");
        }

        let mut definition = member("CustomResourceDefinition", &json!({}));
        definition.object["spec"] = json!({"group": "", "names": {"kind": "Widget"}});
        let found = fates(&[definition.clone(), member("Widget", &keep)]);
        assert_eq!(found[0], PruneDecision::Kept("kept because it defines the kind of Widget data/it".into()));
        assert_eq!(fates(&[definition.clone()]), [PruneDecision::Pruned]);
        assert_eq!(unsure("Gadget", None).fate(&definition), PruneDecision::Pruned);
        assert_eq!(
            unsure("Widget", None).fate(&definition),
            PruneDecision::Kept("kept because its objects cannot be listed".into())
        );
    }

    #[test]
    fn what_is_being_deleted_is_not_kept_any_more() {
        let metadata = json!({"annotations": {PRUNE: "keep"}, "deletionTimestamp": "2026-01-02T03:04:05Z"});
        assert_eq!(fates(&[member("ConfigMap", &metadata)]), [PruneDecision::Pruned]);
    }
}
