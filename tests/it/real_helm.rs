//! Helm 3 and Helm 4 themselves: what they record is read, and they go on after what was restored.

use serde_json::{Value, json};

use crate::control_plane::{Run, Workspace};
use crate::ownership::owners_of;

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
            // The commands that the warning names take the revision that is deployed.
            for source in ["helm/web", "helm/web@1"] {
                let diff = ws.reconcile(["diff", "--from", source]).exits_with(1);
                assert_eq!(diff.report()["release"]["newer"], json!({"revision": 2, "status": "failed"}), "{diff}");
                for command in ["apply", "own"] {
                    let words = named_command(&diff, command);
                    ws.reconcile([words, vec!["--dry-run"]].concat()).exits_with(if command == "own" { 4 } else { 1 });
                }
            }
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

/// The words of the first command of this name that a warning of the report names, after `kubectl reconcile`.
#[track_caller]
fn named_command<'r>(run: &'r Run, command: &'r str) -> Vec<&'r str> {
    let mut warnings = run.report()["warnings"].as_array().unwrap().iter().filter_map(Value::as_str);
    let begin = format!("`kubectl reconcile {command} ");
    let words = warnings.find_map(|text| text.split_once(&begin)?.1.split_once('`'));
    let (words, _) = words.unwrap_or_else(|| panic!("no `{command}` in the warnings of {run}"));
    std::iter::once(command).chain(words.split(' ')).collect()
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

/// A value that was changed and changed back belongs to kubectl, and the next upgrade that changes it is refused.
fn scaled_and_back(ws: &Workspace, replicas: i64) {
    for count in [9, replicas] {
        ws.kubectl(["scale", "deployment/web", &format!("--replicas={count}")]).exits_with(0);
    }
    assert_eq!(owners_of(ws, "Deployment", "web", REPLICAS), ["kubectl Update"]);
}

const REPLICAS: &str = "/f:spec/f:replicas";

/// An object without the record of its owners and its version.
fn values(ws: &Workspace, kind: &str, name: &str) -> Value {
    let mut object = ws.get(kind, name);
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.remove("managedFields");
    metadata.remove("resourceVersion");
    object
}

#[test]
fn an_upgrade_is_accepted_once_the_fields_are_given_back_to_helm() {
    for (major, driver, renders) in [
        (4, "secret", false),
        (4, "configmap", false),
        (4, "secret", true),
        (3, "secret", false),
        (3, "configmap", true),
    ] {
        let ws = Workspace::new();
        let release = Release { ws: &ws, major, driver };
        release.install();
        scaled_and_back(&ws, 2);
        if major == 4 {
            let refused = release.upgrade(&["replicas=3"]);
            assert!(refused.code != 0 && refused.stderr.contains("conflict"), "{refused}");
        }
        let (revisions, manifest) = (release.revisions(), release.helm(&["get", "manifest", "web"]).stdout);
        let before = [values(&ws, "Deployment", "web"), values(&ws, "ConfigMap", "settings")];
        let own = |flags: &[&str]| {
            if renders {
                let rendered = release.helm(&["template", "web", "./chart"]).exits_with(0).stdout;
                ws.stdin(&rendered).reconcile([&["own", "-f", "-", "--field-manager", "helm"], flags].concat())
            } else {
                ws.reconcile([&["own", "--from", "helm/web"], flags].concat())
            }
        };
        let shown = own(&["--dry-run"]).exits_with(1);
        let transfers = shown.object("Deployment", "web")["transfers"].as_array().unwrap();
        let replicas = transfers.iter().find(|one| one["path"] == "spec.replicas").unwrap();
        assert_eq!((&replicas["from"], &replicas["to"]), (&json!(["kubectl"]), &json!("helm")), "{shown}");
        let run = own(&[]).exits_with(0);
        assert!(!run.objects().iter().any(|object| object["name"] == "hook"), "{run}");
        assert_eq!(owners_of(&ws, "Deployment", "web", REPLICAS), ["helm Apply"]);
        assert_eq!([values(&ws, "Deployment", "web"), values(&ws, "ConfigMap", "settings")], before);
        assert_eq!(own(&[]).exits_with(0).writes(), 0);

        assert_eq!(release.revisions(), revisions);
        assert_eq!(release.helm(&["get", "manifest", "web"]).exits_with(0).stdout, manifest);
        release.upgrade(&["replicas=3"]).exits_with(0);
        assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 3);
        ws.reconcile(["diff", "--from", "helm/web"]).exits_with(0);
        release.helm(&["rollback", "web", "1"]).exits_with(0);
        assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 2);
        release.helm(&["uninstall", "web"]).exits_with(0);
        assert_eq!(ws.find("Deployment", "web"), None);
    }
}

#[test]
fn what_differs_from_the_release_stays_and_can_be_restored_first() {
    let ws = Workspace::new();
    let release = Release { ws: &ws, major: 4, driver: "secret" };
    release.install();
    ws.kubectl(["scale", "deployment/web", "--replicas=5"]).exits_with(0);
    let run = ws.reconcile(["own", "--from", "helm/web"]).exits_with(4);
    assert_eq!(run.change("Deployment", "web", "spec.replicas")["managers"][0]["manager"], "kubectl", "{run}");
    // An upgrade to the live value needs nobody's field, and owns it as well.
    release.upgrade(&["replicas=5"]).exits_with(0);
    ws.reconcile(["own", "--from", "helm/web"]).exits_with(0);
    assert_eq!(owners_of(&ws, "Deployment", "web", REPLICAS), ["helm Apply"]);
    release.upgrade(&["replicas=3"]).exits_with(0);
    // After an upgrade that failed half-way, the fields of the deployed revision are given, and the others are named.
    let failed = release.upgrade(&["tag=two", "broken=true"]);
    assert!(failed.code != 0, "{failed}");
    let before = values(&ws, "Deployment", "web");
    let run = ws.reconcile(["own", "--from", "helm/web"]);
    assert!(run.code == 0 || run.code == 4, "{run}");
    assert_eq!(values(&ws, "Deployment", "web"), before);
    assert!(run.stderr.starts_with("release web revision 3 (web-1.2.3); revision 4 failed"), "{run}");
    ws.reconcile(["apply", "--from", "helm/web@3"]).exits_with(0);
    release.upgrade(&["tag=three", "replicas=3"]).exits_with(0);
}

#[test]
fn a_release_goes_from_helm_3_to_helm_4_and_back() {
    for driver in ["secret", "configmap"] {
        let ws = Workspace::new();
        let [three, four] = [3, 4].map(|major| Release { ws: &ws, major, driver });
        let server_side =
            |replicas: &str| four.helm(&["upgrade", "web", "./chart", "--server-side=true", "--set", replicas]);
        three.install();
        scaled_and_back(&ws, 2);
        ws.reconcile(["own", "--from", "helm/web"]).exits_with(0);
        server_side("replicas=3").exits_with(0);
        assert_eq!(owners_of(&ws, "Deployment", "web", REPLICAS), ["helm Apply"]);
        scaled_and_back(&ws, 3);
        let refused = server_side("replicas=4");
        assert!(refused.code != 0 && refused.stderr.contains("conflict"), "{refused}");
        ws.reconcile(["own", "--from", "helm/web"]).exits_with(0);
        server_side("replicas=4").exits_with(0);
        ws.reconcile(["diff", "--from", "helm/web"]).exits_with(0);
        // Back: Helm 3 updates, and its fields can be given to Helm 4 again.
        three.upgrade(&["replicas=6"]).exits_with(0);
        assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 6);
        ws.reconcile(["own", "--from", "helm/web"]).exits_with(0);
        server_side("replicas=7").exits_with(0);
        four.helm(&["rollback", "web", "1"]).exits_with(0);
        assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 2);
        three.helm(&["uninstall", "web"]).exits_with(0);
    }
}
