//! What an apply set needs to know from the server: whether a kind of object may be a parent, and which objects carry a
//! label.

use std::collections::{BTreeMap, BTreeSet};

use futures::StreamExt as _;
use serde_json::Value;

use super::catalog::{Catalog, Resource};
use super::fetch::{IN_FLIGHT, PAGE, items, name_type};
use super::{Trouble, json};
use crate::cluster::{Address, Cluster, Request, RequestError};
use crate::object::GroupKind;

/// The collections of one resource that are searched.
#[derive(Clone, Debug)]
pub struct Search {
    /// The resource.
    pub resource: Resource,
    /// Where its objects are looked for.
    pub scope: Scope,
}

/// Where objects are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In these namespaces; cluster-scoped objects are found anyway.
    Namespaces(Vec<String>),
    /// Everywhere, or only in these namespaces where that isn't allowed.
    Everywhere(Vec<String>),
}

/// What could not be searched.
#[derive(Clone, Debug)]
pub struct Unsearched {
    /// The kind.
    pub kind: GroupKind,
    /// The namespace; none for all of them.
    pub namespace: Option<String>,
    /// Why.
    pub trouble: Trouble,
}

/// The objects that were found, with their resources (once for each group that serves them), and what could not be searched.
#[derive(Debug, Default)]
pub struct Found {
    /// The objects.
    pub objects: Vec<(Resource, Value)>,
    /// Where there may be more.
    pub unsearched: Vec<Unsearched>,
}

/// Finds the objects that a label selector matches, in all searches at once.
pub async fn find(cluster: &Cluster, searches: Vec<Search>, selector: &str) -> Found {
    let (mut everywhere, mut in_namespaces) = (Vec::new(), Vec::new());
    for Search { resource, scope } in searches {
        match scope {
            Scope::Namespaces(namespaces) if resource.namespaced => in_namespaces.push((resource, namespaces)),
            Scope::Namespaces(_) => everywhere.push((resource, Vec::new())),
            Scope::Everywhere(fallback) => everywhere.push((resource, fallback)),
        }
    }
    let mut found = Found::default();
    let lists = everywhere.into_iter().map(|(resource, fallback)| async move {
        let result = list(cluster, &resource, None, selector).await;
        (resource, fallback, result)
    });
    for (resource, fallback, result) in concurrently(lists).await {
        let is_forbidden = matches!(&result, Err(RequestError::Status(status)) if status.code == 403);
        if is_forbidden && resource.namespaced && !fallback.is_empty() {
            in_namespaces.push((resource, fallback));
        } else {
            found.take(&resource, None, result);
        }
    }
    let places =
        in_namespaces.iter().flat_map(|(resource, all)| all.iter().map(move |namespace| (resource, namespace)));
    let lists = places.map(|(resource, namespace)| async move {
        let result = list(cluster, resource, Some(namespace), selector).await;
        (resource, namespace, result)
    });
    for (resource, namespace, result) in concurrently(lists).await {
        found.take(resource, Some(namespace.clone()), result);
    }
    found
}

async fn concurrently<F: Future>(tasks: impl Iterator<Item = F>) -> Vec<F::Output> {
    futures::stream::iter(tasks).buffered(IN_FLIGHT).collect().await
}

impl Found {
    fn take(&mut self, of: &Resource, namespace: Option<String>, result: Result<Vec<Value>, RequestError>) {
        match result {
            Ok(objects) => self.objects.extend(objects.into_iter().map(|object| (of.clone(), object))),
            // Gone since discovery: with the kind, its objects are gone.
            Err(error) if error.status().is_some_and(|status| status.code == 404) => {}
            Err(error) => {
                let (kind, trouble) = (GroupKind::from(&of.gvk), Trouble::about(&of.gvk, &error));
                self.unsearched.push(Unsearched { kind, namespace, trouble });
            }
        }
    }
}

async fn list(
    cluster: &Cluster,
    resource: &Resource,
    namespace: Option<&str>,
    selector: &str,
) -> Result<Vec<Value>, RequestError> {
    let whole = || resource.collection_path(namespace).with("labelSelector", selector);
    let mut objects: Vec<Value> = Vec::new();
    let mut token = String::new();
    loop {
        let page = whole().with("limit", PAGE.to_string());
        let page = if token.is_empty() { page } else { page.with("continue", token.as_str()) };
        let page = match json(cluster, Request::list(page)).await {
            // The list expired half-way: from the beginning, in one piece.
            Err(error) if error.status().is_some_and(|status| status.code == 410) && !token.is_empty() => {
                objects.clear();
                json(cluster, Request::list(whole())).await
            }
            page => page,
        };
        let mut page = page?;
        for mut item in items(&mut page) {
            name_type(&mut item, resource);
            objects.push(item);
        }
        match page.pointer("/metadata/continue").and_then(Value::as_str) {
            Some(next) if !next.is_empty() => next.clone_into(&mut token),
            _ => return Ok(objects),
        }
    }
}

/// All kinds whose objects could be members, each in its preferred version: what can be listed and deleted. Events are
/// nobody's wish.
#[must_use]
pub fn searchable(catalog: &Catalog) -> Vec<Resource> {
    let mut preferred: BTreeMap<GroupKind, &Resource> = BTreeMap::new();
    let can = |resource: &&Resource, verb: &str| resource.verbs.contains(verb);
    let candidates = catalog.resources().filter(|found| can(found, "list") && can(found, "delete") && !found.pending);
    for resource in candidates.filter(|resource| resource.gvk.kind != "Event") {
        let slot = preferred.entry(GroupKind::from(&resource.gvk)).or_insert(resource);
        if slot.gvk.version_priority() < resource.gvk.version_priority() {
            *slot = resource;
        }
    }
    preferred.into_values().cloned().collect()
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The kinds that CustomResourceDefinitions define, whether they are served or not.
pub async fn defined_kinds(cluster: &Cluster) -> Result<BTreeSet<GroupKind>, RequestError> {
    let mut list = json(cluster, Request::list(DEFINITIONS)).await?;
    let text = |object: &Value, pointer: &str| object.pointer(pointer).and_then(Value::as_str).map(ToOwned::to_owned);
    let kind = |definition: &Value| {
        Some(GroupKind { group: text(definition, "/spec/group")?, kind: text(definition, "/spec/names/kind")? })
    };
    Ok(items(&mut list).iter().filter_map(kind).collect())
}

/// Whether the objects of a custom resource may be parents: its CustomResourceDefinition carries a label. Who may only
/// list definitions, as kubectl does, is served too.
pub async fn is_parent_type(cluster: &Cluster, resource: &Resource, label: &str) -> Result<bool, RequestError> {
    if resource.gvk.group.is_empty() {
        return Ok(false);
    }
    let name = format!("{}.{}", resource.plural, resource.gvk.group);
    let is_labelled =
        |definition: &Value| definition.pointer("/metadata/labels").is_some_and(|labels| labels.get(label).is_some());
    match json(cluster, Request::get(Address::from(DEFINITIONS).join(name.clone()))).await {
        Ok(definition) => Ok(is_labelled(&definition)),
        Err(error) => match error.status().map(|status| status.code) {
            Some(404) => Ok(false),
            Some(403) => {
                let labelled = Address::from(DEFINITIONS).with("labelSelector", label);
                let mut list = json(cluster, Request::list(labelled)).await?;
                let is_it = |definition: &Value| definition.pointer("/metadata/name").is_some_and(|n| *n == *name);
                Ok(items(&mut list).iter().any(is_it))
            }
            _ => Err(error),
        },
    }
}
