//! `diff --save-plan` and `apply --plan`: what was reviewed is done, and nothing else.

use std::fs;

use serde_json::{Value, json};

use crate::control_plane::{ANY_FIELDS, Replaced, Run, Workspace, definition};

const SETTINGS: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '1', b: '2'}}";
const BANNER: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: banner}, data: {text: hello}}";
const NEW: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {text: hello}}";

/// A change of a plan.
type Edit<'e> = &'e dyn Fn(&mut Value);

/// Two applied ConfigMaps, a third one to create, and a change of `settings`.
fn changed() -> Workspace {
    let ws = Workspace::new();
    ws.write("deploy/settings.yaml", SETTINGS);
    ws.write("deploy/banner.yaml", BANNER);
    ws.reconcile(["apply", "-f", "deploy"]).exits_with(0);
    ws.write("deploy/settings.yaml", &SETTINGS.replaced("'1'", "'9'"));
    ws.write("deploy/new.yaml", NEW);
    ws
}

#[track_caller]
fn save(ws: &Workspace, flags: &[&str]) -> Run {
    ws.reconcile([&["diff", "-f", "deploy", "--save-plan", "plan.json"], flags].concat())
}

#[track_caller]
fn follow(ws: &Workspace, flags: &[&str]) -> Run {
    ws.reconcile([&["apply", "-f", "deploy", "--plan", "plan.json"], flags].concat())
}

fn plan(ws: &Workspace) -> Value {
    serde_json::from_slice(&fs::read(ws.folder().join("plan.json")).unwrap()).unwrap()
}

fn tamper(ws: &Workspace, edit: impl FnOnce(&mut Value)) {
    let mut plan = plan(ws);
    edit(&mut plan);
    ws.write("plan.json", &plan.to_string());
}

fn edit(ws: &Workspace, object: &str, data: &Value) {
    ws.patch_as("kubectl-edit", object, &json!({"data": data}));
}

/// Refused before anything is written.
#[track_caller]
fn refused(ws: &Workspace, flags: &[&str], message: &str) {
    let before = ws.all_resource_versions();
    let run = follow(ws, flags).exits_with(2);
    assert!(run.stderr.contains(message), "{run}");
    assert_eq!(ws.all_resource_versions(), before, "{run}");
}

#[test]
fn nobody_saves_a_plan_that_no_apply_follows() {
    let ws = Workspace::new();
    let run = ws.reconcile(["diff", "--from", "helm/web", "--save-plan", "plan.json"]).exits_with(2);
    assert!(run.stderr.contains("`apply --from` follows no saved plan"), "{run}");
    assert!(!ws.folder().join("plan.json").exists());
}

#[test]
fn what_was_planned_is_done_and_can_be_done_again() {
    let ws = changed();
    save(&ws, &[]).exits_with(1);
    let apply = follow(&ws, &[]).exits_with(0);
    assert_eq!(
        apply.each("outcome"),
        ["ConfigMap banner: unchanged", "ConfigMap new: created", "ConfigMap settings: updated"]
    );
    let again = follow(&ws, &[]).exits_with(0);
    assert_eq!(again.writes(), 0, "{again}");
    // A plan of a cluster in sync does nothing.
    save(&ws, &[]).exits_with(0);
    assert_eq!(follow(&ws, &[]).exits_with(0).writes(), 0);
}

#[test]
fn a_namespace_that_is_created_is_no_manifest_of_the_plan() {
    let ws = Workspace::new();
    let name = format!("{}-new", ws.namespace());
    ws.write("deploy/new.yaml", &NEW.replaced("name: new", &format!("name: new, namespace: {name}")));
    let flag = ["--create-namespace"];
    save(&ws, &flag).exits_with(1);
    let first = follow(&ws, &flag).exits_with(0);
    assert_eq!(first.each("outcome"), [format!("Namespace {name}: created"), "ConfigMap new: created".to_owned()]);
    let again = follow(&ws, &flag).exits_with(0);
    assert_eq!((again.each("outcome"), again.writes()), (vec!["ConfigMap new: unchanged".to_owned()], 0));

    // Somebody creates the namespace after the plan was made.
    let other = format!("{}-other", ws.namespace());
    ws.write("deploy/new.yaml", &NEW.replaced("name: new", &format!("name: new, namespace: {other}")));
    save(&ws, &flag).exits_with(1);
    ws.kubectl(["create", "namespace", &other]).exits_with(0);
    let apply = follow(&ws, &flag).exits_with(0);
    assert_eq!(apply.each("outcome"), ["ConfigMap new: created"], "{apply}");
    // A Namespace of a manifest is one of the plan.
    ws.write(
        "deploy/namespace.yaml",
        &format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {other}, labels: {{a: b}}}}}}"),
    );
    refused(&ws, &flag, &format!("`Namespace {other}`"));
    ws.kubectl(["delete", "namespace", &name, &other, "--wait=false"]).exits_with(0);
}

#[test]
fn an_object_that_changed_since_is_left_alone_and_the_others_are_done() {
    let ws = changed();
    save(&ws, &[]).exits_with(1);
    edit(&ws, "configmap/settings", &json!({"b": "edited"}));
    // It was in sync, and no change of it was reviewed.
    edit(&ws, "configmap/banner", &json!({"text": "edited"}));
    let apply = follow(&ws, &[]).exits_with(4);
    assert_eq!(
        apply.each("outcome"),
        ["ConfigMap banner: failed", "ConfigMap new: created", "ConfigMap settings: failed"]
    );
    assert_eq!(apply.object("ConfigMap", "settings")["reason"], "changed since the plan");
    assert!(apply.stdout.contains("changed since the plan"), "{apply}");
    let created = format!("created ConfigMap {}/new", ws.namespace());
    assert!(apply.stdout.contains(&created), "its line does not wait for those without a turn: {apply}");
    let live = ws.get("ConfigMap", "settings");
    assert_eq!(live["data"], json!({"a": "1", "b": "edited"}));
    // The other way round: the cluster came closer to the manifest by itself.
    edit(&ws, "configmap/settings", &json!({"a": "9", "b": "2"}));
    edit(&ws, "configmap/banner", &json!({"text": "hello"}));
    let apply = follow(&ws, &[]);
    assert_eq!(apply.object("ConfigMap", "settings")["action"], "none", "{apply}");
}

#[test]
fn an_object_that_cannot_be_created_fails_for_its_own_reason() {
    let ws = changed();
    ws.write("deploy/job.yaml", "{apiVersion: batch/v1, kind: Job, metadata: {name: job}, spec: {parallelism: 1}}");
    save(&ws, &[]).exits_with(4);
    let apply = follow(&ws, &[]).exits_with(4);
    let outcomes =
        ["ConfigMap banner: unchanged", "ConfigMap new: created", "ConfigMap settings: updated", "Job job: skipped"];
    assert_eq!(apply.each("outcome"), outcomes, "{apply}");
    assert_eq!(apply.object("Job", "job")["error"]["reason"], "Invalid", "{apply}");
    assert!(!apply.stdout.contains("changed since the plan"), "{apply}");
}

#[test]
fn other_manifests_are_refused_by_name() {
    let ws = changed();
    save(&ws, &[]).exits_with(1);
    ws.write("deploy/settings.yaml", &SETTINGS.replaced("'1'", "'10'"));
    refused(&ws, &[], &ws.fill_in("the manifests are not those of the plan: `ConfigMap $NS/settings`"));
    ws.write("deploy/settings.yaml", &SETTINGS.replaced("'1'", "'9'"));
    fs::remove_file(ws.folder().join("deploy/new.yaml")).unwrap();
    refused(&ws, &[], "/new");
    ws.write("deploy/new.yaml", NEW);
    ws.write("deploy/more.yaml", &NEW.replaced("name: new", "name: more"));
    refused(&ws, &[], "/more");
}

#[test]
fn other_flags_another_cluster_and_other_versions_are_refused() {
    let ws = changed();
    save(&ws, &[]).exits_with(1);
    for (flags, name) in [
        (&["--force-conflicts"][..], "force-conflicts"),
        (&["--replace=immutable"], "replace"),
        (&["--adopt=helm"], "adopt"),
        (&["--field-manager=other"], "field-manager"),
        (&["--prune", "--applyset=set"], "applyset"),
    ] {
        refused(&ws, flags, &format!("the plan was made with another `--{name}`"));
    }
    follow(&ws, &["--dry-run"]).exits_with(2);
    let original = plan(&ws);
    tamper(&ws, |plan| plan["cluster"]["uid"] = "00000000-0000-0000-0000-000000000000".into());
    refused(&ws, &[], "the plan is for");
    ws.write("plan.json", &original.to_string());
    tamper(&ws, |plan| plan["tool"]["version"] = "99.0.0".into());
    refused(&ws, &[], "the plan was made by version 99.0.0");
    for text in ["", "{}", "[]", "kind: Plan", "{\"kind\": \"Report\"}"] {
        ws.write("plan.json", text);
        refused(&ws, &[], "not a plan");
    }
    ws.write(
        "deploy/.kubectl-reconcile.yaml",
        "apiVersion: kubectl-reconcile/v1\nkind: Config\ndefaults: {plan: plan.json}\n",
    );
    ws.reconcile(["apply", "-f", "deploy"]).exits_with(2);
}

/// Who writes the plan can only make `apply` do less.
#[test]
fn a_tampered_plan_makes_apply_do_less_and_nothing_else() {
    let ws = changed();
    save(&ws, &[]).exits_with(1);
    let original = plan(&ws);
    let value = |plan: &mut Value| {
        for planned in plan["objects"].as_array_mut().unwrap() {
            for change in planned["object"]["changes"].as_array_mut().unwrap() {
                change["desired"] = json!("evil");
            }
        }
    };
    let stray = |plan: &mut Value| {
        let mut planned = plan["objects"][0].clone();
        planned["object"]["name"] = "stray".into();
        planned["object"]["action"] = "delete".into();
        plan["objects"].as_array_mut().unwrap().push(planned);
    };
    ws.kubectl(["create", "configmap", "stray"]).exits_with(0);
    let before = ws.all_resource_versions();
    let edits: [(Edit<'_>, i32); 3] = [
        (&value, 4),
        (&|plan: &mut Value| plan["objects"] = json!([]), 4),
        (&|plan: &mut Value| plan["manifests"] = json!([]), 2),
    ];
    for (edit, code) in edits {
        ws.write("plan.json", &original.to_string());
        tamper(&ws, edit);
        let run = follow(&ws, &[]).exits_with(code);
        assert_eq!(ws.all_resource_versions(), before, "{run}");
    }
    ws.write("plan.json", &original.to_string());
    tamper(&ws, stray);
    follow(&ws, &[]).exits_with(0);
    assert!(ws.find("ConfigMap", "stray").is_some());
    assert_eq!(ws.get("ConfigMap", "settings")["data"]["a"], "9");
}

/// The namespace of the run makes the server ask about its objects once more, and not about those that are held already.
#[test]
fn what_a_plan_does_not_cover_stays_failed_when_its_namespace_is_new() {
    let ws = Workspace::new();
    let name = ws.fill_in("$NS-new");
    let secret =
        "{apiVersion: v1, kind: Secret, metadata: {name: login, namespace: $NS-new}, stringData: {password: a}}";
    ws.write(
        "deploy/all.yaml",
        &format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: $NS-new}}}}\n---\n{secret}\n"),
    );
    save(&ws, &[]).exits_with(1);
    let apply = follow(&ws, &[]).exits_with(4);
    assert_eq!(apply.object("Namespace", &name)["outcome"], "created", "{apply}");
    let left = apply.object("Secret", "login");
    assert_eq!((&left["outcome"], &left["reason"]), (&json!("failed"), &json!("not covered by the plan")), "{apply}");
    ws.kubectl(["delete", "namespace", &name, "--wait=false"]).exits_with(0);
}

#[test]
fn a_secret_is_done_only_if_nobody_has_written_it_since() {
    let ws = Workspace::new();
    let [first, second, third] = ["first-of-plan", "second-of-plan", "third-of-plan"].map(|value| ws.secret(value));
    let manifest = |value: &str| {
        ws.write(
            "deploy/login.yaml",
            &format!("{{apiVersion: v1, kind: Secret, metadata: {{name: login}}, stringData: {{password: {value}}}}}"),
        );
    };
    manifest(&first);
    ws.reconcile(["apply", "-f", "deploy"]).exits_with(0);
    manifest(&second);
    save(&ws, &[]).exits_with(1);
    let text = fs::read_to_string(ws.folder().join("plan.json")).unwrap();
    assert!(
        text.contains("notCovered") && ![&first, &second].iter().any(|value| text.contains(value.as_str())),
        "{text}"
    );
    ws.patch_as("kubectl-edit", "secret/login", &json!({"stringData": {"password": third}}));
    let keyed = |arguments: [&str; 5], key: &str| ws.env("KUBECTL_RECONCILE_PLAN_KEY", key).reconcile(arguments);
    follow(&ws, &[]).exits_with(4);
    // Without a key, nothing tells whether the hidden value is still the planned one.
    let plan = save(&ws, &[]).exits_with(1);
    let caveat = "the plan does not cover the hidden values of 1 object, which `apply --plan` leaves alone";
    assert!(plan.stderr.contains(caveat) && plan.report()["warnings"].to_string().contains(caveat), "{plan}");
    let left = follow(&ws, &[]).exits_with(4);
    assert_eq!(left.object("Secret", "login")["reason"], "not covered by the plan", "{left}");
    assert!(left.stdout.contains("`KUBECTL_RECONCILE_PLAN_KEY`"), "{left}");
    // A secret of a pipeline that is missing is an empty variable.
    for arguments in
        [["diff", "-f", "deploy", "--save-plan", "plan.json"], ["apply", "-f", "deploy", "--plan", "plan.json"]]
    {
        let empty = keyed(arguments, "").exits_with(2);
        assert!(empty.stderr.contains("`KUBECTL_RECONCILE_PLAN_KEY` is set and empty"), "{empty}");
    }
    keyed(["diff", "-f", "deploy", "--save-plan", "plan.json"], "a key").exits_with(1);
    let other = keyed(["apply", "-f", "deploy", "--plan", "plan.json"], "another key").exits_with(2);
    assert!(other.stderr.contains("not those of the plan, or the key is another one: "), "{other}");
    ws.patch_as("kubectl-edit", "secret/login", &json!({"stringData": {"password": first}}));
    keyed(["apply", "-f", "deploy", "--plan", "plan.json"], "a key").exits_with(4);
    keyed(["diff", "-f", "deploy", "--save-plan", "plan.json"], "a key").exits_with(1);
    keyed(["apply", "-f", "deploy", "--plan", "plan.json"], "a key").exits_with(0);

    // With a key, another value in the manifest is another manifest.
    manifest(&first);
    keyed(["diff", "-f", "deploy", "--save-plan", "plan.json"], "a key").exits_with(1);
    refused(&ws, &[], "the plan was made with a key");
    keyed(["apply", "-f", "deploy", "--plan", "plan.json"], "another key").exits_with(2);
    manifest(&third);
    let other = keyed(["apply", "-f", "deploy", "--plan", "plan.json"], "a key").exits_with(2);
    assert!(other.stderr.contains("the manifests are not those of the plan"), "{other}");
    manifest(&first);
    keyed(["apply", "-f", "deploy", "--plan", "plan.json"], "a key").exits_with(0);
    save(&ws, &[]).exits_with(0);
    let unkeyed = keyed(["apply", "-f", "deploy", "--plan", "plan.json"], "a key").exits_with(2);
    assert!(unkeyed.stderr.contains("the plan was made without a key"), "{unkeyed}");
}

/// A text that looks like the manifest of a Secret is one number, whoever wrote it.
#[test]
fn a_hidden_text_that_has_changed_since_the_plan_is_not_written() {
    let ws = Workspace::new();
    let manifest = |name: &str, admins: &str| {
        let text = format!("kind: Secret\\nstringData: {{a: b}}\\nadmins: [{admins}]\\n");
        let map =
            format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{config: \"{text}\"}}}}");
        ws.write(format!("deploy/{name}.yaml"), &map);
    };
    manifest("old", "none");
    ws.write("deploy/plain.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: plain}, data: {a: b}}");
    ws.reconcile(["apply", "-f", "deploy/old.yaml"]).exits_with(0);
    manifest("old", "alice");
    manifest("new", "alice");
    save(&ws, &[]).exits_with(1);
    for admins in ["mallory", "alice"] {
        manifest("old", admins);
        manifest("new", admins);
        let run = follow(&ws, &[]).exits_with(4);
        assert!(ws.find("ConfigMap", "new").is_none(), "{run}");
        assert!(ws.get("ConfigMap", "old")["data"]["config"].as_str().unwrap().contains("none"), "{run}");
        assert!(ws.find("ConfigMap", "plain").is_some(), "{run}");
    }
}

#[test]
fn only_the_deletions_of_the_plan_are_done() {
    let ws = changed();
    let set = ["--prune", "--applyset=set"];
    ws.reconcile([&["apply", "-f", "deploy"], &set[..]].concat()).exits_with(0);
    fs::remove_file(ws.folder().join("deploy/new.yaml")).unwrap();
    save(&ws, &set).exits_with(1);
    // Another member that no manifest names appears after the review.
    let label = ws.get("ConfigMap", "banner")["metadata"]["labels"]["applyset.kubernetes.io/part-of"].clone();
    ws.apply_as("kubectl-reconcile", &json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "late", "namespace": ws.namespace(), "labels": {"applyset.kubernetes.io/part-of": label}},
    }).to_string());
    let apply = follow(&ws, &set).exits_with(4);
    assert_eq!(ws.find("ConfigMap", "new"), None, "{apply}");
    assert!(ws.find("ConfigMap", "late").is_some(), "{apply}");
    assert_eq!(apply.object("ConfigMap", "late")["reason"], "changed since the plan");
    // The set still has it, for the next plan.
    save(&ws, &set).exits_with(1);
    follow(&ws, &set).exits_with(0);
    assert_eq!(ws.find("ConfigMap", "late"), None);
}

/// A deletion that is under way changes the version of its object.
#[test]
fn a_plan_is_followed_again_while_its_own_deletion_is_under_way() {
    let ws = changed();
    let set = ["--prune", "--applyset=set"];
    ws.reconcile([&["apply", "-f", "deploy"], &set[..]].concat()).exits_with(0);
    ws.patch_as("test", "configmap/new", &json!({"metadata": {"finalizers": ["example.com/wait"]}}));
    fs::remove_file(ws.folder().join("deploy/new.yaml")).unwrap();
    save(&ws, &set).exits_with(1);
    for _ in 0..2 {
        let apply = follow(&ws, &[&set[..], &["--wait", "--timeout=1s"]].concat()).exits_with(4);
        assert_eq!(apply.object("ConfigMap", "new")["outcome"], "terminating", "{apply}");
    }
    let diff = ws.reconcile([&["diff", "-f", "deploy"], &set[..]].concat()).exits_with(1);
    assert!(diff.stdout.contains("no longer in the manifests, and being deleted already"), "{diff}");
    ws.patch_as("test", "configmap/new", &json!({"metadata": {"finalizers": null}}));
    follow(&ws, &set).exits_with(0);
}

#[test]
fn a_definition_and_its_objects_are_one_plan() {
    let ws = Workspace::new();
    let widget = "
apiVersion: $NS.example.com/v1
kind: Widget
metadata: {name: one}
spec: {size: 3}
";
    ws.write("deploy/all.yaml", &[&definition("Widget", ANY_FIELDS), widget].join("---"));
    save(&ws, &[]).exits_with(1);
    follow(&ws, &[]).exits_with(0);
    ws.reconcile(["diff", "-f", "deploy"]).exits_with(0);
}

/// What a plan says about versions and conflicts is compared with what is there: another text makes `apply` do less.
#[test]
fn versions_and_conflicts_of_a_plan_cannot_be_forged() {
    let ws = changed();
    let [first, second] = ["first-of-forged-plan", "second-of-forged-plan"].map(|value| ws.secret(value));
    let login = |value: &str| {
        let manifest =
            format!("{{apiVersion: v1, kind: Secret, metadata: {{name: login}}, stringData: {{password: {value}}}}}");
        ws.write("deploy/login.yaml", &manifest);
    };
    login(&first);
    ws.reconcile(["apply", "-f", "deploy/login.yaml"]).exits_with(0);
    login(&second);
    save(&ws, &[]).exits_with(1);
    let original = plan(&ws);
    let version = ws.get("Secret", "login")["metadata"]["resourceVersion"].clone();
    let with = |plan: &mut Value, kind: &str, edit: &dyn Fn(&mut Value)| {
        let objects = plan["objects"].as_array_mut().unwrap().iter_mut();
        objects.filter(|planned| planned["object"]["kind"] == kind).for_each(edit);
    };
    let forged_version = |planned: &mut Value| planned["object"]["resourceVersion"] = "1".into();
    let forged_uid = |planned: &mut Value| planned["uid"] = "00000000-0000-0000-0000-000000000000".into();
    for edit in [&forged_version as &dyn Fn(&mut Value), &forged_uid] {
        ws.write("plan.json", &original.to_string());
        tamper(&ws, |plan| with(plan, "Secret", edit));
        let run = follow(&ws, &[]).exits_with(4);
        assert_eq!(run.object("Secret", "login")["outcome"], "failed", "{run}");
        assert_eq!(ws.get("Secret", "login")["metadata"]["resourceVersion"], version, "{run}");
    }

    // A conflict that the plan does not have is not taken over, and one that is not there changes the result.
    ws.patch_as("a-controller", "configmap/settings", &json!({"data": {"a": "theirs"}}));
    let before = ws.get("ConfigMap", "settings")["data"].clone();
    save(&ws, &[]);
    let original = plan(&ws);
    for conflicts in [json!([]), json!(["twice"])] {
        ws.write("plan.json", &original.to_string());
        tamper(&ws, |plan| {
            with(plan, "ConfigMap", &|planned: &mut Value| {
                let own = planned["object"]["conflicts"].clone();
                let forged = match conflicts.as_array().map(Vec::len) {
                    Some(0) => json!([]),
                    _ => own.as_array().unwrap().iter().chain(own.as_array().unwrap()).cloned().collect(),
                };
                planned["object"]["conflicts"] = forged;
            });
        });
        let run = follow(&ws, &[]).exits_with(4);
        assert_eq!(ws.get("ConfigMap", "settings")["data"], before, "{run}");
    }
}
