//! What `--audit-log` has to tell: users of real events of the server, and among them the person who set a field.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use jiff::Timestamp;
use serde_json::Value;
use structured_merge::ObjectKey;

use super::probe::{ends_with, moved, objects, pass, run, versions};
use super::tally::Tally;
use super::world::{Item, PEOPLE, World};
use super::writers::{SIGNATURE, SIGNER};
use crate::generated::resource_of;

const LOG: &str = "audit.log";
/// The flag that reads it.
pub const FLAG: &str = "--audit-log=audit.log";

/// A write that the server did.
struct Written {
    id: String,
    verb: String,
    code: u64,
    user: String,
    manager: String,
    subresource: String,
    /// The seconds in which it began and ended.
    began: i64,
    ended: i64,
}

/// The writes of a part of the audit log, by their objects.
#[derive(Default)]
pub struct Writes(BTreeMap<[String; 4], Vec<Written>>);

impl Writes {
    /// Reads the log from a position on, and keeps it in a file for the program. Returns the position of the next line as well.
    pub fn since(world: &World, position: u64) -> (Writes, u64) {
        let (log, next) = world.ws.audit_log_since(position);
        fs::write(world.ws.folder().join(LOG), &log).expect("the log of the soak");
        let mut writes = Writes::default();
        let is_read = |line: &str| ["get", "list", "watch"].iter().any(|v| line.contains(&format!(r#""verb":"{v}""#)));
        for line in log.lines().filter(|line| !is_read(line)) {
            let event: Value = serde_json::from_str(line).expect("an event");
            if let Some(written) = Written::of(&event) {
                let text = |field: &str| event["objectRef"][field].as_str().unwrap_or_default().to_owned();
                // Some requests for a Namespace are in it, and others are not.
                let namespace = if text("resource") == "namespaces" { String::new() } else { text("namespace") };
                let place = [text("apiGroup"), text("resource"), namespace, text("name")];
                writes.0.entry(place).or_default().push(written);
            }
        }
        (writes, next)
    }

    fn of(&self, item: &Item) -> &[Written] {
        let ObjectKey { gvk, namespace, name } = &item.target.key;
        let plural = resource_of(&item.target).plural.clone();
        let namespace = namespace.clone().unwrap_or_default();
        self.0.get(&[gvk.group.clone(), plural, namespace, name.clone()]).map_or(&[], Vec::as_slice)
    }
}

impl Written {
    /// The write of an event, unless it changed nothing. What was answered with 5xx may be stored all the same, as after a timeout.
    fn of(event: &Value) -> Option<Written> {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let code = event.pointer("/responseStatus/code").and_then(Value::as_u64).unwrap_or_default();
        let uri = text("/requestURI");
        if event["stage"] != "ResponseComplete" || (300..500).contains(&code) || uri.contains("dryRun=") {
            return None;
        }
        let named = uri.split(['?', '&']).find_map(|parameter| parameter.strip_prefix("fieldManager="));
        let program = text("/userAgent");
        let manager = named.or_else(|| program.split('/').next()).unwrap_or_default().to_owned();
        let meant = text("/impersonatedUser/username");
        let user = if meant.is_empty() { text("/user/username") } else { meant };
        let second = |time: &str| time.parse::<Timestamp>().expect("a time").as_second();
        Some(Written {
            id: text("/auditID"),
            verb: text("/verb"),
            code,
            user,
            manager,
            subresource: text("/objectRef/subresource"),
            began: second(&text("/requestReceivedTimestamp")),
            ended: second(&text("/stageTimestamp")),
        })
    }

    /// True if the server said that it stored it.
    fn is_certain(&self) -> bool {
        (200..300).contains(&self.code)
    }

    fn is_of(&self, user: &Value) -> bool {
        user["auditID"] == self.id.as_str() && user["name"] == self.user.as_str()
    }
}

/// Compares with the log, and checks everybody who is named.
pub fn who_did_it_is_true(world: &World, folder: &'static str, writes: &Writes, tally: &mut Tally) {
    let before = versions(world);
    let live = world.live();
    let flags = ["--show-unmanaged", FLAG];
    let (diff, requests) = run(world, &pass("diff", folder, &flags));
    if !ends_with(&diff, &[0, 1, 4], tally) {
        return;
    }
    let moved = moved(world, &before, &requests);
    let mut fail = |item: &Item, what: &str, about: &Value| {
        tally.fail(format!("who did it, {}: {what}: {about}", item.target.key));
    };
    let mut owners = 0;
    let mut removals = 0;
    let mut signatures = 0;
    for object in objects(&diff) {
        let Some(at) = world.items.iter().position(|item| item.is_called(&object)) else { continue };
        let item = &world.items[at];
        if moved.contains(&item.path()) {
            continue;
        }
        let writes = writes.of(item);
        let live = live[at].as_ref().unwrap_or(&Value::Null);
        for change in object["changes"].as_array().into_iter().flatten() {
            let bound = Bound::of(change, live);
            for owner in change["managers"].as_array().into_iter().flatten() {
                owners += usize::from(!named(owner).is_empty());
                if let Some(wrong) = wrong_owner(owner, writes, bound) {
                    fail(item, wrong, change);
                }
                let is_signature = change["path"] == format!("metadata.labels.{SIGNATURE}").as_str();
                if is_signature && owner["manager"] == SIGNER && owner["operation"] == "Update" {
                    signatures += usize::from(!named(owner).is_empty());
                    if is_forged(&change["live"], owner, writes) {
                        fail(item, "the person who signed is not named", change);
                    }
                }
            }
            if change["class"] == "missing" {
                removals += usize::from(change.get("removedBy").is_some());
                if let Some(wrong) = wrong_deletion(&change["removedBy"], writes) {
                    fail(item, wrong, change);
                }
            }
        }
        for conflict in object["conflicts"].as_array().into_iter().flatten() {
            if let Some(wrong) = wrong_owner(conflict, writes, Bound { since_apply: true, ..Bound::of(conflict, live) })
            {
                fail(item, wrong, conflict);
            }
        }
    }
    tally.add("laws: users behind owners", owners);
    tally.add("laws: users who deleted", removals);
    tally.add("laws: people who signed", signatures);
}

/// Since when writes count, in seconds.
#[derive(Clone, Copy)]
struct Bound {
    created: i64,
    applied: i64,
    /// The field was ours at our last apply.
    since_apply: bool,
}

impl Bound {
    fn of(change: &Value, live: &Value) -> Bound {
        let second = |time: &Value| time.as_str().and_then(|time| time.parse::<Timestamp>().ok());
        let second = |time: &Value| second(time).map_or(i64::MIN, Timestamp::as_second);
        let entries = live.pointer("/metadata/managedFields").and_then(Value::as_array);
        let ours = entries.into_iter().flatten().find(|entry| {
            entry["manager"] == super::OURS && entry["operation"] == "Apply" && entry.get("subresource").is_none()
        });
        Bound {
            created: live.pointer("/metadata/creationTimestamp").map_or(i64::MIN, second),
            applied: ours.map_or(i64::MIN, |entry| second(&entry["time"])),
            since_apply: change["class"] == "changedByOther" || change["class"] == "conflict",
        }
    }
}

/// The users that the report names: the one who did it, or those who may have.
fn named(of: &Value) -> Vec<&Value> {
    let several = of["users"].as_array().into_iter().flatten();
    of.get("user").into_iter().chain(several).collect()
}

fn second_of(owner: &Value) -> Option<i64> {
    owner["time"].as_str().map(|time| time.parse::<Timestamp>().expect("a time").as_second())
}

/// Why the users of an owner are wrong, if they are.
fn wrong_owner(owner: &Value, writes: &[Written], bound: Bound) -> Option<&'static str> {
    let time = second_of(owner);
    let is_its = |write: &&Written| {
        let is_its_verb = match write.verb.as_str() {
            "patch" => true,
            "create" | "update" => owner["operation"] == "Update",
            _ => false,
        };
        is_its_verb
            && owner["manager"] == write.manager.as_str()
            && owner["subresource"].as_str().unwrap_or_default() == write.subresource
    };
    let since = match time {
        Some(time) if bound.since_apply && time >= bound.applied => bound.applied.max(bound.created),
        None if bound.since_apply => bound.applied.max(bound.created),
        _ => bound.created,
    };
    let candidates = || writes.iter().filter(is_its).filter(|w| w.ended >= since && time.is_none_or(|t| w.began <= t));
    let named = named(owner);
    if named.iter().any(|user| !writes.iter().any(|write| write.is_of(user))) {
        return Some("a user of no such event");
    }
    let has_last =
        candidates().filter(|write| write.is_certain()).any(|write| time.is_none_or(|time| write.ended >= time));
    if named.is_empty() && has_last {
        return Some("the last write is in the log, and nobody is named");
    }
    // Everybody else who wrote to the object may have written the name of this manager.
    let writes_object = |write: &&Written| matches!(write.verb.as_str(), "create" | "update" | "patch");
    let is_ours = |write: &&Written| write.verb == "patch" && write.manager == super::OURS;
    let others = writes.iter().filter(writes_object).filter(|w| w.ended >= since && w.subresource.is_empty());
    let others = others.filter(|write| !is_ours(write));
    let users: BTreeSet<&str> = candidates().chain(others).map(|write| write.user.as_str()).collect();
    (owner.get("user").is_some() && users.len() > 1).then_some("one user is named of several")
}

/// Whether a label with a person's name is not that person's, although the log has their write.
fn is_forged(value: &Value, owner: &Value, writes: &[Written]) -> bool {
    let Some(person) = value.as_str().filter(|value| PEOPLE.contains(value)) else { return false };
    let time = second_of(owner);
    let signed = writes
        .iter()
        .filter(|write| write.is_certain())
        .any(|write| write.user == person && write.manager == SIGNER && time.is_none_or(|time| write.began <= time));
    let named = named(owner);
    signed && !named.is_empty() && !named.iter().any(|user| user["name"] == person)
}

/// Why the users who deleted an object are wrong, if they are.
fn wrong_deletion(removed_by: &Value, writes: &[Written]) -> Option<&'static str> {
    let created = writes.iter().rposition(|write| write.code == 201 && write.subresource.is_empty());
    let since = &writes[created.map_or(0, |at| at + 1)..];
    let deletes = || since.iter().filter(|write| write.verb == "delete" && write.subresource.is_empty());
    let named = named(removed_by);
    if named.iter().any(|user| !writes.iter().any(|write| write.is_of(user))) {
        return Some("a user of no such event");
    }
    if deletes()
        .filter(|write| write.is_certain())
        .any(|write| !named.iter().any(|user| user["name"] == write.user.as_str()))
        && named.len() < 10
    {
        return Some("somebody who deleted it is not named");
    }
    let users: BTreeSet<&str> = deletes().map(|write| write.user.as_str()).collect();
    (removed_by.get("user").is_some() && users.len() > 1).then_some("one user is named of several")
}
