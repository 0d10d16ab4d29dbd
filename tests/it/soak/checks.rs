//! What has to hold after each call.

use std::collections::BTreeSet;

use apply_set::PART_OF;
use futures::StreamExt as _;
use serde_json::Value;
use structured_merge::{FieldPath, managed_fields};

use super::OURS;
use super::probe;
use super::process::{Call, Command, Ended};
use super::tally::Tally;
use super::truth::{Force, Truth};
use super::world::{Item, World};
use crate::control_plane::Request;
use crate::generated::{AT_ONCE, wait_for};

/// The call ended with a documented exit code, and wrote nothing but what its manifests are about.
pub fn ended_well(world: &World, call: &Call, ended: &Ended, tally: &mut Tally) {
    let Ended { run, requests, .. } = ended;
    let codes: &[i32] = match call.command {
        Command::Diff | Command::Pull | Command::Resolve => &[0, 1, 4],
        Command::Apply | Command::Status => &[0, 4, 5],
        Command::Blame => &[0, 4],
        // 2: nothing has such an annotation.
        Command::LastApplied => &[0, 1, 2, 4],
    };
    let was_stopped = ended.was_stopped && [-15, -9, -2, 130].contains(&run.code);
    if !codes.contains(&run.code) && !was_stopped {
        tally.fail(format!("exit code: {run}"));
    }
    if run.stderr.contains("panicked") || run.stdout.contains("panicked") {
        tally.fail(format!("a panic: {run}"));
    }
    // A signal that comes before the program listens ends it at once.
    if run.code >= 0 && run.code != 130 && call.command.reports() {
        match &run.report {
            Some(report) if report["exitCode"] == run.code => {}
            report => tally.fail(format!("the report is {report:?} of {run}")),
        }
    }
    let allowed: BTreeSet<String> = match call.command {
        Command::Apply | Command::Resolve => {
            world.items.iter().filter(|item| item.folder() == call.folder).map(Item::path).collect()
        }
        _ => BTreeSet::new(),
    };
    for write in ours(world, requests).filter(|request| request.is_write()) {
        let path = path_of(&write.uri);
        let is_parent = call.command == Command::Apply && call.folder == "set" && path == world.parent();
        // A replacement is created in the collection.
        let is_creation = write.verb == "create" && allowed.iter().any(|allowed| allowed.starts_with(path));
        // What is pruned is deleted in the version that the server prefers.
        let is_pruned = write.verb == "delete" && allowed.iter().any(|allowed| is_same_object(allowed, path));
        if !allowed.contains(path) && !is_parent && !is_creation && !is_pruned {
            tally.fail(format!("wrote elsewhere: {} {}: {run}", write.verb, write.uri));
        }
        tally.count("writes of ours, seen in the audit log");
    }
}

/// Each verdict on an object that nobody wrote to meanwhile is what the server says itself.
pub fn verdicts_hold(world: &World, call: &Call, ended: &Ended, before: &[Option<Value>], tally: &mut Tally) {
    let objects = objects(ended);
    let items = world.items.iter().zip(before).filter(|(item, _)| item.is_in(call.folder));
    let truths = futures::stream::iter(items)
        .map(async |(item, live)| (item, live, world.truth(item, live.as_ref()).await))
        .buffered(AT_ONCE);
    let touched = touched_by_others(world, &ended.requests);
    for (item, live, truth) in wait_for(truths.collect::<Vec<_>>()) {
        let Some(object) = objects.iter().find(|object| item.is_called(object)) else {
            tally.fail(format!("{} is not reported: {}", item.target.key, ended.run));
            continue;
        };
        // What was not there before may have come and gone.
        let collection = item.path().rsplit_once('/').map(|(collection, _)| collection.to_owned());
        let came = touched.contains(&item.path()) || collection.is_some_and(|path| touched.contains(&path));
        let truth = if live.is_none() && came { Truth::Moved } else { truth };
        tally.count(&format!("verdicts: {}", truth.name()));
        // With `none`, nobody's fields inside an atomic list count as free, and the server names an owner that it invents.
        let is_unrecorded = live.as_ref().is_some_and(|live| managed_fields(live).is_empty());
        let is_conflict = matches!(truth, Truth::Conflict { .. } | Truth::Unseen(_));
        if is_unrecorded && is_conflict && call.force == Force::None {
            continue;
        }
        let live = live.as_ref().unwrap_or(&Value::Null);
        if truth.is_before_claims_pass(object, live) {
            tally.count("verdicts: with claims that pass first");
            continue;
        }
        if let Some(how) = truth.contradicts(object, call.force) {
            let manifest = world.wanted(item);
            let key = &item.target.key;
            tally.fail(format!(
                "a wrong verdict on {key}: {how}\nmanifest {manifest}\nlive {live}\n{object}\n{}",
                ended.run.command
            ));
        }
    }
}

/// Only members of the set are to be deleted, and only those whose manifests are gone.
pub fn prunes_hold(world: &World, call: &Call, ended: &Ended, before: &[Option<Value>], tally: &mut Tally) {
    let touched = touched_by_others(world, &ended.requests);
    for object in objects(ended).iter().filter(|object| object["action"] == "delete") {
        tally.count("verdicts: to be deleted");
        let found = world.items.iter().zip(before).find(|(item, _)| item.is_called(object));
        let is_right = found.is_some_and(|(item, live)| {
            let is_member = live.as_ref().is_some_and(|live| world.is_member(live)) || touched.contains(&item.path());
            item.in_set && call.folder == "set" && !item.present && is_member
        });
        if !is_right {
            tally.fail(format!("no member, and to be deleted: {object}: {}", ended.run));
        }
    }
    // Who has no manifest any more and nothing that speaks for it goes, once all else is well.
    let is_well = [0, 1].contains(&ended.run.code) && !ended.run.stderr.contains("would prune nothing until");
    let is_complete = call.folder == "set" && is_well;
    let part_of = FieldPath::root().field("metadata").field("labels").field(PART_OF);
    for (item, live) in world.items.iter().zip(before).filter(|(item, _)| is_complete && item.in_set && !item.present) {
        let Some(live) = live.as_ref().filter(|live| world.is_member(live)) else { continue };
        // Whose label is not recorded as ours is kept, and then no member any more.
        let ours = managed_fields(live).into_iter().filter(|entry| entry.manager == OURS);
        let is_labelled = ours.map(|entry| entry.fields).any(|fields| fields.contains(&part_of));
        let is_free =
            is_labelled && live.pointer("/metadata/ownerReferences").is_none() && !touched.contains(&item.path());
        let is_reported = objects(ended).iter().any(|object| item.is_called(object) && object["action"] == "delete");
        if is_free && !is_reported {
            tally.fail(format!("{} is a member without a manifest, and stays: {live}\n{}", item.target.key, ended.run));
        }
    }
}

/// The objects of a report.
pub fn objects(ended: &Ended) -> Vec<Value> {
    probe::objects(&ended.run)
}

/// The requests that our processes made.
pub fn ours<'r>(world: &World, requests: &'r [Request]) -> impl Iterator<Item = &'r Request> {
    let user = world.ws.admin();
    requests.iter().filter(move |r| r.user == user && r.user_agent.starts_with("kubectl-reconcile/"))
}

/// The objects, by their paths, that others wrote to: status apart, which no manifest of ours is about.
pub fn touched_by_others(world: &World, requests: &[Request]) -> BTreeSet<String> {
    let user = world.ws.admin();
    let others = requests.iter().filter(|r| !(r.user == user && r.user_agent.starts_with("kubectl-reconcile/")));
    let writes = others.filter(|request| request.is_write() && request.code < 300);
    writes.map(|request| path_of(&request.uri).to_owned()).collect()
}

/// Returns true for the paths of one object in two versions of its group, such as `/apis/apps/v1/…` and `/apis/apps/v1beta1/…`.
fn is_same_object(one: &str, other: &str) -> bool {
    let parts = |path: &str| {
        path.split('/').enumerate().filter(|(at, _)| *at != 3).map(|(_, part)| part.to_owned()).collect::<Vec<_>>()
    };
    one.starts_with("/apis/") && parts(one) == parts(other)
}

pub fn path_of(uri: &str) -> &str {
    uri.split_once('?').map_or(uri, |(path, _)| path)
}

/// The server makes null of a map or list that loses all that was applied, and only in the next apply what is empty.
pub fn is_about_emptiness(object: &Value) -> bool {
    let is_empty = |value: Option<&Value>| match value {
        None | Some(Value::Null) => true,
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => false,
    };
    let changes = object["changes"].as_array().map_or(&[][..], Vec::as_slice);
    let is_of_value = |change: &&Value| change["path"] != "";
    changes.iter().any(|change| is_of_value(&change))
        && changes
            .iter()
            .filter(is_of_value)
            .all(|change| is_empty(change.get("live")) && is_empty(change.get("desired")))
}
