//! How the work of a format grows with a report: who may write a live object decides how long the report is.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use structured_merge::{FieldPath, GroupVersionKind, ObjectKey, Op, PathElement, Scalar};

use super::formats::one;
use crate::compare::{
    Class, Conflict, Evidence, FieldChange, FieldDiff, ObjectVerdict, Owner, UnmanagedCount, Versions,
};
use crate::report::format::FORMATS;
use crate::report::{Command, FailOn, ObjectReport, Report};

fn service(count: usize, target: u32) -> Value {
    let port = |at: usize| json!({"name": format!("p{at}"), "port": at, "targetPort": target});
    json!({"kind": "Service", "metadata": {"name": "a"}, "spec": {"ports": (0..count).map(port).collect::<Vec<_>>()}})
}

/// A Service with as many ports that differ, every second of them a conflict.
fn report(count: usize) -> Report {
    let agent = Owner {
        manager: "agent".to_owned(),
        operation: "Update".to_owned(),
        subresource: String::new(),
        time: None,
        manual: false,
    };
    let path = |at: usize| {
        let key = PathElement::key([("port".to_owned(), Scalar::Int(i64::try_from(at).unwrap()))]);
        FieldPath::of(&["spec", "ports"]).child(key).field("targetPort")
    };
    let change = |at: usize| FieldChange {
        path: path(at),
        op: Op::Change,
        class: if at.is_multiple_of(2) { Class::Conflict } else { Class::ChangedByOther },
        live: Some(json!(1)),
        desired: Some(json!(2)),
        managers: vec![agent.clone()],
        defaulted: Vec::new(),
    };
    let conflict = |at: usize| Conflict { path: path(at), owner: agent.clone() };
    let fields = FieldDiff {
        changes: (0..count).map(change).collect(),
        conflicts: (0..count).step_by(2).map(conflict).collect(),
        beside: (count..count * 2).map(path).collect(),
        unmanaged: UnmanagedCount { fields: count, manual: 0 },
        versions: Some(Arc::new(Versions { live: service(count, 1), desired: service(count, 2) })),
        ..FieldDiff::none(Evidence::Server)
    };
    let gvk = GroupVersionKind::new("v1", "Service");
    let key = ObjectKey { gvk, namespace: Some("b".to_owned()), name: "a".to_owned() };
    let object = ObjectReport::unwanted(&key, ObjectVerdict::Update(fields));
    Report::compared(Command::Diff, vec![object], &FailOn::default())
}

/// How long this thread has had a processor.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// Eight times as much takes not much more than eight times as long, where a comparison of everything with everything takes
/// sixty-four times. The shortest of some runs counts.
#[test]
fn every_format_takes_time_that_grows_with_the_report() {
    let (small, large) = (report(250), report(2_000));
    for format in FORMATS {
        let run = |report: &Report| {
            let start = processor_time();
            assert!(!one(format, report).is_empty());
            processor_time().saturating_sub(start)
        };
        let (mut few, mut many) = (Duration::MAX, Duration::MAX);
        for _ in 0..5 {
            (few, many) = (few.min(run(&small)), many.min(run(&large)));
        }
        assert!(many < few * 24 + Duration::from_millis(20), "{}: {few:?} and {many:?}", format.name);
    }
}
