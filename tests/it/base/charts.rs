//! `--base helm` over several releases in one run: an upgrade of untouched releases is all of the manifests.
//!
//! The charts are in the shape of well-known ones: definitions with their objects, leader election and a whole component in
//! `kube-system`, cluster-scoped roles and webhooks, workloads of all kinds, and fields with the values that the server sets anyway.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::control_plane::{Run, Workspace};
use crate::stored::stored;

/// The charts, each with the installed version and the one that it is upgraded to.
const CHARTS: [(&str, &str, &str); 3] =
    [("certs", "1.4.0", "1.5.0"), ("meter", "3.12.1", "3.13.0"), ("store", "19.6.4", "20.1.0")];

fn rendered(ws: &Workspace, chart: &str, version: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("testdata/helm/{chart}-{version}.yaml"));
    ws.fill_in(&fs::read_to_string(file).unwrap())
}

/// Installs the releases as Helm 3 (which creates) or Helm 4 (which applies) does.
fn installed(applies: bool) -> Workspace {
    let ws = Workspace::new();
    for value in ["value-of-the-chart", "value-of-the-user", "c3RvcmUtcGFzcy1vZi0yMC4x", "c3RvcmUtcGFzcy1vZi0xOS42"] {
        ws.secret(value);
    }
    for (chart, version, _) in CHARTS {
        let manifest = rendered(&ws, chart, version);
        stored(&ws, "Secret", chart, 1, "deployed", &manifest);
        if applies {
            ws.apply_as("helm", &manifest);
        } else {
            ws.stdin(&manifest).kubectl(["create", "--field-manager", "helm", "-f", "-"]).exits_with(0);
        }
        let marks = [format!("meta.helm.sh/release-name={chart}"), "meta.helm.sh/release-namespace=$NS".to_owned()];
        let annotate = ["annotate", "--field-manager", "helm", "-f", "-", &marks[0], &marks[1]];
        ws.stdin(&manifest).kubectl(annotate).exits_with(0);
        if chart == "certs" {
            let crd = ws.fill_in("crd/issuers.$NS.example.com");
            ws.kubectl(["wait", "--for=condition=Established", &crd, "--timeout=60s"]).exits_with(0);
            ws.wait_for_types();
        }
    }
    ws
}

fn upgraded(ws: &Workspace, flags: &[&str]) -> Run {
    let manifests: Vec<String> = CHARTS.iter().map(|(chart, _, to)| rendered(ws, chart, to)).collect();
    ws.stdin(&manifests.concat())
        .reconcile([&["diff", "-f", "-", "--base", "helm", "--force-conflicts"], flags].concat())
}

/// The objects that differ and are not of the side of the manifests alone, each with its side.
fn others(run: &Run) -> Vec<String> {
    let sided = run.objects().iter().filter(|object| object.get("side").is_some_and(|side| side != "manifest"));
    sided.map(|object| format!("{} {} {}", object["kind"], object["name"], object["side"])).collect()
}

#[test]
fn an_upgrade_of_three_untouched_releases_has_nothing_of_the_cluster_and_a_hand_edit_is_found_and_named() {
    for applies in [false, true] {
        let ws = installed(applies);
        let same: Vec<String> = CHARTS.iter().map(|(chart, from, _)| rendered(&ws, chart, from)).collect();
        let unchanged = ws.stdin(&same.concat()).reconcile(["diff", "-f", "-", "--base", "helm"]);
        assert_eq!(others(&unchanged), [""; 0], "{unchanged}");

        let diff = upgraded(&ws, &[]).exits_with(1);
        assert_eq!(others(&diff), [""; 0], "Helm 4: {applies}: {diff}");
        let sides = &diff.report()["summary"]["sides"];
        assert!(sides["manifest"].as_u64().unwrap() > 20, "{diff}");
        assert_eq!((&sides["cluster"], &sides["either"], &sides["both"]), (&json!(0), &json!(0), &json!(0)), "{diff}");
        upgraded(&ws, &["--fail-on", "cluster,either,both"]).exits_with(0);

        // One edit by hand, of an object in another namespace, among all of them.
        let meter = ws.fill_in("deployment/$NS-meter");
        let patch = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/readinessProbe/initialDelaySeconds", "value": 90}]);
        let edit = ["patch", &meter, "-n", "kube-system", "--type=json", "--field-manager=kubectl-edit", "-p"];
        ws.kubectl([&edit[..], &[&patch.to_string()]].concat()).exits_with(0);
        let diff = upgraded(&ws, &["--fail-on", "cluster"]).exits_with(1);
        assert_eq!(others(&diff).len(), 1, "{diff}");
        let name = ws.fill_in("$NS-meter");
        let place = "spec.template.spec.containers[name=meter].readinessProbe.initialDelaySeconds";
        let change = diff.change("Deployment", &name, place);
        assert_eq!(
            (&change["side"], &change["base"], &change["live"]),
            (&json!("both"), &json!(20), &json!(90)),
            "{diff}"
        );
        assert_eq!(change["managers"][0]["manager"], "kubectl-edit", "{diff}");
        assert!(diff.stdout.contains("overwrites kubectl-edit"), "{diff}");
        let marked = diff.object("Deployment", &name)["changes"].as_array().unwrap().iter();
        assert_eq!(
            marked.filter(|change| change["side"] != "manifest" && change.get("side").is_some()).count(),
            1,
            "{diff}"
        );
        upgraded(&ws, &["--fail-on", "both"]).exits_with(1);

        for (chart, _, to) in CHARTS {
            let manifest = rendered(&ws, chart, to);
            ws.stdin(&manifest).kubectl(["delete", "--ignore-not-found", "--wait=false", "-f", "-"]);
        }
    }
}
