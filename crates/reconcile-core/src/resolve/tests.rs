use serde_json::{Value, json};
use structured_merge::{Change, FieldPath, GroupVersionKind, ObjectKey, Op, Operation};

use super::*;
use crate::compare::{Action, Class, Evidence, FieldChange, ObjectDiff, Replacement};
use crate::owners::{AuditAnswer, Owner};

fn web() -> ObjectKey {
    let gvk = GroupVersionKind::new("apps/v1", "Deployment");
    ObjectKey { gvk, namespace: Some("shop".to_owned()), name: "web".to_owned() }
}

fn change(field: &str, live: u64) -> FieldChange {
    let path = FieldPath::of(&["spec", field]);
    let change = Change { path, op: Op::Change, from: Some(json!(live)), to: Some(json!(1)) };
    FieldChange::new(change, Class::ChangedByOther).with_managers(vec![owner("kubectl-edit")])
}

fn owner(manager: &str) -> Owner {
    let manager = manager.to_owned();
    let subresource = String::new();
    Owner {
        manager,
        operation: Operation::Update,
        subresource,
        time: None,
        manual: true,
        users: AuditAnswer::default(),
    }
}

fn difference(change: FieldChange) -> Difference {
    Difference { key: web(), action: Action::Update, replacement: None, change }
}

fn missing() -> Difference {
    Difference { action: Action::Create, ..difference(FieldChange::missing(json!({"kind": "Deployment"}))) }
}

fn update(changes: &[FieldChange]) -> ObjectDiff {
    ObjectDiff { changes: changes.to_vec(), ..ObjectDiff::in_sync(Evidence::Server) }.by_drift()
}

fn decided(answers: &[(&str, Choice)]) -> Decisions {
    let mut decisions = Decisions::default();
    for (field, answer) in answers {
        decisions.decide(difference(change(field, 2)), answer.clone());
    }
    decisions
}

fn create(desired: Value) -> ObjectDiff {
    ObjectDiff::create(desired, Evidence::Server)
}

#[test]
fn only_differences_that_are_to_be_applied_are_written() {
    let decisions = decided(&[("a", Choice::Apply), ("b", Choice::Skip)]);
    let consent = |changes: &[FieldChange]| decisions.consent(&web(), &update(changes));
    assert_eq!(consent(&[change("a", 2)]), Consent::Write);
    assert_eq!(consent(&[change("a", 2), change("b", 2)]), Consent::Inseparable, "no rule has left `b` alone");
    assert_eq!(consent(&[change("a", 3)]), Consent::Changed, "it has another value by now");
    assert_eq!(consent(&[change("a", 2), change("c", 2)]), Consent::Changed, "`c` is new");
    assert_eq!(consent(&[]), Consent::LeaveAlone, "it is in sync by now");
    assert_eq!(decisions.consent(&web(), &create(json!({}))), Consent::Changed, "somebody deleted it");
    for other in [Choice::Skip, Choice::Pull, Choice::Ignore("a reason".to_owned())] {
        assert_eq!(decided(&[("a", other)]).consent(&web(), &update(&[change("a", 2)])), Consent::LeaveAlone);
    }
    assert_eq!(Decisions::default().consent(&web(), &update(&[change("a", 2)])), Consent::LeaveAlone);
}

#[test]
fn a_value_that_is_written_as_a_whole_needs_the_consent_to_all_of_it() {
    let part = |field: &str, whole: &str| {
        let part_of = Some(FieldPath::of(&["spec", whole]).into());
        difference(FieldChange { part_of, ..change(field, 2) })
    };
    let consent = |second: Difference, diff: &ObjectDiff| {
        let mut decisions = Decisions::default();
        decisions.decide(part("a", "selector"), Choice::Apply);
        decisions.decide(second, Choice::Skip);
        decisions.consent(&web(), diff)
    };
    // Under the rules of the pass, nothing of such a map differs.
    for found in [&[][..], &[change("a", 2)]] {
        assert_eq!(consent(part("b", "selector"), &update(found)), Consent::Inseparable);
    }
    assert_eq!(consent(part("b", "args"), &update(&[change("a", 2)])), Consent::Write);
    assert_eq!(consent(difference(change("b", 2)), &update(&[change("a", 2)])), Consent::Write);
}

#[test]
fn a_missing_object_is_created_as_it_was_shown() {
    let mut decisions = Decisions::default();
    decisions.decide(missing(), Choice::Apply);
    assert_eq!(decisions.consent(&web(), &create(json!({"kind": "Deployment"}))), Consent::Write);
    assert_eq!(decisions.consent(&web(), &create(json!({"kind": "Other"}))), Consent::Changed);
    assert_eq!(decisions.consent(&web(), &update(&[change("a", 2)])), Consent::Changed, "somebody created it");
    assert!(missing().refusal_to_ignore().is_some() && missing().refusal_to_apply(false).is_none());
}

#[test]
fn a_replacement_needs_the_consent_to_all_of_the_object() {
    let replace = |changes: &[FieldChange]| ObjectDiff {
        action: Action::Replace,
        replacement: Some(Replacement::Allowed),
        ..update(changes)
    };
    let of_replacement = |answers: &[(&str, Choice)]| {
        let mut decisions = Decisions::default();
        for (field, answer) in answers {
            let one = difference(change(field, 2));
            let replacement = Some(Replacement::Allowed);
            decisions.decide(Difference { action: Action::Replace, replacement, ..one }, answer.clone());
        }
        decisions
    };
    let both = [change("a", 2), change("b", 2)];
    let all = of_replacement(&[("a", Choice::Apply), ("b", Choice::Apply)]);
    assert_eq!(all.consent(&web(), &replace(&both)), Consent::Write);
    let some = of_replacement(&[("a", Choice::Apply), ("b", Choice::Skip)]);
    assert_eq!(some.consent(&web(), &replace(&both[..1])), Consent::Inseparable);
    let as_updates = decided(&[("a", Choice::Apply), ("b", Choice::Apply)]);
    assert_eq!(as_updates.consent(&web(), &replace(&both)), Consent::Changed, "nobody agreed to a replacement");

    let one = Difference { action: Action::Replace, ..difference(change("a", 2)) };
    let refusal = |replacement| Difference { replacement, ..one.clone() }.refusal_to_apply(false);
    assert!(refusal(Some(Replacement::NeedsFlag)).unwrap().contains("--replace=immutable"));
    assert!(refusal(Some(Replacement::Protected)).unwrap().contains("protected"));
    assert_eq!(refusal(Some(Replacement::Allowed)), None);
}

#[test]
fn rules_for_the_configuration_are_as_narrow_as_their_differences() {
    let reason = Choice::ignore("  set by the\n\u{1b}[31m autoscaler ").unwrap();
    let decisions = decided(&[("a", reason.clone()), ("b", Choice::Skip), ("c", reason), ("d", Choice::Pull)]);
    let rules = decisions.rules();
    let [rule] = rules.as_slice() else { panic!("{rules:?}") };
    let fields: Vec<String> = rule.fields.iter().map(ToString::to_string).collect();
    assert_eq!(fields, ["spec.a", "spec.c"]);
    assert_eq!(rule.managers.iter().map(ToString::to_string).collect::<Vec<_>>(), ["kubectl-edit"]);
    let reason = rule.reason.as_deref().unwrap();
    assert!(reason.starts_with("set by the ") && !reason.contains(['\n', '\u{1b}']), "{reason:?}");
    assert_eq!(rule.target.name.as_ref().unwrap().to_string(), "web");
    assert_eq!(Choice::ignore(" \n "), None);
    assert_eq!(decisions.rules_of_pass(), [], "nothing of the object is written");

    let hostile = FieldChange { managers: vec![owner("*")], ..change("a", 2) };
    assert!(difference(hostile).refusal_to_ignore().unwrap().contains("`*`"));
    let order = FieldChange { class: Class::Reordered, ..change("a", 2) };
    assert!(difference(order).refusal_to_ignore().unwrap().contains("order"));
}

#[test]
fn everything_else_of_a_written_object_stays_by_a_rule_of_the_pass() {
    let ignored = Choice::ignore("later").unwrap();
    let decisions = decided(&[("a", Choice::Apply), ("b", Choice::Skip), ("c", Choice::Pull), ("d", ignored)]);
    let rules = decisions.rules_of_pass();
    let [rule] = rules.as_slice() else { panic!("{rules:?}") };
    assert_eq!(rule.fields.iter().map(ToString::to_string).collect::<Vec<_>>(), ["spec.b", "spec.c", "spec.d"]);
    assert!(rule.managers.is_empty(), "also if somebody else changes it again");
}

#[test]
fn an_object_can_be_left_alone_after_all() {
    let mut decisions = decided(&[("a", Choice::Apply), ("b", Choice::Pull)]);
    assert!(decisions.pulls(&web(), &change("b", 2)) && !decisions.pulls(&web(), &change("b", 3)));
    assert!(!decisions.pulls(&web(), &change("a", 2)));
    assert!(decisions.withdraw(&web()) && !decisions.withdraw(&web()));
    assert_eq!((decisions.applied().count(), decisions.applies(&web())), (0, false));
    assert_eq!(decisions.consent(&web(), &update(&[change("a", 2)])), Consent::LeaveAlone);
}

#[test]
fn fields_of_others_are_not_taken() {
    let conflict = difference(FieldChange { class: Class::Conflict, ..change("a", 2) });
    assert!(conflict.refusal_to_apply(true).unwrap().starts_with("`kubectl-edit` owns the field"));
    assert_eq!(conflict.refusal_to_apply(false), None, "the flags take it");
}
