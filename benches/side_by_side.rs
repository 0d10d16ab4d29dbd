//! Whole runs of the program side by side with kubectl, on one API server: `cargo bench`.
//!
//! Figures are ratios from one run on one machine; absolute times say little elsewhere. `BENCH_OBJECTS` sets the number of
//! objects (1000), `BENCH_ROUNDS` how often each command runs (5); the median counts.

#[path = "../tests/it/control_plane/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the harness of the scenarios has more than is measured here")]
mod control_plane;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use control_plane::{Relay, Workspace};

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[expect(clippy::print_stdout, reason = "a benchmark reports on stdout")]
fn main() {
    let (objects, rounds) = (number("BENCH_OBJECTS", 1000), number("BENCH_ROUNDS", 5));
    let ws = Workspace::new();
    ws.write("all.yaml", &manifests(objects));
    ws.reconcile(["apply", "-f", "all.yaml", "-q"]).exits_with(0);
    println!("{objects} objects of five kinds in sync, median of {rounds} runs");

    let near = Relay::new(ws.plane().url(), Duration::ZERO);
    let far = Relay::new(ws.plane().url(), Duration::from_millis(10));
    for (place, relay, rounds) in [("loopback", &near, rounds), ("20 ms round trip", &far, rounds.min(1))] {
        let ours = |arguments: &[&str]| {
            ws.through(&relay.url()).reconcile(arguments.iter().copied()).exits_with(0);
        };
        let theirs = |arguments: &[&str]| {
            ws.through(&relay.url()).kubectl(arguments.iter().copied()).exits_with(0);
        };
        let kubectl = ["diff", "--server-side", "--field-manager=kubectl-reconcile", "-f", "all.yaml"];
        let pairs = [
            ("diff, proven", vec!["diff", "-f", "all.yaml", "-q"]),
            ("diff --evidence=server", vec!["diff", "-f", "all.yaml", "-q", "--evidence=server"]),
            ("apply, nothing to do", vec!["apply", "-f", "all.yaml", "-q"]),
        ];
        let reference = median(rounds, || theirs(&kubectl));
        println!("\n{place}: kubectl diff --server-side {:.2} s", reference.as_secs_f64());
        for (name, arguments) in pairs {
            let time = median(rounds.max(3), || ours(&arguments));
            let ratio = reference.as_secs_f64() / time.as_secs_f64();
            println!("  {name:<24} {:>6.3} s   kubectl takes {ratio:.1} times as long", time.as_secs_f64());
        }
    }
}

fn median(rounds: usize, run: impl Fn()) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

fn manifests(objects: usize) -> String {
    let mut text = String::new();
    for index in 0..objects {
        let body = match index % 5 {
            0 => {
                "apiVersion: v1\nkind: ConfigMap\ndata: {colour: 'red', 'app.conf': \"a = 1\\nb = 2\\n\"}\n".to_owned()
            }
            1 => format!(
                "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 0\n  selector: {{matchLabels: {{app: a{index}}}}}\n  \
                 template:\n    metadata: {{labels: {{app: a{index}}}}}\n    spec:\n      containers:\n      - name: main\n        \
                 image: registry.example.com/app:{index}\n        env: [{{name: LOG, value: info}}]\n        \
                 ports: [{{containerPort: 8080}}]\n        resources: {{requests: {{cpu: 0.1, memory: 0.5Gi}}}}\n"
            ),
            2 => "apiVersion: v1\nkind: Service\nspec: {clusterIP: None, selector: {app: a}, ports: [{port: 80}]}\n"
                .to_owned(),
            3 => "apiVersion: v1\nkind: Secret\nstringData: {token: made-up}\n".to_owned(),
            _ => "apiVersion: v1\nkind: ServiceAccount\nautomountServiceAccountToken: false\n".to_owned(),
        };
        let _ =
            write!(text, "---\n{body}metadata: {{name: object-{index}, namespace: $NS, labels: {{bench: 'yes'}}}}\n");
    }
    text
}
