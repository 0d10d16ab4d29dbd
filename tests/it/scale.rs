//! The work of a comparison as the objects grow: their size is decided by everybody who may write a live object.

use std::sync::Arc;
use std::time::Duration;

use manifest_edit::{Change, Edit, Edited, Step, edit};
use reconcile_core::compare::{
    Class, CompareContext, Conflict, DiffNotes, Evidence, FieldChange, ForceConflicts, LiveObject, ObjectDiff, Policy,
    Redactor, Side, UnmanagedCount, Versions, judge,
};
use reconcile_core::diagnostic::Location;
use reconcile_core::owners::{AuditAnswer, Owner};
use reconcile_core::rules::{Autoscalers, CoveredObject, FieldPattern, Glob, IgnoreRule, IgnoreRules, ObjectPattern};
use reconcile_report::formats::{FORMATS, Render};
use reconcile_report::{Baseline, Command, FailOn, ObjectReport, Report, Reports, View};
use serde_json::{Map, Value, json};
use structured_merge::{
    FieldPath, GroupVersionKind, ManagedObject, ObjectKey, Op, Operation, PathElement, Scalar, TypeRef, builtin,
    builtin_kind, field_set, prove, with_live_spelling,
};

use crate::control_plane::Workspace;
use crate::requests::target;

const OURS: &str = "kubectl-reconcile";

/// A manifest and the live object, with this many entries.
type Pair = fn(usize) -> (Value, Value);

fn of(object: &Value) -> (GroupVersionKind, TypeRef<'static>) {
    let text = |name: &str| object[name].as_str().unwrap_or_default();
    let gvk = GroupVersionKind::new(text("apiVersion"), text("kind"));
    let of = builtin().object(&gvk).unwrap_or(TypeRef::untyped());
    (gvk, of)
}

/// The whole comparison, as it is done for one object.
fn compare(pair: &(Value, Value)) -> usize {
    compare_under(&Policy { show_unmanaged: true, ..Policy::of(OURS) }, pair)
}

fn compare_under(policy: &Policy, (manifest, live): &(Value, Value)) -> usize {
    let (gvk, schema) = of(manifest);
    let key = ObjectKey { gvk, namespace: None, name: "a".to_owned() };
    let target = target(&key, "any", manifest.clone(), true);
    let context = CompareContext::new(&target, schema, policy);
    let object = LiveObject::new(context, live.clone());
    if let Some(kind) = builtin_kind(&key.gvk) {
        let _ = prove(manifest, &object.current, schema, kind, policy);
    }
    let prediction = context.predict(manifest, &object.current);
    let (diff, _) = judge(context, &object, &prediction, &Redactor::default());
    assert!(with_live_spelling(manifest, live, schema).is_object());
    diff.changes.len() + diff.conflicts.len()
}

#[track_caller]
fn grows_evenly(what: &str, pair: Pair) {
    grows_evenly_in(what, pair, |pair| assert!(compare(pair) > 0, "{what}"));
}

/// Four times as much takes not much more than four times as long; a comparison of everything with everything would take
/// sixteen times. What counts is the time that this thread had a processor, and of some runs the shortest: other work on the
/// machine only makes single runs longer.
#[track_caller]
pub(crate) fn grows_evenly_in<T>(what: &str, of_size: impl Fn(usize) -> T, work: impl Fn(&T)) {
    let small = of_size(2_000);
    let large = of_size(8_000);
    let run = |input: &T| {
        let start = processor_time();
        work(input);
        processor_time().saturating_sub(start)
    };
    let mut few = Duration::MAX;
    let mut many = Duration::MAX;
    for _ in 0..5 {
        few = few.min(run(&small));
        many = many.min(run(&large));
        if many < few * 8 {
            return;
        }
    }
    panic!("{what}: {few:?} for 2,000 and {many:?} for 8,000");
}

/// How long this thread has had a processor.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

fn managed(manager: &str, operation: &str, object: &Value) -> Value {
    let (gvk, of) = of(object);
    let fields = field_set(object, of, builtin_kind(&gvk)).to_fields_v1();
    let time = "2026-11-20T10:00:00Z";
    json!({"manager": manager, "operation": operation, "apiVersion": object["apiVersion"], "time": time, "fieldsV1": fields})
}

/// The object, its fields owned by this manager.
fn owned(mut object: Value, manager: &str, operation: &str) -> Value {
    object["metadata"]["managedFields"] = json!([managed(manager, operation, &object)]);
    object
}

fn config(data: &Map<String, Value>) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}, "data": data})
}

fn keys(count: usize, value: &str) -> Map<String, Value> {
    (0..count).map(|number| (format!("key-{number}"), Value::from(value))).collect()
}

fn service(ports: impl Iterator<Item = Value>) -> Value {
    let spec = json!({"ports": ports.collect::<Vec<_>>()});
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "b"}, "spec": spec})
}

#[test]
fn keys_that_others_added() {
    grows_evenly("keys of others", |count| {
        (config(&keys(1, "a")), owned(config(&keys(count, "a")), "agent", "Update"))
    });
}

#[test]
fn keys_that_are_ours_by_the_record() {
    grows_evenly("keys of ours", |count| (config(&Map::new()), owned(config(&keys(count, "a")), OURS, "Apply")));
    // They stay, as others have them, too.
    grows_evenly("keys of ours and of others", |count| {
        let mut live = owned(config(&keys(count, "a")), OURS, "Apply");
        let other = managed("agent", "Update", &live);
        live["metadata"]["managedFields"].as_array_mut().unwrap().push(other);
        (config(&Map::new()), live)
    });
}

#[test]
fn keys_that_a_controller_holds() {
    grows_evenly("conflicts", |count| (config(&keys(count, "a")), owned(config(&keys(count, "b")), "agent", "Update")));
}

/// Everybody who may write an object may remove its record of owners.
#[test]
fn what_nobody_is_recorded_for() {
    let port = |target: u32| move |at: usize| json!({"name": format!("p{at}"), "port": at, "targetPort": target});
    let pair = |count: usize, live: u32| (service((0..count).map(port(1))), service((0..count).map(port(live))));
    for force in [ForceConflicts::Manual, ForceConflicts::None] {
        let policy = Policy { force, ..Policy::of(OURS) };
        let work = |pair: &(Value, Value)| assert!(compare_under(&policy, pair) < usize::MAX);
        grows_evenly_in("nobody's differences", |count| pair(count, 2), work);
        grows_evenly_in("nobody's equal values", |count| pair(count, 1), work);
        let shared = |count: usize| {
            let (manifest, live) = pair(count, 1);
            (manifest, owned(live, "agent", "Apply"))
        };
        grows_evenly_in("shared values", shared, work);
    }
}

#[test]
fn custom_resources_of_any_shape() {
    grows_evenly("a custom resource", |count| {
        let object = |value: &str, count: usize| json!({"apiVersion": "example.com/v1", "kind": "Any", "metadata": {"name": "a"}, "spec": keys(count, value)});
        (object("a", count / 2), owned(object("b", count), "agent", "Update"))
    });
}

#[test]
fn ports_of_a_service() {
    grows_evenly("ports", |count| {
        let port = |number: usize, to: usize| json!({"name": format!("p{number}"), "port": number, "protocol": "TCP", "targetPort": to});
        let live = service((0..count).rev().map(|number| port(number, 1)));
        (service((0..count).map(|number| port(number, 2))), owned(live, "kubectl-edit", "Update"))
    });
    grows_evenly("ports to be added", |count| {
        let port = |number: usize| json!({"name": format!("p{number}"), "port": number, "protocol": "TCP"});
        (service((0..count).map(port)), owned(service([port(0)].into_iter()), OURS, "Apply"))
    });
    grows_evenly("ports added by hand", |count| {
        let port = |number: usize| json!({"name": format!("p{number}"), "port": number, "protocol": "TCP"});
        (service([port(0)].into_iter()), owned(service((0..count).map(port)), "kubectl-edit", "Update"))
    });
    grows_evenly("ports of others", |count| {
        let port = |number: usize| json!({"name": format!("p{number}"), "port": number, "protocol": "TCP"});
        (service([port(0)].into_iter()), owned(service((0..count).map(port)), "agent", "Update"))
    });
}

#[test]
fn ports_that_a_rule_leaves_to_their_manager() {
    let port = |number: usize| json!({"name": format!("p{number}"), "port": number, "protocol": "TCP"});
    let live = |count: usize| ManagedObject::new(owned(service((0..count).map(port)), "agent", "Update"), OURS);
    let (gvk, schema) = of(&service([port(0)].into_iter()));
    let key = ObjectKey { gvk, namespace: Some("b".to_owned()), name: "a".to_owned() };
    let rule = IgnoreRule {
        target: ObjectPattern::default(),
        fields: vec![FieldPattern::parse("spec.ports").unwrap()],
        managers: vec![Glob::new("agent")],
        reason: None,
        expires: None,
        location: Location { file: "config.yaml".into(), line: None, column: None },
    };
    let (rules, _) = IgnoreRules::in_force(vec![rule], jiff::Timestamp::UNIX_EPOCH);
    grows_evenly_in("ports under a rule", live, |live| {
        let subject = CoveredObject {
            key: &key,
            manifest: Some(&live.object),
            live: Some(live),
            schema,
            manual: &std::collections::BTreeSet::new(),
        };
        assert!(!rules.coverage(subject, &[], &Autoscalers::default()).fields.is_empty());
    });
}

#[test]
fn sets_and_atomic_lists() {
    grows_evenly("a set", |count| {
        let object = |names: Vec<String>| {
            let metadata = json!({"name": "a", "finalizers": names});
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
        };
        let names = (0..count).map(|number| format!("example.com/{number}"));
        (object(names.clone().rev().collect()), owned(object(names.collect()), "agent", "Update"))
    });
    grows_evenly("an atomic list", |count| {
        let role = |verb: &str| {
            let rules: Vec<Value> = (0..count).map(|_| json!({"verbs": [verb], "resources": ["pods"]})).collect();
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "a"}, "rules": rules})
        };
        (role("get"), owned(role("list"), "kubectl-edit", "Update"))
    });
}

#[test]
fn items_with_one_key() {
    grows_evenly("repeated items", |count| {
        let port = |_| json!({"name": "p", "port": 80, "protocol": "TCP"});
        (service((0..2).map(port)), owned(service((0..count).map(port)), "agent", "Update"))
    });
}

#[test]
fn very_many_managers() {
    grows_evenly("managers", |count| {
        let mut live = config(&keys(count, "a"));
        let entry = |(number, key): (usize, String)| {
            managed(&format!("agent-{number}"), "Apply", &config(&[(key, json!("a"))].into_iter().collect()))
        };
        let entries: Vec<Value> = keys(count, "a").into_iter().map(|(key, _)| key).enumerate().map(entry).collect();
        live["metadata"]["managedFields"] = Value::Array(entries);
        (config(&keys(count, "b")), live)
    });
    grows_evenly("managers of everything", |count| {
        let mut live = config(&keys(count, "a"));
        let whole = json!({"f:data": {}});
        let entry = |number| json!({"manager": format!("agent-{number}"), "operation": "Apply", "apiVersion": "v1", "fieldsV1": whole});
        live["metadata"]["managedFields"] = (0..count / 10).map(entry).collect();
        (config(&keys(count, "b")), live)
    });
}

/// What only the manifest drops is compared with what others have in it, and what was created by a client with what we have.
#[test]
fn very_many_managers_beside_what_is_dropped_and_created() {
    let beside = |ours: Map<String, Value>, theirs: Map<String, Value>, operation: &str| {
        let mut live = config(&ours.iter().chain(&theirs).map(|(key, value)| (key.clone(), value.clone())).collect());
        let entry = |(number, (key, value)): (usize, (String, Value))| {
            managed(&format!("agent-{number}"), operation, &config(&Map::from_iter([(key, value)])))
        };
        let mut entries: Vec<Value> = theirs.into_iter().enumerate().map(entry).collect();
        entries.push(managed(OURS, "Apply", &config(&ours)));
        live["metadata"]["managedFields"] = Value::Array(entries);
        live
    };
    let named = |count: usize, name: &str, value: &str| -> Map<String, Value> {
        (0..count).map(|number| (format!("{name}-{number}"), Value::from(value))).collect()
    };
    grows_evenly_in(
        "dropped beside managers",
        |count| (config(&Map::new()), beside(named(count, "ours", "a"), named(count, "theirs", "a"), "Update")),
        |pair| assert!(compare(pair) > 0),
    );
    grows_evenly_in(
        "created beside managers",
        |count| {
            let mut live = beside(Map::new(), named(count, "theirs", "a"), "Update");
            let created = managed("kubectl-create", "Update", &config(&named(count, "made", "a")));
            live["data"].as_object_mut().unwrap().extend(named(count, "made", "a"));
            live["metadata"]["managedFields"].as_array_mut().unwrap().push(created);
            (config(&named(count, "made", "b")), live)
        },
        |pair| assert!(compare(pair) > 0),
    );
}

/// A Service with as many ports that differ, every second of them a conflict.
fn report(count: usize) -> Reports {
    let agent = Owner {
        manager: "agent".to_owned(),
        operation: Operation::Update,
        subresource: String::new(),
        time: None,
        manual: false,
        users: AuditAnswer::default(),
    };
    let path = |at: usize| {
        let key = PathElement::key([("port".to_owned(), Scalar::Int(i64::try_from(at).unwrap()))]);
        FieldPath::of(&["spec", "ports"]).child(key).field("targetPort")
    };
    let change = |at: usize| FieldChange {
        class: if at.is_multiple_of(2) { Class::Conflict } else { Class::ChangedByOther },
        side: Some(Side::Cluster),
        managers: vec![agent.clone()],
        ..FieldChange::within(&path(at), Op::Change, Some(&json!(1)), Some(&json!(2)))
    };
    let conflict = |at: usize| Conflict { path: path(at), owner: agent.clone() };
    let whole = |to: u32| {
        service((0..count).map(|number| json!({"name": format!("p{number}"), "port": number, "targetPort": to})))
    };
    let fields = ObjectDiff {
        changes: (0..count).map(change).collect(),
        conflicts: (0..count).step_by(2).map(conflict).collect(),
        added_items: (count..count * 2).map(path).collect(),
        notes: DiffNotes {
            unmanaged: UnmanagedCount { fields: count, manual: 0 },
            versions: Some(Arc::new(Versions { live: whole(1), desired: whole(2) })),
            ..DiffNotes::default()
        }
        .into(),
        ..ObjectDiff::in_sync(Evidence::Server)
    };
    let gvk = GroupVersionKind::new("v1", "Service");
    let key = ObjectKey { gvk, namespace: Some("b".to_owned()), name: "a".to_owned() };
    let object = ObjectReport::unwanted(&key, fields.by_drift());
    Report::compared(Command::Diff, vec![object], &FailOn::default()).into()
}

#[test]
fn every_format() {
    let view = View::default();
    for format in FORMATS {
        grows_evenly_in(format.name, report, |report| match format.render {
            Render::Text(text) => drop(text(report, &view)),
            Render::Data(data) | Render::Patch(data) | Render::Lines(data) => assert!(!data(report, &view).is_empty()),
        });
    }
}

/// What a node refuses is refused without an attempt, however many there are.
#[test]
fn edits_that_are_refused() {
    type Shape = fn(usize) -> String;
    let shapes: [(&str, Shape); 3] = [
        ("tags", |number| format!("  k{number}: !!str a\n")),
        ("anchors", |number| format!("  k{number}: &a{number} a\n  l{number}: *a{number}\n")),
        ("aliases", |number| if number == 0 { "  k0: &a a\n".to_owned() } else { format!("  k{number}: *a\n") }),
    ];
    for (name, entry) in shapes {
        for every in [1, 2] {
            let of_size = |count: usize| {
                // With others between them that can be made.
                let usual = |number: usize| format!("  u{number}: a\n");
                let text: String = (0..count).flat_map(|number| [entry(number), usual(number)]).collect();
                let keys = (0..count).flat_map(|number| [format!("k{number}"), format!("u{number}")]);
                let keys = keys.filter(|key| every == 1 || key.starts_with('k'));
                let edit = |key: String| Edit {
                    document: 1,
                    path: vec![Step::Key("data".to_owned()), Step::Key(key)],
                    change: Change::Set(json!("b")),
                };
                (format!("apiVersion: v1\ndata:\n{text}"), keys.map(edit).collect::<Vec<Edit>>())
            };
            grows_evenly_in(name, of_size, |(text, edits)| {
                let Edited { refused, .. } = edit(text.as_bytes(), edits);
                assert!(refused.len() >= edits.len() / 4, "{name}: {} of {}", refused.len(), edits.len());
            });
        }
    }
}

/// A report of others with a change whose value has this many small objects, which take many times their text.
fn foreign_report(count: usize) -> String {
    let mut report: Value = serde_json::from_str(&report_of_one_change()).unwrap();
    report["objects"][0]["changes"][0]["live"] = vec![json!({"a": 0}); count].into();
    report.to_string()
}

fn report_of_one_change() -> String {
    let change = FieldChange {
        class: Class::ChangedByOther,
        side: Some(Side::Cluster),
        ..FieldChange::within(&FieldPath::of(&["data", "a"]), Op::Change, Some(&json!(1)), Some(&json!(2)))
    };
    let key = ObjectKey { gvk: GroupVersionKind::new("v1", "ConfigMap"), namespace: None, name: "a".to_owned() };
    let verdict = ObjectDiff { changes: vec![change], ..ObjectDiff::in_sync(Evidence::Server) }.by_drift();
    let report = Report::compared(Command::Diff, vec![ObjectReport::unwanted(&key, verdict)], &FailOn::default());
    serde_json::to_string(&report).unwrap()
}

#[test]
fn values_of_reports_that_are_read() {
    grows_evenly_in("values", foreign_report, |text| {
        Baseline::read("report.json", text.as_bytes()).unwrap();
    });
}

/// The memory follows the size of what is read, and ends at a bound.
#[test]
fn memory_of_reports_that_are_read() {
    let ws = Workspace::new();
    let memory = |count: usize, code: i32| {
        ws.write("report.json", &foreign_report(count));
        let (run, most) = ws.start_reconcile(["report", "merge", "report.json", "-o", "name"]).finish_measured();
        (run.exits_with(code), most)
    };
    let (_, none) = memory(1, 1);
    let (_, some) = memory(50_000, 1);
    let (_, more) = memory(200_000, 1);
    let (few, many) = (some.saturating_sub(none).max(1), more.saturating_sub(none));
    assert!(many < few * 8, "{few} MiB for 50,000 and {many} MiB for 200,000");
    let (refused, most) = memory(1_200_000, 2);
    assert!(refused.stderr.contains("need more than 512 MiB of memory"), "{refused}");
    assert!(most < 1_024, "{most} MiB");
}

/// As deep as documents may be; the server's own answers end at 128 levels.
#[test]
fn deep_values() {
    let nested = |leaf: &str| (0..900).fold(json!(leaf), |below, _| json!({"a": below}));
    let object = |leaf: &str| json!({"apiVersion": "example.com/v1", "kind": "Any", "metadata": {"name": "a"}, "spec": nested(leaf)});
    let start = processor_time();
    assert_eq!(compare(&(object("a"), owned(object("b"), "kubectl-edit", "Update"))), 1);
    assert!(processor_time().saturating_sub(start) < Duration::from_secs(20));
}

#[test]
fn text_shows_some_of_very_many_changes_and_counts_the_rest() {
    let ws = Workspace::new();
    let mut live = owned(config(&keys(20_000, "a")), "agent", "Update");
    live["data"]["zz"] = json!("live");
    ws.write("live.json", &live.to_string());
    let mut manifest = config(&Map::new());
    manifest["data"] = json!({"zz": "wanted"});
    ws.write("a.json", &manifest.to_string());
    let diff =
        |format: &str| ws.reconcile(["diff", "-f", "a.json", "--live", "live.json", "--show-unmanaged", "-o", format]);
    let text = diff("text").exits_with(1);
    let lines: Vec<&str> = text.stdout.lines().collect();
    assert!(lines.len() < 110, "{} lines", lines.len());
    assert!(text.stdout.contains("… 19,901 more changes: --full"), "{text}");
    assert!(text.stdout.contains("live → wanted"), "drift comes first: {text}");
    assert_eq!(diff("json").report()["objects"][0]["changes"].as_array().unwrap().len(), 20_001);
}
