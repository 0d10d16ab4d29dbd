//! A search in an audit log: lines of writes to other objects, which are parsed, and lines of reads, which are not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::string_slice,
    reason = "a bench ends by a panic"
)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use reconcile_core::audit::{AuditLine, AuditQuestion, AuditRead, AuditSearch, AuditedObject, FirstWrite};
use serde_json::{Value, json};
use structured_merge::{GroupVersionKind, ObjectKey};

/// Number of lines, as in a log of some MiB.
const LINES: usize = 5_000;

/// An event at level `Metadata` or, with a body, at level `Request`.
fn line(verb: &str, number: usize, body: &Value) -> String {
    let name = format!("web-{number}");
    json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": format!("00000000-0000-4000-8000-{number:012}"),
        "stage": "ResponseComplete",
        "requestURI": format!("/apis/apps/v1/namespaces/shop/deployments/{name}?fieldManager=kubectl-edit&fieldValidation=Strict"),
        "verb": verb,
        "user": {"username": "ops@example.com", "groups": ["ops", "system:authenticated"], "extra": {"id": ["x509"]}},
        "sourceIPs": ["10.1.2.3"], "userAgent": "kubectl/v1.35.0 (linux/amd64) kubernetes/abcdef0",
        "objectRef": {"resource": "deployments", "namespace": "shop", "name": name, "apiGroup": "apps", "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 200},
        "requestObject": body,
        "requestReceivedTimestamp": "2026-11-20T10:00:00.123456Z", "stageTimestamp": "2026-11-20T10:00:00.234567Z",
        "annotations": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""},
    })
    .to_string()
}

/// A search for 1,000 other objects.
fn search() -> AuditSearch {
    let mut search = AuditSearch::default();
    for number in 0..1_000 {
        let gvk = GroupVersionKind::new("apps/v1", "Deployment");
        let key = ObjectKey { gvk, namespace: Some("bank".to_owned()), name: format!("web-{number}") };
        let object = AuditedObject { key: &key, plurals: &["deployments".to_owned()] };
        search.ask(object, AuditQuestion::ObjectDeleted, FirstWrite::default());
    }
    search
}

fn audit_log(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("audit log");
    let small = json!({"spec": {"replicas": 3}});
    let containers: Vec<Value> =
        (0..20).map(|number| json!({"name": format!("c-{number}"), "env": [{"name": "A", "value": "b"}]})).collect();
    let large = json!({"spec": {"template": {"spec": {"containers": containers}}}});
    for (name, verb, body) in
        [("writes", "patch", &small), ("writes with bodies", "patch", &large), ("reads", "list", &small)]
    {
        let lines: Vec<String> = (0..LINES).map(|number| line(verb, number, body)).collect();
        group.throughput(Throughput::Bytes(lines.iter().map(|line| line.len() as u64).sum()));
        group.bench_function(name, |bencher| {
            let mut search = search();
            bencher.iter(|| {
                for line in &lines {
                    if let AuditRead::Write(event) = AuditLine::read(black_box(line.as_bytes()), false).read {
                        search.take(&event);
                    }
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, audit_log);
criterion_main!(benches);
