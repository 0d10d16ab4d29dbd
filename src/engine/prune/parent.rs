//! The parent of the set: finds, reads and writes it.

use std::collections::{BTreeMap, BTreeSet};

use apply_set::{
    ApplySet, ID, Inventory, ParentAnnotations, ParentError, ParentErrorCause, ParentReference, ParentState, TOOLING,
    Tooling, part_of,
};
use futures::StreamExt as _;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};
use structured_merge::ObjectKey;

use super::ApplySetError;
use super::definitions::{IS_PARENT_TYPE, is_parent_type};
use crate::client::{Cluster, IN_FLIGHT, Retry, Warnings, WriteRequest};
use crate::live::answer::Asked;
use crate::live::discovery::Server;
use crate::live::fetch::find;
use reconcile_core::compare::missing_namespace;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::discreet::shown_warning;
use reconcile_core::live::{Discovery, LiveState, Resolution, Resource};
use reconcile_core::request::StatusError;
use reconcile_core::text::{is_word, listed};

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

/// The change that makes the parent list the kinds and namespaces of the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParentChange {
    /// Nothing.
    None,
    /// It has to be created.
    Create,
    /// Its list has to be changed.
    Update,
}

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

/// The parent of the set of this run.
pub(super) struct Parent {
    pub set: ApplySet,
    resource: Resource,
    adopt: BTreeSet<String>,
    /// The parent as it was read last; `None` if it does not exist yet.
    pub state: Option<ParentState>,
    /// The server's warnings about its writes.
    warnings: Vec<String>,
    /// A warning about its namespace.
    pub remark: Option<String>,
}

impl Parent {
    /// Finds the parent, and checks that we may change the set. If its kind has namespaces, the parent is in that of `--namespace`, or in
    /// the only one of the manifests; an existing one in the namespace of the context goes on to be used, and so does one in exactly one of
    /// the namespaces of the manifests, where it was made when all of them were there.
    pub async fn find(
        reference: &ParentReference,
        adopt: &BTreeSet<String>,
        Server { cluster, discovery, namespaces }: &Server,
        places: &Places,
    ) -> Result<Self, ApplySetError> {
        let only = places.only();
        let resource = resource_of_parent(reference, discovery)?;
        let of = |namespace: Option<&str>| {
            let namespace = namespace.filter(|_| resource.namespaced).map(ToOwned::to_owned);
            let set = ApplySet::of(ObjectKey { gvk: resource.gvk.clone(), namespace, name: reference.name.clone() });
            Self {
                set,
                resource: resource.clone(),
                adopt: adopt.clone(),
                state: None,
                remark: None,
                warnings: Vec::new(),
            }
        };
        let usual = of(Some(&namespaces.default));
        let own = of(only.or(Some(&namespaces.default)));
        let state = state(cluster, &own.set, resource, adopt).await;
        let may_be_elsewhere = match &state {
            Ok(state) => state.is_none(),
            Err(ApplySetError::Refused(_)) => true,
            Err(ApplySetError::Unreadable(diagnostic)) => diagnostic.code == Code::Forbidden,
        };
        if own.set != usual.set
            && may_be_elsewhere
            && let Some(found) = existing(cluster, &usual.set, resource, adopt).await?
        {
            let parent = &usual.set.parent;
            let place = own.set.parent.namespace.unwrap_or_default();
            let remark = format!(
                "the parent of the apply set is {parent}, in the namespace of the context, and all objects are in namespace `{place}`: \
                 other manifests that name this set without `-n` share it"
            );
            return Ok(Self { state: Some(found), remark: Some(remark), ..usual });
        }
        if only.is_none() && may_be_elsewhere && resource.namespaced {
            let elsewhere = places.0.iter().filter(|(place, _)| **place != namespaces.default).take(PLACES);
            let elsewhere = elsewhere.map(|(place, keys)| (of(Some(place)), keys.as_slice()));
            let mut found = Self::existing_of(cluster, elsewhere).await?;
            // Another set may have the same name there: one of the objects has to be a member.
            if let [(parent, keys)] = found.as_slice()
                && has_member(cluster, discovery, &parent.set, keys).await
                && let Some((parent, _)) = found.pop()
            {
                let remark = format!(
                    "the parent of the apply set is {}, and objects are in other namespaces, too: other manifests that name this set \
                     there share it",
                    parent.set.parent
                );
                return Ok(Self { remark: Some(remark), ..parent });
            }
            let remark = others_of_this_name(found.iter().map(|(parent, _)| &parent.set.parent));
            return Ok(Self { state: state?, remark, ..own });
        }
        Ok(Self { state: state?, ..own })
    }

    /// Those of these parents that exist, each with its objects.
    async fn existing_of<'k>(
        cluster: &Cluster,
        parents: impl Iterator<Item = (Self, &'k [ObjectKey])>,
    ) -> Result<Vec<(Self, &'k [ObjectKey])>, ApplySetError> {
        let reads = parents.map(async |(parent, keys)| {
            let state = existing(cluster, &parent.set, &parent.resource, &parent.adopt).await?;
            Ok(state.map(|state| (Self { state: Some(state), ..parent }, keys)))
        });
        let mut reads = futures::stream::iter(reads).buffered(IN_FLIGHT);
        let mut found = Vec::new();
        while let Some(read) = reads.next().await {
            found.extend(read?);
        }
        Ok(found)
    }

    /// The change that makes it list these members.
    pub fn change(&self, members: &Inventory) -> ParentChange {
        match &self.state {
            // A set without members needs no parent.
            None if members.kinds.is_empty() => ParentChange::None,
            None => ParentChange::Create,
            Some(state) if state.has(&self.annotations(members)) => ParentChange::None,
            Some(_) => ParentChange::Update,
        }
    }

    fn annotations(&self, members: &Inventory) -> ParentAnnotations {
        let tooling = self.state.as_ref().map_or_else(own_tooling, |state| state.tooling.clone());
        ParentAnnotations::of(&self.set, &tooling, members)
    }

    /// Writes the kinds and namespaces of the members, unless the parent lists the same.
    pub async fn write(&mut self, cluster: &Cluster, members: &Inventory) -> Recorded {
        if self.change(members) == ParentChange::None {
            return Recorded::Written;
        }
        let annotations = self.annotations(members);
        let warnings = Warnings::default();
        let recorded = record(cluster, self, &annotations, &warnings).await;
        let parent = &self.set.parent;
        let live = recorded.as_ref().ok();
        // Without the object, nothing tells what the text may quote.
        let shown = |text| shown_warning(&parent.gvk, live.as_slice(), live.is_none(), text);
        let said = warnings.take().into_iter();
        self.warnings.extend(said.map(|text| format!("{parent}, the parent of the apply set: {}", shown(text))));
        match recorded {
            Ok(parent) => match ParentState::of(&self.set, &parent, &own_tooling(), &self.adopt) {
                Ok(state) => {
                    self.state = Some(state);
                    Recorded::Written
                }
                Err(error) => Recorded::Failed(unusable(&error, &self.set, Code::Conflict)),
            },
            Err(reason) => reason,
        }
    }

    /// The server's warnings about the writes so far, each once.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Reads it again, after somebody else changed it.
    pub async fn read_again(&mut self, cluster: &Cluster) -> Result<(), Diagnostic> {
        let read = read(cluster, &self.set, &self.resource, &self.adopt).await?;
        self.state = read.transpose().map_err(|error| unusable(&error, &self.set, Code::Conflict))?;
        Ok(())
    }
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

/// Reads the parent; `None` if it does not exist.
async fn read(
    cluster: &Cluster,
    set: &ApplySet,
    resource: &Resource,
    adopt: &BTreeSet<String>,
) -> Result<Option<Result<ParentState, ParentError>>, Diagnostic> {
    match find(cluster, resource, &set.parent).await {
        LiveState::Absent => Ok(None),
        LiveState::Unreadable(diagnostic) => Err(diagnostic),
        LiveState::Present(live) => Ok(Some(ParentState::of(set, &live, &own_tooling(), adopt))),
    }
}

/// Reads the parent; `None` if it does not exist and can be created.
async fn state(
    cluster: &Cluster,
    set: &ApplySet,
    resource: &Resource,
    adopt: &BTreeSet<String>,
) -> Result<Option<ParentState>, ApplySetError> {
    let parent = &set.parent;
    let gvk = &parent.gvk;
    let can_be_created = gvk.group.is_empty() && ["Secret", "ConfigMap"].contains(&gvk.kind.as_str());
    if !can_be_created {
        match is_parent_type(cluster, resource).await {
            Ok(true) => {}
            Ok(false) => {
                let hint = format!(
                    "use a Secret or a ConfigMap, or label the kind's CustomResourceDefinition `{IS_PARENT_TYPE}=true`"
                );
                return Err(ApplySetError::refused(
                    format!("`{}` cannot be the kind of an apply set's parent", gvk.kind),
                    hint,
                ));
            }
            Err(error) => return Err(unreadable(set, &Diagnostic::about(gvk, &error))),
        }
    }
    match read(cluster, set, resource, adopt).await {
        Ok(Some(Ok(state))) => Ok(Some(state)),
        Ok(Some(Err(error))) => Err(ApplySetError::Refused(vec![unusable(&error, set, Code::Invalid)])),
        Ok(None) if can_be_created => Ok(None),
        Ok(None) => {
            let hint = "a custom resource has to exist before it can be a parent";
            Err(ApplySetError::refused(format!("{parent}, the parent of the apply set, does not exist"), hint))
        }
        Err(diagnostic) => Err(unreadable(set, &diagnostic)),
    }
}

/// Reads a parent that may exist; `None` if there is none, or if the user may not see it.
async fn existing(
    cluster: &Cluster,
    set: &ApplySet,
    resource: &Resource,
    adopt: &BTreeSet<String>,
) -> Result<Option<ParentState>, ApplySetError> {
    match read(cluster, set, resource, adopt).await {
        Ok(Some(Err(ParentError { cause: ParentErrorCause::NotAParent(_), .. }))) => Ok(None),
        Ok(Some(Err(error))) => Err(ApplySetError::Refused(vec![unusable(&error, set, Code::Invalid)])),
        Ok(found) => Ok(found.and_then(Result::ok)),
        Err(diagnostic) if diagnostic.code == Code::Forbidden => Ok(None),
        Err(diagnostic) => Err(unreadable(set, &diagnostic)),
    }
}

fn unreadable(set: &ApplySet, Diagnostic { code, message, hint, .. }: &Diagnostic) -> ApplySetError {
    let message = format!("{}, the parent of the apply set, cannot be read: {message}", set.parent);
    ApplySetError::Unreadable(Diagnostic { hint: hint.clone(), ..Diagnostic::new(*code, message) })
}

/// The name of this program in the sets that it manages.
fn own_tooling() -> Tooling {
    Tooling::new(concat!("kubectl-reconcile/v", env!("CARGO_PKG_VERSION")))
}

/// Returns true if this program manages the set.
pub(crate) fn is_own_tooling(tooling: &Tooling) -> bool {
    tooling.name() == own_tooling().name()
}

/// An error for a parent that cannot be used, with a hint.
fn unusable(error: &ParentError, set: &ApplySet, code: Code) -> Diagnostic {
    let id = &set.id;
    let hint = match &error.cause {
        ParentErrorCause::Terminating => "run again when it is gone".to_owned(),
        ParentErrorCause::WrongId(_) => format!("it has to be `{id}`, so correct or remove the label"),
        ParentErrorCause::NotAParent(_) => format!(
            "choose another name, or, if it is to be the parent, give it the label `{ID}: {id}` and the annotation \
             `{TOOLING}: {}`",
            own_tooling()
        ),
        // What others wrote is no part of a command that somebody may run.
        ParentErrorCause::OtherTool(tool) if !is_word(tool) => {
            "choose another parent, or correct its annotation, which is not the name of a tool".to_owned()
        }
        ParentErrorCause::OtherTool(tool) => {
            format!(
                "continue it with `--adopt={tool}` in every run, beside which the other tool can go on, or choose another parent"
            )
        }
        ParentErrorCause::NotANamespace(_) => "correct the annotation, a list separated by commas".to_owned(),
    };
    Diagnostic::new(code, error.to_string()).with_hint(hint)
}

/// A resource version that no object has, because etcd starts to count after it. An existing object refuses it with a conflict. If there is no
/// object, the server ignores it.
const NO_VERSION: &str = "1";

/// The result of a write of the parent.
#[derive(Clone, Debug)]
pub(super) enum Recorded {
    /// The parent lists them: it was written, unless it did before.
    Written,
    /// Somebody else changed the parent since it was read.
    Moved,
    /// It could not be written.
    Failed(Diagnostic),
}

/// Writes the annotations of the parent, which is created if it does not exist, and returns it. The apply is forced, because the annotations
/// belong to the set, no matter who owns them; the version that was read is the lock.
async fn record(
    cluster: &Cluster,
    Parent { set: ApplySet { parent, id }, resource, state, .. }: &Parent,
    annotations: &ParentAnnotations,
    warnings: &Warnings,
) -> Result<Value, Recorded> {
    let state = state.as_ref();
    let metadata = ObjectMeta {
        name: Some(parent.name.clone()),
        namespace: parent.namespace.clone(),
        labels: Some([(ID.to_owned(), id.clone())].into()),
        annotations: Some(annotations.to_map()),
        uid: state.map(|state| state.uid.clone()),
        // An object that somebody creates in the meantime does not become a parent.
        resource_version: Some(state.map_or_else(|| NO_VERSION.to_owned(), |state| state.resource_version.clone())),
        ..ObjectMeta::default()
    };
    let body = json!({"apiVersion": parent.gvk.api_version(), "kind": parent.gvk.kind, "metadata": metadata});
    // A write that was begun is finished, even if the run is interrupted.
    let cluster = &cluster.until_done();
    let path = resource.object_path(parent.namespace.as_deref(), &parent.name);
    let change = WriteRequest::apply(path, &annotations.manager(), true, &body);
    let answer = cluster.change(change.write(Retry::Safe), warnings).await;
    let answer = answer.and_then(|reply| Asked::key(parent).sent(&body).read(cluster, reply.body()));
    answer.map_err(|error| {
        if error.is_conflict() {
            return Recorded::Moved;
        }
        let is_missing = error.status().is_some_and(StatusError::is_without_namespace);
        let namespace = parent.namespace.as_deref().filter(|_| is_missing);
        Recorded::Failed(namespace.map_or_else(|| Diagnostic::about(&parent.gvk, &error), missing_namespace))
    })
}

#[cfg(test)]
mod tests {
    use apply_set::Missing;
    use structured_merge::GroupVersionKind;

    use super::*;

    #[test]
    fn hints_name_what_to_type() {
        let gvk = GroupVersionKind::new("v1", "Secret");
        let set = ApplySet::of(ObjectKey { gvk, namespace: Some("shop".into()), name: "web".into() });
        let hint = |cause| {
            let error = ParentError { parent: Box::new(set.parent.clone()), cause };
            unusable(&error, &set, Code::Conflict).hint.unwrap_or_default()
        };
        assert!(hint(ParentErrorCause::OtherTool("kubectl".into())).contains("--adopt=kubectl"));
        for cause in [ParentErrorCause::NotAParent(Missing::Id), ParentErrorCause::WrongId("applyset-other-v1".into())]
        {
            assert!(hint(cause).contains(&set.id));
        }
    }
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
