//! Properties of the search in an audit log.

use std::collections::BTreeSet;

use reconcile_core::audit::{AuditEvent, AuditLine, AuditQuestion, AuditRead, AuditSearch, AuditedObject, FirstWrite};
use reconcile_core::owners::{AuditAnswer, Owner, User};
use reconcile_core::text::is_hidden;
use structured_merge::{FieldPath, GroupVersionKind, ObjectKey, Operation};

/// Most users of an answer.
const MOST: usize = 10;
/// Longest text about a user, in characters.
const LONGEST: usize = 256;

/// Lines in any order have the same answers, which are bounded and visible. A user who is named for certain is the only one.
pub fn audit_log(input: &[u8]) {
    let lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    let events: Vec<AuditEvent<'_>> = lines.iter().filter_map(|line| event(line)).collect();
    let reversed = answers(events.iter().rev());
    for (answer, other) in answers(events.iter()).iter().zip(&reversed) {
        let names =
            |answer: &AuditAnswer| answer.all().map(|user| format!("{:?}", user.named())).collect::<BTreeSet<_>>();
        assert_eq!(answer.user.is_some(), other.user.is_some(), "{answer:?} {other:?}");
        assert!(names(answer) == names(other) || answer.users.len() >= MOST, "{answer:?} {other:?}");
        assert!(answer.users.len() <= MOST && (answer.user.is_none() || answer.users.is_empty()), "{answer:?}");
        answer.all().for_each(check);
    }
}

/// The event of a line, which is the same for the first line.
fn event(line: &[u8]) -> Option<AuditEvent<'_>> {
    let first = AuditLine::read(line, true);
    let AuditLine { received, read } = AuditLine::read(line, false);
    assert!(received.is_none() || received == first.received);
    let AuditRead::Write(event) = read else { return None };
    assert!(matches!(first.read, AuditRead::Write(_)));
    Some(*event)
}

/// The answers to all kinds of questions.
fn answers<'e>(events: impl Iterator<Item = &'e AuditEvent<'e>>) -> Vec<AuditAnswer> {
    let mut search = AuditSearch::default();
    let owner = Owner {
        manager: "kubectl-edit".to_owned(),
        operation: Operation::Update,
        subresource: String::new(),
        time: Some("2026-11-20T10:00:05Z".to_owned()),
        manual: true,
        users: AuditAnswer::default(),
    };
    let mut numbers = Vec::new();
    for (api_version, kind, plural) in [("apps/v1", "Deployment", "deployments"), ("v1", "Pod", "pods")] {
        let gvk = GroupVersionKind::new(api_version, kind);
        let key = ObjectKey { gvk, namespace: Some("shop".to_owned()), name: "web".to_owned() };
        let object = AuditedObject { key: &key, plurals: &[plural.to_owned()] };
        let questions = [
            AuditQuestion::written(&owner, &FieldPath::of(&["spec", "replicas"]), "kubectl-reconcile").0,
            AuditQuestion::FieldRemoved("kubectl-reconcile".to_owned()),
            AuditQuestion::ObjectDeleted,
        ];
        numbers
            .extend(questions.into_iter().filter_map(|question| search.ask(object, question, FirstWrite::default())));
    }
    events.for_each(|event| search.take(event));
    numbers.into_iter().map(|number| search.answer(number)).collect()
}

fn check(user: &User) {
    let User { name, groups, source_ips, user_agent, audit_id, time, impersonated_by, verb } = user;
    let own = [name, user_agent, audit_id, time].into_iter().chain(impersonated_by).chain(verb);
    for text in own.chain(groups).chain(source_ips) {
        assert!(text.chars().count() <= LONGEST && !text.contains(is_hidden) && !text.contains('\n'), "{text:?}");
    }
    assert!(groups.len() <= MOST && source_ips.len() <= MOST, "{user:?}");
}
