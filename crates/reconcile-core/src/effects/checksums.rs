//! Annotations of Pod templates with the checksum of a ConfigMap or a Secret (`checksum/config`), by which charts of Helm restart Pods with
//! it: their change follows from that of the object, and says nothing else.

use std::collections::BTreeMap;

use structured_merge::{FieldPath, ObjectKey, Op, PathElement};

use super::compared::{Compared, Kind, Step};
use super::values::{Changed, Holder, Usage, collect};
use crate::compare::Following;

/// Beginning of the names of such annotations (the documentation of Helm, "Automatically Roll Deployments").
const CHECKSUM: &str = "checksum/";

/// The changes of checksums in workloads that use a changed ConfigMap or Secret, each with the position of its workload. A checksum of
/// something else stands for itself.
pub(super) fn following(objects: &[Compared<'_>]) -> Vec<(usize, Following)> {
    let is_holder = |object: &Compared<'_>| matches!(object.kind(), Kind::ConfigMap | Kind::Secret);
    let is_written = |object: &Compared<'_>| match object.step {
        Step::Update | Step::Replace => !Changed::of(object.changes).is_empty(),
        Step::Create => true,
        Step::Nothing => false,
    };
    let changed = objects.iter().filter(|object| is_holder(object) && is_written(object));
    let changed: BTreeMap<Holder<'_>, &ObjectKey> = changed
        .map(|object| ((object.namespace(), object.kind() == Kind::Secret, object.key.name.as_str()), object.key))
        .collect();
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
                found.push((at, Following { path: path.clone(), of }));
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
fn of_kind(name: &str, used: &[(&Holder<'_>, &ObjectKey)]) -> Vec<ObjectKey> {
    let is_secret = name.contains("secret");
    let is_config = name.contains("config") || name == "cm";
    let fits = |(holder, _): &&(&Holder<'_>, &ObjectKey)| is_secret == is_config || holder.1 == is_secret;
    used.iter().filter(fits).map(|(_, key)| (*key).clone()).collect()
}
