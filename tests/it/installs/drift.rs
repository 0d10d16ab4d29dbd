//! Random changes of live objects by hand: one leaf each.

use std::fmt;

use serde_json::{Value, json};

use super::figures::Id;
use super::owned::{Leaf, leaves};
use crate::control_plane::{Api, Resource};
use crate::generated::Rng;

/// Who changes the objects, as their managed fields have it.
pub const MANUAL: &str = "kubectl-patch";
const OURS: &str = "kubectl-reconcile";
/// The server refuses some changes, and takes others without effect: how many leaves of an object are tried.
const ATTEMPTS: usize = 12;

/// An object, and its manifest as the report of its creation has it.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub object: Id,
    pub manifest: Value,
}

impl Wanted {
    pub fn of(object: &Value) -> Wanted {
        let mut manifest = object["changes"][0]["desired"].clone();
        // The server keeps `stringData` as `data`.
        if let (Some(Value::Object(texts)), "Secret") =
            (manifest.get("stringData").cloned(), object["kind"].as_str().unwrap_or_default())
        {
            texts.into_iter().for_each(|(key, value)| manifest["data"][key] = value);
        }
        Wanted { object: Id::of(object), manifest }
    }
}

/// A change that took effect.
#[derive(Debug, Clone)]
pub struct Drift {
    pub object: Id,
    pub leaf: Leaf,
    pub removed: bool,
}

/// Changes one leaf of the object, or nothing where the server has it otherwise.
pub fn change(api: &Api, resources: &[Resource], wanted: &Wanted, rng: &mut Rng) -> Option<Drift> {
    let Wanted { object, manifest } = wanted;
    let path = object.path(resources);
    let live = api.find(&path)?;
    let candidates: Vec<Leaf> =
        leaves(&live, manifest, OURS).into_iter().filter(|leaf| !is_spared(object, leaf)).collect();
    for _ in 0..ATTEMPTS.min(candidates.len() * 2) {
        let leaf = rng.pick(&candidates).clone();
        let before = live.pointer(&leaf.pointer)?;
        let removed = rng.chance(15);
        let operation = if removed {
            json!({"op": "remove", "path": leaf.pointer})
        } else {
            json!({"op": "replace", "path": leaf.pointer, "value": another(object, &leaf, before)})
        };
        let Ok(after) = api.json_patch(&format!("{path}?fieldManager={MANUAL}"), &json!([operation])) else { continue };
        if after.pointer(&leaf.pointer) != Some(before) {
            return Some(Drift { object: object.clone(), leaf, removed });
        }
    }
    None
}

/// Leaves whose change would take the ground from under other objects, which are to stay comparable.
fn is_spared(object: &Id, leaf: &Leaf) -> bool {
    let describes =
        ["metadata.", "spec.versions[0].additionalPrinterColumns"].iter().any(|place| leaf.path.starts_with(place))
            || leaf.path.ends_with(".description");
    // The token controller deletes the Secrets of accounts that do not exist.
    let is_account = leaf.path.contains("kubernetes.io/service-account.name");
    (object.kind == "CustomResourceDefinition" && !describes) || is_account
}

fn another(object: &Id, leaf: &Leaf, value: &Value) -> Value {
    match value {
        Value::String(_) if object.kind == "Secret" && leaf.path.starts_with("data") => json!("Y2hhbmdlZA=="),
        // Versions, quantities, durations and schedules stay what they are.
        Value::String(text) if text.starts_with(|c: char| c.is_ascii_digit()) => {
            let digit = text.bytes().next().map_or(1, |first| (first - b'0') % 9 + 1);
            json!(format!("{digit}{}", &text[1..]))
        }
        Value::String(text) => json!(format!("{text}x")),
        Value::Number(number) => json!(number.as_i64().unwrap_or(1) + 1),
        Value::Bool(flag) => json!(!flag),
        other => other.clone(),
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} of {} of {}", if self.removed { "removal" } else { "change" }, self.leaf.path, self.object)
    }
}
