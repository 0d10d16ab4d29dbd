//! Switches: somebody set one member of a "one of" in place of another, as `valueFrom` in place of `value`. The difference that adds the new
//! member to a manifest and the one that removes the former go together, as the server refuses a manifest with both.

use structured_merge::{FieldPath, PathElement, TypeRef};

use crate::compare::{Class, FieldChange};

/// Fields of which the API allows one at a time in one map (`k8s.io/api`: `EnvVar`, `EnvVarSource`, `ProbeHandler` and `LifecycleHandler`,
/// `PodDisruptionBudgetSpec`, `IngressBackend`).
const ONE_OF: [&[&str]; 5] = [
    &["value", "valueFrom"],
    &["configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"],
    &["exec", "grpc", "httpGet", "sleep", "tcpSocket"],
    &["maxUnavailable", "minAvailable"],
    &["resource", "service"],
];

/// The same in a map with a name of its own (`ServiceBackendPort`).
const ONE_OF_IN: [(&str, &[&str]); 1] = [("port", &["name", "number"])];

/// The lists of which each item is a name and one of its other fields.
const SOURCES: [&str; 1] = ["volumes"];

/// Fields whose value rules out another one next to it (`DeploymentStrategy`, `DaemonSetUpdateStrategy`, `StatefulSetUpdateStrategy`).
const RULED_OUT: [(&str, &str); 1] = [("type", "rollingUpdate")];

/// The removals from the manifest without which the server may refuse it with a change, as far as the differences of the object show them.
/// `schema` is that of the object. A type that is not known shows none.
pub fn other_halves<'c>(
    change: &FieldChange,
    all: &'c [FieldChange],
    schema: TypeRef<'_>,
) -> impl Iterator<Item = &'c FieldChange> {
    let removed = removed_beside(change, all, schema);
    let is_member = is_added(change);
    // An apply takes away what the server refuses beside the field of the manifest, and adds that. What is merely unmanaged stays.
    let is_in_the_way = is_member && change.is_drift() && change.class != Class::Unmanaged;
    let is_only_one = is_in_the_way && removed.len() == 1;
    let change = change.clone();
    let is_half = move |other: &&FieldChange| {
        is_only_one || is_member && are_one_of(&change, other) || is_ruled_out(&change, other)
    };
    removed.into_iter().filter(is_half)
}

/// The additions of the live object in place of a field of the manifest: its removal alone leaves the manifest with none of them.
pub fn in_place_of<'c>(removal: &FieldChange, all: &'c [FieldChange], schema: TypeRef<'_>) -> Vec<&'c FieldChange> {
    let Some((name, above)) = field_of(&removal.path).filter(|_| is_removed(removal)) else { return Vec::new() };
    if !schema.at(above).declares(name) {
        return Vec::new();
    }
    let is_beside = |other: &&FieldChange| field_of(&other.path).is_some_and(|(_, own)| own == above);
    all.iter().filter(is_beside).filter(|other| is_added(other) && are_one_of(other, removal)).collect()
}

/// The fields of the manifest in the same map that the live object does not have.
fn removed_beside<'c>(change: &FieldChange, all: &'c [FieldChange], schema: TypeRef<'_>) -> Vec<&'c FieldChange> {
    let Some((name, above)) = field_of(&change.path) else { return Vec::new() };
    let map = schema.at(above);
    if !map.declares(name) {
        return Vec::new();
    }
    let is_beside = |other: &&FieldChange| {
        let place = field_of(&other.path).filter(|(_, own)| *own == above);
        is_removed(other) && place.is_some_and(|(name, _)| map.declares(name))
    };
    all.iter().filter(is_beside).collect()
}

/// Returns true for a field that only the live object has.
fn is_added(change: &FieldChange) -> bool {
    change.live.is_some() && change.desired.is_none()
}

/// Returns true for a field that only the manifest has.
fn is_removed(change: &FieldChange) -> bool {
    change.live.is_none() && change.desired.is_some()
}

/// The name of a field, and the path to its map.
fn field_of(path: &FieldPath) -> Option<(&str, &[PathElement])> {
    match path.elements().split_last()? {
        (PathElement::Field(name), above) => Some((name, above)),
        _ => None,
    }
}

fn are_one_of(change: &FieldChange, other: &FieldChange) -> bool {
    let (Some((own, above)), Some((other, _))) = (field_of(&change.path), field_of(&other.path)) else { return false };
    let has_both = |names: &[&str]| names.contains(&own) && names.contains(&other);
    match above {
        [.., PathElement::Field(list), PathElement::Key(_)] if SOURCES.contains(&list.as_str()) => true,
        [.., PathElement::Field(map)] if ONE_OF_IN.iter().any(|(name, names)| name == map && has_both(names)) => true,
        _ => ONE_OF.iter().any(|names| has_both(names)),
    }
}

/// Returns true if a live value rules out another field, which its own type is named after.
fn is_ruled_out(change: &FieldChange, other: &FieldChange) -> bool {
    let (Some((own, _)), Some((other, _))) = (field_of(&change.path), field_of(&other.path)) else { return false };
    let live = change.live.as_ref().and_then(|live| live.as_str());
    live.is_some_and(|live| !live.eq_ignore_ascii_case(other)) && RULED_OUT.contains(&(own, other))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use structured_merge::{Change, GroupVersionKind, Op, Scalar, builtin};

    use super::*;

    fn change(path: FieldPath, live: Value, desired: Value, class: Class) -> FieldChange {
        let present = |value: Value| (!value.is_null()).then_some(value);
        let op = if live.is_null() { Op::Add } else { Op::Remove };
        FieldChange::new(Change { path, op, from: present(live), to: present(desired) }, class)
    }

    /// The number of other halves of the first change.
    fn halves(kind: (&str, &str), changes: &[FieldChange]) -> usize {
        let schema = builtin().object(&GroupVersionKind::new(kind.0, kind.1)).unwrap();
        other_halves(&changes[0], changes, schema).count()
    }

    const DEPLOYMENT: (&str, &str) = ("apps/v1", "Deployment");

    fn in_container(path: &[&str]) -> FieldPath {
        let name = PathElement::key(vec![("name".to_owned(), Scalar::from_json(&json!("c")))]);
        let containers = FieldPath::of(&["spec", "template", "spec", "containers"]).child(name);
        path.iter().fold(containers, |path, name| path.field(name))
    }

    #[test]
    fn members_of_one_map_of_which_the_api_allows_one_are_halves() {
        let probe =
            |name: &str, live, desired, class| change(in_container(&["livenessProbe", name]), live, desired, class);
        let http = probe("httpGet", Value::Null, json!({"port": 80}), Class::Absent);
        let period = probe("periodSeconds", Value::Null, json!(5), Class::Absent);
        for class in [Class::ChangedByOther, Class::Unmanaged] {
            let tcp = probe("tcpSocket", json!({"port": 80}), Value::Null, class);
            assert_eq!(halves(DEPLOYMENT, &[tcp.clone(), http.clone(), period.clone()]), 1, "{class:?}");
            assert_eq!(halves(DEPLOYMENT, &[tcp, period.clone()]), usize::from(class != Class::Unmanaged), "{class:?}");
        }
        let elsewhere = change(in_container(&["readinessProbe", "httpGet"]), Value::Null, json!({}), Class::Absent);
        let tcp = probe("tcpSocket", json!({"port": 80}), Value::Null, Class::ChangedByOther);
        assert_eq!(halves(DEPLOYMENT, &[tcp, elsewhere]), 0);
    }

    #[test]
    fn keys_of_free_maps_and_fields_of_unknown_types_are_not() {
        let label = |name: &str, live, desired, class| {
            change(FieldPath::of(&["metadata", "labels", name]), live, desired, class)
        };
        let labels = [
            label("value", json!("a"), Value::Null, Class::ChangedByOther),
            label("valueFrom", Value::Null, json!("b"), Class::Absent),
        ];
        assert_eq!(halves(DEPLOYMENT, &labels), 0);
        let untyped = [
            change(FieldPath::of(&["spec", "a"]), json!(1), Value::Null, Class::ChangedByOther),
            change(FieldPath::of(&["spec", "b"]), Value::Null, json!(1), Class::Absent),
        ];
        assert_eq!(other_halves(&untyped[0], &untyped, TypeRef::untyped()).count(), 0);
    }

    #[test]
    fn a_strategy_rules_out_the_settings_of_another_one() {
        let of = |name: &str| FieldPath::of(&["spec", "strategy", name]);
        let settings = change(of("rollingUpdate"), Value::Null, json!({"maxSurge": 1}), Class::Absent);
        let to = |live: &str| change(of("type"), json!(live), json!("other"), Class::ChangedByOther);
        assert_eq!(halves(DEPLOYMENT, &[to("Recreate"), settings.clone()]), 1);
        assert_eq!(halves(DEPLOYMENT, &[to("RollingUpdate"), settings]), 0);
    }
}
