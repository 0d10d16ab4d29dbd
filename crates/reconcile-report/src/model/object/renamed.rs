//! ConfigMaps and Secrets with a hash of their content in their name, as kustomize generates them: a change of the content is a new object and
//! the deletion of the former one. Both are one object to the reader.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use reconcile_core::compare::{
    Action, Class, Decision, FieldChange, LeftDifference, ObjectDiff, Redactor, Secrecy, Side, Versions,
};
use reconcile_core::live::Target;
use reconcile_core::object::generated::{Generated, generated_names, names_in_place_of_others, stem};
use reconcile_core::pass::Outcome;
use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey, ObjectMeta as _, Op, PathElement};

use super::ObjectReport;

/// A new object with a generated name, and an object that may be the former one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renaming {
    /// The new object.
    pub new: ObjectKey,
    /// The object that may be the former one.
    pub former: ObjectKey,
}

/// The objects that may be the former ones of new objects of a shard, as far as other shards have what names them.
#[derive(Debug, Default)]
pub struct RenamingsElsewhere {
    /// Those that the apply set deletes, each with a new object.
    pub deleted: Vec<Renaming>,
    /// Those to which live objects refer where the manifests refer to the new one.
    pub referred: Vec<Renaming>,
}

/// A former object that was read, and compared with the manifest of the new one.
pub struct FormerObject {
    /// The object, as if it were to be deleted, with its times and the ignore rules that cover a field of it.
    object: ObjectReport,
    /// The differences that were found between the manifest and it.
    changes: Vec<FieldChange>,
}

impl FormerObject {
    /// A live object, and the decision about it as if it had the manifest of the new one, under its own name.
    pub fn new(former: &Target, mut live: Value, decision: &Decision, redactor: &Redactor) -> Self {
        let key = &former.key;
        if let Some(Value::Object(metadata)) = live.get_mut("metadata") {
            metadata.remove("managedFields");
        }
        let secrecy = Secrecy::of(&key.gvk, None, Some(&live));
        let live = redactor.value(&secrecy, &FieldPath::root(), &live);
        let mut object = ObjectReport::unwanted(key, ObjectDiff::delete(live, Side::Manifest, String::new()));
        object.details.rules.clone_from(&decision.rules);
        object.details.times = decision.times();
        Self { object, changes: decision.diff.changes.clone() }
    }
}

/// The objects that may be the former ones of new objects with generated names: those that the apply set deletes, or else those to which
/// live workloads refer where the manifests refer to the new one, and those that only the base has. A new object with several of the
/// latter has none.
pub fn renamings(objects: &[ObjectReport], dropped: &[ObjectKey], elsewhere: RenamingsElsewhere) -> Vec<Renaming> {
    let known: BTreeSet<&ObjectKey> = objects.iter().map(|object| &object.key).collect();
    let mut deleted: BTreeMap<Generated, Vec<&ObjectKey>> = BTreeMap::new();
    for key in objects.iter().filter(|one| is_plain_deletion(one)).map(|one| &one.key) {
        if let Some(generated) = Generated::of(key) {
            deleted.entry(generated).or_default().push(key);
        }
    }
    let mut new: BTreeMap<Generated, Vec<&ObjectKey>> = BTreeMap::new();
    for (generated, key) in created(objects) {
        new.entry(generated).or_default().push(key);
    }
    new.retain(|_, keys| keys.len() == 1);
    let mut found = Vec::new();
    new.retain(|generated, keys| {
        let of_set = deleted.remove(generated);
        for former in of_set.iter().flatten() {
            found.extend(keys.iter().map(|new| Renaming { new: (*new).clone(), former: (*former).clone() }));
        }
        of_set.is_none()
    });
    for renaming in elsewhere.deleted {
        if Generated::of(&renaming.new).is_some_and(|generated| new.remove(&generated).is_some()) {
            found.push(renaming);
        }
    }
    if new.is_empty() {
        return found;
    }
    let mut former: BTreeMap<&ObjectKey, BTreeSet<String>> =
        new.values().flatten().map(|key| (*key, BTreeSet::new())).collect();
    for other in dropped.iter().filter(|other| !known.contains(other)) {
        let keys = Generated::of(other).and_then(|generated| new.get(&generated));
        for key in keys.into_iter().flatten() {
            former.entry(key).or_default().insert(other.name.clone());
        }
    }
    for renaming in elsewhere.referred.iter().filter(|renaming| !known.contains(&renaming.former)) {
        if let Some(former) = former.get_mut(&renaming.new) {
            former.insert(renaming.former.name.clone());
        }
    }
    let mut named: BTreeMap<(Option<&str>, &str), Vec<&ObjectKey>> = BTreeMap::new();
    for key in new.into_values().flatten() {
        named.entry((key.namespace.as_deref(), &key.name)).or_default().push(key);
    }
    for object in objects.iter().filter(|object| object.diff.action == Action::Update) {
        let before = object.diff.changes.iter().filter_map(|change| change.live.as_deref());
        let after = object.diff.changes.iter().filter_map(|change| change.desired.as_deref());
        for (name, others) in names_in_place_of_others(before, after) {
            for key in named.get(&(object.key.namespace.as_deref(), name)).into_iter().flatten() {
                let other = |name: &str| ObjectKey { name: name.to_owned(), ..(*key).clone() };
                let unknown = others.iter().map(|name| other(name)).filter(|other| !known.contains(other));
                former.entry(key).or_default().extend(unknown.map(|other| other.name));
            }
        }
    }
    let one = |(key, formers): (&ObjectKey, BTreeSet<String>)| {
        let mut formers = formers.into_iter();
        let name = formers.next().filter(|_| formers.next().is_none())?;
        Some(Renaming { new: key.clone(), former: ObjectKey { name, ..key.clone() } })
    };
    found.extend(former.into_iter().filter_map(one));
    found
}

/// The objects with generated names that do not exist.
pub fn created(objects: &[ObjectReport]) -> impl Iterator<Item = (Generated, &ObjectKey)> {
    let created = objects.iter().filter(|object| object.diff.action == Action::Create);
    created.filter_map(|object| Some((Generated::of(&object.key)?, &object.key)))
}

/// Returns true for the deletion of an object of the apply set that is allowed and not refused.
fn is_plain_deletion(object: &ObjectReport) -> bool {
    let is_done = object.run.outcome.is_none_or(|outcome| outcome == Outcome::Deleted);
    let is_allowed = object.diff.deletion.as_ref().is_none_or(|deletion| deletion.allowed || deletion.needs.is_empty());
    object.diff.action == Action::Delete && is_allowed && object.messages.error.is_none() && is_done
}

/// Shows each new object with a generated name and the former one as one object under a new name: the newest that is deleted, or else that
/// of `formers`, which stay. A deletion that still has to be allowed, or that cannot be done, stays on its own, and so do both if they are
/// not done alike.
pub(crate) fn paired(mut objects: Vec<ObjectReport>, formers: &[FormerObject]) -> Vec<ObjectReport> {
    take_rules(&mut objects, formers);
    let mut renames = Renames::new();
    // The report of a shard has some already, of which another shard deletes the former one.
    let mut known = BTreeMap::new();
    for object in objects.iter().filter(|object| object.diff.action == Action::Update) {
        if let Some(former) = object.former() {
            renames.insert((former.namespace.clone(), former.name.clone()), object.key.clone());
            if Generated::of(&former) == Generated::of(&object.key) {
                known.insert(former, object.key.clone());
            }
        }
    }
    let mut gone = BTreeSet::new();
    let mut deletions = BTreeMap::new();
    let mut former: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, object) in objects.iter().enumerate().filter(|(_, object)| is_plain_deletion(object)) {
        if let Some(new) = known.remove(&object.key) {
            gone.insert(at);
            deletions.insert(new, object.diff.deletion.clone());
        } else {
            former.entry(Generated::of(&object.key)).or_default().push(at);
        }
    }
    if !deletions.is_empty() {
        for object in &mut objects {
            if let Some(deletion) = deletions.remove(&object.key) {
                object.diff.deletion = deletion;
            }
        }
    }
    let mut staying: BTreeMap<Generated, &ObjectReport> = BTreeMap::new();
    let mut compared: BTreeMap<&ObjectKey, &FormerObject> = BTreeMap::new();
    for former @ FormerObject { object, .. } in formers {
        compared.insert(&object.key, former);
        let stays = !objects.iter().any(|other| other.key == object.key);
        if let Some(generated) = Generated::of(&object.key).filter(|_| stays) {
            staying.entry(generated).or_insert(object);
        }
    }
    for at in 0..objects.len() {
        let Some(new) = objects.get(at).filter(|object| object.diff.action == Action::Create) else { continue };
        let Some(generated) = Generated::of(&new.key) else { continue };
        let places = former.remove(&Some(generated.clone())).unwrap_or_default();
        let created = |at: &usize| objects.get(*at).and_then(live).and_then(created_at).map(ToOwned::to_owned);
        let newest = places.iter().max_by_key(|at| created(at)).copied();
        let staying = || staying.get(&generated).copied();
        let Some(old) = newest.and_then(|at| objects.get(at)).or_else(staying) else { continue };
        let is_alike = match new.run.outcome {
            None => old.run.outcome.is_none(),
            Some(outcome) => outcome == Outcome::Created && (newest.is_none() || old.run.outcome.is_some()),
        };
        let compared = compared.get(&old.key).copied();
        if let Some(renamed) = renamed(new, old, compared).filter(|_| is_alike) {
            gone.extend(newest);
            renames.insert((renamed.key.namespace.clone(), old.key.name.clone()), renamed.key.clone());
            if let Some(slot) = objects.get_mut(at) {
                *slot = renamed;
            }
        }
    }
    gone.extend(left_as_one(&mut objects));
    if !renames.is_empty() {
        for object in &mut objects {
            follow(object, &renames);
        }
    }
    let mut at = 0_usize..;
    objects.retain(|_| !at.next().is_some_and(|at| gone.contains(&at)));
    objects
}

/// Gives the new objects the ignore rules that cover fields of the former ones.
fn take_rules(objects: &mut [ObjectReport], formers: &[FormerObject]) {
    let rules = formers.iter().map(|former| (Generated::of(&former.object.key), &former.object.details.rules));
    let rules: BTreeMap<Option<Generated>, _> = rules.filter(|(_, rules)| !rules.is_empty()).collect();
    if rules.is_empty() {
        return;
    }
    for object in objects.iter_mut().filter(|object| object.source.is_some()) {
        if let Some(rules) = Generated::of(&object.key).and_then(|generated| rules.get(&Some(generated))) {
            object.details.rules.extend(*rules);
        }
    }
}

/// Shows a new object that is left, and the only former one that is left with it, as one object whose new name is left. Returns the
/// places of the former ones.
fn left_as_one(objects: &mut [ObjectReport]) -> Vec<usize> {
    let mut former: BTreeMap<Option<Generated>, Vec<(usize, String)>> = BTreeMap::new();
    for (at, object) in objects.iter().enumerate().filter(|(_, object)| is_left(object, Class::Pruned)) {
        former.entry(Generated::of(&object.key)).or_default().push((at, object.key.name.clone()));
    }
    let mut gone = Vec::new();
    for object in objects.iter_mut().filter(|object| is_left(object, Class::Missing)) {
        let Some(generated) = Generated::of(&object.key) else { continue };
        if let Some([(at, name)]) = former.remove(&Some(generated)).as_deref() {
            gone.push(*at);
            object.renamed_from = Some(name.clone());
            let path = FieldPath::root();
            object.diff.left = vec![LeftDifference { path, class: Class::Pending, side: Side::Manifest }];
        }
    }
    gone
}

/// Returns true if the run leaves an object that is missing, or to be deleted.
fn is_left(object: &ObjectReport, class: Class) -> bool {
    object.diff.action == Action::None
        && object.is_left_whole()
        && object.diff.left.iter().all(|left| left.class == class)
}

/// The new objects, by the namespaces and names of the former ones.
type Renames = BTreeMap<(Option<String>, String), ObjectKey>;

/// Marks the references to objects under a new name. An item of a list whose key is the name is one difference with the former item.
fn follow(object: &mut ObjectReport, renames: &Renames) {
    let namespace = object.key.namespace.clone();
    let new_of = |name: &str| renames.get(&(namespace.clone(), name.to_owned()));
    let mut removed: BTreeMap<(Vec<PathElement>, String), (FieldPath, Vec<String>)> = BTreeMap::new();
    for change in object.diff.changes.iter_mut().filter(|change| change.follows.is_empty()) {
        let Some(live) = change.live.as_deref().filter(|_| change.op != Op::Move) else { continue };
        if generated_names(std::iter::once(live)).into_iter().all(|name| new_of(name).is_none()) {
            continue;
        }
        let mut follows = Vec::new();
        let now = under_new_names(live, &new_of, &mut follows);
        match (change.op, list_of(&change.path)) {
            (Op::Change, _) if change.desired.as_deref() == Some(&now) => change.follows.extend(follows),
            (Op::Remove, Some(list)) => {
                removed.insert((list, now.to_string()), (change.path.clone(), follows));
            }
            _ => {}
        }
    }
    if removed.is_empty() {
        return;
    }
    let mut former = BTreeMap::new();
    for change in object.diff.changes.iter().filter(|change| change.op == Op::Add) {
        let (Some(list), Some(desired)) = (list_of(&change.path), &change.desired) else { continue };
        former.extend(
            removed.remove(&(list, desired.to_string())).map(|(path, follows)| (path, (change.path.clone(), follows))),
        );
    }
    let mut replaced = BTreeMap::new();
    object.diff.changes.retain(|change| match former.remove(&change.path).filter(|_| change.op == Op::Remove) {
        Some((new, follows)) => {
            replaced.insert(new, (change.clone(), follows));
            false
        }
        None => true,
    });
    for change in object.diff.changes.iter_mut().filter(|change| change.op == Op::Add) {
        let Some((old, follows)) = replaced.remove(&change.path) else { continue };
        change.op = Op::Change;
        change.known &= old.known;
        change.live = old.live;
        change.follows.extend(follows);
        if old.side == Some(Side::Manifest) {
            change.class = Class::Pending;
            change.side = old.side;
        }
    }
    object.diff.find_side();
}

/// The list or object that has what a path names.
fn list_of(path: &FieldPath) -> Option<Vec<PathElement>> {
    path.elements().split_last().map(|(_, above)| above.to_vec())
}

/// The value with the new names in the place of the former ones, and the objects that have them.
fn under_new_names<'r>(
    value: &Value,
    renamed: &impl Fn(&str) -> Option<&'r ObjectKey>,
    follows: &mut Vec<String>,
) -> Value {
    match value {
        Value::String(name) => match stem(name).and_then(|_| renamed(name)) {
            Some(new) => {
                let shown = new.to_string();
                if !follows.contains(&shown) {
                    follows.push(shown);
                }
                new.name.clone().into()
            }
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| under_new_names(item, renamed, follows)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), under_new_names(value, renamed, follows)));
            Value::Object(fields.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// The live object of a deletion.
fn live(object: &ObjectReport) -> Option<&Value> {
    object.diff.changes.first()?.live.as_deref()
}

fn created_at(object: &Value) -> Option<&str> {
    object.metadata("creationTimestamp")?.as_str()
}

/// The new object with the differences from the old one, which `compared` tells more about. If their content is the same, as after a pull of
/// all that differed, the name is the difference.
fn renamed(new: &ObjectReport, old: &ObjectReport, compared: Option<&FormerObject>) -> Option<ObjectReport> {
    let desired = new.diff.changes.first()?.desired.as_ref()?;
    let live = live(old)?;
    let mut changes = changes(live, desired);
    let is_known = new.is_known() && old.is_known();
    for change in &mut changes {
        // Other classes tell of owners, also of the object as a whole.
        let says_side = |found: &&FieldChange| found.is_drift() || found.class == Class::Unmanaged;
        // In the reports of two shards, nothing tells which side changed.
        let compared = compared.iter().flat_map(|compared| &compared.changes).filter(says_side);
        let above = compared.filter(|found| found.path.is_prefix_of(&change.path));
        explain(change, above.max_by_key(|found| found.path.elements().len()));
    }
    if changes.is_empty() {
        let name = FieldPath::of(&["metadata", "name"]);
        changes.push(FieldChange::within(&name, Op::Change, live.metadata("name"), desired.metadata("name")));
    }
    for change in &mut changes {
        change.known = is_known;
    }
    let mut object = new.clone();
    if let Some(compared) = compared {
        object.details.times = compared.object.details.times;
    }
    object.renamed_from = Some(old.key.name.clone());
    object.resource_version.clone_from(&old.resource_version);
    object.diff.deletion.clone_from(&old.diff.deletion);
    object.diff.action = Action::Update;
    if object.run.outcome == Some(Outcome::Created) {
        object.run.outcome = Some(Outcome::Updated);
    }
    object.diff.changes = changes;
    object.diff.find_side();
    object.diff.notes.versions = Some(Arc::new(Versions::of_redacted(live, desired)));
    Some(object)
}

/// Gives a difference the class, side and owners that the comparison found. What others added to the former object is not in the new one,
/// and nothing refuses to create that.
fn explain(change: &mut FieldChange, found: Option<&FieldChange>) {
    change.class = match found.map(|found| found.class) {
        Some(Class::Conflict) => Class::ChangedByOther,
        Some(class) => class,
        None => Class::Unrecorded,
    };
    change.side = found.and_then(|found| found.side).or_else(|| Side::of_change(change.class, change.op));
    let Some(found) = found else { return };
    change.managers.clone_from(&found.managers);
    if found.path == change.path {
        change.base.clone_from(&found.base);
    }
}

/// The type of a Secret that names none (`pkg/apis/core/v1/defaults.go`, `SetDefaults_Secret`).
const OPAQUE: &str = "Opaque";

/// The differences of everything that the new object has, but for its name.
fn changes(live: &Value, desired: &Value) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    let mut compare = |path: &[&str], live: Option<&Value>, desired: Option<&Value>| {
        let op = match (live, desired) {
            (None, Some(_)) => Op::Add,
            (Some(_), None) => Op::Remove,
            (live, desired) if live == desired => return,
            _ => Op::Change,
        };
        changes.push(FieldChange::within(&FieldPath::of(path), op, live, desired));
    };
    let opaque = Value::from(OPAQUE);
    let default = live.get("type").map(|_| &opaque);
    compare(&["type"], live.get("type"), desired.get("type").filter(|text| **text != "").or(default));
    let immutable = |object: &Value| object.get("immutable").filter(|value| **value != false).cloned();
    compare(&["immutable"], immutable(live).as_ref(), immutable(desired).as_ref());
    for field in ["data", "binaryData"] {
        let of =
            |object: &Value, field: &str| object.get(field).and_then(Value::as_object).cloned().unwrap_or_default();
        let live = of(live, field);
        let mut desired_data = of(desired, field);
        if field == "data" {
            // The server keeps it there. What is equal has the same number.
            desired_data.extend(of(desired, "stringData"));
        }
        let desired = desired_data;
        let keys: BTreeSet<&String> = live.keys().chain(desired.keys()).collect();
        for key in keys {
            compare(&[field, key], live.get(key), desired.get(key));
        }
    }
    for field in ["labels", "annotations"] {
        let of = |object: &Value| object.metadata(field).and_then(Value::as_object).cloned().unwrap_or_default();
        let live = of(live);
        for (key, value) in &of(desired) {
            compare(&["metadata", field, key], live.get(key), Some(value));
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use reconcile_core::compare::Evidence;
    use reconcile_core::plan::deletion::{Deletion, DeletionKind};
    use serde_json::json;
    use structured_merge::GroupVersionKind;

    use super::*;

    fn key(kind: &str, name: &str) -> ObjectKey {
        let gvk = GroupVersionKind::new("v1", kind);
        ObjectKey { gvk, namespace: Some("shop".to_owned()), name: name.to_owned() }
    }

    fn new(kind: &str, name: &str, data: &Value) -> ObjectReport {
        let desired = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "data": data});
        ObjectReport::unwanted(&key(kind, name), ObjectDiff::create(desired, Evidence::Server))
    }

    fn old(kind: &str, name: &str, created: &str, data: &Value) -> ObjectReport {
        let metadata = json!({"name": name, "uid": "1", "creationTimestamp": created});
        let live = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": data});
        ObjectReport::unwanted(&key(kind, name), ObjectDiff::delete(live, Side::Manifest, "gone".to_owned()))
    }

    /// In the reports of two shards, for example, of which the one with the new object could not read the former one.
    #[test]
    fn without_a_comparison_nothing_tells_the_side() {
        let data = |timeout: &str| json!({"timeout": timeout, "same": "a"});
        let objects = vec![new("ConfigMap", B, &data("45s")), old("ConfigMap", A, EARLY, &data("30s"))];
        let object = paired(objects, &[]).pop().unwrap();
        let [change] = &object.diff.changes[..] else { panic!("{object:#?}") };
        assert_eq!(
            (change.class, change.side, object.diff.side),
            (Class::Unrecorded, Some(Side::Either), Some(Side::Either))
        );
    }

    fn shown(objects: Vec<ObjectReport>) -> Vec<String> {
        let line = |object: &ObjectReport| {
            let from = object.renamed_from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
            let paths: Vec<String> = object.diff.changes.iter().map(|change| change.path.to_string()).collect();
            format!("{:?} {}{from} {}", object.diff.action, object.key.name, paths.join(",")).trim_end().to_owned()
        };
        paired(objects, &[]).iter().map(line).collect()
    }

    const A: &str = "web-config-84c9dfhgtd";
    const B: &str = "web-config-h56kmt2b4c";
    const EARLY: &str = "2026-11-20T10:00:00Z";
    const LATE: &str = "2026-11-21T10:00:00Z";

    #[test]
    fn a_new_hash_is_the_same_object_under_a_new_name() {
        let data = |timeout: &str| json!({"timeout": timeout, "same": "a"});
        assert_eq!(
            shown(vec![new("ConfigMap", B, &data("45s")), old("ConfigMap", A, EARLY, &data("30s"))]),
            [format!("Update {B} from {A} data.timeout")]
        );
        // The newest of several; the others are deleted on their own.
        let older = old("ConfigMap", "web-config-2222222222", EARLY, &data("1s"));
        assert_eq!(
            shown(vec![new("ConfigMap", B, &data("45s")), older, old("ConfigMap", A, LATE, &data("30s"))]),
            [format!("Update {B} from {A} data.timeout"), "Delete web-config-2222222222".to_owned()]
        );
    }

    #[test]
    fn other_names_kinds_and_deletions_stay_apart() {
        let data = |value: &str| json!({"a": value});
        for (kind, before, after) in [
            ("ConfigMap", "web-config-84c9dfhgtd", "api-config-h56kmt2b4c"),
            ("ConfigMap", "web-config-84c9dfhgta", "web-config-h56kmt2b4a"),
            ("ConfigMap", "web-config-84c9dfhgt", "web-config-h56kmt2b4"),
            ("Service", A, B),
            ("ConfigMap", "-84c9dfhgtd", "-h56kmt2b4c"),
        ] {
            let both = vec![new(kind, after, &data("1")), old(kind, before, EARLY, &data("2"))];
            assert_eq!(shown(both), [format!("Create {after}"), format!("Delete {before}")]);
        }
        let needs = Deletion { needs: [DeletionKind::Most].into(), allowed: false };
        let marked = old("ConfigMap", A, EARLY, &data("2")).with_deletion(Some(&needs), None);
        assert_eq!(shown(vec![new("ConfigMap", B, &data("1")), marked]).len(), 2);
        let allowed = Deletion { allowed: true, ..needs };
        let marked = old("ConfigMap", A, EARLY, &data("2")).with_deletion(Some(&allowed), None);
        assert_eq!(shown(vec![new("ConfigMap", B, &data("1")), marked]), [format!("Update {B} from {A} data.a")]);
        assert_eq!(shown(vec![new("ConfigMap", B, &data("1")), old("Secret", A, EARLY, &data("2"))]).len(), 2);
    }
}
