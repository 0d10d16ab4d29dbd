//! Every drift has two ends: the manifest takes over what somebody changed, or the cluster goes back to the manifest.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::drift::{Drift, MANUAL, Wanted, change};
use super::figures::{Figures, Id, objects};
use super::fresh::{in_sync, writes_nothing};
use crate::control_plane::{Run, Workspace};
use crate::generated::Rng;

/// Part of the drifts that is pulled, if it can be.
const PULLED_PERCENT: usize = 60;
/// The refusals that are right here; these drifts are healed by `apply`.
const REFUSALS: [&str; 2] = [
    "secret values are not written into manifests",
    "two items of the live list have the same key, which no manifest may have",
];

/// Changes a leaf of each object by hand, pulls some of the changes into the manifests, and applies the others.
pub fn end_both_ways(ws: &Workspace, wanted: &[Wanted], rng: &mut Rng, figures: &mut Figures) {
    let api = ws.plane().api();
    let resources = api.resources();
    without_templates(ws);
    let drifts: Vec<Drift> = wanted.iter().filter_map(|wanted| change(api, &resources, wanted, rng)).collect();
    let chosen: Vec<&Drift> = drifts.iter().filter(|_| rng.chance(PULLED_PERCENT)).collect();
    let pulled = pulled(ws, &chosen, figures);

    let run = ws.reconcile(["diff", "-f", "."]);
    for object in objects(&run) {
        let id = Id::of(object);
        let is_left = |change: &&Value| change["class"] == "pending";
        let left: Vec<&Value> = object["changes"].as_array().into_iter().flatten().filter(is_left).collect();
        figures.check(!pulled.contains(&id) || left.is_empty(), || {
            format!("{id} was pulled, and differs still: {left:?}")
        });
        let drifts = drifts.iter().any(|drift| drift.object == id) && !pulled.contains(&id);
        let action = object["action"].as_str().unwrap_or_default();
        figures
            .check((action == "none") != drifts, || format!("{action} is left to do for {id} after a pull: {object}"));
    }
    let taken: Vec<&Drift> = drifts.iter().filter(|drift| pulled.contains(&drift.object)).collect();
    let value = |drift: &Drift| api.find(&drift.object.path(&resources))?.pointer(&drift.leaf.pointer).cloned();
    let before: Vec<Option<Value>> = taken.iter().map(|drift| value(drift)).collect();

    let run = ws.reconcile(["apply", "-f", "."]);
    figures.check_exit(&run, 0);
    in_sync(ws, figures);
    writes_nothing(ws, figures);
    for (drift, before) in taken.iter().zip(before) {
        figures.check(value(drift) == before, || format!("an apply takes back {drift} after it was pulled"));
    }
    figures.pulled = taken.len();
    figures.applied = drifts.len() - taken.len();
}

/// Takes the names of templates out of the manifests: somebody has committed what Helm rendered.
fn without_templates(ws: &Workspace) {
    for (file, text) in texts(ws) {
        let lines = text.split_inclusive('\n').filter(|line| !line.starts_with("# Source: "));
        ws.write(file, &lines.collect::<String>());
    }
}

/// Pulls the changes of some objects, and returns the objects whose manifests have all of them.
fn pulled(ws: &Workspace, chosen: &[&Drift], figures: &mut Figures) -> Vec<Id> {
    let names = |drifts: &[&Drift]| {
        let name = |drift: &&Drift| match &drift.object {
            Id { group, kind, name, .. } if group.is_empty() => format!("{kind}/{name}"),
            Id { group, kind, name, .. } => format!("{kind}.{group}/{name}"),
        };
        drifts.iter().map(name).collect::<Vec<_>>().join(",")
    };
    let texts = texts(ws);
    let objects = format!("--object={}", names(chosen));
    let run = ws.reconcile(["pull", "-f", ".", "-o", "json", "--class=changedByOther,conflict,absent", &objects]);
    let mut report = changes_of(&run, figures);
    // Another value of a key makes another item, which the manifest does not have.
    let keys: Vec<&Drift> = chosen.iter().filter(|drift| drift.leaf.is_key).copied().collect();
    if !keys.is_empty() {
        let objects = format!("--object={}", names(&keys));
        let manager = format!("--manager={MANUAL}");
        let run = ws.reconcile(["pull", "-f", ".", "-o", "json", "--class=unmanaged", &objects, &manager]);
        report.extend(changes_of(&run, figures));
    }
    check_lines(ws, &texts, &report, figures);
    let is_pulled = |id: &&Id| report.iter().filter(|change| change.object == **id).all(|change| change.accepted);
    let mut ids: Vec<Id> = report.iter().map(|change| &change.object).filter(is_pulled).cloned().collect();
    ids.dedup();
    ids
}

/// A change that was chosen.
struct Change {
    object: Id,
    file: String,
    accepted: bool,
    /// Lines of its values.
    lines: usize,
    /// Words of its path and its values.
    words: Vec<String>,
}

fn changes_of(run: &Run, figures: &mut Figures) -> Vec<Change> {
    let Ok(report) = serde_json::from_str::<Value>(&run.stdout) else {
        figures.check(false, || format!("no report of {run}"));
        return Vec::new();
    };
    let mut found = Vec::new();
    for object in report["objects"].as_array().unwrap() {
        for change in object["changes"].as_array().unwrap() {
            let reason = change["reason"].as_str();
            let is_known = reason.is_some_and(|reason| REFUSALS.contains(&reason));
            figures.check(change["accepted"] == true || is_known, || {
                format!("{} is not pulled: {change}", Id::of(object))
            });
            let lines = |value: &Value| match value {
                Value::String(text) => text.lines().count(),
                value => serde_json::to_string_pretty(value).unwrap_or_default().lines().count(),
            };
            found.push(Change {
                object: Id::of(object),
                file: object["source"]["file"].as_str().unwrap_or_default().to_owned(),
                accepted: change["accepted"] == true,
                lines: lines(&change["live"]) + lines(&change["desired"]),
                words: words_of(change),
            });
        }
    }
    figures.check_exit(run, if found.iter().all(|change| change.accepted) { 0 } else { 4 });
    found
}

/// The words of a change, without escapes.
fn words_of(change: &Value) -> Vec<String> {
    fn collect(value: &Value, text: &mut String) {
        match value {
            Value::String(own) => text.push_str(own),
            Value::Array(items) => items.iter().for_each(|item| collect(item, text)),
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                text.push_str(key);
                text.push(' ');
                collect(value, text);
            }),
            other => text.push_str(&other.to_string()),
        }
        text.push(' ');
    }
    let mut text = String::new();
    for part in ["path", "live", "desired"] {
        collect(&change[part], &mut text);
    }
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    text.split(|character| !is_part(character)).filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
}

/// The texts of the manifests, by file.
fn texts(ws: &Workspace) -> BTreeMap<String, String> {
    let files = fs::read_dir(ws.folder()).expect("the manifests").map(|entry| entry.expect("a manifest").path());
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.map(|path| (name(&path), fs::read_to_string(&path).expect("a manifest"))).collect()
}

/// Lines that belong to no change are as they were, and a changed line keeps its key.
fn check_lines(ws: &Workspace, before: &BTreeMap<String, String>, changes: &[Change], figures: &mut Figures) {
    let after = texts(ws);
    figures.check(before.keys().eq(after.keys()), || format!("other files: {:?}", after.keys()));
    for (file, old) in before {
        let own: Vec<&Change> =
            changes.iter().filter(|change| change.accepted && change.file.trim_start_matches("./") == file).collect();
        let hunks = hunks(ws, file, old);
        let lines: usize = hunks.iter().map(|(old, new)| old.len() + new.len()).sum();
        let expected: usize = own.iter().map(|change| change.lines + 2).sum();
        // A text may change at its header and at its end.
        figures.check(hunks.len() <= 2 * own.len() && lines <= expected, || {
            format!("{lines} lines of {file} change with {} values: {hunks:#?}", own.len())
        });
        // Every word of a changed line is one of a value that was pulled, or a key of its path.
        let words = |text: &str| -> Vec<String> {
            let is_part = |character: char| character.is_alphanumeric() || character == '_';
            text.split(|character| !is_part(character)).filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
        };
        let known: BTreeSet<&str> = own.iter().flat_map(|change| &change.words).map(String::as_str).collect();
        for line in hunks.iter().flat_map(|(old, new)| new.iter().filter(|line| !old.contains(line))) {
            let strange: Vec<String> = words(line)
                .into_iter()
                .filter(|word| !known.contains(word.as_str()) && !old.contains(word.as_str()))
                .collect();
            figures.check(strange.is_empty(), || format!("{file}: {strange:?} of {line:?} come from no pulled value"));
        }
        let key = |line: &str| line.split_once(": ").map(|(key, _)| key.to_owned());
        for (old, new) in hunks.iter().filter(|(old, new)| old.len() == 1 && new.len() == 1) {
            let both = key(&old[0]).zip(key(&new[0]));
            figures.check(both.is_none_or(|(old, new)| old == new), || format!("{file}: {old:?} became {new:?}"));
        }
    }
}

/// The lines that a file had and those that it has instead, for each place that differs.
fn hunks(ws: &Workspace, file: &str, old: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let former = ws.home().join("former.yaml");
    fs::write(&former, old).expect("a copy of a manifest");
    let diff = Command::new("diff").args(["-d", "-U0"]).arg(&former).arg(ws.folder().join(file)).output();
    let diff = String::from_utf8(diff.expect("diff, which kubectl uses as well").stdout).expect("text");
    let mut hunks: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for line in diff.lines().skip(2) {
        if line.starts_with("@@") {
            hunks.push(Default::default());
        } else if let (Some((old, new)), Some((sign, text))) = (hunks.last_mut(), line.split_at_checked(1)) {
            match sign {
                "-" => old.push(text.to_owned()),
                "+" => new.push(text.to_owned()),
                _ => {}
            }
        }
    }
    hunks
}
