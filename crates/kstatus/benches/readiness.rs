//! The readiness of one object: `cargo bench -p kstatus`.

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
use jiff::Timestamp;
use kstatus::readiness;
use serde_json::json;
use structured_merge::GroupVersionKind;

fn ready(criterion: &mut Criterion) {
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "generation": 2},
        "spec": {"replicas": 3, "progressDeadlineSeconds": 600},
        "status": {
            "observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3,
            "conditions": [
                {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"},
                {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
            ],
        },
    });
    let custom = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "web", "generation": 1},
        "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Waiting", "message": "for its parts"}]},
    });
    let now = Timestamp::UNIX_EPOCH;
    let deployment_kind = GroupVersionKind::new("apps/v1", "Deployment");
    let custom_kind = GroupVersionKind::new("example.com/v1", "Widget");
    criterion.bench_function("a Deployment", |bencher| {
        bencher.iter(|| readiness(&deployment_kind, black_box(&deployment), now));
    });
    criterion.bench_function("a custom resource", |bencher| {
        bencher.iter(|| readiness(&custom_kind, black_box(&custom), now));
    });
}

criterion_group!(benches, ready);
criterion_main!(benches);
