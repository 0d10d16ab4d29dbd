//! The effects of an apply beyond the fields that it writes: Pods that restart or stop, Pods that keep an old value, and Services that
//! lose their Pods. They follow from what a comparison has read anyway.
//!
//! ```text
//! Compared (before, after) ─▶ workloads: rollout, recreate, scale, delete
//!                          ─▶ values:    stale, refresh      (ConfigMaps and Secrets, in the workloads of the input)
//!                          ─▶ services:  unselected          (Services, and the Pod templates of the input)
//! ```

mod compared;
mod values;
mod workloads;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use structured_merge::{FieldPath, ObjectKey, Op, PathElement};

use crate::compare::{Action, Decision, Effect, EffectKind};
use crate::live::Target;
use compared::{Compared, Holder, Kind};
use values::{Usage, collect, has_changed};

pub use workloads::of_deletion;

/// Beginning of the names of annotations of Pod templates with the checksum of a ConfigMap or a Secret, by which charts of Helm restart Pods
/// with it (the documentation of Helm, "Automatically Roll Deployments").
const CHECKSUM: &str = "checksum/";

/// Finds the effects of all objects of a run, and what follows from other objects, and puts them into their decisions.
pub fn find(targets: &[&Target], decisions: &mut [Decision]) {
    let is_written = |decision: &Decision| matches!(decision.diff.action, Action::Update | Action::Replace);
    let written = targets.iter().zip(&*decisions).filter(|(_, decision)| is_written(decision));
    let written: BTreeSet<Option<&str>> = written.map(|(target, _)| target.key.namespace.as_deref()).collect();
    // All effects of a write are in its namespace, so that there are trees of the manifests of one namespace at a time.
    let mut namespaces: BTreeMap<Option<&str>, (Vec<&Target>, Vec<&mut Decision>)> = BTreeMap::new();
    for (target, decision) in targets.iter().zip(decisions) {
        let namespace = target.key.namespace.as_deref();
        if written.contains(&namespace) {
            let (targets, decisions) = namespaces.entry(namespace).or_default();
            targets.push(target);
            decisions.push(decision);
        }
    }
    for (targets, mut decisions) in namespaces.into_values() {
        find_in_namespace(&targets, &mut decisions);
    }
}

/// Finds the effects of the objects of a namespace.
fn find_in_namespace(targets: &[&Target], decisions: &mut [&mut Decision]) {
    let pairs = || targets.iter().zip(decisions.iter().map(|decision| &**decision));
    let manifests: Vec<Value> = pairs().map(|(target, decision)| Compared::manifest(target, decision)).collect();
    let objects: Vec<Compared<'_>> = pairs()
        .zip(&manifests)
        .map(|((target, decision), manifest)| Compared::of(target, manifest, decision))
        .collect();
    let following = following(&objects);
    let found = effects(&objects);
    for ((target, decision), effects) in targets.iter().zip(&mut *decisions).zip(found) {
        let is_encrypted = target.desired.origin.is_encrypted;
        let shown = |effect: Effect| if is_encrypted { effect.without_number() } else { effect };
        decision.diff.effects = effects.into_iter().map(shown).collect();
    }
    for (at, path, others) in following {
        if let Some(decision) = decisions.get_mut(at)
            && let Some(change) = decision.diff.changes.iter_mut().find(|change| change.path == path)
        {
            change.follows = others;
        }
    }
}

/// The effects of each object.
fn effects(objects: &[Compared<'_>]) -> Vec<Vec<Effect>> {
    let mut effects: Vec<Vec<Effect>> = objects.iter().map(workloads::of_write).collect();
    let restarts = |at: usize| effects.get(at).is_some_and(|found| found.iter().any(Effect::is_restart));
    let mut others = values::effects(objects, &restarts);
    others.extend(stranded_services(objects));
    for (at, effect) in others {
        if let Some(found) = effects.get_mut(at) {
            found.push(effect);
        }
    }
    effects
}

/// The changes of checksums in workloads that use a changed ConfigMap or Secret: the position of the workload, the field, and the objects
/// from which it follows. A checksum of something else stands for itself.
fn following(objects: &[Compared<'_>]) -> Vec<(usize, FieldPath, Vec<String>)> {
    let is_written = |object: &&Compared<'_>| match object.action {
        Action::Update | Action::Replace => has_changed(object.changes),
        action => action == Action::Create,
    };
    let written = objects.iter().filter(is_written);
    let changed: BTreeMap<Holder<'_>, &ObjectKey> =
        written.filter_map(|object| Some((object.holder()?, object.key))).collect();
    if changed.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, object) in objects.iter().enumerate().filter(|(_, object)| object.template_after().is_some()) {
        let checksums = object.changes.iter().filter(|change| change.op == Op::Change && change.is_drift());
        let mut checksums = checksums.filter_map(|change| Some((&change.path, checksum(&change.path)?))).peekable();
        if checksums.peek().is_none() {
            continue;
        }
        let mut usages: BTreeMap<Holder<'_>, Vec<Usage<'_>>> = BTreeMap::new();
        collect(at, object, &mut usages);
        let used = changed.iter().filter(|(holder, _)| usages.contains_key(*holder));
        let used: Vec<(&Holder<'_>, &ObjectKey)> = used.map(|(holder, key)| (holder, *key)).collect();
        for (path, name) in checksums {
            let of = of_kind(name, &used);
            if !of.is_empty() {
                found.push((at, path.clone(), of));
            }
        }
    }
    found
}

/// The name of a checksum in the annotations of a Pod template.
fn checksum(path: &FieldPath) -> Option<&str> {
    match path.elements() {
        [
            ..,
            PathElement::Field(template),
            PathElement::Field(metadata),
            PathElement::Field(map),
            PathElement::Field(name),
        ] if template == "template" && metadata == "metadata" && map == "annotations" => name.strip_prefix(CHECKSUM),
        _ => None,
    }
}

/// The objects of the kind that the name of a checksum has in it; all of them if it has none.
fn of_kind(name: &str, used: &[(&Holder<'_>, &ObjectKey)]) -> Vec<String> {
    let is_secret = name.contains("secret");
    let is_config = name.contains("config") || name == "cm";
    let fits = |(holder, _): &&(&Holder<'_>, &ObjectKey)| is_secret == is_config || holder.1 == is_secret;
    used.iter().filter(fits).map(|(_, key)| key.to_string()).collect()
}

/// A label of a Pod template: its namespace, its name and its value.
type Label<'a> = (&'a str, &'a str, &'a str);
/// The positions of Pod templates, by label.
type Templates<'a> = BTreeMap<Label<'a>, Vec<usize>>;

/// The effects on the selection of Services, each with the position of the object that causes it.
fn stranded_services(objects: &[Compared<'_>]) -> Vec<(usize, Effect)> {
    if !objects.iter().any(may_strand) {
        return Vec::new();
    }
    let before = templates(objects, Compared::template_before);
    let after = templates(objects, Compared::template_after);
    let mut found = Vec::new();
    for (at, service) in objects.iter().enumerate().filter(|(_, object)| object.kind() == Kind::Service) {
        let Some(former) = service.before.and_then(selector) else { continue };
        let Some(wanted) = selector(service.after) else { continue };
        let matched = matching(&before, objects, (service.namespace(), former), Compared::template_before);
        let selects_job = |at: &usize| objects.get(*at).is_some_and(|object| selects_pods_of_job(wanted, object));
        if matched.is_empty()
            || matched.iter().any(selects_job)
            || !matching(&after, objects, (service.namespace(), wanted), Compared::template_after).is_empty()
        {
            continue;
        }
        let names = || matched.iter().filter_map(|at| Some(objects.get(*at)?.key.to_string()));
        if former != wanted {
            let message = "its selector matches no Pod template of the manifests any more";
            found.push((at, Effect::new(EffectKind::Unselected, None, message).by(names())));
            continue;
        }
        let message = format!("{} no longer selects its Pods, nor any others of the manifests", service.key);
        let effect = Effect::new(EffectKind::Unselected, None, message).by([service.key.to_string()]);
        found.extend(matched.iter().map(|at| (*at, effect.clone())));
    }
    found
}

/// The labels with its name that the server sets in the Pod template of a Job (`pkg/registry/batch/job/strategy.go`), which no manifest has.
const JOB_NAMES: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];

/// Returns true if a selector matches the Pods that a Job gets with the apply.
fn selects_pods_of_job(selector: &Map<String, Value>, object: &Compared<'_>) -> bool {
    let is_own = |name: &str, value: &Value| JOB_NAMES.contains(&name) && value.as_str() == Some(&object.key.name);
    object.kind() == Kind::Job
        && object.template_after().is_some_and(|template| {
            let is_label = |name: &str, value: &Value| labels(template).is_some_and(|all| all.get(name) == Some(value));
            selector.iter().all(|(name, value)| is_own(name, value) || is_label(name, value))
        })
}

/// Returns true if the apply changes a selector of a Service or the labels of a Pod template.
fn may_strand(object: &Compared<'_>) -> bool {
    if !matches!(object.action, Action::Update | Action::Replace) {
        return false;
    }
    match object.kind() {
        Kind::Service => object.before.and_then(selector) != selector(object.after),
        _ => object.template_before().and_then(labels) != object.template_after().and_then(labels),
    }
}

/// The selector of a Service; `None` if it has none, or selects nothing because it is a name.
fn selector(service: &Value) -> Option<&Map<String, Value>> {
    let spec = service.get("spec")?;
    let is_name = spec.get("type").and_then(Value::as_str) == Some("ExternalName");
    spec.get("selector")?.as_object().filter(|selector| !selector.is_empty() && !is_name)
}

fn labels(template: &Value) -> Option<&Map<String, Value>> {
    template.pointer("/metadata/labels")?.as_object()
}

fn templates<'a>(objects: &[Compared<'a>], template: fn(&Compared<'a>) -> Option<&'a Value>) -> Templates<'a> {
    let mut templates = Templates::new();
    for (at, object) in objects.iter().enumerate() {
        for (name, value) in template(object).and_then(labels).into_iter().flatten() {
            if let Some(value) = value.as_str() {
                templates.entry((object.namespace(), name, value)).or_default().push(at);
            }
        }
    }
    templates
}

/// The positions of the templates of a namespace that a selector matches.
fn matching<'a>(
    templates: &Templates<'a>,
    objects: &[Compared<'a>],
    (namespace, selector): (&str, &Map<String, Value>),
    template: fn(&Compared<'a>) -> Option<&'a Value>,
) -> BTreeSet<usize> {
    // The rarest label has the fewest candidates.
    let candidates = selector.iter().map(|(name, value)| {
        let found = templates.get(&(namespace, name.as_str(), value.as_str().unwrap_or_default()));
        found.map(Vec::as_slice).unwrap_or_default()
    });
    let fewest = candidates.min_by_key(|positions| positions.len()).unwrap_or_default();
    let is_matched = |at: &&usize| {
        let labels = objects.get(**at).and_then(|object| labels(template(object)?));
        labels.is_some_and(|labels| selector.iter().all(|(name, value)| labels.get(name) == Some(value)))
    };
    fewest.iter().filter(is_matched).copied().collect()
}
