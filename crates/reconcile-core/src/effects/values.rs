//! Changed values of ConfigMaps and Secrets, in the Pods of the workloads that use them: files in a volume follow within a minute or so
//! (the period of the kubelet and its cache), environment variables and files with a `subPath` only when the Pod restarts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use structured_merge::PathElement;

use super::compared::{Compared, Holder, Kind};
use crate::compare::{Action, Effect, EffectKind, FieldChange};

/// A place of a Pod template where a value is used.
pub(super) struct Usage<'a> {
    /// The position of the workload.
    at: usize,
    keys: Keys<'a>,
    /// True if running Pods see a new value.
    follows: bool,
}

impl Usage<'_> {
    fn is_of(&self, changed: &Keys<'_>) -> bool {
        match (&self.keys, changed) {
            (Some(used), Some(changed)) => used.iter().any(|key| changed.contains(key)),
            _ => true,
        }
    }
}

/// Keys of a ConfigMap or a Secret; `None` for all of them.
type Keys<'a> = Option<BTreeSet<&'a str>>;

/// Returns true if something in a ConfigMap or a Secret changes.
pub(super) fn has_changed(changes: &[FieldChange]) -> bool {
    changed_keys(changes).is_none_or(|keys| !keys.is_empty())
}

fn changed_keys(changes: &[FieldChange]) -> Keys<'_> {
    let mut keys = BTreeSet::new();
    for change in changes.iter().filter(|change| change.is_drift()) {
        match change.path.elements() {
            [PathElement::Field(map), PathElement::Field(key), ..] if is_data(map) => _ = keys.insert(key.as_str()),
            [PathElement::Field(map)] if is_data(map) => return None,
            [] => return None,
            _ => {}
        }
    }
    Some(keys)
}

fn is_data(field: &str) -> bool {
    ["data", "binaryData", "stringData"].contains(&field)
}

/// The effects of changed values, each with the position of its object. Workloads that restart take the new values.
pub(super) fn effects(objects: &[Compared<'_>], restarts: &dyn Fn(usize) -> bool) -> Vec<(usize, Effect)> {
    let is_changed = |object: &Compared<'_>| {
        matches!(object.action, Action::Update | Action::Replace) && has_changed(object.changes)
    };
    let holders = objects.iter().enumerate().filter(|(_, object)| is_changed(object));
    let holders: Vec<_> = holders.filter_map(|(at, object)| Some((at, object, object.holder()?))).collect();
    if holders.is_empty() {
        return Vec::new();
    }
    let mut usages: BTreeMap<Holder<'_>, Vec<Usage<'_>>> = BTreeMap::new();
    for (at, object) in objects.iter().enumerate() {
        if has_running_pods(object) && !restarts(at) {
            collect(at, object, &mut usages);
        }
    }
    let mut found = Vec::new();
    for (at, object, holder) in holders {
        let changed = changed_keys(object.changes);
        let used = usages.get(&holder).map(Vec::as_slice).unwrap_or_default();
        // The kubelet does not watch what cannot change.
        let is_watched = object.before.and_then(|before| before.get("immutable")) != Some(&Value::Bool(true));
        for follows in [false, true] {
            let users = used.iter().filter(|usage| (usage.follows && is_watched) == follows && usage.is_of(&changed));
            let users: BTreeSet<usize> = users.map(|usage| usage.at).collect();
            let users: Vec<&Compared<'_>> = users.into_iter().filter_map(|at| objects.get(at)).collect();
            found.extend(effect(follows, &users).map(|effect| (at, effect)));
        }
    }
    found
}

/// Returns true for a workload that goes on as it is: its Pods run, and were not made by this apply.
fn has_running_pods(object: &Compared<'_>) -> bool {
    let is_wanted = object.after.pointer("/spec/replicas").and_then(Value::as_u64) != Some(0);
    let runs = match object.kind() {
        Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet | Kind::ReplicaSet | Kind::ReplicationController => true,
        // Only a live object shows whether it has ended.
        Kind::Pod => !matches!(phase(object), Some("Succeeded" | "Failed")),
        Kind::Job => {
            object.before.and_then(|live| live.pointer("/status/active")?.as_u64()).is_some_and(|pods| pods > 0)
        }
        _ => false,
    };
    runs && is_wanted && matches!(object.action, Action::None | Action::Update) && object.before.is_some()
}

fn phase<'a>(object: &Compared<'a>) -> Option<&'a str> {
    object.before?.pointer("/status/phase")?.as_str()
}

fn effect(follows: bool, users: &[&Compared<'_>]) -> Option<Effect> {
    let count = counted(users)?;
    let by = users.iter().map(|user| user.key.to_string());
    let (keep, they, restart) =
        if users.len() == 1 { ("keeps", "it", "restarts") } else { ("keep", "they", "restart") };
    Some(if follows {
        Effect::new(EffectKind::Refresh, None, format!("updated within a minute or so in the volumes of {count}"))
            .by(by)
    } else {
        Effect::new(EffectKind::Stale, None, format!("{count} {keep} the old value until {they} {restart}")).by(by)
    })
}

/// `2 Deployments`, or `3 workloads` of different kinds.
fn counted(users: &[&Compared<'_>]) -> Option<String> {
    let kind = &users.first()?.key.gvk.kind;
    Some(match users.len() {
        1 => format!("1 {kind}"),
        count if users.iter().all(|user| user.key.gvk.kind == *kind) => format!("{count} {kind}s"),
        count => format!("{count} workloads"),
    })
}

/// Collects what the Pods of a workload use.
pub(super) fn collect<'a>(at: usize, object: &Compared<'a>, usages: &mut BTreeMap<Holder<'a>, Vec<Usage<'a>>>) {
    let namespace = object.namespace();
    // What the Pods were started with counts as long as they go on.
    let Some(spec) = object.template_after().and_then(|template| template.get("spec")) else { return };
    let mut add = |is_secret, name: Option<&'a Value>, keys, follows| {
        if let Some(name) = name.and_then(Value::as_str) {
            usages.entry((namespace, is_secret, name)).or_default().push(Usage { at, keys, follows });
        }
    };
    let containers: Vec<&Value> = ["containers", "initContainers", "ephemeralContainers"]
        .iter()
        .filter_map(|list| spec.get(list)?.as_array())
        .flatten()
        // An init container has run already, unless it is a sidecar.
        .filter(|container| is_running(spec, container))
        .collect();
    for container in &containers {
        for source in list(container, "envFrom") {
            add(false, source.pointer("/configMapRef/name"), None, false);
            add(true, source.pointer("/secretRef/name"), None, false);
        }
        for variable in list(container, "env") {
            for (is_secret, reference) in [(false, "/valueFrom/configMapKeyRef"), (true, "/valueFrom/secretKeyRef")] {
                let Some(reference) = variable.pointer(reference) else { continue };
                let key = reference.get("key").and_then(Value::as_str);
                add(is_secret, reference.get("name"), key.map(|key| [key].into()), false);
            }
        }
    }
    for volume in list(spec, "volumes") {
        let Some(name) = volume.get("name") else { continue };
        let mounts = containers.iter().flat_map(|container| list(container, "volumeMounts"));
        let mounts: Vec<&Value> = mounts.filter(|mount| mount.get("name") == Some(name)).collect();
        let projected = volume.get("projected").into_iter().flat_map(|projected| list(projected, "sources"));
        for source in std::iter::once(volume).chain(projected) {
            let held = [(false, source.get("configMap")), (true, source.get("secret"))];
            for (is_secret, reference) in held {
                let Some(reference) = reference else { continue };
                let name = reference.get("name").or_else(|| reference.get("secretName"));
                for mount in &mounts {
                    let sub_path = mount.get("subPath").and_then(Value::as_str).filter(|path| !path.is_empty());
                    let is_fixed = sub_path.is_some() || mount.get("subPathExpr").is_some();
                    add(is_secret, name, keys(reference, sub_path), !is_fixed);
                }
            }
        }
    }
}

fn is_running(spec: &Value, container: &Value) -> bool {
    let is_init = list(spec, "initContainers").any(|init| std::ptr::eq(init, container));
    !is_init || container.get("restartPolicy").and_then(Value::as_str) == Some("Always")
}

/// The keys that a volume shows, or that a mount with a `subPath` shows of it; `None` for all.
fn keys<'a>(reference: &'a Value, sub_path: Option<&'a str>) -> Keys<'a> {
    let text = |item: &'a Value, field: &str| item.get(field).and_then(Value::as_str);
    let items = reference.get("items").and_then(Value::as_array).filter(|items| !items.is_empty());
    match (items, sub_path) {
        (None, None) => None,
        (None, Some(path)) => path.split('/').next().map(|key| [key].into()),
        (Some(items), None) => Some(items.iter().filter_map(|item| text(item, "key")).collect()),
        (Some(items), Some(sub_path)) => {
            let is_mounted = |path: &str| path == sub_path || path.starts_with(&format!("{sub_path}/"));
            let mounted = items.iter().filter(|item| text(item, "path").is_some_and(is_mounted));
            Some(mounted.filter_map(|item| text(item, "key")).collect())
        }
    }
}

fn list<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    object.get(field).and_then(Value::as_array).into_iter().flatten()
}
