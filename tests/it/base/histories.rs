//! Random histories of an object: who moved a field last is known to the test, and the side that is reported is never wrong.
//!
//! `SIDE_HISTORIES` says how many histories there are.

use std::collections::BTreeMap;

use serde_json::json;

use crate::control_plane::{Rng, Run, Workspace};

/// The fields that move, each with its value; `None` if it is not set.
pub type Fields = BTreeMap<&'static str, Option<String>>;

/// The paths of the fields, as reports name them.
pub const PATHS: [(&str, &str); 5] = [
    ("image", "spec.template.spec.containers[name=web].image"),
    ("replicas", "spec.replicas"),
    ("label", "metadata.labels.tier"),
    ("note", "metadata.annotations.note"),
    ("log", "spec.template.spec.containers[name=web].env[name=LOG].value"),
];

pub fn manifest(fields: &Fields) -> String {
    let value = |name: &str| fields[name].as_deref();
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"app": "web"}, "annotations": {"fixed": "yes"}},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [
            {"name": "web", "image": value("image").unwrap(), "env": [{"name": "FIXED", "value": "yes"}, {"name": "LOG", "value": value("log").unwrap()}]},
        ]}}},
    });
    if let Some(replicas) = value("replicas") {
        object["spec"]["replicas"] = json!(replicas.parse::<u32>().unwrap());
    }
    if let Some(label) = value("label") {
        object["metadata"]["labels"]["tier"] = json!(label);
    }
    if let Some(note) = value("note") {
        object["metadata"]["annotations"]["note"] = json!(note);
    }
    object.to_string()
}

pub fn random(rng: &mut Rng, name: &str) -> Option<String> {
    let number = 1 + rng.below(4);
    match name {
        "replicas" => rng.chance(80).then(|| number.to_string()),
        "label" | "note" => rng.chance(70).then(|| format!("v{number}")),
        _ => Some(format!("v{number}")),
    }
}

/// The first write: one of the ways in which a manifest comes into the cluster.
pub fn create(ws: &Workspace, rng: &mut Rng) -> &'static str {
    match rng.below(5) {
        0 => {
            ws.kubectl(["create", "-f", "old.yaml"]).exits_with(0);
            "create"
        }
        1 => {
            ws.kubectl(["apply", "-f", "old.yaml"]).exits_with(0);
            "apply"
        }
        2 => {
            ws.kubectl(["apply", "--server-side", "-f", "old.yaml"]).exits_with(0);
            "server-side"
        }
        3 => {
            ws.kubectl(["create", "--field-manager", "helm", "-f", "old.yaml"]).exits_with(0);
            "helm"
        }
        _ => {
            ws.reconcile(["apply", "-f", "old.yaml"]).exits_with(0);
            "ours"
        }
    }
}

/// One write by somebody else.
pub fn change(ws: &Workspace, rng: &mut Rng, live: &mut Fields) -> String {
    let number = 1 + rng.below(4);
    let text = format!("v{number}");
    match rng.below(7) {
        0 => {
            ws.kubectl(["set", "image", "deployment/web", &format!("web={text}")]).exits_with(0);
            live.insert("image", Some(text));
            "set image".to_owned()
        }
        1 => {
            ws.scale("deployment/web", u32::try_from(number).unwrap());
            live.insert("replicas", Some(number.to_string()));
            "scale".to_owned()
        }
        2 => {
            ws.kubectl(["label", "--overwrite", "deployment/web", &format!("tier={text}")]).exits_with(0);
            live.insert("label", Some(text));
            "label".to_owned()
        }
        3 => {
            ws.kubectl(["label", "deployment/web", "tier-"]).exits_with(0);
            live.insert("label", None);
            "label-".to_owned()
        }
        4 => {
            ws.kubectl(["set", "env", "deployment/web", &format!("LOG={text}")]).exits_with(0);
            live.insert("log", Some(text));
            "set env".to_owned()
        }
        5 => {
            ws.patch_as("some-controller", "deployment/web", &json!({"metadata": {"annotations": {"note": text}}}));
            live.insert("note", Some(text));
            "controller".to_owned()
        }
        _ => {
            let part = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": ws.namespace(), "annotations": {"note": text}}});
            ws.apply_as("other-applier", &part.to_string());
            live.insert("note", Some(text));
            "other applier".to_owned()
        }
    }
}

fn effective(name: &str, value: Option<&String>) -> Option<String> {
    // The server sets this default.
    let value = value.cloned();
    if name == "replicas" { Some(value.unwrap_or_else(|| "1".to_owned())) } else { value }
}

fn side_of(run: &Run, path: &str) -> Option<String> {
    let object = run.object("Deployment", "web");
    let change =
        object["changes"].as_array()?.iter().find(|change| change["path"] == path && change.get("side").is_some())?;
    change["side"].as_str().map(ToOwned::to_owned)
}

/// Returns true if a field is still owned by the client that made the object: its record does not say that nobody has written it since.
fn is_of_maker(run: &Run, path: &str) -> bool {
    let managers = run.change("Deployment", "web", path)["managers"].as_array().cloned().unwrap_or_default();
    managers.iter().any(|owner| ["kubectl-create", "helm", "kubectl"].contains(&owner["manager"].as_str().unwrap()))
}

#[expect(clippy::print_stdout, reason = "for those who run many histories, with `--nocapture`")]
#[test]
fn the_side_of_a_random_history_is_never_wrong() {
    let histories = std::env::var("SIDE_HISTORIES").ok().and_then(|count| count.parse().ok()).unwrap_or(12);
    let (mut seen, mut either) = (0, 0);
    for seed in 0..histories {
        let rng = &mut Rng::new(seed);
        let ws = Workspace::new();
        let base: Fields = PATHS.iter().map(|(name, _)| (*name, random(rng, name))).collect();
        ws.write("old.yaml", &manifest(&base));
        let mut story = vec![create(&ws, rng).to_owned()];
        let mut live: Fields = base.iter().map(|(name, value)| (*name, effective(name, value.as_ref()))).collect();
        for _ in 0..rng.below(4) {
            story.push(change(&ws, rng, &mut live));
        }
        let mut desired = base.clone();
        for (name, _) in PATHS {
            if rng.chance(40) {
                desired.insert(name, random(rng, name));
            }
        }
        ws.write("new.yaml", &manifest(&desired));
        let with = ws.reconcile(["diff", "-f", "new.yaml", "--base", "old.yaml"]);
        let without = ws.reconcile(["diff", "-f", "new.yaml"]);
        for (name, path) in PATHS {
            let (b, l, d) =
                (effective(name, base[name].as_ref()), &live[name], effective(name, desired[name].as_ref()));
            let about = format!("seed {seed}, {story:?}, {name}: base {b:?}, live {l:?}, manifest {d:?}\n{with}");
            // What no manifest has any more stays, unless we applied it.
            if let Some(side) = side_of(&with, path) {
                let expected = match (*l == b, d == b) {
                    (true, false) => "manifest",
                    (false, true) => "cluster",
                    (false, false) => "both",
                    (true, true) => panic!("nobody changed it: {about}"),
                };
                assert_eq!(side, expected, "{about}");
            } else if desired[name].is_some() {
                assert_eq!(*l, d, "it differs, and is not shown: {about}");
            }
            if let Some(side) = side_of(&without, path) {
                seen += 1;
                match side.as_str() {
                    "manifest" => assert_ne!(d, b, "{about}\n{without}"),
                    // Another owner may keep the value that was applied last, and an apply takes it from them.
                    "cluster" if is_of_maker(&without, path) => {}
                    "cluster" => assert_ne!(*l, b, "{about}\n{without}"),
                    _ => either += 1,
                }
            }
        }
        assert!([0, 1, 4].contains(&with.code), "{story:?}: {with}");
    }
    println!("without a base, the side of {either} of {seen} differences is not known");
}
