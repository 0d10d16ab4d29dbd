//! Reading manifests: `cargo bench -p kube-yaml`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::string_slice,
    reason = "a bench ends by a panic"
)]

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kube_yaml::{Validation, read};

/// Deployments and `ConfigMaps` with block scalars, like manifests written by hand.
fn manifests(objects: usize) -> String {
    let mut text = String::new();
    for index in 0..objects {
        let _ = write!(
            text,
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-{index}\n  labels: {{app: web, tier: 'front'}}\nspec:\n  \
             replicas: 3\n  # Two more than needed.\n  selector:\n    matchLabels:\n      app: web\n  template:\n    metadata:\n      \
             labels:\n        app: web\n    spec:\n      containers:\n        - name: web\n          image: registry.example.com/web:{index}\n          \
             args: [\"--port=8080\", \"--verbose\"]\n          resources:\n            requests: {{cpu: 100m, memory: 128Mi}}\n---\n\
             apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{index}\ndata:\n  app.conf: |\n    a = 1\n    b = \"two\"\n    \
             c = {index}\n"
        );
    }
    text
}

fn parse(criterion: &mut Criterion) {
    let text = manifests(100);
    let mut group = criterion.benchmark_group("parse");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("200 documents", |bencher| {
        bencher.iter(|| read(black_box(text.as_bytes()), Validation::Strict));
    });
    let json =
        r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "b"}}"#.repeat(200);
    group.throughput(Throughput::Bytes(json.len() as u64));
    group.bench_function("200 documents of JSON", |bencher| {
        bencher.iter(|| read(black_box(json.as_bytes()), Validation::Strict));
    });
    group.finish();
}

criterion_group!(benches, parse);
criterion_main!(benches);
