//! The effects of an apply beyond the fields that it writes: Pods that restart or stop, Pods that keep an old value, and Services that
//! lose their Pods. They follow from what a comparison has read anyway.
//!
//! ```text
//! Compared (before, after) ─▶ workloads: rollout, recreate, scale, delete
//!                          ─▶ values:    stale, refresh      (ConfigMaps and Secrets, in the workloads of the input)
//!                          ─▶ services:  unselected          (Services, and the Pod templates of the input)
//! ```

mod compared;
mod services;
mod values;
mod workloads;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey, Op, PathElement};

use crate::compare::{Action, Decision, Effect};
use crate::live::Target;
use compared::{Compared, Holder};
use services::stranded_services;
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
