//! Equal changes of several objects, which are printed once.

use std::collections::{BTreeMap, BTreeSet};

use reconcile_core::compare::{Class, Conflict, FieldChange};
use reconcile_core::manifest::Packed;
use reconcile_core::owners::{AuditAnswer, Owner};
use reconcile_core::pass::Outcome;
use ring::digest::{SHA256, digest};
use structured_merge::FieldPath;

use crate::model::ObjectReport;
use crate::model::object::disposition::Disposition;
use crate::words::label::outcome_name;

/// The fewest objects whose equal changes are printed together.
const FEWEST: usize = 3;

/// Changes and conflicts that several objects have in common.
#[derive(Debug)]
pub(crate) struct ChangeGroup<'r> {
    /// The first object with nothing but what all of them have in common: each manager has its time only if it is the same in all.
    pub common: Box<ObjectReport>,
    /// The objects, in their order.
    pub objects: Vec<&'r ObjectReport>,
}

/// The equal changes of a list of objects.
#[derive(Debug, Default)]
pub(crate) struct EqualChanges<'r> {
    /// The groups, by the position of their first object.
    groups: BTreeMap<usize, Vec<ChangeGroup<'r>>>,
    /// The parts that are in a group: positions of objects, and of their parts.
    grouped: BTreeSet<Position>,
}

/// The position of an object, and of one of its parts: its changes, and then its conflicts.
type Position = (usize, usize);

/// A change or a conflict of an object.
#[derive(Clone, Copy)]
enum Item<'r> {
    Change(&'r FieldChange),
    Conflict(&'r Conflict),
}

/// The parts that may be equal: those with one of these, in objects of the same state and with the same advice.
type Likeness<'r> = (Disposition, Option<&'static str>, Option<&'r str>, &'r FieldPath, Option<Class>);

impl<'r> EqualChanges<'r> {
    /// Finds what three or more objects have in common, among the changes that are shown.
    pub fn of(objects: &[&'r ObjectReport], is_shown: impl Fn(&FieldChange) -> bool) -> Self {
        // Few changes have a path in common, so that few values are compared.
        let mut by_path: BTreeMap<Likeness<'r>, Vec<(Position, Item<'r>)>> = BTreeMap::new();
        for (at, object) in objects.iter().enumerate().filter(|(_, object)| can_share(object)) {
            let outcome = object.run.outcome.map(outcome_name);
            for (number, part) in parts(object) {
                let (path, class) = match part {
                    Item::Change(change) if !is_shown(change) => continue,
                    Item::Change(change) => (&change.path, Some(change.class)),
                    Item::Conflict(conflict) => (&conflict.path, None),
                };
                let like = (object.disposition(), outcome, object.messages.hint.as_deref(), path, class);
                by_path.entry(like).or_default().push(((at, number), part));
            }
        }
        let mut by_members: BTreeMap<Vec<usize>, Vec<Vec<(Position, Item<'r>)>>> = BTreeMap::new();
        for places in by_path.into_values().filter(|places| places.len() >= FEWEST) {
            let mut equal: BTreeMap<_, Vec<(Position, Item<'r>)>> = BTreeMap::new();
            for (place, part) in places {
                let same = equal.entry(said(part)).or_default();
                // An object has a change once; another one with the same path is its own.
                if same.last().is_none_or(|((at, _), _)| *at != place.0) {
                    same.push((place, part));
                }
            }
            for places in equal.into_values().filter(|places| places.len() >= FEWEST) {
                by_members.entry(places.iter().map(|((at, _), _)| *at).collect()).or_default().push(places);
            }
        }
        let mut found = Self::default();
        for (members, mut all) in by_members {
            all.sort_by_key(|places| places.first().map(|((_, number), _)| *number));
            let members: Vec<(usize, &ObjectReport)> =
                members.into_iter().filter_map(|at| Some((at, *objects.get(at)?))).collect();
            let Some((first, _)) = members.first() else { continue };
            let objects: Vec<&ObjectReport> = members.iter().map(|(_, object)| *object).collect();
            let Some(common) = common(&objects, &all) else { continue };
            found.groups.entry(*first).or_default().push(ChangeGroup { common: Box::new(common), objects });
            found.grouped.extend(all.into_iter().flatten().map(|(place, _)| place));
        }
        found
    }

    /// The groups whose first object has this position.
    pub fn beginning_at(&self, at: usize) -> &[ChangeGroup<'r>] {
        self.groups.get(&at).map(Vec::as_slice).unwrap_or_default()
    }

    /// Takes the groups that begin at this object out of the list.
    pub fn take_beginning_at(&mut self, at: usize) -> Vec<ChangeGroup<'r>> {
        self.groups.remove(&at).unwrap_or_default()
    }

    /// The object at this position without what is in a group; `None` if nothing is.
    pub fn rest_of(&self, at: usize, object: &ObjectReport) -> Option<ObjectReport> {
        self.grouped.range((at, 0)..=(at, usize::MAX)).next()?;
        let is_grouped = |number: &usize| self.grouped.contains(&(at, *number));
        let mut rest = object.clone();
        let changes = object.diff.changes.iter().enumerate().filter(|(number, _)| !is_grouped(number));
        rest.diff.changes = changes.map(|(_, change)| change.clone()).collect();
        let others = parts(object).into_iter().filter(|(number, _)| !is_grouped(number));
        let others = others.filter_map(|(_, part)| match part {
            Item::Change(change) if change.class == Class::Conflict => Some(named_by(object, change)),
            Item::Change(_) => None,
            Item::Conflict(conflict) => Some(vec![conflict.clone()]),
        });
        rest.diff.conflicts = others.flatten().collect();
        leave_out_repeated(&mut rest.diff.conflicts);
        rest.details.is_conflict_shown = !object.diff.conflicts.is_empty();
        Some(rest)
    }
}

/// The parts of an object, with their numbers: its changes, and the conflicts that these do not name.
fn parts(object: &ObjectReport) -> Vec<(usize, Item<'_>)> {
    let changes = object.diff.changes.iter().map(Item::Change);
    changes.chain(object.other_conflicts().into_iter().map(Item::Conflict)).enumerate().collect()
}

/// The conflicts that a change names.
fn named_by(object: &ObjectReport, change: &FieldChange) -> Vec<Conflict> {
    object.diff.conflicts.iter().filter(|one| change.names(one)).cloned().collect()
}

/// Leaves each conflict once that several changes name: parts of a value that its owner has as a whole.
fn leave_out_repeated(conflicts: &mut Vec<Conflict>) {
    let mut seen: BTreeSet<(FieldPath, Owner)> = BTreeSet::new();
    conflicts.retain(|conflict| seen.insert((conflict.path.clone(), conflict.owner.clone())));
}

/// Returns true if the changes of an object can be printed with those of others: its own text says nothing else about them.
fn can_share(object: &ObjectReport) -> bool {
    let disposition = object.disposition();
    let is_plain = matches!(disposition, Disposition::Update | Disposition::InSync | Disposition::Conflict);
    let messages = &object.messages;
    let is_left = disposition == Disposition::Conflict && object.run.outcome == Some(Outcome::Conflict);
    // The versions of a definition are summarised as a whole.
    is_plain
        && (object.diff.conflicts.is_empty() || disposition == Disposition::Conflict)
        && messages.error.is_none()
        && messages.reason.is_none()
        && object.run.outcome.is_none_or(|_| object.is_done() || is_left)
        && !object.run.changed_during_run
        && !object.key.gvk.is_crd()
}

/// A digest of the values of a part and of its managers without their times, as there may be many and large ones.
fn said(part: Item<'_>) -> Vec<u8> {
    let said = match part {
        Item::Conflict(conflict) => format!("{:?}", owners(std::slice::from_ref(&conflict.owner))),
        Item::Change(change) => {
            let text = |value: &Option<Packed>| value.as_ref().map(|value| value.with(ToString::to_string));
            let live = text(&change.live);
            let desired = text(&change.desired);
            let managers = owners(&change.managers);
            let removed_by = change.removed_by.as_ref().map(|removed| removed.named());
            let is_known = change.known;
            format!(
                "{:?} {live:?} {desired:?} {:?} {managers:?} {removed_by:?} {is_known}",
                change.op, change.defaulted
            )
        }
    };
    digest(&SHA256, said.as_bytes()).as_ref().to_vec()
}

/// Managers without their times.
fn owners(managers: &[Owner]) -> Vec<Owner> {
    managers.iter().map(Owner::without_times).collect()
}

/// The first of several objects with what they have in common, and nothing else.
fn common(objects: &[&ObjectReport], all: &[Vec<(Position, Item<'_>)>]) -> Option<ObjectReport> {
    let first = *objects.first()?;
    let mut common = first.clone();
    (common.diff.changes, common.diff.conflicts) = (Vec::new(), Vec::new());
    (common.diff.added_items, common.diff.ignored) = (Vec::new(), Vec::new());
    common.diff.effects.clear();
    common.diff.left.clear();
    common.messages.warnings.clear();
    for places in all {
        let mut equal = places.iter().map(|(_, part)| *part);
        match equal.next()? {
            Item::Change(change) => {
                let removed_by = common_removal(change, places);
                let is_same = equal.all(|other| matches!(other, Item::Change(one) if one.managers == change.managers));
                let managers = if is_same { change.managers.clone() } else { owners(&change.managers) };
                let time = |conflict: Conflict| if is_same { conflict } else { timeless(conflict) };
                if change.class == Class::Conflict {
                    common.diff.conflicts.extend(named_by(first, change).into_iter().map(time));
                }
                common.diff.changes.push(FieldChange { managers, removed_by, ..change.clone() });
            }
            Item::Conflict(conflict) => {
                let is_same = equal.all(|other| matches!(other, Item::Conflict(one) if one.owner == conflict.owner));
                common.diff.conflicts.push(if is_same { conflict.clone() } else { timeless(conflict.clone()) });
            }
        }
    }
    leave_out_repeated(&mut common.diff.conflicts);
    common.details.is_conflict_shown = !first.diff.conflicts.is_empty();
    Some(common)
}

/// The users who may have removed the field of a change, without times unless all parts have the same.
fn common_removal(change: &FieldChange, places: &[(Position, Item<'_>)]) -> Option<Box<AuditAnswer>> {
    let is_same = |part: &Item<'_>| matches!(part, Item::Change(one) if one.removed_by == change.removed_by);
    let removed = change.removed_by.as_deref()?;
    Some(Box::new(if places.iter().all(|(_, part)| is_same(part)) { removed.clone() } else { removed.named() }))
}

fn timeless(conflict: Conflict) -> Conflict {
    Conflict { owner: conflict.owner.without_times(), ..conflict }
}

#[cfg(test)]
mod tests {
    use reconcile_core::compare::{Action, Evidence, ObjectDiff};
    use serde_json::json;
    use structured_merge::{Change, GroupVersionKind, ObjectKey, Op, Operation};

    use super::*;

    fn change(field: &str, class: Class, desired: u64, owner: Option<(&str, u64)>) -> FieldChange {
        let owner = owner.map(|(manager, second)| Owner {
            manager: manager.to_owned(),
            operation: Operation::Update,
            subresource: String::new(),
            time: Some(format!("2026-11-20T10:00:0{second}Z")),
            manual: true,
            users: AuditAnswer::default(),
        });
        FieldChange::new(
            Change {
                path: FieldPath::of(&["spec", field]),
                op: Op::Change,
                from: Some(json!("before")),
                to: Some(json!(desired)),
            },
            class,
        )
        .with_managers(owner.into_iter().collect())
    }

    fn object(number: usize, changes: Vec<FieldChange>) -> ObjectReport {
        let gvk = GroupVersionKind::new("apps/v1", "Deployment");
        let key = ObjectKey { gvk, namespace: Some("shop".to_owned()), name: format!("web-{number}") };
        let fields = ObjectDiff { changes, ..ObjectDiff::in_sync(Evidence::Server) };
        ObjectReport::unwanted(&key, fields.by_drift())
    }

    fn all(objects: &[ObjectReport]) -> Vec<&ObjectReport> {
        objects.iter().collect()
    }

    /// Each change with its object, as the groups and the rests have it.
    fn shown(objects: &[ObjectReport]) -> Vec<(String, FieldChange)> {
        let equal = EqualChanges::of(&all(objects), |_| true);
        let mut shown = Vec::new();
        for (at, object) in objects.iter().enumerate() {
            for group in equal.beginning_at(at) {
                let changes = &group.common.diff.changes;
                assert!(group.objects.len() >= FEWEST && !changes.is_empty());
                for member in &group.objects {
                    shown.extend(changes.iter().map(|change| (member.key.name.clone(), change.clone())));
                }
            }
            let rest = equal.rest_of(at, object).unwrap_or_else(|| object.clone());
            shown.extend(rest.diff.changes.iter().map(|change| (object.key.name.clone(), change.clone())));
        }
        shown
    }

    #[test]
    fn changes_of_three_objects_are_shown_together() {
        let bump = |second| change("version", Class::ChangedByOther, 2, Some(("helm", second)));
        let own = change("replicas", Class::Pending, 3, None);
        let mut objects: Vec<ObjectReport> =
            (0..3).map(|at| object(at, vec![bump(at as u64), change("a", Class::Pending, 1, None)])).collect();
        objects[1].diff.changes.insert(0, own.clone());
        let equal = EqualChanges::of(&all(&objects), |_| true);
        let [group] = equal.beginning_at(0) else { panic!("{equal:?}") };
        assert_eq!(group.objects.len(), 3);
        // In the order of the first object, and without times that differ.
        assert_eq!(
            group.common.diff.changes.iter().map(|one| one.path.to_string()).collect::<Vec<_>>(),
            ["spec.version", "spec.a"]
        );
        assert_eq!(group.common.diff.changes[0].managers[0].time, None);
        assert_eq!(equal.rest_of(1, &objects[1]).unwrap().diff.changes, std::slice::from_ref(&own));
        assert_eq!(equal.rest_of(0, &objects[0]).unwrap().diff.changes, []);
        // Two are no group, and another value, class or manager is another change.
        assert!(EqualChanges::of(&all(&objects[..2]), |_| true).grouped.is_empty());
        for other in [
            change("version", Class::ChangedByOther, 9, Some(("helm", 0))),
            change("version", Class::Pending, 2, Some(("helm", 0))),
            change("version", Class::ChangedByOther, 2, Some(("kubectl-edit", 0))),
        ] {
            let mut objects = objects.clone();
            objects[2].diff.changes = vec![other];
            assert!(EqualChanges::of(&all(&objects), |_| true).grouped.is_empty());
        }
        // Conflicts are equal by their field and their owner, and keep the sign of the objects.
        for object in &mut objects {
            object.diff.action = Action::Update;
            let owner = change("x", Class::Conflict, 1, Some(("helm", 1))).managers.remove(0);
            object.diff.conflicts = vec![Conflict { path: FieldPath::of(&["spec", "x"]), owner }];
        }
        let equal = EqualChanges::of(&all(&objects), |_| true);
        let [group] = equal.beginning_at(0) else { panic!("{equal:?}") };
        assert_eq!((group.common.diff.conflicts.len(), group.common.disposition()), (1, Disposition::Conflict));
        let rest = equal.rest_of(1, &objects[1]).unwrap();
        assert_eq!((rest.diff.conflicts.len(), rest.disposition()), (0, Disposition::Conflict));
        assert_eq!(rest.diff.changes, [own]);
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
                let managers = owners(&change.managers);
                format!("{name} {:?}", FieldChange { managers, ..change })
            };
            let mut shown: Vec<String> = shown(&objects).into_iter().map(plain).collect();
            let mut expected: Vec<String> = objects
                .iter()
                .flat_map(|object| object.diff.changes.iter().map(|change| (object.key.name.clone(), change.clone())))
                .map(plain)
                .collect();
            shown.sort();
            expected.sort();
            proptest::prop_assert_eq!(shown, expected);
        }
    }
}
