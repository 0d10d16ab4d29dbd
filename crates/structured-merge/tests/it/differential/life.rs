use std::collections::BTreeMap;

use serde_json::{Value, json};
use test_control_plane::Rng;

use super::case::Case;
use super::kinds::Kind;
use super::reference::{Outcome, Reference};
use super::shrink::shrunk;
use super::tally::Tally;
use super::values::Values;

/// Managers that apply. `both` also updates.
const APPLIERS: [&str; 4] = ["us", "a", "b", "both"];
const UPDATERS: [&str; 3] = ["u", "v", "both"];

/// The random life of one object, which several managers write.
pub struct Life<'a> {
    kind: &'a Kind,
    rng: &'a mut Rng,
    reference: &'a mut Reference,
    tally: &'a mut Tally,
    live: Option<Value>,
    /// The manifest that each manager applied last.
    applied: BTreeMap<&'static str, Value>,
}

impl<'a> Life<'a> {
    pub fn new(kind: &'a Kind, rng: &'a mut Rng, reference: &'a mut Reference, tally: &'a mut Tally) -> Self {
        Self { kind, rng, reference, tally, live: None, applied: BTreeMap::new() }
    }

    /// Runs a number of applies.
    pub fn applies(&mut self, number: usize) {
        for _ in 0..number {
            match self.rng.below(100) {
                0..=24 => self.update(),
                25..=29 => self.tamper(),
                30..=32 => self.live = None,
                _ => {}
            }
            self.apply();
        }
    }

    fn values(&mut self) -> Values<'_> {
        Values { kind: self.kind, rng: self.rng }
    }

    fn apply(&mut self) {
        let manager = *self.rng.pick(&APPLIERS);
        let last = self.applied.get(manager).cloned();
        let live = self.live.clone();
        let manifest = match (self.rng.below(10), last, live) {
            (0..=1, Some(last), _) => last,
            (2..=5, Some(last), _) => self.values().changed(&last),
            (6..=7, _, Some(live)) => self.values().part(&live),
            (8, _, Some(live)) => {
                let part = self.values().part(&live);
                self.values().changed(&part)
            }
            _ => self.values().object(),
        };
        let case = Case { live: self.live.clone(), manifest, manager: manager.to_owned() };
        match case.check(self.kind, self.reference, self.tally) {
            Ok(None) => {}
            Ok(after @ Some(_)) => {
                self.live = after;
                self.applied.insert(manager, case.manifest);
            }
            Err(difference) => {
                let (small, difference) = shrunk(case, difference, self.kind, self.reference);
                let text = |value: &Value| serde_json::to_string(value).expect("JSON");
                panic!(
                    "an apply by {} differs from structured-merge-diff: {difference}\n manifest: {}\n live: {}\n kind: {}",
                    small.manager,
                    text(&small.manifest),
                    small.live.as_ref().map_or_else(String::new, text),
                    if self.kind.is_built_in {
                        self.kind.name.clone()
                    } else {
                        text(&self.kind.schemas()["com.example.v1.Gauge"]["properties"]["spec"])
                    },
                );
            }
        }
    }

    fn update(&mut self) {
        let manager = *self.rng.pick(&UPDATERS);
        let mut object = match self.live.clone() {
            Some(live) => self.values().changed(&live),
            None => self.values().object(),
        };
        if self.rng.chance(15) {
            let at = self.rng.below(10);
            repeat_an_item(&mut object, at);
        }
        if let Outcome::Written(after) = self.reference.update(self.live.as_ref(), &object, manager) {
            self.live = Some(after);
        }
    }

    /// Changes `managedFields`, as another client could.
    fn tamper(&mut self) {
        let Some(live) = &mut self.live else { return };
        let spec = live["spec"].clone();
        let Some(entries) = live["metadata"]["managedFields"].as_array_mut() else { return };
        if entries.is_empty() || self.rng.chance(10) {
            live["metadata"].as_object_mut().expect("a map").remove("managedFields");
            return;
        }
        let at = self.rng.below(entries.len());
        if self.rng.chance(20) {
            entries.remove(at);
        } else if self.rng.chance(30) && entries.iter().all(|entry| entry["subresource"].is_null()) {
            entries[at]["subresource"] = "scale".into();
        } else if let Some(fields) = entries.get_mut(at).and_then(|entry| entry["fieldsV1"].get_mut("f:spec")) {
            match self.rng.below(4) {
                0 => *fields = json!({}),
                // An entry from before a value became one that is replaced as a whole.
                1 | 2 => *fields = old_record(&spec),
                _ => {
                    if let Some(name) = fields.as_object().and_then(|fields| fields.keys().next().cloned()) {
                        fields.as_object_mut().expect("a map").remove(&name);
                    }
                }
            }
        }
    }
}

/// The fields of a value, down to the scalars of maps.
fn old_record(value: &Value) -> Value {
    let fields = value.as_object().into_iter().flatten();
    Value::Object(fields.map(|(name, child)| (format!("f:{name}"), old_record(child))).collect())
}

/// Duplicates an item in a list of an object, which no apply would do.
fn repeat_an_item(value: &mut Value, skip: usize) -> Option<usize> {
    match value {
        Value::Object(map) => map.values_mut().try_fold(skip, |skip, child| repeat_an_item(child, skip)),
        Value::Array(items) if items.len() > skip => {
            items.push(items[skip].clone());
            None
        }
        _ => Some(skip.saturating_sub(1)),
    }
}
