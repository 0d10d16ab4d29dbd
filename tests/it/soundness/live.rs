//! Random changes of a live object, by others and in all the ways in which the API lets them write.

use http::Method;
use reconcile_core::live::Target;
use serde_json::{Value, json};

use super::OURS;
use super::manifest;
use crate::generated::{Ground, Rng, path_of, resource_of};

const MANAGERS: [&str; 5] = ["kubectl-edit", "gitops", "robot", "kubectl-client-side-apply", OURS];

/// Writes to the live object as somebody; a refusal changes nothing. Says how.
pub async fn change(ground: &Ground, target: &Target, live: &Value, rng: &mut Rng) -> &'static str {
    let url = path_of(target);
    let manager = *rng.pick(&MANAGERS);
    let wanted = target.desired.object();
    match rng.below(12) {
        0 | 1 => {
            let by = *rng.pick(&["gitops", "robot"]);
            let mut theirs = part(wanted, rng);
            if rng.chance(40) {
                manifest::change(ground, target, &mut theirs, rng);
            }
            let force = if rng.chance(50) { "&force=true" } else { "" };
            let _ = ground.apply(target, &theirs, by, force).await;
            "applied by another"
        }
        2 => {
            let mut ours = wanted.clone();
            manifest::change(ground, target, &mut ours, rng);
            let _ = ground.apply(target, &ours, OURS, "&force=true").await;
            "applied by us otherwise"
        }
        3..=5 => {
            let mut object = live.clone();
            manifest::change(ground, target, &mut object, rng);
            let query = format!("{url}?fieldManager={manager}");
            let _ = ground.call(Method::PUT, &query, "application/json", &object).await;
            "replaced"
        }
        6 | 7 => {
            let mut object = live.clone();
            manifest::replace(&mut object, rng, "changed", manifest::changed);
            let query = format!("{url}?fieldManager={manager}");
            let patch = difference(live, &object);
            let _ = ground.call(Method::PATCH, &query, "application/merge-patch+json", &patch).await;
            "patched"
        }
        8 => {
            let patch = json!({"metadata": {"labels": {"theirs": "x"}, "annotations": {"example.com/theirs": "y"}}});
            let query = format!("{url}?fieldManager={manager}");
            let _ = ground.call(Method::PATCH, &query, "application/merge-patch+json", &patch).await;
            "labelled"
        }
        9 if resource_of(target).status => {
            let patch = json!({"status": {"observedGeneration": 1, "phase": "Active", "replicas": 2}});
            let query = format!("{url}/status?fieldManager={manager}");
            let _ = ground.call(Method::PATCH, &query, "application/merge-patch+json", &patch).await;
            "status written"
        }
        10 => {
            let patch = json!({"spec": {"replicas": 1 + rng.below(4)}});
            let query = format!("{url}/scale?fieldManager={manager}");
            let _ = ground.call(Method::PATCH, &query, "application/merge-patch+json", &patch).await;
            "scaled"
        }
        _ => {
            let entries = live["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
            let kept: Vec<Value> = match rng.below(3) {
                0 => vec![json!({})],
                1 => entries.into_iter().filter(|entry| entry["manager"] != OURS).collect(),
                _ => entries.into_iter().filter(|entry| entry["manager"] == OURS).collect(),
            };
            let patch = json!([{"op": "replace", "path": "/metadata/managedFields", "value": kept}]);
            let _ = ground.call(Method::PATCH, &url, "application/json-patch+json", &patch).await;
            "owners rewritten"
        }
    }
}

/// The manifest without some of its fields.
fn part(manifest: &Value, rng: &mut Rng) -> Value {
    let mut part = manifest.clone();
    for _ in 0..rng.below(6) {
        let places = manifest::places(&part);
        let Some(place) = places.get(rng.below(places.len().max(1))) else { break };
        if place.matches('/').count() > 2 {
            manifest::remove(&mut part, place);
        }
    }
    part
}

/// A merge patch from one object to the other; lists are replaced.
fn difference(from: &Value, to: &Value) -> Value {
    let (Value::Object(a), Value::Object(b)) = (from, to) else { return to.clone() };
    let changed = b.iter().filter(|(name, value)| a.get(*name) != Some(value));
    changed
        .map(|(name, value)| (name.clone(), a.get(name).map_or_else(|| value.clone(), |old| difference(old, value))))
        .collect()
}
