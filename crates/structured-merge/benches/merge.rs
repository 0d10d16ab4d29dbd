//! Proofs, predictions and field sets of one Deployment: `cargo bench -p structured-merge`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::string_slice,
    reason = "a bench ends by a panic"
)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use structured_merge::{
    FieldSet, GroupVersionKind, ManagedObject, Ownership, Proof, builtin, builtin_kind, field_set, predict, prove,
};

const MANAGER: &str = "deployer";

fn deployment(replicas: u32) -> Value {
    let container = |name: &str| {
        json!({
            "name": name, "image": "registry.example.com/web:1",
            "env": [{"name": "LOG", "value": "info"}, {"name": "PORT", "value": "8080"}],
            "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        })
    };
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [container("web"), container("sidecar")]},
            },
        },
    })
}

fn merge(criterion: &mut Criterion) {
    let gvk = GroupVersionKind::new("apps/v1", "Deployment");
    let (schema, kind) =
        (builtin().object(&gvk).expect("a built-in kind"), builtin_kind(&gvk).expect("a built-in kind"));
    let (manifest, drifted) = (deployment(3), deployment(4));
    let claims = field_set(&manifest, schema, Some(kind)).to_fields_v1();
    let mut live = manifest.clone();
    live["metadata"]["managedFields"] = json!([{
        "manager": MANAGER, "operation": "Apply", "apiVersion": "apps/v1", "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1", "fieldsV1": claims,
    }]);
    criterion.bench_function("owners of a live object", |bencher| {
        bencher.iter(|| Ownership::of(black_box(&live), MANAGER));
    });
    let live = ManagedObject::new(live, MANAGER);
    assert_eq!(prove(&manifest, &live, schema, kind, MANAGER), Proof::Proven);

    criterion.bench_function("prove: in sync", |bencher| {
        bencher.iter(|| prove(black_box(&manifest), black_box(&live), schema, kind, MANAGER));
    });
    criterion.bench_function("prove: drifted", |bencher| {
        bencher.iter(|| prove(black_box(&drifted), black_box(&live), schema, kind, MANAGER));
    });
    criterion.bench_function("predict: drifted", |bencher| {
        bencher.iter(|| predict(black_box(&drifted), black_box(&live), schema, Some(kind), MANAGER));
    });
    criterion.bench_function("field set of a manifest", |bencher| {
        bencher.iter(|| field_set(black_box(&manifest), schema, Some(kind)));
    });
    criterion.bench_function("field set from FieldsV1", |bencher| {
        bencher.iter(|| FieldSet::from_fields_v1(black_box(&claims)));
    });
}

criterion_group!(benches, merge);
criterion_main!(benches);
