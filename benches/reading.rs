//! Reads manifests, compared with kubectl: `cargo bench --bench reading`.
//!
//! Figures are ratios from one run on one machine; absolute times differ on other machines. `BENCH_OBJECTS` sets the number of
//! objects (10,000, about 15 MB), `BENCH_ROUNDS` the number of runs of each command (5); the median counts. Our program reads the objects
//! and drops them all for a selector that none of them matches; kubectl reads them and prints their names.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::string_slice,
    reason = "a bench ends by a panic"
)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use kubectl_reconcile::desired::files::Inputs;
use reconcile_core::manifest::yaml::Validation;
use reconcile_core::manifest::{DesiredSet, Hooks, ReadOptions, read};
use reconcile_core::object::Selector;
use test_control_plane::Workspace;

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "a benchmark reports figures on stdout")]
fn main() {
    let (objects, rounds) = (number("BENCH_OBJECTS", 10_000), number("BENCH_ROUNDS", 5));
    let text = manifests(objects);
    let size = text.len() as f64;
    println!("{objects} objects of five kinds, {:.1} MB, median of {rounds} runs", size / 1e6);

    let before = resident("VmRSS");
    let manifests = desired(&text);
    if let (Some(before), Some(peak)) = (before, resident("VmHWM")) {
        println!("memory of reading, with the text itself: {:.1} times the text", (peak - before) as f64 / size);
    }
    drop(manifests);
    let alone = median(rounds, || drop(desired(&text)));
    println!(
        "reading alone, on one processor: {:.3} s, {:.0} MB/s",
        alone.as_secs_f64(),
        size / 1e6 / alone.as_secs_f64()
    );

    let ws = Workspace::new();
    ws.write("all.yaml", &text);
    ws.write("none.yaml", "");
    let kubectl = median(rounds, || {
        ws.kubectl(["create", "--dry-run=client", "-o", "name", "-f", "all.yaml"]).exits_with(0);
    });
    let ours = median(rounds, || {
        let arguments = ["diff", "--live", "none.yaml", "-f", "all.yaml", "-q", "-l", "none=at-all", "--allow-empty"];
        ws.reconcile(arguments).exits_with(0);
    });
    let ratio = |time: Duration| kubectl.as_secs_f64() / time.as_secs_f64();
    println!("kubectl create --dry-run=client -o name: {:.3} s", kubectl.as_secs_f64());
    println!(
        "  the whole program, reading only   {:>6.3} s   kubectl takes {:.1} times as long",
        ours.as_secs_f64(),
        ratio(ours)
    );
    println!(
        "  reading alone, on one processor   {:>6.3} s   kubectl takes {:.1} times as long",
        alone.as_secs_f64(),
        ratio(alone)
    );
}

fn desired(text: &str) -> DesiredSet {
    let mut inputs = Inputs::default();
    inputs.content("all.yaml", Ok(text.as_bytes().to_vec()));
    let options = ReadOptions {
        validation: Validation::Strict,
        selector: Selector::default(),
        hooks: Hooks::Include,
        allow_empty: false,
    };
    read(&inputs.finish().expect("one input"), &options).expect("valid manifests")
}

/// A memory figure of this process from the operating system, in bytes.
fn resident(name: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<usize>().ok()? * 1024)
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
        let (kind, name) = [
            ("apps/v1\nkind: Deployment", "web"),
            ("v1\nkind: ConfigMap", "settings"),
            ("apps/v1\nkind: StatefulSet", "database"),
            ("v1\nkind: Service", "web"),
            ("v1\nkind: Secret", "credentials"),
        ][index % 5];
        let _ = write!(
            text,
            "apiVersion: {kind}\nmetadata:\n  name: {name}-{index}\n  labels:\n    \
             app.kubernetes.io/name: app-{index}\n    app.kubernetes.io/part-of: bench\n    \
             app.kubernetes.io/managed-by: platform-team\n  annotations:\n    example.com/owner: team-{}\n    \
             example.com/description: \"A made-up object of a made-up application, number {index}\"\n",
            index % 17
        );
        match index % 5 {
            1 => {
                text.push_str("data:\n  LOG_LEVEL: info\n  FEATURE: 'true'\n  app.conf: |\n");
                for line in 0..30 {
                    let _ = writeln!(text, "    setting.number.{line} = \"value {line} of {index}\"");
                }
            }
            3 => text.push_str(
                "spec:\n  type: ClusterIP\n  selector: {app.kubernetes.io/name: web}\n  ports:\n    - name: http\n      \
                 port: 80\n      targetPort: http\n      protocol: TCP\n    - {name: metrics, port: 9090}\n",
            ),
            4 => {
                text.push_str("type: Opaque\nstringData:\n  password: made-up\n  ca.crt: |\n");
                for line in 0..18 {
                    let _ = writeln!(text, "    {:064x}", line * 7919 + index);
                }
            }
            _ => workload(&mut text, index),
        }
        text.push_str("---\n");
    }
    text
}

fn workload(text: &mut String, index: usize) {
    let _ = write!(
        text,
        "spec:\n  replicas: 3\n  # Two more than needed, so that a node may go.\n  selector:\n    matchLabels:\n      \
         app.kubernetes.io/name: app-{index}\n  template:\n    metadata:\n      labels:\n        \
         app.kubernetes.io/name: app-{index}\n        app.kubernetes.io/part-of: bench\n    spec:\n      \
         serviceAccountName: web\n      terminationGracePeriodSeconds: 30\n      containers:\n        - name: web\n          \
         image: registry.example.com/platform/shop/web:1.{index}\n          imagePullPolicy: IfNotPresent\n          \
         args: [\"--port=8080\", \"--verbose\", \"--name\", \"web-{index}\"]\n          env:\n            \
         - name: LOG_LEVEL\n              value: info\n            - name: DATABASE_URL\n              \
         value: \"postgres://shop@database.bench.svc.cluster.local:5432/shop\"\n            - name: PASSWORD\n              \
         valueFrom:\n                secretKeyRef:\n                  name: credentials\n                  key: password\n          \
         ports:\n            - name: http\n              containerPort: 8080\n          resources:\n            \
         requests:\n              cpu: 100m\n              memory: 128Mi\n            limits:\n              memory: 256Mi\n          \
         readinessProbe:\n            httpGet:\n              path: /healthz\n              port: http\n            \
         initialDelaySeconds: 5\n            periodSeconds: 10\n          volumeMounts:\n            - name: settings\n              \
         mountPath: /etc/web\n      volumes:\n        - name: settings\n          configMap:\n            name: settings-{index}\n"
    );
}
