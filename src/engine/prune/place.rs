//! The place of the parent: its kind, and the namespace that it is found in, or made in.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use apply_set::{ApplySet, ParentReference, part_of};
use futures::{StreamExt as _, TryStreamExt as _};
use structured_merge::ObjectKey;

use super::ApplySetError;
use super::parent::{Parent, existing, state};
use crate::client::{Cluster, IN_FLIGHT};
use crate::live::discovery::Server;
use crate::live::fetch::find;
use reconcile_core::diagnostic::Code;
use reconcile_core::live::resolve::key_of;
use reconcile_core::live::{Discovery, LiveState, Resolution, Resource};
use reconcile_core::manifest::DesiredSet;
use reconcile_core::text::listed;

/// Most namespaces in which a parent is looked for.
const PLACES: usize = 1_000;

/// Most of them that are named.
const PLACES_SHOWN: usize = 5;

/// Most objects of a namespace that are looked at to see if they are members.
const LOOKED_AT: usize = 100;

/// The namespaces of the objects of the manifests, with some of the objects; none if `--namespace` names one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(BTreeMap<String, Vec<ObjectKey>>);

impl Places {
    /// The namespace in which all objects are that have one: a new parent of their set is made there.
    pub fn only(&self) -> Option<&str> {
        self.0.keys().next().filter(|_| self.0.len() == 1).map(String::as_str)
    }
}

impl FromIterator<ObjectKey> for Places {
    fn from_iter<I: IntoIterator<Item = ObjectKey>>(keys: I) -> Self {
        let mut places: BTreeMap<String, Vec<ObjectKey>> = BTreeMap::new();
        for key in keys {
            let Some(namespace) = key.namespace.clone() else { continue };
            let some = places.entry(namespace).or_default();
            if some.len() < LOOKED_AT {
                some.push(key);
            }
        }
        Self(places)
    }
}

/// The namespaces of the objects of the manifests; none if `--namespace` names one.
pub(crate) fn places(desired: &DesiredSet, Server { discovery, namespaces, .. }: &Server) -> Places {
    if namespaces.required.is_some() {
        return Places::default();
    }
    let mut known = Cow::Borrowed(discovery);
    for manifest in desired.manifests.iter().filter(|manifest| manifest.gvk().is_crd()) {
        known.to_mut().expect(manifest.object());
    }
    desired.manifests.iter().map(|manifest| key_of(manifest, &known, namespaces)).collect()
}

/// Finds the resource of the parent.
pub(super) fn resource_of_parent<'d>(
    reference: &ParentReference,
    discovery: &'d Discovery,
) -> Result<&'d Resource, ApplySetError> {
    let served = discovery.resources().filter(|resource| !resource.pending);
    let has_alias = |resource: &Resource, name: &str| discovery.has_alias(&resource.gvk, name);
    pick(reference, served, has_alias).map_err(|message| {
        let hint = "a parent is a Secret, a ConfigMap, or a custom resource of a kind that allows it";
        ApplySetError::refused(format!("`--applyset`: {message}"), hint)
    })
}

/// Picks the parent's resource from those that the server has; the core group comes first. `has_alias` says if a resource has a short name. The
/// error says what is wrong.
fn pick<'r>(
    reference: &ParentReference,
    served: impl Iterator<Item = &'r Resource>,
    has_alias: impl Fn(&Resource, &str) -> bool,
) -> Result<&'r Resource, String> {
    let (name, group) = match &reference.resource {
        None => ("secrets", Some("")),
        Some((name, group)) => (name.as_str(), group.as_deref()),
    };
    let is_called = |resource: &&Resource| {
        resource.plural == name || resource.gvk.kind.eq_ignore_ascii_case(name) || has_alias(resource, name)
    };
    let mut found: Vec<&Resource> =
        served.filter(is_called).filter(|resource| group.is_none_or(|group| resource.gvk.group == group)).collect();
    found.sort_by(|a, b| {
        let version = |resource: &Resource| std::cmp::Reverse(resource.gvk.version_priority());
        (&a.gvk.group, version(a)).cmp(&(&b.gvk.group, version(b)))
    });
    let written = group.filter(|group| !group.is_empty()).map_or(name.to_owned(), |group| format!("{name}.{group}"));
    let Some(first) = found.first() else { return Err(format!("the server has no resource `{written}`")) };
    let other = found.iter().find(|other| other.gvk.group != first.gvk.group);
    match other {
        Some(other) if !first.gvk.group.is_empty() => {
            Err(format!("`{name}` can be `{name}.{}` or `{name}.{}`", first.gvk.group, other.gvk.group))
        }
        _ => Ok(first),
    }
}

/// Finds the parent, and checks that we may change the set. If its kind has namespaces, the parent is in that of `--namespace`, or in the only
/// one of the manifests; an existing one in the namespace of the context goes on to be used, and so does one in exactly one of the namespaces
/// of the manifests, where it was made when all of them were there.
pub(super) async fn find_parent(
    reference: &ParentReference,
    adopt: &BTreeSet<String>,
    server: &Server,
    places: &Places,
) -> Result<Parent, ApplySetError> {
    let Server { cluster, discovery, namespaces } = server;
    let resource = resource_of_parent(reference, discovery)?;
    let context = namespaces.default.as_str();
    let within = |namespace: &str| {
        let namespace = resource.namespaced.then(|| namespace.to_owned());
        let key = ObjectKey { gvk: resource.gvk.clone(), namespace, name: reference.name.clone() };
        Parent::unread(ApplySet::of(key), resource, adopt)
    };
    let only = places.only();
    let mut usual = within(only.unwrap_or(context));
    let state = state(cluster, &usual.set, resource, adopt).await;
    let may_be_elsewhere = match &state {
        Ok(state) => state.is_none(),
        Err(ApplySetError::Refused(_)) => true,
        Err(ApplySetError::Unreadable(diagnostic)) => diagnostic.code == Code::Forbidden,
    };
    let mut remark = None;
    if may_be_elsewhere && resource.namespaced {
        match only {
            Some(place) if place == context => {}
            Some(place) => {
                if let Some(found) = in_context(within(context), cluster, place).await? {
                    return Ok(found);
                }
            }
            None => {
                let others = places.0.iter().filter(|(place, _)| *place != context).take(PLACES);
                match elsewhere(others.map(|(place, keys)| (within(place), keys.as_slice())), server).await? {
                    Elsewhere::Found(parent) => return Ok(*parent),
                    Elsewhere::NotFound { warning } => remark = warning,
                }
            }
        }
    }
    usual.state = state?;
    usual.remark = remark;
    Ok(usual)
}

/// The parent in the namespace of the context, if there is one, although all objects are in another `place`.
async fn in_context(parent: Parent, cluster: &Cluster, place: &str) -> Result<Option<Parent>, ApplySetError> {
    let mut found = existing(cluster, parent).await?;
    if let Some(parent) = &mut found {
        parent.remark = Some(format!(
            "the parent of the apply set is {}, in the namespace of the context, and all objects are in namespace `{place}`: other \
             manifests that name this set without `-n` share it",
            parent.set.parent
        ));
    }
    Ok(found)
}

/// The result of the search in the other namespaces of the manifests.
enum Elsewhere {
    /// The parent of the set.
    Found(Box<Parent>),
    /// It is not there. The warning names the parents of other sets with its name.
    NotFound { warning: Option<String> },
}

/// Searches for the parent in the other namespaces of the manifests, each with its objects.
async fn elsewhere(
    parents: impl Iterator<Item = (Parent, &[ObjectKey])>,
    Server { cluster, discovery, .. }: &Server,
) -> Result<Elsewhere, ApplySetError> {
    let reads = parents.map(async |(parent, keys)| Ok(existing(cluster, parent).await?.map(|parent| (parent, keys))));
    let reads = futures::stream::iter(reads).buffered(IN_FLIGHT);
    let mut found: Vec<(Parent, &[ObjectKey])> = reads.try_filter_map(async |read| Ok(read)).try_collect().await?;
    // Another set may have the same name there: one of the objects has to be a member.
    if let [(parent, keys)] = found.as_slice()
        && has_member(cluster, discovery, &parent.set, keys).await
        && let Some((mut parent, _)) = found.pop()
    {
        parent.remark = Some(format!(
            "the parent of the apply set is {}, and objects are in other namespaces, too: other manifests that name this set there share it",
            parent.set.parent
        ));
        return Ok(Elsewhere::Found(Box::new(parent)));
    }
    Ok(Elsewhere::NotFound { warning: others_of_this_name(found.iter().map(|(parent, _)| &parent.set.parent)) })
}

/// Returns true if one of these objects is a member of the set.
async fn has_member(cluster: &Cluster, discovery: &Discovery, set: &ApplySet, keys: &[ObjectKey]) -> bool {
    let reads = keys.iter().map(async |key| match discovery.resolve(&key.gvk) {
        Resolution::Known(resource) if !resource.pending => match find(cluster, resource, key).await {
            LiveState::Present(live) => part_of(&live) == Some(set.id.as_str()),
            LiveState::Absent | LiveState::Unreadable(_) => false,
        },
        _ => false,
    });
    futures::stream::iter(reads).buffered(IN_FLIGHT).any(std::future::ready).await
}

/// A warning about the parents of other sets with the name of a new one: it may be the same set, whose objects all have other names now.
fn others_of_this_name<'p>(parents: impl Iterator<Item = &'p ObjectKey>) -> Option<String> {
    let places: Vec<&str> = parents.filter_map(|parent| parent.namespace.as_deref()).collect();
    match places.as_slice() {
        [] => None,
        [only] => Some(format!(
            "another apply set with this name has its parent in namespace `{only}`, and its members stay: to go on with it, use a context \
             whose namespace is `{only}`"
        )),
        several => Some(format!(
            "other apply sets with this name have their parents in namespaces {}, and their members stay: to go on with one of them, use a \
             context with its namespace",
            listed(several.iter().copied(), PLACES_SHOWN)
        )),
    }
}

#[cfg(test)]
mod tests {
    use structured_merge::GroupVersionKind;

    use super::*;

    fn resource(api_version: &str, kind: &str, plural: &str) -> Resource {
        let gvk = GroupVersionKind::new(api_version, kind);
        let plural = plural.to_owned();
        Resource { gvk, plural, namespaced: true, verbs: [].into(), status: false, pending: false }
    }

    #[test]
    fn a_name_alone_is_a_secret_and_a_type_comes_before_a_slash() {
        let served = [
            resource("v1", "ConfigMap", "configmaps"),
            resource("v1", "Secret", "secrets"),
            resource("one.example.com/v1", "Set", "sets"),
            resource("one.example.com/v1beta1", "Set", "sets"),
            resource("two.example.com/v1", "Set", "sets"),
            resource("two.example.com/v1", "Secret", "secrets"),
        ];
        let pick = |text: &str| {
            let reference = ParentReference::parse(text).unwrap();
            let has_alias = |resource: &Resource, name: &str| resource.gvk.kind == "ConfigMap" && name == "cm";
            pick(&reference, served.iter(), has_alias).map(|found| (found.gvk.api_version(), reference.name.clone()))
        };
        let found = |api_version: &str, name: &str| Ok((api_version.to_owned(), name.to_owned()));
        assert_eq!(pick("web"), found("v1", "web"));
        assert_eq!(pick("secret/web"), found("v1", "web"));
        assert_eq!(pick("configmaps/web"), found("v1", "web"));
        assert_eq!(pick("cm/web"), found("v1", "web"));
        assert_eq!(pick("secrets.two.example.com/web"), found("two.example.com/v1", "web"));
        assert_eq!(pick("sets.one.example.com/web"), found("one.example.com/v1", "web"));
        assert!(pick("sets/web").unwrap_err().contains("sets.two.example.com"));
        assert!(pick("things.x/web").unwrap_err().contains("things.x"));
    }
}
