//! Names the apply sets that objects do not leave: one warning for each set, and the reason for each object that is refused.

use std::collections::{BTreeMap, BTreeSet};

use apply_set::{ApplySet, ID, TOOLING, Tooling};
use futures::StreamExt as _;
use serde_json::Value;
use structured_merge::{GroupKind, GroupVersionKind, ObjectKey, ObjectMeta as _};

use super::prune::{is_own_tooling, parent_kinds};
use crate::client::IN_FLIGHT;
use crate::live::discovery::Server;
use crate::live::list::Pages;
use reconcile_core::compare::{Decision, Membership, ObjectDiff};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::{Discovery, Resolution, Resource, Target};
use reconcile_core::text::one_line;

/// The most sets that are named: anybody who may write live objects decides how many there are.
const MOST_SETS: usize = 20;
/// The most namespaces in which parents are looked for if they may not be listed in all of them.
const MOST_NAMESPACES: usize = 5;

/// The sets that objects do not leave, with the parents that could be read.
#[derive(Debug, Default)]
pub(crate) struct Memberships {
    parents: BTreeMap<String, SetParent>,
    default_namespace: String,
    /// True if the parents are looked for in a snapshot alone.
    are_saved: bool,
}

/// The parent of a set.
#[derive(Debug)]
struct SetParent {
    key: ObjectKey,
    plural: String,
    /// The other tool that manages the set.
    tool: Option<String>,
}

impl Memberships {
    /// Reads the parents of the sets that the objects do not leave. Sends no request if there is no such set.
    pub async fn read(server: &Server, targets: &[&Target], decisions: &[Decision]) -> Self {
        let ids: BTreeSet<&str> =
            decisions.iter().filter_map(|decision| decision.membership.as_ref()).map(Membership::id).collect();
        let default_namespace = server.namespaces.default.clone();
        if ids.is_empty() {
            return Self { default_namespace, ..Self::default() };
        }
        let ids: BTreeSet<&str> = ids.into_iter().take(MOST_SETS).collect();
        let members = targets.iter().zip(decisions).filter(|(_, decision)| decision.membership.is_some());
        let others: BTreeSet<&str> = members.filter_map(|(target, _)| target.key.namespace.as_deref()).collect();
        let others = others.into_iter().filter(|name| *name != default_namespace);
        let likely: Vec<&str> = [default_namespace.as_str()].into_iter().chain(others).take(MOST_NAMESPACES).collect();
        let resource = |kind: &str| match server.discovery.resolve_kind(&GroupKind::parse(kind)) {
            Resolution::Known(resource) => Some(resource.clone()),
            Resolution::Unavailable | Resolution::Oversized | Resolution::Unknown => None,
        };
        let usual = ["Secret", "ConfigMap"].into_iter().filter_map(resource).collect();
        let mut parents = find(server, usual, &ids, &likely).await;
        if ids.iter().any(|id| !parents.contains_key(*id)) {
            let custom = parent_kinds(&server.cluster, &server.discovery).await;
            parents.extend(find(server, custom, &ids, &likely).await);
        }
        Self { parents, default_namespace, are_saved: false }
    }

    /// The parents among these objects, for comparisons without a server.
    pub fn among<'o>(objects: impl Iterator<Item = &'o Value>, discovery: &Discovery, default_namespace: &str) -> Self {
        let found = objects.filter(|object| object.label(ID).is_some()).filter_map(|object| {
            match discovery.resolve(&GroupVersionKind::of(object)) {
                Resolution::Known(resource) => parent(resource, object),
                Resolution::Unavailable | Resolution::Oversized | Resolution::Unknown => None,
            }
        });
        let default_namespace = default_namespace.to_owned();
        Self { parents: found.take(MOST_SETS).collect(), default_namespace, are_saved: true }
    }

    /// Names the sets in the errors of objects that belong to another set than that of the run. Returns one warning for each set that objects
    /// stay in, with the number of objects.
    pub fn name_in(&self, targets: &[&Target], decisions: &mut [Decision]) -> Vec<String> {
        let members = || targets.iter().map(|target| &target.key);
        for (key, decision) in members().zip(&mut *decisions) {
            if let Some(Membership::Refused(id)) = &decision.membership
                && let Some(parent) = self.parents.get(id)
            {
                let message = format!("it belongs to another {parent}");
                let hint = format!(
                    "pass {}, or take it out first with `--leave-applyset` and without `--applyset`",
                    self.flags(parent, &[key])
                );
                decision.diff = ObjectDiff::unknown(Diagnostic::new(Code::Conflict, message).with_hint(hint));
            }
        }
        self.warnings(members().zip(decisions).filter_map(|(key, decision)| Some((key, decision.membership.as_ref()?))))
    }

    fn warnings<'d>(&self, memberships: impl Iterator<Item = (&'d ObjectKey, &'d Membership)>) -> Vec<String> {
        let mut kept: BTreeMap<&str, Vec<&ObjectKey>> = BTreeMap::new();
        let mut unremovable: BTreeMap<&str, usize> = BTreeMap::new();
        for (key, membership) in memberships {
            match membership {
                Membership::Kept(id) => kept.entry(id).or_default().push(key),
                Membership::Unremovable(id) => {
                    let count = unremovable.entry(id).or_default();
                    *count = count.saturating_add(1);
                }
                Membership::Refused(_) => {}
            }
        }
        let mut warnings = Vec::new();
        let all = kept.len().saturating_add(unremovable.len());
        let kept = kept.into_iter().map(|(id, members)| self.kept(id, &members));
        let unremovable = unremovable.into_iter().map(|(id, count)| self.unremovable(id, count));
        warnings.extend(kept.chain(unremovable).take(MOST_SETS));
        if let Some(more @ 1..) = all.checked_sub(MOST_SETS) {
            warnings.push(format!("objects belong to {more} more apply sets, and stay in them"));
        }
        warnings
    }

    fn kept(&self, id: &str, members: &[&ObjectKey]) -> String {
        let count = members.len();
        let them = if count == 1 { "it" } else { "them" };
        let belong = if count == 1 { "1 object belongs".to_owned() } else { format!("{count} objects belong") };
        let set = self.named(id);
        let flags = match self.parents.get(id) {
            Some(parent) => self.flags(parent, members),
            None => "`--prune --applyset` and the name of its parent".to_owned(),
        };
        format!("{belong} to {set}: pass {flags}, or `--leave-applyset` to take {them} out")
    }

    fn unremovable(&self, id: &str, count: usize) -> String {
        let stay = if count == 1 { "1 object stays".to_owned() } else { format!("{count} objects stay") };
        let set = self.named(id);
        format!(
            "{stay} in {set}, because other managers own the label: remove it with `kubectl label KIND NAME {}-`",
            apply_set::PART_OF
        )
    }

    fn named(&self, id: &str) -> String {
        if let Some(parent) = self.parents.get(id) {
            return parent.to_string();
        }
        let missing = if self.are_saved { "is not in the snapshot" } else { "could not be found" };
        format!("apply set `{}`, whose parent {missing}", one_line(id, 100))
    }

    /// The flags that name the set of these members, in words.
    fn flags(&self, SetParent { key, plural, tool }: &SetParent, members: &[&ObjectKey]) -> String {
        let ObjectKey { gvk, namespace, name } = key;
        let resource = match (gvk.group.as_str(), gvk.kind.as_str()) {
            ("", "Secret") => String::new(),
            ("", kind) => format!("{}/", kind.to_lowercase()),
            (group, _) => format!("{plural}.{group}/"),
        };
        let namespace = namespace.as_deref().filter(|name| *name != self.default_namespace);
        // With `-n`, all objects have to be in this namespace.
        let is_within = |name: &&str| members.iter().all(|key| key.namespace.as_deref().is_none_or(|own| own == *name));
        let flag = namespace.filter(is_within).map(|name| format!(" -n {name}")).unwrap_or_default();
        let adopt = tool.as_ref().map(|tool| format!(" --adopt {tool}")).unwrap_or_default();
        let flags = format!("`--prune --applyset {resource}{name}{flag}{adopt}`");
        match namespace.filter(|_| flag.is_empty()) {
            Some(name) => format!("{flags} in a context whose namespace is `{name}`"),
            None => flags,
        }
    }
}

/// ``apply set `pay` (Secret shop/pay)``
impl std::fmt::Display for SetParent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "apply set `{}` ({})", self.key.name, self.key)
    }
}

/// Finds the parents of sets among the objects of these kinds. What cannot be listed has none.
async fn find(
    server: &Server,
    kinds: Vec<Resource>,
    ids: &BTreeSet<&str>,
    likely: &[&str],
) -> BTreeMap<String, SetParent> {
    let selector = format!("{ID} in ({})", ids.iter().copied().collect::<Vec<_>>().join(","));
    let lists = kinds.iter().map(|kind| list(server, kind, &selector, likely));
    let lists: Vec<Vec<Value>> = futures::stream::iter(lists).buffered(IN_FLIGHT).collect().await;
    let mut parents = BTreeMap::new();
    for (resource, objects) in kinds.iter().zip(&lists) {
        parents.extend(objects.iter().filter_map(|object| parent(resource, object)));
    }
    parents
}

/// The labelled objects of a kind: of all namespaces, or of the likely ones if that is forbidden.
async fn list(server: &Server, resource: &Resource, selector: &str, likely: &[&str]) -> Vec<Value> {
    let list = async |namespace| {
        let pages = Pages::new(&server.cluster, resource, namespace).searching().with("labelSelector", selector);
        pages.metadata_only().all().await.map(|(objects, _)| objects)
    };
    match list(None).await {
        Ok(objects) => objects,
        Err(error) if error.is_forbidden() && resource.namespaced => {
            let mut objects = Vec::new();
            for namespace in likely {
                objects.extend(list(Some(*namespace)).await.unwrap_or_default());
            }
            objects
        }
        Err(_) => Vec::new(),
    }
}

/// The parent that an object is, with the id of its set. Anybody can set the label: only the right id makes a parent.
fn parent(resource: &Resource, object: &Value) -> Option<(String, SetParent)> {
    let namespace = object.metadata("namespace").and_then(Value::as_str).map(ToOwned::to_owned);
    let key = ObjectKey { gvk: resource.gvk.clone(), namespace, name: object.name()?.to_owned() };
    let id = ApplySet::of(key.clone()).id;
    if object.label(ID) != Some(&id) {
        return None;
    }
    let tooling = object.annotation(TOOLING).map(Tooling::new).filter(|tooling| !is_own_tooling(tooling));
    let is_name =
        |name: &String| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let tool = tooling.map(|tooling| tooling.name().to_owned()).filter(is_name);
    Some((id, SetParent { key, plural: resource.plural.clone(), tool }))
}
