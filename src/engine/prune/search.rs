//! The members: where they are searched, and the search for objects with the label of the set.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use apply_set::{Inventory, Member, Unlisted};
use futures::StreamExt as _;
use serde_json::Value;
use structured_merge::{GroupKind, ObjectKey, ObjectMeta as _};

use super::parent::Parent;
use crate::client::{Cluster, IN_FLIGHT, RequestError};
use crate::live::list::{Budget, Pages, Spoilt};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::{Discovery, Resource};

/// The most memory, in bytes, of the members in one collection. If there is more, nothing in it is pruned.
const MEMORY_OF_ONE: usize = 256 << 20;
/// The most memory, in bytes, of all members.
const MEMORY_OF_ALL: usize = 512 << 20;

/// The time at which a member was created.
pub(super) fn created_at(member: &Member) -> &str {
    member.object.metadata("creationTimestamp").and_then(Value::as_str).unwrap_or_default()
}

/// The collections of one resource that are searched.
#[derive(Clone, Debug)]
pub(super) struct MemberSearch {
    /// The resource.
    pub resource: Resource,
    /// The namespaces that are searched.
    pub scope: Scope,
}

/// The namespaces of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// These namespaces. Cluster-scoped objects are always found.
    Namespaces(Vec<String>),
    /// All namespaces, or only these if the user may not list all.
    Everywhere(Vec<String>),
}

/// A collection that could not be searched.
#[derive(Clone, Debug)]
pub(super) struct Unsearched {
    /// The kind.
    pub kind: GroupKind,
    /// The namespace; `None` for all of them.
    pub namespace: Option<String>,
    /// The error.
    pub diagnostic: Diagnostic,
}

/// An entry of a list that is no readable object.
#[derive(Clone, Debug)]
pub(super) struct Unreadable {
    /// The object, as far as its key can be read.
    pub key: ObjectKey,
    /// The mistake in it.
    pub cause: String,
}

/// The objects that a search found, each with its resource (once for each group that serves it), and the collections and entries that it
/// could not read.
#[derive(Debug, Default)]
pub(super) struct SearchResults {
    /// The objects.
    pub objects: Vec<(Resource, Value)>,
    /// Collections that may have more of them.
    pub unsearched: Vec<Unsearched>,
    /// Entries that cannot be read.
    pub unreadable: Vec<Unreadable>,
}

/// Finds the objects that a label selector matches, in all searches at once.
pub(super) async fn find(cluster: &Cluster, searches: Vec<MemberSearch>, selector: &str) -> SearchResults {
    let mut everywhere = Vec::new();
    let mut in_namespaces = Vec::new();
    for MemberSearch { resource, scope } in searches {
        match scope {
            Scope::Namespaces(namespaces) if resource.namespaced => in_namespaces.push((resource, namespaces)),
            Scope::Namespaces(_) => everywhere.push((resource, Vec::new())),
            Scope::Everywhere(fallback) => everywhere.push((resource, fallback)),
        }
    }
    let mut found = SearchResults::default();
    let mut budget = Budget::of(MEMORY_OF_ALL);
    let lists = everywhere.into_iter().map(|(resource, fallback)| async move {
        let result = list(cluster, &resource, None, selector).await;
        (resource, fallback, result)
    });
    let mut lists = futures::stream::iter(lists).buffered(IN_FLIGHT);
    while let Some((resource, fallback, result)) = lists.next().await {
        let is_forbidden = result.as_ref().is_err_and(RequestError::is_forbidden);
        if is_forbidden && resource.namespaced && !fallback.is_empty() {
            in_namespaces.push((resource, fallback));
        } else {
            found.take(&resource, None, result, &mut budget);
        }
    }
    let collections =
        in_namespaces.iter().flat_map(|(resource, all)| all.iter().map(move |namespace| (resource, namespace)));
    let lists = collections.map(|(resource, namespace)| async move {
        let result = list(cluster, resource, Some(namespace), selector).await;
        (resource, namespace, result)
    });
    let mut lists = futures::stream::iter(lists).buffered(IN_FLIGHT);
    while let Some((resource, namespace, result)) = lists.next().await {
        found.take(resource, Some(namespace.clone()), result, &mut budget);
    }
    found
}

impl SearchResults {
    fn take(
        &mut self,
        resource: &Resource,
        namespace: Option<String>,
        result: Result<(Vec<Value>, Vec<Spoilt>), RequestError>,
        budget: &mut Budget,
    ) {
        match result.and_then(|(objects, spoilt)| budget.admit(objects).map(|objects| (objects, spoilt))) {
            Ok((objects, spoilt)) => {
                self.objects.extend(objects.into_iter().map(|object| (resource.clone(), object)));
                self.unreadable.extend(spoilt.into_iter().map(|Spoilt { name, namespace: own, cause }| Unreadable {
                    key: ObjectKey {
                        gvk: resource.gvk.clone(),
                        namespace: if resource.namespaced { namespace.clone().or(own) } else { None },
                        name: name.unwrap_or_default(),
                    },
                    cause,
                }));
            }
            // The kind was removed since discovery, and its objects with it.
            Err(error) if error.is_not_found() => {}
            Err(error) => {
                let kind = GroupKind::from(&resource.gvk);
                let diagnostic = Diagnostic::about(&resource.gvk, &error);
                self.unsearched.push(Unsearched { kind, namespace, diagnostic });
            }
        }
    }
}

/// Lists the objects of a collection that a label selector matches, and the entries that cannot be read.
async fn list(
    cluster: &Cluster,
    resource: &Resource,
    namespace: Option<&str>,
    selector: &str,
) -> Result<(Vec<Value>, Vec<Spoilt>), RequestError> {
    Pages::new(cluster, resource, namespace).searching().with("labelSelector", selector).all_within(MEMORY_OF_ONE).await
}

/// The kinds and namespaces in which members are searched.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// Those that the parent lists, as far as its list is trusted and the server still knows the kinds.
    pub listed: Inventory,
    /// Those of the manifests.
    pub mentioned: Inventory,
}

impl Coverage {
    /// Returns true if the parent lists a kind, in a namespace or at all.
    pub fn is_listed(&self, kind: &GroupKind, namespace: Option<&str>) -> bool {
        namespace.is_none_or(|name| self.listed.namespaces.contains(name))
            && (self.listed.kinds.contains(kind) || self.has_moved(kind))
    }

    /// Returns true if the parent lists a kind of the manifests under another group.
    pub fn has_moved(&self, kind: &GroupKind) -> bool {
        !self.listed.kinds.contains(kind)
            && self.mentioned.kinds.contains(kind)
            && self.listed.kinds.iter().any(|listed| listed.kind == kind.kind)
    }
}

/// A member that the server listed, and the resource that serves it.
#[derive(Clone, Debug)]
pub(super) struct ListedMember {
    pub member: Member,
    pub resource: Resource,
}

impl Borrow<Member> for ListedMember {
    fn borrow(&self) -> &Member {
        &self.member
    }
}

impl ListedMember {
    pub(super) fn new(resource: Resource, object: Value, parent: &Parent, coverage: &Coverage) -> Self {
        let mut member = Member::new(resource.gvk.clone(), object);
        member.unlisted = why_unlisted(&member.key, parent, coverage);
        Self { member, resource }
    }
}

/// The reason why the parent does not list a member; `None` if it lists it.
fn why_unlisted(key: &ObjectKey, parent: &Parent, coverage: &Coverage) -> Option<Unlisted> {
    if coverage.is_listed(&GroupKind::from(&key.gvk), key.namespace.as_deref()) {
        return None;
    }
    let Some(state) = &parent.state else { return Some(Unlisted::NoParent) };
    Some(match state.other_author().filter(|_| state.names(key)) {
        Some(author) => Unlisted::ChangedBy(author.to_owned()),
        None => Unlisted::NotNamed,
    })
}

/// All kinds whose objects could be members, each in its preferred version: kinds that can be listed and deleted, except Events.
pub(crate) fn searchable(discovery: &Discovery) -> Vec<Resource> {
    let mut preferred: BTreeMap<GroupKind, &Resource> = BTreeMap::new();
    let can = |resource: &&Resource, verb: &str| resource.verbs.contains(verb);
    let candidates = discovery.resources().filter(|found| can(found, "list") && can(found, "delete") && !found.pending);
    for resource in candidates.filter(|resource| resource.gvk.kind != "Event") {
        let slot = preferred.entry(GroupKind::from(&resource.gvk)).or_insert(resource);
        if slot.gvk.version_priority() < resource.gvk.version_priority() {
            *slot = resource;
        }
    }
    preferred.into_values().cloned().collect()
}
