//! Monday to Friday of a team, as `docs/week.md` tells it, with two clusters: each day builds on the one before.

use serde_json::{Value, json};

use crate::contexts::Fleet;
use crate::control_plane::{Replaced, Run, Workspace};
use crate::manifests::WEB;

const BANNER: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: banner}, data: {text: Welcome}}";

const CONFIG: &str = "
apiVersion: kubectl-reconcile/v1
kind: Config
expect: {contexts: [eu, us], applyset: shop}
";

/// The rendered chart of a component, with a test that Helm alone runs.
const CHART: &str = "---
# Source: cache/templates/config.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: cache, labels: {helm.sh/chart: cache-1.0.0}}
data: {size: '64'}
---
# Source: cache/templates/tests/ping.yaml
apiVersion: v1
kind: Pod
metadata: {name: cache-ping, annotations: {helm.sh/hook: test}}
spec: {containers: [{name: ping, image: registry.example.com/shop/ping:1}]}
";

/// A team's two clusters, and its folder of manifests.
struct Team {
    fleet: Fleet,
}

impl Team {
    fn files(&self) -> &Workspace {
        &self.fleet.eu
    }

    /// A command over the folder.
    #[track_caller]
    fn run(&self, command: &str, contexts: &str, flags: &[&str]) -> Run {
        let (kubeconfig, contexts) =
            (format!("--kubeconfig={}", self.fleet.kubeconfig()), format!("--context={contexts}"));
        self.files().reconcile([&[command, "-f", "deploy", &kubeconfig, &contexts], flags].concat())
    }

    #[track_caller]
    fn apply(&self, contexts: &str) -> Run {
        self.run("apply", contexts, &["--prune", "--applyset", "shop"]).exits_with(0)
    }

    fn image(&self) -> Value {
        self.files().get("Deployment", "web")["spec"]["template"]["spec"]["containers"][0]["image"].clone()
    }
}

#[test]
fn monday_to_friday_of_a_team() {
    let team = Team { fleet: Fleet::new() };
    team.files().write("deploy/web.yaml", WEB);
    team.files().write("deploy/banner.yaml", BANNER);
    monday_they_take_over_what_kubectl_applied(&team);
    tuesday_a_pull_request_is_no_drift(&team);
    wednesday_somebody_edits_production_at_night(&team);
    thursday_helm_upgrades_a_component(&team);
    friday_an_object_is_dropped_and_the_second_cluster_follows(&team);
}

fn monday_they_take_over_what_kubectl_applied(team: &Team) {
    team.files().kubectl(["apply", "-f", "deploy"]).exits_with(0);
    team.run("diff", "eu", &[]).exits_with(0);
    team.files().write("deploy/.kubectl-reconcile.yaml", CONFIG);
    let spec = team.files().get("Deployment", "web")["spec"].clone();
    team.apply("eu");
    assert_eq!(team.files().get("Deployment", "web")["spec"], spec, "nothing is rolled out");
    let live = team.files().get("ConfigMap", "banner");
    assert!(!managers(&live).contains(&&json!("kubectl-client-side-apply")), "{live:#}");
    assert_eq!(team.apply("eu").writes(), 0);
}

fn tuesday_a_pull_request_is_no_drift(team: &Team) {
    let before = team.image();
    team.files().write("deploy/web.yaml", &WEB.replaced(before.as_str().unwrap(), "registry.example.com/shop/web:2.0"));
    let checked = team.run("diff", "eu", &["--fail-on", "cluster,either"]).exits_with(0);
    assert_eq!(checked.report()["summary"]["sides"], json!({"manifest": 1, "cluster": 0, "either": 0, "both": 0}));
    let comment = team.run("diff", "eu", &["-o", "markdown"]).exits_with(1);
    assert!(comment.stdout.starts_with("### kubectl reconcile diff: changes\n"), "{comment}");
    assert_eq!(team.apply("eu").each("outcome"), ["ConfigMap banner: unchanged", "Deployment web: updated"]);
    assert_eq!(team.image(), "registry.example.com/shop/web:2.0");
}

fn wednesday_somebody_edits_production_at_night(team: &Team) {
    team.files().kubectl(["scale", "deployment/web", "--replicas=7"]).exits_with(0);
    let nightly = team.run("diff", "eu", &["--fail-on", "cluster,either"]).exits_with(1);
    assert_eq!(nightly.object("Deployment", "web")["side"], "cluster");
    assert_eq!(nightly.change("Deployment", "web", "spec.replicas")["managers"][0]["manager"], "kubectl");
    team.apply("eu");
    team.run("diff", "eu", &[]).exits_with(0);
}

fn thursday_helm_upgrades_a_component(team: &Team) {
    helm_applies(team, CHART);
    let next = CHART.replaced("cache-1.0.0", "cache-1.1.0").replaced("'64'", "'128'");
    let kubeconfig = format!("--kubeconfig={}", team.fleet.kubeconfig());
    let flags = ["diff", "-f", "-", "--no-config", "--context=eu", &kubeconfig, "--adopt", "helm"];
    let upgrade = team.files().stdin(&next).reconcile(flags).exits_with(1);
    assert_eq!(upgrade.each("action"), ["ConfigMap cache: update"], "the test of the chart is left to Helm");
    assert_eq!(upgrade.report()["summary"]["hooks"], 1);
    assert_eq!(upgrade.object("ConfigMap", "cache")["source"]["template"], "cache/templates/config.yaml");

    helm_applies(team, &next);
    let upgraded = team.files().stdin(&next).reconcile(flags).exits_with(0);
    assert_eq!(upgraded.report()["summary"]["inSync"], 1);
    let cache = team.files().get("ConfigMap", "cache");
    assert_eq!(cache["data"]["size"], "128");
    assert!(managers(&cache).iter().all(|manager| **manager == "helm"), "the comparison takes nothing over: {cache:#}");
}

/// Installs or upgrades the release as Helm 4 does: with server-side apply, and without the test.
fn helm_applies(team: &Team, chart: &str) {
    let objects = chart.split("---\n# Source: cache/templates/tests").next().unwrap();
    let flags = ["apply", "--server-side", "--field-manager=helm", "-f", "release.yaml"];
    team.files().write("release.yaml", objects);
    team.files().kubectl(flags).exits_with(0);
}

fn managers(live: &Value) -> Vec<&Value> {
    live["metadata"]["managedFields"].as_array().unwrap().iter().map(|entry| &entry["manager"]).collect()
}

fn friday_an_object_is_dropped_and_the_second_cluster_follows(team: &Team) {
    std::fs::remove_file(team.files().folder().join("deploy/banner.yaml")).unwrap();
    // The forgotten flag is noticed before anything is sent, and so is a cluster that the folder does not belong to.
    assert!(team.run("apply", "eu", &[]).exits_with(2).stderr.contains("belong to apply set `shop`"));
    let elsewhere = team.run("apply", "us-again", &["--prune", "--applyset", "shop"]).exits_with(2);
    assert!(elsewhere.stderr.contains("context `us-again` is not expected here"), "{elsewhere}");
    assert!(team.files().find("ConfigMap", "banner").is_some() && team.files().find("ConfigMap", "cache").is_some());
    team.apply("eu,us");
    assert_eq!(team.files().find("ConfigMap", "banner"), None);
    assert!(team.files().find("ConfigMap", "cache").is_some(), "a component of Helm is in no apply set");
    assert!(team.fleet.us.find("Deployment", "web").is_some());
    assert_eq!(
        team.run("diff", "eu,us", &["--prune", "--applyset", "shop"]).exits_with(0).report()["summary"]["inSync"],
        2
    );
}
