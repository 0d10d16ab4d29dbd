//! What `diff --from helm/RELEASE` says about the next upgrade, held against Helm 4 itself: it names exactly the fields that Helm is refused.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::control_plane::{Run, Workspace};
use crate::ownership::owners_of;

const TEMPLATES: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: {{ .Values.replicas }}\n  \
    selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n      - \
    {name: web, image: \"web:1\", resources: {limits: {cpu: 1000m}}}\n---\napiVersion: v1\nkind: ConfigMap\n\
    metadata: {name: settings}\ndata: {a: one}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: keys}\n\
    stringData: {pw: first-password-of-keys}\n";

/// Installs a chart with Helm of this version.
fn installed(major: u32) -> Workspace {
    let ws = Workspace::new();
    for value in ["first-password-of-keys", "other-password-of-keys"] {
        ws.secret(value);
    }
    ws.write("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.2.3\n");
    ws.write("chart/values.yaml", "replicas: 2\n");
    ws.write("chart/templates/web.yaml", TEMPLATES);
    helm(&ws, major, &["install", "web", "./chart"]).exits_with(0);
    ws
}

fn helm(ws: &Workspace, major: u32, arguments: &[&str]) -> Run {
    ws.as_user("admin").helm(major, arguments)
}

/// The fields that the warning names, each once.
fn named(run: &Run, objects: &[(&str, &str)]) -> BTreeSet<String> {
    let warnings: Vec<&str> =
        run.report()["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let warnings = warnings.concat();
    let Some((_, rest)) = warnings.split_once("that others own: ") else { return BTreeSet::new() };
    let (fields, _) = rest.split_once("; ").unwrap();
    let found = objects.iter().filter(|(_, path)| fields.contains(&format!("{path} (")));
    let found: BTreeSet<String> = found.map(|(_, path)| (*path).to_owned()).collect();
    assert_eq!(found.len(), fields.split("), ").count(), "{fields}");
    found
}

/// The fields that Helm is refused, of those in the list.
fn refused(run: &Run, fields: &[(&str, &str)]) -> BTreeSet<String> {
    assert_eq!(run.code == 0, !run.stderr.contains("conflict"), "{run}");
    let found = fields.iter().filter(|(server, _)| run.stderr.contains(server));
    found.map(|(_, path)| (*path).to_owned()).collect()
}

/// Fields as the server and as reports write them.
const FIELDS: [(&str, &str); 5] = [
    (".spec.replicas", "spec.replicas"),
    (
        ".spec.template.spec.containers[name=\"web\"].resources.limits.cpu",
        "spec.template.spec.containers[name=web].resources.limits.cpu",
    ),
    (".metadata.labels.app.kubernetes.io/managed-by", "metadata.labels[\"app.kubernetes.io/managed-by\"]"),
    (".data.a", "data.a"),
    (".data.pw", "data.pw"),
];

/// The name of a story, what somebody changes in it, and the fields that Helm is refused then.
type Story<'s> = (&'s str, &'s dyn Fn(&Workspace), &'s [&'s str]);

#[test]
fn the_warning_names_what_helm_is_refused() {
    let patch = |kind: &'static str, name: &'static str, patch: serde_json::Value| {
        move |ws: &Workspace| drop(ws.kubectl(["patch", kind, name, "-p", &patch.to_string()]).exits_with(0))
    };
    let limits = |ws: &Workspace| {
        for cpu in ["cpu=2", "cpu=1"] {
            ws.kubectl(["set", "resources", "deployment/web", "--limits", cpu]).exits_with(0);
        }
    };
    let scaled = |ws: &Workspace| ws.scale("deployment/web", 5);
    let autoscaled = |ws: &Workspace| {
        ws.kubectl(["autoscale", "deployment/web", "--min=1", "--max=9"]).exits_with(0);
        ws.scale("deployment/web", 5);
    };
    let labelled = |ws: &Workspace| {
        let label = "app.kubernetes.io/managed-by=foo";
        ws.kubectl(["label", "configmap", "settings", label, "--overwrite"]).exits_with(0);
    };
    let stories: [Story<'_>; 7] = [
        ("nothing", &|_| (), &[]),
        (
            "a Secret with stringData",
            &patch("secret", "keys", json!({"stringData": {"pw": "other-password-of-keys"}})),
            &[],
        ),
        ("another spelling", &limits, &["spec.template.spec.containers[name=web].resources.limits.cpu"]),
        ("another scale", &scaled, &["spec.replicas"]),
        ("an autoscaler", &autoscaled, &["spec.replicas"]),
        ("the label of Helm", &labelled, &["metadata.labels[\"app.kubernetes.io/managed-by\"]"]),
        ("a value", &patch("configmap", "settings", json!({"data": {"a": "two"}})), &["data.a"]),
    ];
    for (name, change, expected) in stories {
        let ws = installed(4);
        change(&ws);
        let ignore = "apiVersion: kubectl-reconcile/v1\nkind: Config\nignore: [{kind: Deployment, fields: [spec.replicas], reason: x}]\n";
        ws.write("ignore.yaml", ignore);
        let expected: BTreeSet<String> = expected.iter().map(|path| (*path).to_owned()).collect();
        // The server says it; without its answer, the record of owners does; a rule changes nothing about it.
        for flags in [&[][..], &["--evidence=read-only"], &["--config=ignore.yaml"]] {
            for source in ["helm/web", "helm"] {
                let run = ws.reconcile([&["diff", "--from", source], flags].concat());
                assert_eq!(named(&run, &FIELDS), expected, "{name}, {flags:?}: {run}");
                assert_eq!(run.writes(), 0);
            }
        }
        let upgrade = helm(&ws, 4, &["upgrade", "web", "./chart"]);
        assert_eq!(refused(&upgrade, &FIELDS), expected, "{name}: {upgrade}");
    }
}

/// What a rule or an autoscaler covers stays as it is, so that neither command ends it.
#[test]
fn a_field_of_an_autoscaler_has_to_leave_the_chart() {
    let ws = installed(4);
    ws.kubectl(["autoscale", "deployment/web", "--min=1", "--max=9"]).exits_with(0);
    ws.scale("deployment/web", 5);
    let run = ws.reconcile(["diff", "--from", "helm/web"]).exits_with(0);
    let advice =
        ws.fill_in("`apply` and `own` leave Deployment $NS/web spec.replicas to an autoscaler or an ignore rule");
    assert!(run.report()["warnings"].to_string().contains(&advice), "{run}");
    ws.reconcile(["apply", "--from", "helm/web"]).exits_with(0);
    ws.reconcile(["own", "--from", "helm/web"]).exits_with(0);
    assert!(helm(&ws, 4, &["upgrade", "web", "./chart"]).code != 0);
    ws.write("chart/templates/web.yaml", &TEMPLATES.replace("  replicas: {{ .Values.replicas }}\n", ""));
    helm(&ws, 4, &["upgrade", "web", "./chart"]).exits_with(0);
    assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 5);
}

/// Each command that the warning names ends what it is named for.
#[test]
fn the_label_of_helm_and_another_spelling_are_restored_and_given_back() {
    let ws = installed(4);
    ws.kubectl(["label", "configmap", "settings", "app.kubernetes.io/managed-by=foo", "--overwrite"]).exits_with(0);
    ws.reconcile(["apply", "--from", "helm/web"]).exits_with(0);
    helm(&ws, 4, &["upgrade", "web", "./chart"]).exits_with(0);
    for cpu in ["cpu=2", "cpu=1"] {
        ws.kubectl(["set", "resources", "deployment/web", "--limits", cpu]).exits_with(0);
    }
    ws.reconcile(["own", "--from", "helm/web"]).exits_with(0);
    helm(&ws, 4, &["upgrade", "web", "./chart"]).exits_with(0);
    let owners = owners_of(&ws, "Deployment", "web", "/f:spec/f:replicas");
    assert_eq!(owners, ["helm Apply"]);
}

#[test]
fn only_releases_of_helm_4_with_other_owners_are_asked_about() {
    let asked = |ws: &Workspace, user: &str| {
        let (run, requests) = ws.requests_during(|| ws.as_user(user).reconcile(["diff", "--from", "helm"]));
        let is_it =
            |uri: &str| uri.contains("fieldManager=helm&") && uri.contains("force=false") && uri.contains("dryRun=All");
        let asked = requests.iter().filter(|request| request.verb == "patch" && is_it(&request.uri)).count();
        (run, asked)
    };
    let ws = installed(4);
    assert_eq!(asked(&ws, "admin").1, 0);
    ws.scale("deployment/web", 5);
    ws.kubectl(["patch", "configmap", "settings", "-p", r#"{"data": {"a": "two"}}"#]).exits_with(0);
    assert_eq!(asked(&ws, "admin").1, 2);
    // Without the permission, the record of owners decides, and `access` names it as optional.
    ws.allow("reader", "get,list", "secrets,configmaps,deployments.apps,horizontalpodautoscalers.autoscaling");
    let (run, _) = asked(&ws, "reader");
    let expected: BTreeSet<String> = ["data.a", "spec.replicas"].map(ToOwned::to_owned).into();
    assert_eq!(named(&run, &FIELDS), expected, "{run}");
    let roles = ws.reconcile(["access", "--from", "helm/web", "--for", "diff"]);
    let optional = roles.stdout.lines().filter(|line| line.starts_with("# Optional: ") && line.contains("patch"));
    assert_eq!(optional.filter(|line| line.contains("the next `helm upgrade`")).count(), 3, "{roles}");
    let roles = ws.reconcile(["access", "--from", "helm/web", "--for", "diff", "--evidence=read-only"]);
    assert!(!roles.stdout.contains("patch"), "{roles}");

    let ws = installed(3);
    ws.scale("deployment/web", 5);
    let (run, count) = asked(&ws, "admin");
    assert_eq!((count, named(&run, &FIELDS)), (0, BTreeSet::new()), "{run}");
}

/// Each release has a warning of its own.
#[test]
fn each_of_several_releases_is_named() {
    let ws = installed(4);
    ws.write("other/Chart.yaml", "apiVersion: v2\nname: other\nversion: 1.0.0\n");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {a: one}\n";
    ws.write("other/templates/other.yaml", map);
    helm(&ws, 4, &["install", "other", "./other"]).exits_with(0);
    ws.scale("deployment/web", 5);
    ws.kubectl(["patch", "configmap", "other", "-p", r#"{"data": {"a": "two"}}"#]).exits_with(0);
    let run = ws.reconcile(["diff", "--from", "helm"]).exits_with(1);
    let warnings = run.report()["warnings"].to_string();
    for (release, field) in
        [("web", "Deployment $NS/web spec.replicas (kubectl)"), ("other", "ConfigMap $NS/other data.a (kubectl-patch)")]
    {
        let expected =
            format!("the next `helm upgrade` of $NS/{release} would refuse 1 field that others own: {field}; ");
        assert!(warnings.contains(&ws.fill_in(&expected)), "{run}");
        assert!(warnings.contains(&ws.fill_in(&format!("apply --from helm/{release} -n $NS`"))), "{run}");
    }
}
