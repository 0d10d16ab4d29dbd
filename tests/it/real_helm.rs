//! Helm 3 and Helm 4 themselves: what they record is read, and they go on after what was restored.

use serde_json::Value;

use crate::control_plane::{Run, Workspace};

const CHART: &str = "apiVersion: v2\nname: web\nversion: 1.2.3\n";
const TEMPLATES: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: {{ .Values.replicas }}\n  \
    selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n      - \
    {name: web, image: \"web:{{ .Values.tag }}\"}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: one}\n\
    {{- if .Values.broken }}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 0}]}\n{{- end }}\n";
const HOOK: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hook\n  annotations: {helm.sh/hook: \"pre-install,pre-upgrade\"}\n";

struct Release<'w> {
    ws: &'w Workspace,
    major: u32,
    driver: &'w str,
}

impl Release<'_> {
    /// Installs the chart.
    fn install(&self) {
        self.ws.write("chart/Chart.yaml", CHART);
        self.ws.write("chart/values.yaml", "replicas: 2\ntag: one\nbroken: false\n");
        self.ws.write("chart/templates/web.yaml", TEMPLATES);
        self.ws.write("chart/templates/hook.yaml", HOOK);
        self.helm(&["install", "web", "./chart"]).exits_with(0);
    }

    fn helm(&self, arguments: &[&str]) -> Run {
        self.ws.as_user("admin").env("HELM_DRIVER", self.driver).helm(self.major, arguments)
    }

    fn upgrade(&self, values: &[&str]) -> Run {
        let values = values.iter().flat_map(|value| ["--set", value]);
        self.helm(&["upgrade", "web", "./chart"].into_iter().chain(values).collect::<Vec<_>>())
    }

    fn revisions(&self) -> usize {
        let history = self.helm(&["history", "web", "-o", "json"]).exits_with(0);
        serde_json::from_str::<Vec<Value>>(&history.stdout).unwrap().len()
    }
}

/// The drivers of each version that tests use: both drivers, and both versions.
const KINDS: [(u32, &str); 3] = [(3, "secret"), (4, "secret"), (4, "configmap")];

#[test]
fn a_restored_release_is_upgraded_by_helm() {
    for (major, driver) in KINDS {
        let ws = Workspace::new();
        let release = Release { ws: &ws, major, driver };
        release.install();
        let same = ws.reconcile(["diff", "--from", "helm/web"]).exits_with(0);
        assert_eq!(same.stderr.lines().next(), Some("release web revision 1 (web-1.2.3)"), "{same}");
        assert_eq!(same.report()["release"]["status"], "deployed");
        assert!(same.report()["release"]["time"].as_str().is_some(), "{same}");

        ws.kubectl(["scale", "deployment/web", "--replicas=5"]).exits_with(0);
        let diff = ws.reconcile(["diff", "--from", "helm/web"]).exits_with(1);
        let is_said = diff.report()["warnings"].to_string().contains("the next `helm upgrade`");
        assert_eq!(is_said, major == 4, "{diff}");
        if major == 4 {
            let refused = release.upgrade(&["replicas=3"]);
            assert!(refused.code != 0 && refused.stderr.contains("conflict"), "{refused}");
            let refused = ws.reconcile(["apply", "--from", "helm/web"]).exits_with(2);
            assert!(refused.stderr.contains("kubectl reconcile apply --from helm/web@1"), "{refused}");
        }
        let revisions = release.revisions();
        let manifest = release.helm(&["get", "manifest", "web"]).exits_with(0).stdout;
        let run = ws.reconcile(["apply", "--from", "helm/web@1"]).exits_with(0);
        assert_eq!(run.each("outcome"), ["ConfigMap settings: unchanged", "Deployment web: updated"], "{run}");
        assert_eq!(ws.get("deployments", "web")["spec"]["replicas"], 2);
        assert_eq!(ws.reconcile(["apply", "--from", "helm/web@1"]).exits_with(0).writes(), 0);

        assert_eq!(release.helm(&["get", "manifest", "web"]).exits_with(0).stdout, manifest);
        assert_eq!(release.revisions(), revisions);
        release.upgrade(&["replicas=3"]).exits_with(0);
        assert_eq!(ws.get("deployments", "web")["spec"]["replicas"], 3);
        ws.reconcile(["diff", "--from", "helm/web"]).exits_with(0);
        release.helm(&["rollback", "web", "1"]).exits_with(0);
        ws.reconcile(["diff", "--from", "helm/web"]).exits_with(0);
    }
}

#[test]
fn what_was_deleted_is_created_as_an_object_of_the_release() {
    for (major, driver) in KINDS {
        let ws = Workspace::new();
        let release = Release { ws: &ws, major, driver };
        release.install();
        ws.kubectl(["delete", "deployment/web", "configmap/settings", "configmap/hook"]).exits_with(0);
        let run = ws.reconcile(["apply", "--from", "helm/web"]).exits_with(0);
        assert_eq!(run.each("outcome"), ["ConfigMap settings: created", "Deployment web: created"], "{run}");
        assert_eq!(ws.find("ConfigMap", "hook"), None);
        release.upgrade(&["replicas=4"]).exits_with(0);
        assert_eq!(ws.get("deployments", "web")["spec"]["replicas"], 4);
        release.helm(&["uninstall", "web"]).exits_with(0);
        assert_eq!(ws.find("ConfigMap", "settings"), None);
    }
}

#[test]
fn after_a_failed_upgrade_the_deployed_revision_is_restored_by_name() {
    for (major, driver) in [(3, "configmap"), (4, "secret")] {
        let ws = Workspace::new();
        let release = Release { ws: &ws, major, driver };
        release.install();
        let failed = release.upgrade(&["tag=two", "broken=true"]);
        assert!(failed.code != 0, "{failed}");
        let diff = ws.reconcile(["diff", "--from", "helm/web"]);
        assert_eq!(diff.stderr.lines().next(), Some("release web revision 1 (web-1.2.3); revision 2 failed"), "{diff}");
        let refused = ws.reconcile(["apply", "--from", "helm/web"]).exits_with(2);
        assert!(refused.stderr.contains("kubectl reconcile apply --from helm/web@1"), "{refused}");
        ws.reconcile(["apply", "--from", "helm/web@1"]).exits_with(0);
        let image = ws.get("deployments", "web")["spec"]["template"]["spec"]["containers"][0]["image"].clone();
        assert_eq!(image, "web:one");
        release.upgrade(&["tag=three"]).exits_with(0);
        ws.reconcile(["diff", "--from", "helm/web"]).exits_with(0);
    }
}
