//! What the server itself says of an object and its manifest, with which a verdict is compared.

use std::fmt;

use http::Method;
use kubectl_reconcile::client::Cause;
use serde_json::Value;
use structured_merge::{
    ManagedFieldsEntry, Operation, changes, managed_fields, with_equal_texts_in_data, with_live_spelling,
};

use super::OURS;
use super::world::{Item, World, is_terminating};
use crate::generated::{path_of, resource_of};
use crate::soundness::engine::{is_empty, server_text};
use crate::soundness::{Effect, effect};

/// Which conflicts a run takes for its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Force {
    Manual,
    All,
    None,
}

/// What an apply of the manifest would do, by an unforced dry run.
pub enum Truth {
    /// Somebody wrote meanwhile, so that nothing can be said.
    Moved,
    Created,
    Going,
    InSync,
    /// Only the record of who owns which fields changes.
    Owned,
    Changed(Value),
    /// Another apply set has it, which no flag changes.
    OfAnotherSet,
    /// It would write again what the server keeps as it was sent, and must not change (`1.0` becomes `1`), or cannot read the live object:
    /// nothing is known of values.
    Rewritten(String),
    /// Others own what it would change: all of them manual changes, or not.
    Conflict {
        is_manual: bool,
        message: String,
    },
    /// Others own what would not differ: with force, this is the truth; without any, a conflict.
    Unseen(Box<Truth>),
    /// A conflict, and with force it is refused for another reason.
    Stuck(String),
    Refused(String),
}

impl World {
    /// The truth about an object whose state is known.
    pub async fn truth(&self, item: &Item, live: Option<&Value>) -> Truth {
        let wanted = self.wanted(item);
        let dry_run = async |body: &Value, query| self.ground.apply(&item.target, body, OURS, query).await;
        let Some(live) = live else {
            let answer = dry_run(&wanted, "&dryRun=All").await;
            if self.version(item).await.is_some() {
                return Truth::Moved;
            }
            return answer.map_or_else(|status| Truth::Refused(status.message), |_| Truth::Created);
        };
        let owners = managed_fields(live);
        let others: Vec<_> = owners.iter().filter(|owner| owner.manager != OURS).collect();
        let wanted = with_equal_texts_in_data(&wanted, live, &others).unwrap_or(wanted);
        let body = with_live_spelling(&wanted, live, self.ground.of(&item.target));
        let answer = dry_run(&body, "&dryRun=All").await;
        let forced = if answer.is_ok() { None } else { Some(dry_run(&body, "&dryRun=All&force=true").await) };
        if self.version(item).await.as_ref() != live.pointer("/metadata/resourceVersion") {
            return Truth::Moved;
        }
        if is_terminating(live) {
            return Truth::Going;
        }
        if item.in_set && apply_set::part_of(live).is_some() && !self.is_member(live) {
            // Whether an apply of its fields would be refused anyway, with force as well.
            let refused =
                [Some(&answer), forced.as_ref()].into_iter().flatten().filter_map(|answer| answer.as_ref().err());
            let refused = refused.into_iter().find(|status| status.code != 409);
            return refused.map_or(Truth::OfAnotherSet, |status| Truth::Stuck(status.message.clone()));
        }
        let (Err(status), Some(forced)) = (&answer, forced) else { return Truth::of(effect(live, &answer)) };
        let is_rewritten =
            status.code == 422 && status.message.contains("field is immutable") && holds_whole_float(live);
        if is_rewritten || status.message.contains("failed to create typed live object") {
            return Truth::Rewritten(status.message.clone());
        }
        if status.code != 409 {
            return Truth::of(effect(live, &answer));
        }
        let Ok(after) = &forced else { return Truth::Stuck(status.message.clone()) };
        // The server also names what it does not keep, or keeps otherwise for everybody, where there is nothing to be won.
        let changed = self.changes_of(item, live, after);
        let causes = || status.causes.iter().filter(|cause| changed.iter().any(|path| overlap(path, &cause.field)));
        if causes().next().is_none() {
            return Truth::Unseen(Box::new(Truth::of(effect(live, &forced))));
        }
        Truth::Conflict { is_manual: causes().all(is_manual), message: status.message.clone() }
    }

    /// The fields whose values differ, as the server writes their paths.
    fn changes_of(&self, item: &Item, live: &Value, after: &Value) -> Vec<String> {
        let found = changes(live, after, self.ground.of(&item.target), resource_of(&item.target).status);
        let differs = found.iter().filter(|change| !is_empty(change.from.as_ref()) || !is_empty(change.to.as_ref()));
        differs.map(|change| server_text(&change.path)).collect()
    }

    async fn version(&self, item: &Item) -> Option<Value> {
        let live = self.ground.call(Method::GET, &path_of(&item.target), "", &Value::Null).await.ok();
        live.and_then(|live| live.pointer("/metadata/resourceVersion").cloned())
    }
}

/// Whether there is a number such as `1.0` anywhere.
fn holds_whole_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64() && number.as_f64().is_some_and(|number| number.fract() == 0.0),
        Value::Array(items) => items.iter().any(holds_whole_float),
        Value::Object(map) => map.values().any(holds_whole_float),
        _ => false,
    }
}

/// Whether one of two paths is above the other.
fn overlap(one: &str, other: &str) -> bool {
    let is_above = |above: &str, below: &str| {
        below.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    is_above(one, other) || is_above(other, one)
}

/// Whether the owner that the server names is a manual change: an update has `using VERSION` behind its manager.
fn is_manual(cause: &Cause) -> bool {
    let is_update = cause.message.contains(" using ");
    let manager = cause.message.split('"').nth(1).unwrap_or_default();
    is_update && is_of_people(manager)
}

/// Whether manual changes are made under this name.
fn is_of_people(manager: &str) -> bool {
    manager == "kubectl" || manager.starts_with("kubectl-") || manager == "before-first-apply"
}

impl Truth {
    fn of(effect: Option<Effect>) -> Truth {
        match effect {
            None => Truth::InSync,
            Some(Effect::Owners(_)) => Truth::Owned,
            Some(Effect::Values(values)) => Truth::Changed(values),
            Some(Effect::Refused(_, message)) => Truth::Refused(message),
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Truth::Moved => "moved meanwhile",
            Truth::Created => "to be created",
            Truth::Going => "being deleted",
            Truth::InSync => "in sync",
            Truth::Owned => "owners change",
            Truth::Rewritten(_) => "refused for what is live",
            Truth::Changed(_) => "values change",
            Truth::OfAnotherSet => "in another apply set",
            Truth::Conflict { is_manual: true, .. } => "conflict with people",
            Truth::Conflict { .. } => "conflict with appliers or controllers",
            Truth::Unseen(_) => "conflict without a difference",
            Truth::Stuck(_) => "conflict, and refused with force",
            Truth::Refused(_) => "refused",
        }
    }

    /// Whether a verdict may be right although the server says otherwise: claims of manual changes pass to us first, which no dry run of
    /// an apply shows. Then what was theirs is pruned, where that is valid, or no longer in the way.
    pub fn is_before_claims_pass(&self, object: &Value, live: &Value) -> bool {
        let passes = |entry: &ManagedFieldsEntry| entry.operation == Operation::Update && is_of_people(&entry.manager);
        let is_invalid = object["error"]["reason"] == "Invalid" || object["action"] == "replace";
        let may_differ = match self {
            Truth::InSync | Truth::Owned | Truth::Refused(_) => object["action"] != "none",
            // What is pruned then may be what the object cannot be without, or what must not change.
            Truth::Changed(_) | Truth::Conflict { .. } => is_invalid,
            Truth::Unseen(truth) => return truth.is_before_claims_pass(object, live),
            _ => false,
        };
        may_differ && managed_fields(live).iter().any(passes)
    }

    /// Why a verdict of `diff` is wrong, if it is.
    pub fn contradicts(&self, object: &Value, force: Force) -> Option<String> {
        let action = object["action"].as_str().unwrap_or_default();
        let conflicts = object["conflicts"].as_array().map_or(0, Vec::len);
        let classes: Vec<&str> = object["changes"].as_array().into_iter().flatten().filter_map(class).collect();
        let is_right = match self {
            Truth::Moved => true,
            Truth::Created => action == "create",
            Truth::Going | Truth::Refused(_) => ["unknown", "replace"].contains(&action),
            Truth::Rewritten(_) => ["none", "unknown", "replace"].contains(&action),
            Truth::InSync => action == "none" && !classes.contains(&"adopted"),
            Truth::Owned => action == "none",
            Truth::Changed(_) => action == "update" && conflicts == 0,
            // Of what is empty, the program may see a difference.
            Truth::Unseen(truth) if force != Force::None && conflicts == 0 => return truth.contradicts(object, force),
            Truth::Unseen(_) => action == "update" && conflicts > 0,
            Truth::OfAnotherSet => action == "unknown",
            Truth::Stuck(_) => ["unknown", "replace", "update"].contains(&action),
            Truth::Conflict { is_manual, .. } => {
                let is_ours = force == Force::All || force == Force::Manual && *is_manual;
                action == "update" && (conflicts == 0) == is_ours
            }
        };
        (!is_right).then(|| format!("{action}, {conflicts} conflicts, {classes:?}; and the server: {self}"))
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self {
            Truth::Changed(values) => write!(f, "{name} to {values}"),
            Truth::Conflict { message, .. }
            | Truth::Stuck(message)
            | Truth::Refused(message)
            | Truth::Rewritten(message) => {
                write!(f, "{name}: {message}")
            }
            _ => f.write_str(name),
        }
    }
}

fn class(change: &Value) -> Option<&str> {
    change["class"].as_str()
}
