//! Whole runs of the program side by side with kubectl, on one API server: `cargo bench`.
//!
//! Figures are ratios from one run on one machine; absolute times say little elsewhere. `BENCH_OBJECTS` sets the number of
//! objects (1000), `BENCH_ROUNDS` how often each command runs (5); the median counts. The program is built as it is shipped
//! (profile `bench`, which is `dist`).

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use kube::api::{Api, ListParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use test_control_plane::{Relay, Workspace};

/// Set to a namespace in the process that does nothing but LIST it.
const BARE_LIST: &str = "BENCH_BARE_LIST";

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[expect(clippy::print_stdout, reason = "a benchmark reports on stdout")]
fn main() {
    if let Ok(namespace) = std::env::var(BARE_LIST) {
        return bare_list(&namespace);
    }
    let (objects, rounds) = (number("BENCH_OBJECTS", 1000), number("BENCH_ROUNDS", 5));
    let text = manifests(objects);
    let prepared = |first: &dyn Fn(&Workspace)| {
        let ws = Workspace::new();
        ws.write("all.yaml", &text);
        first(&ws);
        ws
    };
    let ours = prepared(&|ws| drop(ws.reconcile(["apply", "-f", "all.yaml", "-q"]).exits_with(0)));
    let theirs = prepared(&|ws| drop(ws.kubectl(["apply", "--server-side", "-f", "all.yaml"]).exits_with(0)));
    println!("{objects} objects of five kinds, median of {rounds} runs on loopback; fewer at 20 ms");

    for (place, delay, rounds) in [("loopback", 0, rounds), ("20 ms round trip", 10, rounds.min(1))] {
        let relay = Relay::new(ours.plane().url(), Duration::from_millis(delay));
        // Nothing stands between on loopback: a relay acknowledges at once, which the server doesn't.
        let url = if delay == 0 { ours.plane().url().to_owned() } else { relay.url() };
        let reconcile = |ws: &Workspace, arguments: &[&str]| {
            let arguments = [arguments, &["-f", "all.yaml", "-q"]].concat();
            ws.through(&url).reconcile(arguments).exits_with(0);
        };
        let kubectl = |ws: &Workspace, arguments: &[&str]| {
            ws.through(&url).kubectl([arguments, &["-f", "all.yaml"]].concat()).exits_with(0);
        };
        let compare = |reference: Duration, pairs: &[(&str, Duration)]| {
            for (name, time) in pairs {
                let ratio = reference.as_secs_f64() / time.as_secs_f64();
                println!("  {name:<24} {:>6.3} s   {ratio:.1} times as fast", time.as_secs_f64());
            }
        };

        let diff = ["diff", "--server-side", "--field-manager=kubectl-reconcile"];
        let reference = median(rounds, || kubectl(&ours, &diff));
        println!("\n{place}: kubectl diff --server-side, all in sync: {:.2} s", reference.as_secs_f64());
        let proven = median(rounds.max(3), || reconcile(&ours, &["diff"]));
        let asked = median(rounds.max(3), || reconcile(&ours, &["diff", "--evidence=server"]));
        compare(reference, &[("diff, proven", proven), ("diff --evidence=server", asked)]);
        let kubeconfig = ours.through(&url).kubeconfig();
        let bare = median(rounds.max(3), || list(&kubeconfig, ours.namespace()));
        let ratio = proven.as_secs_f64() / bare.as_secs_f64();
        println!("  bare LISTs in parallel   {:>6.3} s   diff takes {ratio:.1} times as long", bare.as_secs_f64());

        let apply = ["apply", "--server-side"];
        let reference = median(rounds, || kubectl(&theirs, &apply));
        println!("{place}: kubectl apply --server-side, nothing to do: {:.2} s", reference.as_secs_f64());
        compare(reference, &[("apply", median(rounds.max(3), || reconcile(&ours, &["apply"])))]);

        // Each creation has a namespace of its own; in turns, as the server grows slower with what it holds.
        let (mut reference, mut creation) = (Vec::new(), Vec::new());
        for _ in 0..rounds.min(3) {
            let (one, other) = (prepared(&|_| ()), prepared(&|_| ()));
            reference.push(timed(|| kubectl(&one, &apply)));
            creation.push(timed(|| reconcile(&other, &["apply"])));
        }
        let (reference, creation) = (middle(reference), middle(creation));
        println!("{place}: kubectl apply --server-side, all to create: {:.2} s", reference.as_secs_f64());
        compare(reference, &[("apply", creation)]);
    }
}

/// Runs this program once more, as a client that only LISTs.
fn list(kubeconfig: &Path, namespace: &str) {
    let program = std::env::current_exe().unwrap();
    let run = Command::new(program).env("KUBECONFIG", kubeconfig).env(BARE_LIST, namespace).status();
    assert!(run.unwrap().success());
}

#[tokio::main]
async fn bare_list(namespace: &str) {
    // Whoever else chose a provider in this process chose the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = kube::Client::try_default().await.unwrap();
    let kinds = [("", "ConfigMap"), ("apps", "Deployment"), ("", "Service"), ("", "Secret"), ("", "ServiceAccount")];
    let lists = kinds.map(|(group, kind)| {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind));
        let api = Api::<DynamicObject>::namespaced_with(client.clone(), namespace, &resource);
        async move { api.list(&ListParams::default()).await }
    });
    try_join_all(lists).await.unwrap();
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn median(rounds: usize, run: impl Fn()) -> Duration {
    middle((0..rounds).map(|_| timed(&run)).collect())
}

fn middle(mut times: Vec<Duration>) -> Duration {
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
