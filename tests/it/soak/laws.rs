//! What has to hold of the commands that work on more than one state of the cluster: `pull` and the `diff` after it, a plan and its
//! `apply`, a baseline and its `diff`; and of those that only read: `blame` and `--from last-applied`.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use structured_merge::{GroupVersionKind, LAST_APPLIED, ObjectKey, managed_fields};

use super::checks::touched_by_others;
use super::probe::{ends_with, moved, objects, pass, run, versions};
use super::tally::Tally;
use super::world::{Item, World, is_terminating};
use super::writers::apply_client_side;
use crate::control_plane::Rng;
use crate::generated::{resource_of, wait_for};

/// How many objects `blame` shows in each cycle.
const BLAMED: usize = 4;
/// How many objects client-side apply writes in each cycle.
const APPLIED_BY_KUBECTL: usize = 3;

/// The file that a `diff` of a folder writes or reads while others write.
pub fn files_of(world: &World, folder: &str, rng: &mut Rng) -> &'static [&'static str] {
    let has_baseline = world.ws.folder().join(baseline(folder)).exists();
    match (folder, rng.chance(50)) {
        ("plain", true) => &["--save-plan=moving-plain.plan"],
        (_, true) => &["--save-plan=moving-set.plan"],
        ("plain", false) if has_baseline => &["--baseline=plain.baseline"],
        (_, false) if has_baseline => &["--baseline=set.baseline"],
        _ => &[],
    }
}

fn baseline(folder: &str) -> String {
    format!("{folder}.baseline")
}

/// Checks each law once.
pub fn hold(world: &World, folder: &'static str, rng: &mut Rng, tally: &mut Tally) {
    for _ in 0..BLAMED {
        let item = rng.pick(&world.items);
        owners_are_recorded(world, item, tally);
    }
    for _ in 0..APPLIED_BY_KUBECTL {
        let _ = apply_client_side(&world.ws, rng.pick(&world.items));
    }
    what_was_last_applied_is_found(world, tally);
    a_baseline_knows_its_own(world, folder, tally);
    what_is_pulled_differs_no_more(world, folder, tally);
    if rng.chance(60) {
        a_plan_is_done_exactly(world, folder, tally);
    }
}

/// `blame` names the managers that `managedFields` names.
fn owners_are_recorded(world: &World, item: &Item, tally: &mut Tally) {
    let ObjectKey { gvk, namespace, name } = &item.target.key;
    let find = || wait_for(world.ground.find(&item.target));
    let Some(live) = find().filter(|live| !is_terminating(live)) else { return };
    let kind = format!("{}.{}.{}/{name}", resource_of(&item.target).plural, gvk.version, gvk.group);
    let kind = if gvk.group.is_empty() { format!("{}/{name}", resource_of(&item.target).plural) } else { kind };
    let namespace = namespace.as_deref().unwrap_or("default");
    let (blame, _) = run(world, &["blame", &kind, "-n", namespace, "-o", "json"]);
    let version = |live: &Value| live.pointer("/metadata/resourceVersion").cloned();
    let shown: Option<Value> = serde_json::from_str(&blame.stdout).ok();
    if find().as_ref().and_then(version) != version(&live) {
        return tally.count("laws: blamed while it moved");
    }
    if !ends_with(&blame, &[0], tally) {
        return;
    }
    // An object of another version of the group has its fields under other names.
    let shown = shown.as_ref().map(|shown| &shown[0]).filter(|shown| shown["apiVersion"] == live["apiVersion"]);
    let Some(shown) = shown else { return tally.count("laws: blamed in another version") };
    let mut named = BTreeSet::new();
    for field in shown["fields"].as_array().into_iter().flatten() {
        named.extend(field["managers"].as_array().into_iter().flatten().filter_map(|owner| owner["manager"].as_str()));
    }
    let entries = managed_fields(&live);
    let recorded: BTreeSet<&str> = entries.iter().map(|entry| entry.manager.as_str()).collect();
    let of_object = entries.iter().filter(|entry| entry.subresource != "status");
    let owning = of_object.filter(|entry| {
        let paths = entry.fields.leaves();
        let scalar = |value: &Value| !value.is_null() && !value.is_object() && !value.is_array();
        paths.iter().any(|path| !path.to_string().starts_with("status") && path.value_in(&live).is_some_and(scalar))
    });
    let owning: BTreeSet<&str> = owning.map(|entry| entry.manager.as_str()).collect();
    if !named.is_subset(&recorded) || !owning.is_subset(&named) {
        tally.fail(format!(
            "blame of {}: {named:?}, recorded are {recorded:?}, of values {owning:?}\n{live}",
            item.target.key
        ));
    }
    tally.count("laws: blamed");
}

/// `diff --from last-applied` compares exactly the objects that client-side apply has left its annotation in.
fn what_was_last_applied_is_found(world: &World, tally: &mut Tally) {
    let Some(own) = world.items.iter().find_map(|item| item.target.key.namespace.as_deref()) else { return };
    let is_here = |item: &&Item| item.target.key.namespace.as_deref() == Some(own);
    let kind = |item: &Item| {
        let gvk = &item.target.key.gvk;
        let plural = &resource_of(&item.target).plural;
        if gvk.group.is_empty() { plural.to_owned() } else { format!("{plural}.{}", gvk.group) }
    };
    let kinds: BTreeSet<String> = world.items.iter().filter(is_here).map(kind).collect();
    let kinds = kinds.into_iter().collect::<Vec<_>>().join(",");
    let before = versions(world);
    let live = world.live();
    let (diff, requests) = run(world, &["diff", "--from", "last-applied", "--kinds", &kinds, "-n", own, "--quiet"]);
    let moved = moved(world, &before, &requests);
    if !ends_with(&diff, &[0, 1, 2, 4], tally) {
        return;
    }
    let found = objects(&diff);
    for (item, live) in world.items.iter().zip(&live).filter(|(item, _)| is_here(item)) {
        let annotation =
            live.as_ref().and_then(|live| live.pointer("/metadata/annotations")?.get(LAST_APPLIED)?.as_str());
        let is_found = found.iter().any(|object| item.is_called(object));
        if moved.contains(&item.path()) || annotation.is_some() == is_found {
            continue;
        }
        let stored: Option<Value> = annotation.and_then(|text| serde_json::from_str(text).ok());
        let is_about_it = stored.is_some_and(|stored| {
            let gvk = GroupVersionKind::of(&stored);
            gvk.kind == item.target.key.gvk.kind && stored["metadata"]["name"] == item.target.key.name.as_str()
        });
        if is_found || is_about_it {
            tally.fail(format!("{} is found: {is_found}, its annotation: {annotation:?}\n{diff}", item.target.key));
        }
    }
    tally.add("laws: compared with what was last applied", found.len());
}

/// A `diff` whose baseline is its own report has nothing gone, and nothing new but Secrets that do not exist: their values are not in the
/// report, and may be others.
fn a_baseline_knows_its_own(world: &World, folder: &'static str, tally: &mut Tally) {
    let file = baseline(folder);
    let before = versions(world);
    let report = format!("--output=json={file}");
    let flag = format!("--baseline={file}");
    let (first, requests) = run(world, &pass("diff", folder, &[&report]));
    let text = fs::read_to_string(world.ws.folder().join(&file)).unwrap_or_default();
    let first_report: Value = serde_json::from_str(&text).unwrap_or_default();
    let (second, more) = run(world, &pass("diff", folder, &[&flag]));
    let moved = moved(world, &before, &[requests, more].concat());
    if !ends_with(&first, &[0, 1, 4], tally) || !ends_with(&second, &[0, 1, 4], tally) {
        return;
    }
    if !moved.is_empty() {
        return tally.count("laws: a baseline of what moved");
    }
    let gone = second.report.as_ref().map(|report| report["summary"]["resolved"].clone());
    let is_missing_secret = |object: &Value| object["kind"] == "Secret" && object["action"] == "create";
    let (missing, new): (Vec<Value>, Vec<Value>) =
        objects(&second).into_iter().filter(is_new).partition(is_missing_secret);
    let expected = if first.code == 1 && missing.is_empty() { 0 } else { first.code };
    if second.code != expected || !new.is_empty() || gone != Some(0.into()) {
        let known = first_report["summary"].clone();
        tally.fail(format!(
            "a baseline of the same state: {} then {}, gone {gone:?}, {known}, new {new:?}, missing {missing:?}\n{second}",
            first.code, second.code
        ));
    }
    tally.count("laws: a baseline of the same state");
}

/// Returns true for an object with a difference that counts and is not known.
fn is_new(object: &Value) -> bool {
    let changes = object["changes"].as_array().into_iter().flatten();
    object["action"] != "none" && changes.into_iter().any(|change| change["known"] != true)
}

/// What `pull` has taken into the manifests is no difference any more.
fn what_is_pulled_differs_no_more(world: &World, folder: &'static str, tally: &mut Tally) {
    let to = world.copy(folder, "pulled");
    let before = versions(world);
    let (pull, requests) = run(world, &["pull", "-f", "pulled", "-o", "json"]);
    let (diff, more) = run(world, &["diff", "-f", "pulled", "--quiet"]);
    let moved = moved(world, &before, &[requests, more].concat());
    if !ends_with(&pull, &[0, 4], tally) || !ends_with(&diff, &[0, 1, 4], tally) {
        return;
    }
    let pulled: Value = serde_json::from_str(&pull.stdout).unwrap_or_default();
    let after = objects(&diff);
    for object in pulled["objects"].as_array().into_iter().flatten() {
        let item = world.items.iter().find(|item| item.is_called(object));
        let Some(item) = item.filter(|item| !moved.contains(&item.path())) else { continue };
        let now = after.iter().find(|object| item.is_called(object)).unwrap_or(&Value::Null);
        for change in object["changes"].as_array().into_iter().flatten() {
            if change["accepted"] != true {
                tally.count("laws: not pulled");
                continue;
            }
            tally.count("laws: pulled");
            let same = |other: &&Value| other["path"] == change["path"] && other["class"] == change["class"];
            if let Some(left) = now["changes"].as_array().into_iter().flatten().find(same) {
                let file = fs::read_to_string(to.join(item.file_name())).unwrap_or_default();
                let live = wait_for(world.ground.find(&item.target));
                tally.fail(format!(
                    "still there after a pull: {left} of {}, pulled was {change}\nmanifest {}\nnow {file}\nlive {live:?}",
                    item.target.key,
                    world.wanted(item),
                ));
            }
        }
    }
}

/// What was planned is done, and nothing else, as long as nobody writes in between.
fn a_plan_is_done_exactly(world: &World, folder: &'static str, tally: &mut Tally) {
    let before = versions(world);
    let (diff, requests) = run(world, &pass("diff", folder, &["--save-plan=it.plan"]));
    if !ends_with(&diff, &[0, 1, 4], tally) {
        return;
    }
    let moved_before = moved(world, &before, &requests);
    let (apply, requests) = run(world, &pass("apply", folder, &["--plan=it.plan"]));
    if !ends_with(&apply, &[0, 4], tally) {
        return;
    }
    let moved: BTreeSet<String> = moved_before.into_iter().chain(touched_by_others(world, &requests)).collect();
    let planned = objects(&diff);
    for object in objects(&apply) {
        let Some(item) = world.items.iter().find(|item| item.is_called(&object)) else { continue };
        if moved.contains(&item.path()) {
            tally.count("laws: planned, and moved");
            continue;
        }
        tally.count("laws: planned");
        let plan = planned.iter().find(|planned| item.is_called(planned));
        let is_left_alone = object["reason"] == "changed since the plan";
        let is_same =
            plan.is_some_and(|plan| plan["action"] == object["action"] && plan["changes"] == object["changes"]);
        let is_written = ["created", "updated", "adopted", "replaced", "deleted"]
            .contains(&object["outcome"].as_str().unwrap_or_default());
        if is_left_alone || is_written && !is_same {
            tally.fail(format!("not as planned: {object}\nplan {plan:?}\n{}", apply.command));
        }
    }
}
