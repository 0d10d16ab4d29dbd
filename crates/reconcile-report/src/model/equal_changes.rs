//! Equal changes of several objects, which are printed once.

use std::collections::{BTreeMap, BTreeSet};

use reconcile_core::compare::{Class, FieldChange, Owner};
use ring::digest::{SHA256, digest};
use serde_json::Value;
use structured_merge::FieldPath;

use super::disposition::Disposition;
use super::object::ObjectReport;
use crate::words::number::counted_kind;

/// The fewest objects whose equal changes are printed together.
const FEWEST: usize = 3;

/// Changes that several objects have in common.
#[derive(Debug)]
pub(crate) struct ChangeGroup<'r> {
    /// The changes, each with the times of its managers only if they are the same in all objects.
    pub changes: Vec<FieldChange>,
    /// The objects, in their order.
    pub objects: Vec<&'r ObjectReport>,
}

impl ChangeGroup<'_> {
    /// `30 Deployments`, or `30 objects` of several kinds.
    pub fn name(&self) -> String {
        let kinds: BTreeSet<&str> = self.objects.iter().map(|object| object.key.gvk.kind.as_str()).collect();
        let kind = kinds.first().filter(|_| kinds.len() == 1).copied().unwrap_or("object");
        counted_kind(self.objects.len(), kind)
    }
}

/// The equal changes of a list of objects.
#[derive(Debug, Default)]
pub(crate) struct EqualChanges<'r> {
    /// The groups, by the position of their first object.
    groups: BTreeMap<usize, Vec<ChangeGroup<'r>>>,
    /// The changes that are in a group: positions of objects and of their changes.
    grouped: BTreeSet<(usize, usize)>,
}

/// The position of an object, and of one of its changes.
type Place = (usize, usize);

impl<'r> EqualChanges<'r> {
    /// Finds the changes that three or more objects have in common, among those that are shown.
    pub fn of(objects: &[&'r ObjectReport], is_shown: impl Fn(&ObjectReport, &FieldChange) -> bool) -> Self {
        // Few changes have a path in common, so that few values are compared.
        let mut by_path: BTreeMap<(Disposition, &FieldPath, Class), Vec<Place>> = BTreeMap::new();
        for (at, object) in objects.iter().enumerate().filter(|(_, object)| can_share(object)) {
            for (number, change) in object.diff.changes.iter().enumerate().filter(|(_, one)| is_shown(object, one)) {
                by_path.entry((object.disposition(), &change.path, change.class)).or_default().push((at, number));
            }
        }
        let change = |(at, number): Place| objects.get(at)?.diff.changes.get(number);
        let mut by_members: BTreeMap<Vec<usize>, Vec<Vec<Place>>> = BTreeMap::new();
        for places in by_path.into_values().filter(|places| places.len() >= FEWEST) {
            let mut equal: BTreeMap<_, Vec<Place>> = BTreeMap::new();
            for place in places {
                let Some(key) = change(place).map(|change| (said(change), owners(change))) else { continue };
                let same = equal.entry(key).or_default();
                // An object has a change once; another one with the same path is its own.
                if same.last().is_none_or(|(at, _)| *at != place.0) {
                    same.push(place);
                }
            }
            for places in equal.into_values().filter(|places| places.len() >= FEWEST) {
                by_members.entry(places.iter().map(|(at, _)| *at).collect()).or_default().push(places);
            }
        }
        let mut found = Self::default();
        for (members, mut all) in by_members {
            all.sort_by_key(|places| places.first().map(|(_, number)| *number));
            let changes = all.iter().filter_map(|places| {
                let equal: Vec<&FieldChange> = places.iter().filter_map(|place| change(*place)).collect();
                together(&equal)
            });
            let group = ChangeGroup {
                changes: changes.collect(),
                objects: members.iter().filter_map(|at| objects.get(*at).copied()).collect(),
            };
            found.groups.entry(members.first().copied().unwrap_or_default()).or_default().push(group);
            found.grouped.extend(all.into_iter().flatten());
        }
        found
    }

    /// The groups whose first object has this position.
    pub fn beginning_at(&self, at: usize) -> &[ChangeGroup<'r>] {
        self.groups.get(&at).map(Vec::as_slice).unwrap_or_default()
    }

    /// The object at this position without the changes that are in a group; `None` if none are.
    pub fn rest_of(&self, at: usize, object: &ObjectReport) -> Option<ObjectReport> {
        self.grouped.range((at, 0)..=(at, usize::MAX)).next()?;
        let mut rest = object.clone();
        let numbered = rest.diff.changes.drain(..).enumerate();
        rest.diff.changes =
            numbered.filter(|(number, _)| !self.grouped.contains(&(at, *number))).map(|(_, change)| change).collect();
        Some(rest)
    }
}

/// Returns true if the changes of an object can be printed with those of others: its own text says nothing else about them.
fn can_share(object: &ObjectReport) -> bool {
    let is_plain = matches!(object.disposition(), Disposition::Update | Disposition::InSync);
    let messages = &object.messages;
    // The versions of a definition are summarised as a whole.
    is_plain
        && object.diff.conflicts.is_empty()
        && messages.error.is_none()
        && messages.reason.is_none()
        && object.run.outcome.is_none_or(|_| object.is_done())
        && !object.key.gvk.is_crd()
}

/// A digest of the values of a change, as there may be many and large ones.
fn said(change: &FieldChange) -> Vec<u8> {
    let text = |value: &Option<Value>| value.as_ref().map(ToString::to_string);
    let said = format!("{:?} {:?} {:?} {:?}", change.op, text(&change.live), text(&change.desired), change.defaulted);
    digest(&SHA256, said.as_bytes()).as_ref().to_vec()
}

/// The managers of a change without their times.
fn owners(change: &FieldChange) -> Vec<Owner> {
    change.managers.iter().map(|owner| Owner { time: None, ..owner.clone() }).collect()
}

/// One change for several equal ones.
fn together(equal: &[&FieldChange]) -> Option<FieldChange> {
    let (first, others) = equal.split_first()?;
    let is_same = others.iter().all(|other| other.managers == first.managers);
    let managers = if is_same { first.managers.clone() } else { owners(first) };
    Some(FieldChange { managers, ..(*first).clone() })
}

#[cfg(test)]
mod tests {
    use reconcile_core::compare::{Evidence, FieldDiff, ObjectVerdict};
    use serde_json::json;
    use structured_merge::{GroupVersionKind, ObjectKey, Op, Operation};

    use super::*;

    fn change(field: &str, class: Class, desired: u64, owner: Option<(&str, u64)>) -> FieldChange {
        let owner = owner.map(|(manager, second)| Owner {
            manager: manager.to_owned(),
            operation: Operation::Update,
            subresource: String::new(),
            time: Some(format!("2026-11-20T10:00:0{second}Z")),
            manual: true,
        });
        FieldChange {
            path: FieldPath::of(&["spec", field]),
            op: Op::Change,
            class,
            live: Some(json!("before")),
            desired: Some(json!(desired)),
            managers: owner.into_iter().collect(),
            defaulted: Vec::new(),
            known: false,
        }
    }

    fn object(number: usize, changes: Vec<FieldChange>) -> ObjectReport {
        let gvk = GroupVersionKind::new("apps/v1", "Deployment");
        let key = ObjectKey { gvk, namespace: Some("shop".to_owned()), name: format!("web-{number}") };
        let fields = FieldDiff { changes, ..FieldDiff::none(Evidence::Server) };
        ObjectReport::unwanted(&key, ObjectVerdict::from(fields))
    }

    fn all(objects: &[ObjectReport]) -> Vec<&ObjectReport> {
        objects.iter().collect()
    }

    /// Each change with its object, as the groups and the rests have it.
    fn told(objects: &[ObjectReport]) -> Vec<(String, FieldChange)> {
        let equal = EqualChanges::of(&all(objects), |_, _| true);
        let mut told = Vec::new();
        for (at, object) in objects.iter().enumerate() {
            for group in equal.beginning_at(at) {
                assert!(group.objects.len() >= FEWEST && !group.changes.is_empty());
                for member in &group.objects {
                    told.extend(group.changes.iter().map(|change| (member.key.name.clone(), change.clone())));
                }
            }
            let rest = equal.rest_of(at, object).unwrap_or_else(|| object.clone());
            told.extend(rest.diff.changes.into_iter().map(|change| (object.key.name.clone(), change)));
        }
        told
    }

    #[test]
    fn changes_of_three_objects_are_told_together() {
        let bump = |second| change("version", Class::ChangedByOther, 2, Some(("helm", second)));
        let own = change("replicas", Class::Pending, 3, None);
        let mut objects: Vec<ObjectReport> =
            (0..3).map(|at| object(at, vec![bump(at as u64), change("a", Class::Pending, 1, None)])).collect();
        objects[1].diff.changes.insert(0, own.clone());
        let equal = EqualChanges::of(&all(&objects), |_, _| true);
        let [group] = equal.beginning_at(0) else { panic!("{equal:?}") };
        assert_eq!(group.objects.len(), 3);
        // In the order of the first object, and without times that differ.
        assert_eq!(
            group.changes.iter().map(|one| one.path.to_string()).collect::<Vec<_>>(),
            ["spec.version", "spec.a"]
        );
        assert_eq!(group.changes[0].managers[0].time, None);
        assert_eq!(equal.rest_of(1, &objects[1]).unwrap().diff.changes, [own]);
        assert_eq!(equal.rest_of(0, &objects[0]).unwrap().diff.changes, []);
        // Two are no group, and another value, class or manager is another change.
        assert!(EqualChanges::of(&all(&objects[..2]), |_, _| true).grouped.is_empty());
        for other in [
            change("version", Class::ChangedByOther, 9, Some(("helm", 0))),
            change("version", Class::Pending, 2, Some(("helm", 0))),
            change("version", Class::ChangedByOther, 2, Some(("kubectl-edit", 0))),
        ] {
            let mut objects = objects.clone();
            objects[2].diff.changes = vec![other];
            assert!(EqualChanges::of(&all(&objects), |_, _| true).grouped.is_empty());
        }
    }

    proptest::proptest! {
        /// Every change is printed exactly once for each object that has it.
        #[test]
        fn groups_lose_nothing_and_repeat_nothing(
            plan in proptest::collection::vec(
                proptest::collection::vec((0..4_u8, 0..2_u8, 0..3_u64, 0..3_u64), 0..6),
                0..12,
            )
        ) {
            let objects: Vec<ObjectReport> = plan
                .iter()
                .enumerate()
                .map(|(at, changes)| {
                    let made = |(field, class, value, owner): &(u8, u8, u64, u64)| {
                        let class = if *class == 0 { Class::Pending } else { Class::ChangedByOther };
                        let owner = (*owner > 0).then_some(("helm", *owner));
                        change(&format!("f{field}"), class, *value, owner)
                    };
                    object(at, changes.iter().map(made).collect())
                })
                .collect();
            let plain = |(name, change): (String, FieldChange)| {
                let managers = owners(&change);
                format!("{name} {:?}", FieldChange { managers, ..change })
            };
            let mut told: Vec<String> = told(&objects).into_iter().map(plain).collect();
            let mut expected: Vec<String> = objects
                .iter()
                .flat_map(|object| object.diff.changes.iter().map(|change| (object.key.name.clone(), change.clone())))
                .map(plain)
                .collect();
            told.sort();
            expected.sort();
            proptest::prop_assert_eq!(told, expected);
        }
    }
}
