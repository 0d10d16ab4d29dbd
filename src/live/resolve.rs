//! Manifest → [`Target`]: which resource it belongs to, and which namespace it lives in.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use structured_merge::{KindInfo, ObjectKey, is_nothing};

use super::discovery::{Discovery, Resolution, Resource};
use crate::desired::yaml::Step;
use crate::desired::{Manifest, leave_out_copies, repeated};
use crate::diagnostic::{Code, Diagnostic};

/// A manifest with its place in the cluster.
#[derive(Clone, Debug)]
pub struct Target {
    /// Which object it is.
    pub key: ObjectKey,
    /// Where such objects live, or why nothing can be asked about this one.
    pub resource: Result<Resource, Diagnostic>,
    /// The manifest, with `metadata.namespace` as it will be sent.
    pub manifest: Manifest,
}

impl Target {
    /// What the server says of its kind, where it knows it.
    #[must_use]
    pub fn kind(&self) -> Option<KindInfo> {
        let resource = self.resource.as_ref().ok()?;
        let (namespaced, status) = (resource.namespaced, resource.status);
        Some(KindInfo { gvk: self.key.gvk.clone(), root: 0, namespaced, status })
    }
}

/// The namespace that applies: the one that `--namespace` demands, else the context's for manifests without one.
#[derive(Clone, Debug)]
pub struct Namespaces {
    /// `--namespace`, where it is given.
    pub required: Option<String>,
    /// Where manifests without a namespace go.
    pub default: String,
}

/// Resolves all manifests. Kinds that the catalog does not have stay, with the reason, and so do objects that the API would
/// refuse; a namespace that contradicts `--namespace`, and an object that is in the input twice and differently once its
/// namespace is known, are problems of the input.
pub fn resolve(
    manifests: Vec<Manifest>,
    catalog: &Discovery,
    namespaces: &Namespaces,
) -> Result<Vec<Target>, Vec<Diagnostic>> {
    let mut targets: Vec<Target> = manifests.into_iter().map(|manifest| place(manifest, catalog, namespaces)).collect();
    let mut seen = HashMap::with_capacity(targets.len());
    let mut copies = BTreeMap::new();
    let mut problems = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        problems.extend(contradiction(target, namespaces));
        let ObjectKey { gvk, namespace, name } = &target.key;
        let first = *seen.entry((&gvk.group, &gvk.kind, namespace, name)).or_insert(index);
        if first != index {
            match repeated(&target.manifest, &targets[first].manifest) {
                Ok(warning) => drop(copies.insert(index, (first, warning))),
                Err(problem) => problems.push(problem),
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    leave_out_copies(&mut targets, &copies, |target| &mut target.manifest.warnings);
    for target in &mut targets {
        if let Some(trouble) = refused(&target.manifest) {
            target.resource = Err(trouble);
        }
    }
    Ok(targets)
}

/// Why nothing is asked about an object that the API would refuse for its name, its labels or its annotations.
fn refused(manifest: &Manifest) -> Option<Diagnostic> {
    let first = manifest.refused.first()?;
    let message = match manifest.refused.len() - 1 {
        0 => first.message.clone(),
        1 => format!("{}, and 1 more mistake", first.message),
        more => format!("{}, and {more} more mistakes", first.message),
    };
    let mistakes = manifest.refused.clone();
    Some(Diagnostic { hint: first.hint.clone(), ..Diagnostic::new(Code::Invalid, message) }.with_details(mistakes))
}

/// The resource of one kind, or why there is none.
pub fn resource_of(manifest: &Manifest, catalog: &Discovery) -> Result<Resource, Diagnostic> {
    let gvk = &manifest.gvk;
    match catalog.resolve(gvk) {
        Resolution::Known(resource) => Ok(resource.clone()),
        Resolution::Unavailable => {
            let message = format!("the API service behind `{}` does not answer", gvk.api_version());
            Err(Diagnostic::new(Code::ServiceUnavailable, message).with_hint("see `kubectl get apiservices`"))
        }
        Resolution::Unknown => {
            let message = format!("the server has no kind `{}` in `{}`", gvk.kind, gvk.api_version());
            let trouble = Diagnostic::new(Code::UnknownKind, message);
            Err(match catalog.same_kind_elsewhere(gvk).as_slice() {
                [] => trouble.with_hint("check `apiVersion` and `kind`, or install the CustomResourceDefinition first"),
                others => trouble.with_hint(format!("the server has `{}` in `{}`", gvk.kind, others.join("`, `"))),
            })
        }
    }
}

fn place(mut manifest: Manifest, catalog: &Discovery, namespaces: &Namespaces) -> Target {
    let resource = resource_of(&manifest, catalog);
    // A kind that nobody knows keeps what is written: its scope can't be told.
    let namespace = match &resource {
        Ok(resource) if !resource.namespaced => None,
        Ok(_) => Some(manifest.namespace.clone().unwrap_or_else(|| namespaces.default.clone())),
        Err(_) => manifest.namespace.clone(),
    };
    settle_namespace(&mut manifest, namespace.as_deref());
    if resource.as_ref().is_ok_and(|resource| resource.status) {
        leave_out_status(&mut manifest);
    }
    leave_out_aggregated_rules(&mut manifest);
    tell_what_is_left_out(&mut manifest);
    let key = ObjectKey { gvk: manifest.gvk.clone(), namespace, name: manifest.name.clone() };
    Target { key, resource, manifest }
}

fn settle_namespace(manifest: &mut Manifest, namespace: Option<&str>) {
    let Some(Value::Object(metadata)) = manifest.value.get_mut("metadata") else { return };
    match namespace {
        Some(namespace) => drop(metadata.insert("namespace".into(), namespace.into())),
        None => {
            if let Some(written) = metadata.remove("namespace") {
                let written = written.as_str().unwrap_or_default().to_owned();
                manifest
                    .warnings
                    .push(format!("`metadata.namespace: {written}` is left out, as the kind is cluster-scoped"));
            }
        }
    }
}

/// Where `status` is a subresource, a write of the object leaves it alone.
fn leave_out_status(manifest: &mut Manifest) {
    leave_out(manifest, "status");
}

/// Leaves out the `rules` of a role with an `aggregationRule`: the control plane overwrites them, and applying them is in
/// conflict with it. Manifests write `rules: []` there, as the field is required.
fn leave_out_aggregated_rules(manifest: &mut Manifest) {
    let is_cluster_role = manifest.gvk.group == "rbac.authorization.k8s.io" && manifest.gvk.kind == "ClusterRole";
    if is_cluster_role && manifest.value.get("aggregationRule").is_some_and(|rule| !rule.is_null()) {
        leave_out(manifest, "rules");
    }
}

/// Removes a top-level field, with a warning unless it is empty.
fn leave_out(manifest: &mut Manifest, field: &str) {
    let Value::Object(object) = &mut manifest.value else { return };
    if object.remove(field).is_some_and(|value| !is_nothing(&value)) {
        manifest.left_out.push(format!("`{field}`"));
    }
}

fn tell_what_is_left_out(manifest: &mut Manifest) {
    if !manifest.left_out.is_empty() {
        let names = std::mem::take(&mut manifest.left_out).join(", ");
        manifest.warnings.push(format!("left out, as the server and kubectl write it themselves: {names}"));
    }
}

/// kubectl's rule for `--namespace` (cli-runtime `resource.RequireNamespace`).
fn contradiction(target: &Target, namespaces: &Namespaces) -> Option<Diagnostic> {
    let required = namespaces.required.as_ref()?;
    target.resource.as_ref().ok()?;
    let written = target.key.namespace.as_ref().filter(|written| *written != required)?;
    let message =
        format!("the namespace from the provided object \"{written}\" does not match the namespace \"{required}\"");
    let hint = format!("pass `--namespace={written}`, or leave `metadata.namespace` out of the manifest");
    let at = [Step::Key("metadata"), Step::Key("namespace")];
    Some(target.manifest.problem_of_value(&at, message).with_hint(hint))
}
