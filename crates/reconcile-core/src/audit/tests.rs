//! The rules one by one. The events are those of a real API server at level `Metadata`, with other names and times.

use std::borrow::Cow;

use serde_json::{Value, json};
use structured_merge::{FieldPath, GroupVersionKind, ObjectKey, Operation};

use super::event::{AuditLine, AuditRead, manager, parameters};
use super::*;
use crate::owners::{AuditAnswer, ObjectTimes, Owner, Reach, User, second};

const DAY: &str = "2026-11-20T";

/// An event of a user who wrote to the Deployment `shop/web`, between two times of the day.
fn event(user: &str, verb: &str, from: &str, to: &str) -> Value {
    json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": format!("id-{user}-{from}"),
        "stage": "ResponseComplete",
        "requestURI": "/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=kubectl-edit&fieldValidation=Strict",
        "verb": verb, "user": {"username": user, "groups": ["ops", "system:authenticated"]},
        "sourceIPs": ["10.1.2.3"], "userAgent": "kubectl/v1.35.0 (linux/amd64) kubernetes/abc",
        "objectRef": {"resource": "deployments", "namespace": "shop", "name": "web", "apiGroup": "apps", "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": format!("{DAY}{from}Z"), "stageTimestamp": format!("{DAY}{to}Z"),
        "annotations": {"authorization.k8s.io/decision": "allow"},
    })
}

/// The same with other fields at these places.
fn with(mut event: Value, fields: &[(&str, Value)]) -> Value {
    for (pointer, value) in fields {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        event.pointer_mut(parent).unwrap()[name] = value.clone();
    }
    event
}

fn key() -> ObjectKey {
    ObjectKey {
        gvk: GroupVersionKind::new("apps/v1", "Deployment"),
        namespace: Some("shop".to_owned()),
        name: "web".to_owned(),
    }
}

fn owner(time: Option<&str>) -> Owner {
    Owner {
        manager: "kubectl-edit".to_owned(),
        operation: Operation::Update,
        subresource: String::new(),
        time: time.map(|time| format!("{DAY}{time}Z")),
        manual: true,
        users: AuditAnswer::default(),
    }
}

fn at_most(second: Option<i64>) -> FirstWrite {
    FirstWrite { second, created: None }
}

/// The question about the entry of an owner of `spec.replicas`.
fn question_of(owner: &Owner) -> AuditQuestion {
    AuditQuestion::written(owner, &FieldPath::of(&["spec", "replicas"]), "reconcile").0
}

/// The answer to a question about the Deployment, from these events in this order.
fn answer(question: AuditQuestion, since: Option<&str>, events: &[Value]) -> AuditAnswer {
    let mut search = AuditSearch::default();
    let key = key();
    let since = since.and_then(|since| second(&format!("{DAY}{since}Z")));
    let number = search
        .ask(AuditedObject { key: &key, plurals: &["deployments".to_owned()] }, question, at_most(since))
        .unwrap();
    for event in events {
        let line = event.to_string();
        if let AuditRead::Write(event) = AuditLine::read(line.as_bytes(), false).read {
            search.take(&event);
        }
    }
    search.answer(number)
}

fn names(answer: &AuditAnswer) -> (Option<&str>, Vec<&str>) {
    let users = answer.users.iter().map(|user| user.name.as_str()).collect();
    (answer.user.as_deref().map(|user| user.name.as_str()), users)
}

/// The one user of an entry with this time, if there is one, and otherwise the users who may have written.
#[track_caller]
fn written(owner: &Owner, since: Option<&str>, events: &[Value], only: Option<&str>, several: &[&str]) {
    let answer = answer(question_of(owner), since, events);
    assert_eq!(names(&answer), (only, several.to_vec()), "{events:#?}");
}

#[test]
fn the_user_of_the_only_write_is_named_with_what_the_log_has() {
    let events = [event("ops@example.com", "patch", "10:00:00.250000", "10:00:00.310000")];
    let answer = answer(question_of(&owner(Some("10:00:00"))), None, &events);
    assert_eq!(
        serde_json::to_value(&answer).unwrap(),
        json!({"user": {
            "name": "ops@example.com", "groups": ["ops", "system:authenticated"], "sourceIPs": ["10.1.2.3"],
            "userAgent": "kubectl/v1.35.0 (linux/amd64) kubernetes/abc",
            "auditID": "id-ops@example.com-10:00:00.250000", "time": "2026-11-20T10:00:00.25Z",
        }})
    );
}

#[test]
fn the_second_of_the_entry_lies_between_the_request_and_its_end() {
    let at = |from, to| [event("ops", "patch", from, to)];
    let entry = owner(Some("10:00:05"));
    for (from, to) in [
        ("10:00:05.9", "10:00:05.99"),
        ("10:00:04.999", "10:00:05.001"),
        ("10:00:01", "10:00:09"),
        ("10:00:05.5", "10:00:08"),
    ] {
        written(&entry, None, &at(from, to), Some("ops"), &[]);
    }
    // Another write was the last one, and the log does not have it.
    for (from, to) in [("10:00:06", "10:00:06.1"), ("10:00:04.1", "10:00:04.9"), ("09:00:00", "09:00:01")] {
        written(&entry, None, &at(from, to), None, &[]);
    }
}

#[test]
fn everybody_who_wrote_since_our_last_apply_may_have_and_others_did_not() {
    let before = event("before", "patch", "09:00:00", "09:00:00.5");
    let dev = event("dev", "patch", "10:00:01", "10:00:01.5");
    let ops = event("ops", "update", "10:00:05", "10:00:05.5");
    let after = event("after", "patch", "10:00:06", "10:00:06.5");
    let entry = owner(Some("10:00:05"));
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
        let all = [&before, &dev, &ops, &after];
        let events: Vec<Value> = order.iter().map(|at| all[*at].clone()).collect();
        // Who writes later than the entry says may have written its time as well.
        written(&entry, Some("10:00:00"), &events, None, &["after", "ops", "dev"]);
        written(&entry, Some("10:00:02"), &events, None, &["after", "ops"]);
        written(&entry, None, &events, None, &["after", "ops", "dev", "before"]);
        let in_time: Vec<Value> = events.into_iter().filter(|event| *event != after).collect();
        written(&entry, Some("10:00:00"), &in_time, None, &["ops", "dev"]);
        written(&entry, Some("10:00:02"), &in_time, Some("ops"), &[]);
    }
    // In one second, nobody knows which was the last.
    let same = event("qa", "patch", "10:00:05.1", "10:00:05.2");
    written(&entry, Some("10:00:02"), &[ops.clone(), same], None, &["qa", "ops"]);
    // The same user twice is one user, with the latest event.
    let twice = [event("ops", "patch", "10:00:03", "10:00:03.1"), ops];
    written(&entry, Some("10:00:00"), &twice, Some("ops"), &[]);
    // The last write is not in the log: that others wrote before says nothing.
    written(&entry, Some("10:00:00"), &[dev], None, &[]);
}

#[test]
fn writes_to_scale_have_no_time() {
    let entry = Owner { subresource: "scale".to_owned(), ..owner(None) };
    let scale = |user, from, to| with(event(user, "patch", from, to), &[("/objectRef/subresource", json!("scale"))]);
    let events = [scale("dev", "09:00:00", "09:00:00.1"), scale("ops", "10:00:00", "10:00:00.1")];
    written(&entry, Some("09:30:00"), &events, Some("ops"), &[]);
    written(&entry, Some("08:30:00"), &events, None, &["ops", "dev"]);
    written(&owner(Some("10:00:00")), None, &events, None, &[]);
    let status = Owner { subresource: "status".to_owned(), ..owner(Some("10:00:00")) };
    written(&status, None, &events, None, &[]);
}

#[test]
fn only_writes_that_were_done_count() {
    let entry = owner(Some("10:00:00"));
    let ops = || event("ops", "patch", "10:00:00", "10:00:00.1");
    let uri =
        |query: &str| json!(format!("/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=kubectl-edit{query}"));
    for (fields, reason) in [
        (vec![("/stage", json!("RequestReceived"))], "another stage"),
        (vec![("/stage", json!("Panic"))], "no answer"),
        (vec![("/responseStatus/code", json!(403))], "refused"),
        (vec![("/responseStatus/code", json!(409))], "a conflict"),
        (vec![("/responseStatus", json!({}))], "no status"),
        (vec![("/requestURI", uri("&dryRun=All"))], "a dry run"),
        (vec![("/requestURI", uri("&dry%52un=%41ll"))], "a dry run"),
        (vec![("/verb", json!("get"))], "a read"),
        (vec![("/verb", json!("delete"))], "a deletion"),
        (vec![("/objectRef/apiGroup", json!("extensions"))], "another group"),
        (vec![("/objectRef/resource", json!("replicasets"))], "another resource"),
        (vec![("/objectRef/namespace", json!("other"))], "another namespace"),
        (vec![("/objectRef/name", json!("web2"))], "another object"),
        (vec![("/objectRef", json!(null))], "no object"),
        (vec![("/requestURI", json!("/x?fieldManager=kubectl-patch"))], "another manager"),
    ] {
        let answer = answer(question_of(&entry), None, &[with(ops(), &fields)]);
        assert!(answer.is_empty(), "{reason}: {answer:?}");
    }
    written(&entry, None, &[with(ops(), &[("/responseStatus/code", json!(201))])], Some("ops"), &[]);
    written(&entry, None, &[with(ops(), &[("/requestURI", uri("&dryRun="))])], Some("ops"), &[]);
    let apply = Owner { operation: Operation::Apply, ..entry };
    written(&apply, None, &[ops()], Some("ops"), &[]);
    written(&apply, None, &[with(ops(), &[("/verb", json!("update"))])], None, &[]);
}

/// Everybody who may write an object may write its `managedFields` as well, and with them another manager next to a field.
#[test]
fn one_user_is_named_only_if_nobody_else_wrote_to_the_object() {
    let alice = || event("alice", "patch", "10:00:05", "10:00:05.1");
    let under = |manager: &str| json!(format!("/x?fieldManager={manager}"));
    let mallory = |from: &str, fields: &[(&str, Value)]| {
        let event = event("mallory", "update", from, from);
        with(with(event, &[("/requestURI", under("else"))]), fields)
    };
    let subresource = |name: &str| [("/objectRef/subresource", json!(name))];
    let entry = owner(Some("10:00:05"));
    for rival in [
        mallory("10:00:01", &[]),
        mallory("10:00:05.1", &[]),
        mallory("10:00:09", &[]),
        mallory("10:00:09", &[("/verb", json!("patch"))]),
        mallory("10:00:09", &[("/verb", json!("create")), ("/responseStatus/code", json!(201))]),
        mallory("10:00:09", &subresource("scale")),
        // What a timeout ends may be stored.
        mallory("10:00:09", &[("/responseStatus/code", json!(504))]),
        mallory("10:00:09", &[("/responseStatus", json!(null))]),
        mallory("10:00:09", &[("/stage", json!("Panic"))]),
        // The server reads these otherwise than they look.
        mallory("10:00:09", &[("/requestURI", json!("/x?fieldManager=kubectl-edit&dryRun=All;"))]),
        mallory("10:00:09", &[("/requestURI", json!("/x?fieldManager=kubectl-edit&dry%zzRun=All"))]),
    ] {
        for events in [[alice(), rival.clone()], [rival, alice()]] {
            let answer = answer(question_of(&entry), Some("10:00:00"), &events);
            let mut all: Vec<&str> = answer.all().map(|user| user.name.as_str()).collect();
            all.sort_unstable();
            assert_eq!((answer.user.is_none(), all), (true, vec!["alice", "mallory"]), "{events:#?}");
        }
    }
    for harmless in [
        mallory("09:59:58", &[]),
        mallory("10:00:09", &[("/responseStatus/code", json!(403))]),
        mallory("10:00:09", &[("/requestURI", json!("/x?dryRun=All"))]),
        mallory("10:00:09", &[("/objectRef/name", json!("other"))]),
        // A controller that writes the status changes no field beside it.
        mallory("10:00:09", &subresource("status")),
        with(mallory("10:00:09", &[("/requestURI", under("reconcile"))]), &[("/verb", json!("patch"))]),
    ] {
        written(&entry, Some("10:00:00"), &[alice(), harmless.clone()], Some("alice"), &[]);
        written(&entry, Some("10:00:00"), &[harmless, alice()], Some("alice"), &[]);
    }
    // It may change one of the status or the metadata.
    let status = mallory("10:00:09", &subresource("status"));
    for path in [&["metadata", "annotations", "a"][..], &["status", "replicas"]] {
        let question = AuditQuestion::written(&entry, &FieldPath::of(path), "reconcile").0;
        let answer = answer(question, Some("10:00:00"), &[alice(), status.clone()]);
        assert_eq!(names(&answer), (None, vec!["mallory", "alice"]), "{path:?}");
    }
}

/// Our own name is a name that others may use.
#[test]
fn our_own_applies_are_those_of_one_user_and_are_in_the_log() {
    let ours = |user: &str, at: &str| {
        with(event(user, "patch", at, at), &[("/requestURI", json!("/x?fieldManager=reconcile&force=true"))])
    };
    let alice = || event("alice", "patch", "10:00:30", "10:00:30.1");
    let mallory =
        || with(event("mallory", "update", "10:00:10", "10:00:10.1"), &[("/requestURI", json!("/x?fieldManager=m"))]);
    let entry = owner(Some("10:00:30"));
    let answer = |events: &[Value]| {
        let mut search = AuditSearch::default();
        let since =
            FirstWrite { second: second(&format!("{DAY}10:00:20Z")), created: second(&format!("{DAY}09:00:00Z")) };
        let object = AuditedObject { key: &key(), plurals: &["deployments".to_owned()] };
        let number = search.ask(object, question_of(&entry), since).unwrap();
        for event in events {
            let line = event.to_string();
            if let AuditRead::Write(event) = AuditLine::read(line.as_bytes(), false).read {
                search.take(&event);
            }
        }
        search.answer(number)
    };
    assert_eq!(names(&answer(&[mallory(), ours("ci", "10:00:20"), alice()])), (Some("alice"), vec![]));
    assert_eq!(names(&answer(&[ours("ci", "10:00:15"), ours("ci", "10:00:20"), alice()])), (Some("alice"), vec![]));
    // The time of our entry is one that somebody wrote there: no apply of that second is in the log.
    assert_eq!(names(&answer(&[ours("ci", "10:00:05"), mallory(), alice()])), (None, vec!["alice", "mallory"]));
    // Somebody else writes under our name.
    let forged = [ours("ci", "10:00:20"), ours("mallory", "10:00:40"), alice()];
    assert_eq!(names(&answer(&forged)), (None, vec!["mallory", "alice", "ci"]));
}

#[test]
fn what_was_not_read_ends_certainty() {
    let mut search = AuditSearch::default();
    let object = key();
    let object = AuditedObject { key: &object, plurals: &["deployments".to_owned()] };
    let written = search.ask(object, question_of(&owner(Some("10:00:00"))), at_most(None)).unwrap();
    let deleted = search.ask(object, AuditQuestion::ObjectDeleted, at_most(None)).unwrap();
    for verb in ["patch", "delete"] {
        let line = event("ops", verb, "10:00:00", "10:00:00.1").to_string();
        let AuditRead::Write(event) = AuditLine::read(line.as_bytes(), false).read else { panic!() };
        search.take(&event);
    }
    for number in [written, deleted] {
        assert_eq!(names(&search.answer(number)), (Some("ops"), vec![]));
    }
    search.has_gaps();
    for number in [written, deleted] {
        assert_eq!(names(&search.answer(number)), (None, vec!["ops"]));
    }
}

/// The vectors of Go (`net/url`, `parseTests` and `unescapeTests`), and what its `ParseQuery` makes of broken pairs.
#[test]
fn a_query_is_read_as_go_reads_it() {
    let all =
        |query: &str, name: &str| parameters(&format!("/x?{query}"), name).map(Cow::into_owned).collect::<Vec<_>>();
    for (query, name, expected) in [
        ("a=1", "a", vec!["1"]),
        ("a=1&b=2", "b", vec!["2"]),
        ("a=1&a=2&a=banana", "a", vec!["1", "2", "banana"]),
        ("ascii=%3Ckey%3A+0x90%3E", "ascii", vec!["<key: 0x90>"]),
        ("a=1;b=2", "a", vec![]),
        ("a=1;b=2", "b", vec![]),
        ("a;b=1", "a;b", vec![]),
        ("a=%3B", "a", vec![";"]),
        ("a%3Bb=1", "a;b", vec!["1"]),
        ("a=1&a=2;a=banana", "a", vec!["1"]),
        ("a;b&c=1", "c", vec!["1"]),
        ("a=1&b=2;a=3&c=4", "b", vec![]),
        ("a=1&b=2;c=3", "a", vec!["1"]),
        (";", "", vec![]),
        ("a=1;", "a", vec![]),
        ("a=1&;", "a", vec!["1"]),
        ("a=1;&b=2", "b", vec!["2"]),
        ("a=1&b=2;", "b", vec![]),
        ("a=%", "a", vec![]),
        ("a=%a", "a", vec![]),
        ("a=%1", "a", vec![]),
        ("a=123%45%6", "a", vec![]),
        ("a=%zzzzz", "a", vec![]),
        ("%zz=1", "%zz", vec![]),
        ("a=1%41", "a", vec!["1A"]),
        ("a=1%41%42%43", "a", vec!["1ABC"]),
        ("a=%4a", "a", vec!["J"]),
        ("a=%6F", "a", vec!["o"]),
        ("a=a+b", "a", vec!["a b"]),
        ("a=a%20b", "a", vec!["a b"]),
        ("a=%25zz", "a", vec!["%zz"]),
        ("a", "a", vec![""]),
        ("a=1=2", "a", vec!["1=2"]),
        ("a=1?b=2", "a", vec!["1?b=2"]),
        ("A=1", "a", vec![]),
    ] {
        assert_eq!(all(query, name), expected, "{query}");
    }
}

/// The options of a deletion are in its body, and those in its URI count only without a body.
#[test]
fn a_deletion_is_a_dry_run_only_if_its_options_say_so() {
    let deleted = |fields: &[(&str, Value)]| with(event("ops", "delete", "10:00:00", "10:00:00.1"), fields);
    let dry = json!("/x?dryRun=All");
    let body = json!({"kind": "DeleteOptions"});
    let request = json!("Request");
    for (fields, only, several) in [
        (vec![], Some("ops"), vec![]),
        (vec![("/requestURI", dry.clone())], None, vec!["ops"]),
        (vec![("/requestURI", dry.clone()), ("/level", request.clone())], None, vec![]),
        (
            vec![("/requestURI", dry.clone()), ("/level", request), ("/requestObject", body.clone())],
            Some("ops"),
            vec![],
        ),
        (vec![("/requestURI", dry), ("/requestObject", body)], Some("ops"), vec![]),
    ] {
        let answer = answer(AuditQuestion::ObjectDeleted, None, &[deleted(&fields)]);
        assert_eq!(names(&answer), (only, several), "{fields:?}");
    }
}

/// A reader that is derived takes a list for a struct.
#[test]
fn everything_in_a_line_has_exactly_its_type() {
    let line = |fields: &[(&str, Value)]| with(event("ops", "patch", "10:00:00", "10:00:01"), fields);
    let whole: Vec<Value> = line(&[]).as_object().unwrap().values().cloned().collect();
    for line in [
        json!(whole),
        line(&[("/user", json!(["x"]))]),
        line(&[("/user", json!(["x", ["group"]]))]),
        line(&[("/impersonatedUser", json!(["x"]))]),
        line(&[("/objectRef", json!(["deployments", "shop", "web", "apps", ""]))]),
        line(&[("/responseStatus", json!([200]))]),
        line(&[("/user/username", json!(["x"]))]),
        line(&[("/user/groups", json!("x"))]),
        line(&[("/sourceIPs", json!({"a": "b"}))]),
        line(&[("/kind", json!(["Event"]))]),
        line(&[("/level", json!(["Request"]))]),
        line(&[("/responseStatus/code", json!(200.5))]),
    ] {
        assert!(matches!(AuditLine::read(line.to_string().as_bytes(), false).read, AuditRead::Broken), "{line}");
    }
}

#[test]
fn a_manager_is_named_as_the_server_names_it() {
    let long = "é".repeat(100);
    let cut = "é".repeat(64);
    let unprintable = format!("a\u{7}\u{a0}b{long}");
    for (uri, agent, name) in [
        ("/x?fieldManager=a&dryRun=All", "kubectl/v1", "a"),
        ("/x?pretty=1&fieldManager=before%2Dfirst+apply%2F", "kubectl/v1", "before-first apply/"),
        ("/x?fieldManager=", "kubectl/v1 (linux)", "kubectl"),
        ("/x", "kube-controller-manager/v1/x", "kube-controller-manager"),
        ("/x", "plain", "plain"),
        ("/x?other=fieldManager=a", "", ""),
        ("/x?fieldManager=x;", "kubectl-edit/1.0", "kubectl-edit"),
        ("/x?fieldManager=%zz", "kubectl-edit/1.0", "kubectl-edit"),
        ("/x?fieldManager=x;&fieldManager=y", "kubectl-edit/1.0", "y"),
        ("/x", &long, &cut),
        ("/x", &unprintable, &format!("ab{}", "é".repeat(63))),
    ] {
        assert_eq!(manager(uri, agent), name, "{uri} {agent}");
    }
}

#[test]
fn impersonation_names_both() {
    let meant = json!({"username": "jane", "groups": ["dev"]});
    let events = [with(event("admin", "patch", "10:00:00", "10:00:00.1"), &[("/impersonatedUser", meant)])];
    let answer = answer(question_of(&owner(Some("10:00:00"))), None, &events);
    let user = answer.user.unwrap();
    assert_eq!((user.name.as_str(), user.impersonated_by.as_deref()), ("jane", Some("admin")));
    assert_eq!(user.groups, ["dev"]);
    // The same name, by another one, is another user.
    let own = event("jane", "patch", "10:00:00.2", "10:00:00.3");
    written(&owner(Some("10:00:00")), None, &[events[0].clone(), own], None, &["jane", "jane"]);
}

#[test]
fn the_user_who_deleted_an_object_is_known_from_one_event() {
    let deleted = |user, at: &str| event(user, "delete", &format!("{at}:00"), &format!("{at}:00.1"));
    let collection = |user, at: &str| {
        let fields = [("/verb", json!("deletecollection")), ("/objectRef/name", json!(null))];
        with(deleted(user, at), &fields)
    };
    let created = |at: &str| {
        with(event("ci", "create", &format!("{at}:00"), &format!("{at}:00.1")), &[("/responseStatus/code", json!(201))])
    };
    let namespace = |user, at: &str| {
        let object = json!({"resource": "namespaces", "namespace": "shop", "name": "shop", "apiVersion": "v1"});
        with(deleted(user, at), &[("/objectRef", object)])
    };
    let dry = |user, at: &str| {
        with(deleted(user, at), &[("/requestObject", json!({"kind": "DeleteOptions", "dryRun": ["All"]}))])
    };
    let pod = |user, at: &str| with(deleted(user, at), &[("/objectRef/subresource", json!("status"))]);
    for (events, only, several) in [
        (vec![deleted("ops", "10:00")], Some("ops"), vec![]),
        (vec![created("11:00"), deleted("ops", "10:00")], None, vec![]),
        (vec![deleted("ops", "12:00"), created("11:00"), deleted("dev", "10:00")], Some("ops"), vec![]),
        (vec![deleted("ops", "12:00"), deleted("dev", "10:00")], None, vec!["ops", "dev"]),
        (vec![collection("ops", "10:00")], None, vec!["ops"]),
        (vec![collection("ops", "10:00"), deleted("dev", "11:00")], Some("dev"), vec![]),
        (vec![collection("ops", "10:00"), deleted("dev", "09:00")], None, vec!["ops", "dev"]),
        (vec![namespace("ops", "10:00"), deleted("dev", "09:00")], None, vec!["ops", "dev"]),
        (vec![collection("ops", "10:00"), created("11:00")], None, vec![]),
        (vec![namespace("ops", "10:00"), collection("controller", "10:01")], None, vec!["controller", "ops"]),
        (vec![dry("dev", "10:00"), pod("qa", "10:00"), deleted("ops", "09:00")], Some("ops"), vec![]),
    ] {
        let answer = answer(AuditQuestion::ObjectDeleted, None, &events);
        assert_eq!(names(&answer), (only, several), "{events:#?}");
        let verbs = answer.all().all(|user| user.verb.as_deref().is_some_and(|verb| verb.starts_with("delete")));
        assert!(verbs, "{answer:?}");
    }
}

/// A deletion and a creation in one second.
#[test]
fn a_deletion_before_the_creation_does_not_count_even_in_the_same_second() {
    let collection = [("/verb", json!("deletecollection")), ("/objectRef/name", json!(null))];
    let created = [("/responseStatus/code", json!(201))];
    let events = [
        event("editor", "delete", "11:00:00.1", "11:00:00.2"),
        with(event("editor", "create", "11:00:00.4", "11:00:00.5"), &created),
        with(event("limited", "delete", "12:00:00", "12:00:00.1"), &collection),
    ];
    assert_eq!(names(&answer(AuditQuestion::ObjectDeleted, None, &events)), (None, vec!["limited"]));
    // Requests that overlap may have been stored in either order.
    let overlapping = event("editor", "delete", "11:00:00.3", "11:00:00.4");
    let events = [overlapping, events[1].clone()];
    assert_eq!(names(&answer(AuditQuestion::ObjectDeleted, None, &events)), (Some("editor"), vec![]));
}

/// An object with finalizers exists after its deletion, until somebody removes them.
#[test]
fn a_write_after_the_deletion_leaves_both_users_possible() {
    let deleted = || event("ops", "delete", "10:00:00", "10:00:00.2");
    let status = |event| with(event, &[("/objectRef/subresource", json!("status"))]);
    for (later, only, several) in [
        (event("controller", "patch", "10:00:01", "10:00:01.1"), None, vec!["controller", "ops"]),
        (event("controller", "patch", "10:00:00.1", "10:00:00.15"), None, vec!["controller", "ops"]),
        (status(event("controller", "update", "10:00:01", "10:00:01.1")), None, vec!["controller", "ops"]),
        (event("controller", "patch", "09:59:59", "09:59:59.9"), Some("ops"), vec![]),
        (event("ops", "patch", "10:00:01", "10:00:01.1"), Some("ops"), vec![]),
    ] {
        for events in [[deleted(), later.clone()], [later.clone(), deleted()]] {
            let answer = answer(AuditQuestion::ObjectDeleted, None, &events);
            assert_eq!(names(&answer), (only, several.clone()), "{later:#}");
            let ops = answer.all().find(|user| user.name == "ops").unwrap();
            assert_eq!(ops.verb.as_deref(), Some("delete"), "the event is that of the deletion");
        }
    }
}

#[test]
fn an_eviction_deletes_a_pod() {
    let object =
        json!({"resource": "pods", "namespace": "shop", "name": "web", "apiVersion": "v1", "subresource": "eviction"});
    let evicted = |fields: &[(&str, Value)]| {
        let event = event("ops", "create", "10:00:00", "10:00:00.1");
        let event = with(event, &[("/objectRef", object.clone()), ("/responseStatus/code", json!(201))]);
        with(event, fields)
    };
    let pod = ObjectKey { gvk: GroupVersionKind::new("v1", "Pod"), ..key() };
    let dry_run = json!({"kind": "Eviction", "deleteOptions": {"dryRun": ["All"]}});
    for (event, only) in [
        (evicted(&[]), Some("ops")),
        (evicted(&[("/objectRef/subresource", json!("binding"))]), None),
        (evicted(&[("/responseStatus/code", json!(429))]), None),
        (evicted(&[("/requestObject", dry_run)]), None),
    ] {
        let mut search = AuditSearch::default();
        let number = search
            .ask(
                AuditedObject { key: &pod, plurals: &["pods".to_owned()] },
                AuditQuestion::ObjectDeleted,
                FirstWrite::default(),
            )
            .unwrap();
        let line = event.to_string();
        if let AuditRead::Write(event) = AuditLine::read(line.as_bytes(), false).read {
            search.take(&event);
        }
        assert_eq!(names(&search.answer(number)).0, only, "{event:#}");
    }
}

/// The texts that are shown of two names may be the same.
#[test]
fn users_whose_shown_names_are_equal_are_two() {
    let long = "x".repeat(300);
    for (one, other) in [
        (format!("{long}a"), format!("{long}b")),
        ("ops".to_owned(), " ops".to_owned()),
        ("a b".to_owned(), "a\nb".to_owned()),
    ] {
        let events = [event(&one, "patch", "10:00:03", "10:00:03.1"), event(&other, "patch", "10:00:05", "10:00:05.1")];
        let answer = answer(question_of(&owner(Some("10:00:05"))), None, &events);
        assert_eq!((answer.user.is_none(), answer.users.len()), (true, 2), "{one:?} {other:?}");
    }
}

/// Millions of empty texts in one line need no memory.
#[test]
fn only_the_first_texts_of_a_list_are_kept() {
    let many = json!(vec![""; 100_000]);
    let fields = [("/user/groups", many.clone()), ("/sourceIPs", many.clone())];
    let line = with(event("ops", "patch", "10:00:00", "10:00:01"), &fields).to_string();
    let AuditRead::Write(found) = AuditLine::read(line.as_bytes(), false).read else { panic!() };
    assert_eq!((found.user.groups.len(), found.source_ips.len()), (10, 10));
    let odd = json!(["a", 1, {"b": ["c"]}, null, "d"]);
    let line = with(event("ops", "patch", "10:00:00", "10:00:01"), &[("/sourceIPs", odd)]).to_string();
    assert!(matches!(AuditLine::read(line.as_bytes(), false).read, AuditRead::Broken));
}

/// A field of this name in an object is no option of a request.
#[test]
fn only_the_body_of_a_deletion_says_that_it_is_a_dry_run() {
    let fields = [("/requestObject", json!({"dryRun": ["All"], "spec": {"verb": "get"}}))];
    written(
        &owner(Some("10:00:00")),
        None,
        &[with(event("ops", "update", "10:00:00", "10:00:00.1"), &fields)],
        Some("ops"),
        &[],
    );
    for odd in [json!("text"), json!([1]), json!({"dryRun": "All"}), json!({"dryRun": []}), json!(null)] {
        let deleted = with(event("ops", "delete", "10:00:00", "10:00:00.1"), &[("/requestObject", odd)]);
        assert_eq!(names(&answer(AuditQuestion::ObjectDeleted, None, &[deleted])).0, Some("ops"));
    }
}

#[test]
fn everybody_who_wrote_since_our_last_apply_may_have_removed_a_field() {
    let ours = |from| {
        with(event("ci", "patch", from, from), &[("/requestURI", json!("/x?fieldManager=reconcile&force=true"))])
    };
    let scale = with(event("hpa", "update", "10:01:00", "10:01:00.1"), &[("/objectRef/subresource", json!("scale"))]);
    let events = [
        event("before", "patch", "09:00:00", "09:00:00.1"),
        ours("10:00:00"),
        ours("10:02:00"),
        scale,
        event("ops", "patch", "10:01:00", "10:01:00.1"),
    ];
    let question = AuditQuestion::FieldRemoved("reconcile".to_owned());
    let answer = answer(question, Some("10:00:00"), &events);
    // The field may also be new in the manifest.
    assert_eq!(names(&answer), (None, vec!["ops"]));
    assert_eq!(answer.users[0].verb.as_deref(), Some("patch"));
}

#[test]
fn namespaces_are_found_with_and_without_their_own_name() {
    let key = ObjectKey { gvk: GroupVersionKind::new("v1", "Namespace"), namespace: None, name: "shop".to_owned() };
    for named in [json!("shop"), json!("")] {
        let mut search = AuditSearch::default();
        let number = search
            .ask(
                AuditedObject { key: &key, plurals: &["namespaces".to_owned()] },
                AuditQuestion::ObjectDeleted,
                FirstWrite::default(),
            )
            .unwrap();
        let object = json!({"resource": "namespaces", "namespace": named, "name": "shop", "apiVersion": "v1"});
        let line = with(event("ops", "delete", "10:00:00", "10:00:00.1"), &[("/objectRef", object)]).to_string();
        let AuditRead::Write(event) = AuditLine::read(line.as_bytes(), false).read else { panic!() };
        search.take(&event);
        assert_eq!(names(&search.answer(number)).0, Some("ops"));
    }
}

#[test]
fn foreign_texts_are_bounded_and_visible() {
    let hostile = format!("\u{1b}[2J\u{202e}\n::error::{}", "\u{200b}".repeat(5_000));
    let groups: Vec<Value> = (0..100).map(|_| json!(hostile)).collect();
    let fields = [
        ("/user", json!({"username": hostile, "groups": groups})),
        ("/userAgent", json!(hostile)),
        ("/sourceIPs", json!(groups)),
        ("/auditID", json!(hostile)),
        ("/impersonatedUser", json!({"username": hostile})),
    ];
    let events: Vec<Value> = (0..30)
        .map(|second| {
            let second = format!("10:00:{second:02}");
            let event = with(event("x", "patch", &second, &second), &fields);
            with(event, &[("/user/username", json!(format!("{second} {hostile}")))])
        })
        .collect();
    let answer = answer(question_of(&owner(Some("10:00:29"))), None, &events);
    assert_eq!(answer.users.len(), 10);
    assert!(answer.users[0].impersonated_by.as_ref().unwrap().starts_with("10:00:29"), "the latest first");
    let mut texts: Vec<String> = Vec::new();
    for user in answer.all() {
        let User { name, groups, source_ips, user_agent, audit_id, time, impersonated_by, verb } = user.clone();
        assert!(groups.len() <= 10 && source_ips.len() <= 10 && verb.is_none());
        texts.extend([name, user_agent, audit_id, time]);
        texts.extend(groups.into_iter().chain(source_ips).chain(impersonated_by));
    }
    for text in texts {
        assert!(text.chars().count() <= 256 && !text.contains(crate::text::is_hidden), "{text}");
    }
}

#[test]
fn lines_that_are_no_events_are_broken_and_reads_are_passed_over() {
    let read = |line: &[u8]| match AuditLine::read(line, false).read {
        AuditRead::Write(_) => "write",
        AuditRead::Other => "other",
        AuditRead::Broken => "broken",
    };
    let line = |fields: &[(&str, Value)]| with(event("ops", "patch", "10:00:00", "10:00:01"), fields).to_string();
    let deep = "[".repeat(100_000);
    for (text, expected) in [
        (line(&[]), "write"),
        (String::new(), "other"),
        ("  \r".to_owned(), "other"),
        (line(&[("/verb", json!("list"))]), "other"),
        ("{\"verb\": \"get\"".to_owned(), "other"),
        (format!("{:#}", event("ops", "patch", "10:00:00", "10:00:01")).replace('\n', "\t"), "write"),
        ("{}".to_owned(), "broken"),
        (line(&[("/apiVersion", json!("audit.k8s.io/v1beta1"))]), "broken"),
        (line(&[("/kind", json!("EventList"))]), "broken"),
        (line(&[("/stageTimestamp", json!("now"))]), "broken"),
        (line(&[("/responseStatus/code", json!("200"))]), "broken"),
        (line(&[("/user", json!("ops"))]), "broken"),
        (line(&[]).chars().take(300).collect(), "broken"),
        (deep.clone(), "broken"),
        (line(&[]).replace("\"annotations\":{", &format!("\"annotations\":{deep}{{")), "broken"),
        ("Nov 20 10:00:00 host kube-apiserver: started".to_owned(), "broken"),
    ] {
        assert_eq!(read(text.as_bytes()), expected, "{text:.300}");
    }
    assert_eq!(read(b"\xff\xfe{\"verb\":\"patch\"}"), "broken");
    // A body may have a field of this name, too.
    let body = json!({"verb": "get"});
    assert_eq!(read(line(&[("/requestObject", body)]).as_bytes()), "write");
    let first = line(&[("/verb", json!("list"))]);
    assert_eq!(AuditLine::read(first.as_bytes(), true).received.unwrap().to_string(), "2026-11-20T10:00:00Z");
}

#[test]
fn an_entry_older_than_our_last_apply_counts_from_the_creation() {
    let live = json!({"metadata": {"creationTimestamp": "2026-11-20T08:00:00Z"}});
    let times = ObjectTimes::of(&live, Some("2026-11-20T10:00:00Z"));
    let at = |time: &str| second(&format!("{DAY}{time}Z"));
    for (reach, entry, since) in [
        (Reach::LastApply, at("10:00:05"), at("10:00:00")),
        (Reach::LastApply, None, at("10:00:00")),
        (Reach::LastApply, at("10:00:00"), at("10:00:00")),
        (Reach::LastApply, at("09:00:00"), at("08:00:00")),
        (Reach::Creation, at("10:00:05"), at("08:00:00")),
    ] {
        assert_eq!(times.since(reach, entry), since, "{reach:?} {entry:?}");
    }
    assert_eq!(ObjectTimes::of(&live, None).since(Reach::LastApply, None), at("08:00:00"));
    assert_eq!(ObjectTimes::of(&json!({}), Some("soon")).since(Reach::LastApply, None), None);
}
