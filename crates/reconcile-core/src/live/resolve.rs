//! Manifest → [`Target`]: finds the resource of a manifest and the namespace of its object.

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use structured_merge::{GroupVersionKind, KindInfo, ObjectKey};

use super::discovery::{Discovery, Resolution, is_builtin_group};
use super::removed_versions::removal;
use super::resource::Resource;
use crate::diagnostic::{Code, Diagnostic};
use crate::manifest::yaml::Step;
use crate::manifest::{BaseObject, DesiredObject, KUSTOMIZE, Manifest, leave_out_copies, repeated};
use crate::object::Shard;

/// The state of a live object. An object that may not be read is not absent.
#[derive(Clone, Debug)]
pub enum LiveState {
    /// The object exists.
    Present(Value),
    /// The server says that it does not exist.
    Absent,
    /// It could not be read.
    Unreadable(Diagnostic),
}

/// A manifest whose resource and namespace are known.
#[derive(Clone, Debug)]
pub struct Target {
    /// The identity of the object.
    pub key: ObjectKey,
    /// The resource of its kind, or the reason why no request can be sent for it.
    pub resource: Result<Arc<Resource>, Box<Diagnostic>>,
    /// Each group and version that serves a kind of its name, such as `apps/v1`.
    pub versions: Arc<[String]>,
    /// The object as it is sent.
    pub desired: DesiredObject,
    /// The same object as it was applied last, once it is known.
    pub base: OnceLock<BaseObject>,
    /// Its place among the shards, in a run over one of them.
    pub shard_member: Option<ShardMember>,
}

/// An object in a run over one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardMember {
    /// Its position in the plan of all objects.
    pub position: usize,
    /// The shard that has it, if that is another one: this run only reads it.
    pub other_shard: Option<Shard>,
}

impl Target {
    /// The same with a tree of its manifest, for as long as it is looked at.
    pub fn unpacked(&self) -> Self {
        let Self { key, resource, versions, desired, base, shard_member } = self;
        Self {
            key: key.clone(),
            resource: resource.clone(),
            versions: Arc::clone(versions),
            desired: desired.unpacked(),
            base: base.clone(),
            shard_member: *shard_member,
        }
    }

    /// The same manifest for an object of another name, without a base.
    pub fn under_name(&self, name: &str) -> Self {
        let key = ObjectKey { name: name.to_owned(), ..self.key.clone() };
        let desired = self.desired.under_name(name);
        Self { key, desired, base: OnceLock::new(), ..self.clone() }
    }

    /// Returns true if the base has the same manifest.
    pub fn is_same_in_base(&self) -> bool {
        self.base.get() == Some(&BaseObject::Same)
    }

    /// The same with another content of its manifest.
    pub fn with_object(&self, object: Value) -> Self {
        Self { desired: self.desired.with_content(object), ..self.clone() }
    }

    /// Returns true if the status is written through a subresource only, as for most kinds.
    pub fn status_is_apart(&self) -> bool {
        self.resource.as_ref().map_or(true, |resource| resource.status)
    }

    /// The other shard that has it, so that this run neither compares nor writes it.
    pub fn other_shard(&self) -> Option<Shard> {
        self.shard_member.and_then(|member| member.other_shard)
    }

    /// The state of its live object, if the manifest may speak for that: one that a record of others only names cannot be read. An object
    /// that was read in another version gets that of the manifest.
    pub fn admitting(&self, state: LiveState) -> LiveState {
        match state {
            LiveState::Present(live) if let Some(refusal) = self.refusal(&live) => LiveState::Unreadable(refusal),
            LiveState::Present(mut live) if self.is_pending() => {
                if let Some(version) = live.get_mut("apiVersion") {
                    *version = self.key.gvk.api_version().into();
                }
                LiveState::Present(live)
            }
            state => state,
        }
    }

    /// Returns true if only a definition of the input has the version of the manifest.
    pub fn is_pending(&self) -> bool {
        self.resource.as_deref().is_ok_and(|resource| resource.pending)
    }

    /// The resource by which the object of a pending one is read: that of another version of its kind. `None` if the server serves none.
    pub fn served_meanwhile(&self) -> Option<Resource> {
        let resource = self.resource.as_deref().ok().filter(|resource| resource.pending)?;
        let other = |version: &String| GroupVersionKind::new(version, &self.key.gvk.kind);
        let gvk = self.versions.iter().map(other).find(|gvk| gvk.group == self.key.gvk.group)?;
        Some(Resource { gvk, pending: false, ..resource.clone() })
    }

    /// The reason why the manifest does not speak for this live object.
    pub fn refusal(&self, live: &Value) -> Option<Diagnostic> {
        self.desired.origin.record.as_ref()?.refusal(&self.key, live)
    }

    /// The kind as the server serves it, if it does.
    pub fn kind(&self) -> Option<KindInfo> {
        let resource = self.resource.as_deref().ok()?;
        let namespaced = resource.namespaced;
        let status = resource.status;
        Some(KindInfo { gvk: self.key.gvk.clone(), root: 0, namespaced, status })
    }
}

/// The namespaces of a run: the one that `--namespace` requires, and the default for manifests that name none.
#[derive(Clone, Debug)]
pub struct Namespaces {
    /// The value of `--namespace`, if it is given.
    pub required: Option<String>,
    /// The namespace of manifests that name none.
    pub default: String,
}

/// Resolves all manifests. Objects of unknown kinds, and objects that the API would refuse, stay with the reason. Errors are a
/// namespace that contradicts `--namespace`, and an object that the input defines twice and differently once its namespace is
/// known.
pub fn resolve(
    manifests: Vec<Manifest>,
    discovery: &Discovery,
    namespaces: &Namespaces,
) -> Result<Vec<Target>, Vec<Diagnostic>> {
    let mut kinds: HashMap<GroupVersionKind, Served> = HashMap::new();
    let mut place = |manifest: &Manifest| {
        let served = match kinds.get(manifest.gvk()) {
            Some(served) => served.clone(),
            None => kinds.entry(manifest.gvk().clone()).or_insert_with_key(|gvk| Served::of(gvk, discovery)).clone(),
        };
        Place { key: key(manifest, served.resource.as_deref().ok(), namespaces), served }
    };
    let places: Vec<Place> = manifests.iter().map(&mut place).collect();
    let mut seen = HashMap::with_capacity(places.len());
    let mut copies = BTreeMap::new();
    let mut claimed: BTreeMap<usize, String> = BTreeMap::new();
    let mut diagnostics = Vec::new();
    for (index, (place, manifest)) in places.iter().zip(&manifests).enumerate() {
        diagnostics.extend(contradiction(place, manifest, namespaces));
        let first = *seen.entry(place.key.without_version()).or_insert(index);
        if first != index {
            let desired = |at: usize| places[at].desired(manifests[at].clone());
            let other = &manifests[first];
            match repeated(manifest, &place.key, other, desired(index).object() == desired(first).object()) {
                Ok(warning) => drop(copies.insert(index, (first, warning))),
                Err(_) if let Some(warning) = claimed_twice(manifest, other) => {
                    claimed.insert(first, warning.clone());
                    copies.insert(index, (first, warning));
                }
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
    }
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    drop(seen);
    let target = |(index, (mut manifest, place)): (usize, (Manifest, Place))| {
        if let Some(reason) = claimed.get(&index) {
            manifest.refuse(reason);
        }
        place.target(manifest)
    };
    let mut targets = manifests.into_iter().zip(places).enumerate().map(target).collect();
    leave_out_copies(&mut targets, &copies, |target, warning| target.desired.warn(warning));
    Ok(targets)
}

/// The reason why an object that two releases define differently is not compared; `None` if they are not two of several releases.
fn claimed_twice(one: &Manifest, other: &Manifest) -> Option<String> {
    let release = |manifest: &Manifest| manifest.origin().record.as_ref()?.named_release();
    let one = release(one)?;
    let other = release(other)?;
    (one != other).then(|| format!("the releases {other} and {one} define it differently"))
}

/// A kind as the server has it; the objects of the kind share it.
#[derive(Clone)]
struct Served {
    resource: Result<Arc<Resource>, Box<Diagnostic>>,
    versions: Arc<[String]>,
}

impl Served {
    fn of(gvk: &GroupVersionKind, discovery: &Discovery) -> Self {
        let resource = resource_of(gvk, discovery).map(Arc::new).map_err(Box::new);
        Self { resource, versions: discovery.versions_of(&gvk.kind).into() }
    }
}

/// The identity of the object of a manifest, and its kind as the server has it.
struct Place {
    key: ObjectKey,
    served: Served,
}

impl Place {
    /// The object of the manifest as it is sent to this place.
    fn desired(&self, manifest: Manifest) -> DesiredObject {
        let status_is_apart = self.served.resource.as_ref().is_ok_and(|resource| resource.status);
        DesiredObject::of(manifest, self.key.namespace.as_deref(), status_is_apart)
    }

    /// The manifest as a target.
    fn target(self, manifest: Manifest) -> Target {
        let refusal = refused(manifest.refused());
        let desired = self.desired(manifest);
        let Self { key, served: Served { resource, versions } } = self;
        let resource = refusal.map_or(resource, |reason| Err(Box::new(reason)));
        Target { key, resource, versions, desired, base: OnceLock::new(), shard_member: None }
    }
}

/// The identity of the object of a manifest that is not resolved, such as a hook that is left out.
pub fn key_of(manifest: &Manifest, discovery: &Discovery, namespaces: &Namespaces) -> ObjectKey {
    key(manifest, resource_of(manifest.gvk(), discovery).as_ref().ok(), namespaces)
}

fn key(manifest: &Manifest, resource: Option<&Resource>, namespaces: &Namespaces) -> ObjectKey {
    let written = manifest.namespace().map(ToOwned::to_owned);
    // The scope of an unknown kind is not known, so the manifest's namespace stays.
    let namespace = match resource {
        Some(resource) if !resource.namespaced => None,
        Some(_) => Some(written.unwrap_or_else(|| default_namespace(manifest, namespaces).to_owned())),
        None => written,
    };
    ObjectKey { gvk: manifest.gvk().clone(), namespace, name: manifest.name().to_owned() }
}

/// The namespace of an object whose manifest names none: that of its release, or the default.
pub fn default_namespace<'n>(manifest: &'n Manifest, namespaces: &'n Namespaces) -> &'n str {
    let record = manifest.origin().record.as_ref();
    record.and_then(|record| record.namespace()).unwrap_or(&namespaces.default)
}

/// The diagnostic for an object that the API would refuse for its name, its labels or its annotations.
fn refused(mistakes: &[Diagnostic]) -> Option<Diagnostic> {
    let (first, more) = mistakes.split_first()?;
    if first.code == Code::Encrypted {
        return Some(first.clone());
    }
    let message = match more.len() {
        0 => first.message.clone(),
        1 => format!("{}, and 1 more mistake", first.message),
        more => format!("{}, and {more} more mistakes", first.message),
    };
    Some(
        Diagnostic { hint: first.hint.clone(), ..Diagnostic::new(Code::Invalid, message) }
            .with_details(mistakes.to_vec()),
    )
}

/// The resource of a kind, or the reason why there is none.
pub fn resource_of(gvk: &GroupVersionKind, discovery: &Discovery) -> Result<Resource, Diagnostic> {
    match discovery.resolve(gvk) {
        Resolution::Known(resource) => Ok(resource.clone()),
        Resolution::Unavailable => {
            let message = format!("the API service behind `{}` does not answer", gvk.api_version());
            Err(Diagnostic::new(Code::ServiceUnavailable, message).with_hint("see `kubectl get apiservices`"))
        }
        Resolution::Oversized => {
            let group = &gvk.group;
            let message = format!("the server lists too many kinds in the group `{group}`, so none of them is read");
            Err(Diagnostic::new(Code::Failed, message)
                .with_hint(format!("`kubectl api-resources --api-group={group}` shows them")))
        }
        Resolution::Unknown => {
            let kind = &gvk.kind;
            let api_version = gvk.api_version();
            if discovery.is_judged_by_built_in_types(gvk) {
                let message = format!("`{kind}` is not a built-in kind of `{api_version}`");
                return Err(Diagnostic::new(Code::UnknownKind, message).with_hint(meant(gvk, discovery)));
            }
            if discovery.is_created_only(gvk) {
                let message = format!("objects of the kind `{kind}` can only be created, not read or applied");
                let hint = "take it out of the input, and send it with `kubectl create`";
                return Err(Diagnostic::new(Code::MethodNotAllowed, message).with_hint(hint));
            }
            let message = format!("the server has no kind `{kind}` in `{api_version}`");
            let diagnostic = Diagnostic::new(Code::UnknownKind, message);
            if let Some(reason) = discovery.uncounted(gvk) {
                let hint = format!("the CustomResourceDefinition in the input does not count, because {reason}");
                return Err(diagnostic.with_hint(hint));
            }
            Err(diagnostic.with_hint(meant(gvk, discovery)))
        }
    }
}

/// The hint for an unknown kind: the group and version that have it, or a similar kind.
fn meant(gvk: &GroupVersionKind, discovery: &Discovery) -> String {
    if let Some(advice) = removal(gvk) {
        return advice;
    }
    let others = discovery.versions_of(&gvk.kind);
    if !others.is_empty() {
        return format!("`{}` is in `{}`", gvk.kind, others.join("`, `"));
    }
    if gvk.group == KUSTOMIZE {
        return "it is a kustomization: `-k` takes its directory".to_owned();
    }
    match discovery.similar_kind(gvk) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if is_builtin_group(&gvk.group) => "check `apiVersion` and `kind`".to_owned(),
        None => "check `apiVersion` and `kind`, or install the CustomResourceDefinition first".to_owned(),
    }
}

/// kubectl's rule for `--namespace` (cli-runtime `resource.RequireNamespace`).
fn contradiction(place: &Place, manifest: &Manifest, namespaces: &Namespaces) -> Option<Diagnostic> {
    let required = namespaces.required.as_ref()?;
    place.served.resource.as_deref().ok()?;
    let written = place.key.namespace.as_ref().filter(|written| *written != required)?;
    let message =
        format!("the namespace from the provided object \"{written}\" does not match the namespace \"{required}\"");
    let hint = format!("pass `--namespace={written}`, or leave `metadata.namespace` out of the manifest");
    let at = [Step::Key("metadata"), Step::Key("namespace")];
    Some(manifest.origin().diagnostic_at_value(&at, message).with_hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_can_only_be_created_is_not_said_to_be_unknown() {
        let mut discovery = Discovery::default();
        let gvk = GroupVersionKind::new("authorization.k8s.io/v1", "SubjectAccessReview");
        discovery.add(Resource {
            gvk: gvk.clone(),
            plural: "subjectaccessreviews".to_owned(),
            namespaced: false,
            verbs: ["create".to_owned()].into(),
            status: false,
            pending: false,
        });
        let refused = resource_of(&gvk, &discovery).unwrap_err();
        assert_eq!(refused.code, Code::MethodNotAllowed);
        let message = "objects of the kind `SubjectAccessReview` can only be created, not read or applied";
        assert_eq!(refused.message, message);
        let other = GroupVersionKind::new("authorization.k8s.io/v2", "SubjectAccessReview");
        assert_eq!(resource_of(&other, &discovery).unwrap_err().code, Code::UnknownKind);
    }
}
