//! The objects read so far, and the readiness that follows from them.

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use kstatus::{Owned, readiness_with_pods, selector_of};
use serde_json::Value;
use structured_merge::{ObjectKey, ObjectMeta as _};

use super::list_watch::{FEW, ListWatch, Selection};
use super::watched::{TTL, Watched, needs_pods};
use super::watcher::WatchUpdate;
use crate::live::list::MEMORY;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::readiness::{ObjectReadiness, ReadinessState};
use reconcile_core::object::{Projection, Selector, memory_of};

/// The objects of one scope.
struct Collection {
    scope: ListWatch,
    reading: ScopeState,
    objects: BTreeMap<String, Value>,
    /// The memory of these objects, in bytes.
    memory: usize,
    /// The last state of watched objects that are gone.
    gone: BTreeMap<String, Value>,
    unreadable: BTreeMap<String, Diagnostic>,
}

/// The state of reading a scope.
enum ScopeState {
    NotYet(Option<Diagnostic>),
    Done,
    GivenUp(Diagnostic),
}

/// The collections of all scopes: first those of the watched objects, then those of their Pods.
pub(super) struct ReadinessTracker<'w> {
    watched: &'w [Watched],
    /// The collection of each watched object, if it can be read at all.
    homes: Vec<Option<usize>>,
    collections: Vec<Collection>,
    /// The workloads whose Pods are read.
    explained: BTreeSet<usize>,
    /// The namespaces with many workloads.
    crowded: BTreeSet<&'w str>,
    /// The number of collections with watched objects, which come first.
    own: usize,
    /// The number of collections for which a watcher was started.
    started: usize,
    readiness: Vec<Option<ObjectReadiness>>,
    /// The results of rules of the configuration, with the resourceVersion for which each was computed.
    ruled: BTreeMap<usize, (String, ObjectReadiness)>,
}

impl<'w> ReadinessTracker<'w> {
    /// A tracker that knows no object yet.
    pub fn new(watched: &'w [Watched]) -> Self {
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, one) in watched.iter().enumerate() {
            if one.resource.as_deref().is_ok_and(|resource| !resource.pending) {
                groups.entry((&one.key.gvk, &one.key.namespace)).or_default().push(index);
            }
        }
        let mut homes = vec![None; watched.len()];
        let mut collections = Vec::new();
        for wanted in groups.into_values() {
            let few = if wanted.len() <= FEW { 1 } else { wanted.len() };
            for indices in wanted.chunks(few) {
                let first = &watched[indices[0]];
                let Ok(resource) = &first.resource else { continue };
                for index in indices {
                    homes[*index] = Some(collections.len());
                }
                let names = indices.iter().map(|index| watched[*index].key.name.clone()).collect();
                let namespace = first.key.namespace.clone();
                collections.push(Collection::new(ListWatch {
                    resource: (**resource).clone(),
                    namespace,
                    selection: Selection::Names(names),
                    fields: Projection::Whole,
                    has_rules: indices.iter().any(|index| watched[*index].rule.is_some()),
                }));
            }
        }
        Self {
            watched,
            homes,
            own: collections.len(),
            collections,
            explained: BTreeSet::new(),
            crowded: crowded(watched),
            started: 0,
            readiness: vec![None; watched.len()],
            ruled: BTreeMap::new(),
        }
    }

    /// Returns each scope once, with its index, so that a watcher can be started for it.
    pub fn unstarted(&mut self) -> Vec<(usize, ListWatch)> {
        let new = self.collections.iter().enumerate().skip(self.started);
        let new = new.map(|(index, collection)| (index, collection.scope.clone())).collect();
        self.started = self.collections.len();
        new
    }

    /// Applies an update of one scope.
    pub fn apply(&mut self, index: usize, update: WatchUpdate) {
        if let Some(collection) = self.collections.get_mut(index) {
            collection.apply(update);
        }
    }

    /// Returns true if a scope is not read any more.
    pub fn has_given_up(&self, index: usize) -> bool {
        self.collections.get(index).is_some_and(|collection| matches!(collection.reading, ScopeState::GivenUp(_)))
    }

    /// Re-evaluates every object and reports those whose readiness changed.
    pub fn judge(&mut self, now: Timestamp, on_change: &mut impl FnMut(&Watched, &ObjectReadiness)) {
        self.ask_rules();
        let owned = self.owned();
        let mut wanted = Vec::new();
        let mut judged = Vec::with_capacity(self.watched.len());
        for (index, one) in self.watched.iter().enumerate() {
            let object = self.object(index);
            judged.push(self.of(index, &owned, now));
            if let Some(object) = object.filter(|_| !self.explained.contains(&index))
                && one.has_pods()
                && one.refusal(object).is_none()
                && needs_pods(&one.key.gvk, &one.readiness(object, now))
            {
                wanted.push((index, self.scopes_of_pods(one, object)));
            }
        }
        for (index, readiness) in judged.into_iter().enumerate() {
            if self.readiness[index] != readiness {
                if let Some(readiness) = &readiness {
                    on_change(&self.watched[index], readiness);
                }
                self.readiness[index] = readiness;
            }
        }
        for (index, scopes) in wanted {
            self.explained.insert(index);
            for scope in scopes {
                if !self.collections[self.own..].iter().any(|collection| collection.scope == scope) {
                    self.collections.push(Collection::new(scope));
                }
            }
        }
    }

    /// Evaluates the rules of the configuration for objects that changed. Their results do not depend on the time.
    fn ask_rules(&mut self) {
        let watched = self.watched;
        for (index, one) in watched.iter().enumerate() {
            let (Some(rule), Some(object)) = (&one.rule, self.object(index)) else { continue };
            let version = object.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default();
            let is_known = self.ruled.get(&index).is_some_and(|(known, _)| known == version && !version.is_empty());
            if !is_known {
                let said = (version.to_owned(), one.readiness_by(rule, object));
                self.ruled.insert(index, said);
            }
        }
    }

    /// The readiness of all objects, as far as it is known.
    pub fn readiness(&self) -> impl Iterator<Item = &ObjectReadiness> {
        self.readiness.iter().flatten()
    }

    /// Returns true if every watched object was read, or certainly cannot be.
    pub fn is_seen(&self) -> bool {
        self.readiness.iter().all(Option::is_some)
    }

    /// Returns true if the same holds for the Pods that can explain them.
    pub fn is_explained(&self) -> bool {
        let pods = &self.collections[self.own..];
        self.started == self.collections.len() && pods.iter().all(|pods| !matches!(pods.reading, ScopeState::NotYet(_)))
    }

    /// The readiness of all objects, in order. It is unknown for objects that were never read.
    pub fn into_readiness(self) -> Vec<ObjectReadiness> {
        let Self { readiness, homes, collections, .. } = self;
        let unread = |home: Option<usize>| match home.map(|home| &collections[home].reading) {
            Some(ScopeState::NotYet(Some(diagnostic))) => ObjectReadiness::unknown(diagnostic.clone()),
            _ => ObjectReadiness::unknown(Diagnostic::new(Code::Timeout, "it was not read in time")),
        };
        readiness.into_iter().zip(homes).map(|(known, home)| known.unwrap_or_else(|| unread(home))).collect()
    }

    fn object(&self, index: usize) -> Option<&Value> {
        self.collections[self.homes[index]?].objects.get(&self.watched[index].key.name)
    }

    fn of(&self, index: usize, owned: &BTreeMap<&str, Owned<'_>>, now: Timestamp) -> Option<ObjectReadiness> {
        let one = &self.watched[index];
        let Watched { key, resource, .. } = one;
        let unknown = |diagnostic: &Diagnostic| Some(ObjectReadiness::unknown(diagnostic.clone()));
        let Some(home) = self.homes[index] else {
            return match resource {
                Err(diagnostic) => unknown(diagnostic),
                Ok(_) => {
                    Some(ObjectReadiness::new(ReadinessState::NotFound, "it does not exist, and neither does its kind"))
                }
            };
        };
        let collection = &self.collections[home];
        match &collection.reading {
            ScopeState::NotYet(_) => return None,
            ScopeState::GivenUp(diagnostic) => return unknown(diagnostic),
            ScopeState::Done => {}
        }
        if let Some(diagnostic) = collection.unreadable.get(&key.name) {
            return unknown(diagnostic);
        }
        let object = collection.objects.get(&key.name);
        if let Some(refusal) = object.and_then(|object| one.refusal(object)) {
            return unknown(&refusal);
        }
        Some(match object {
            Some(object) if one.has_pods() => {
                let nothing = Owned::default();
                let owned = key.namespace.as_deref().and_then(|namespace| owned.get(namespace)).unwrap_or(&nothing);
                let readiness = one.shown(readiness_with_pods(&key.gvk, object, owned, now).into(), object);
                self.unexplained(key, readiness)
            }
            Some(object) => {
                let ruled = self.ruled.get(&index).map(|(_, readiness)| readiness.clone());
                one.shown(ruled.unwrap_or_else(|| one.readiness(object, now)), object)
            }
            None => gone(one, collection.gone.get(&key.name).filter(|last| one.refusal(last).is_none()), now),
        })
    }

    /// Adds to the message of a workload that is not ready why its Pods cannot be read, if they cannot.
    fn unexplained(&self, key: &ObjectKey, readiness: ObjectReadiness) -> ObjectReadiness {
        let of_namespace = self.collections[self.own..].iter().filter(|pods| pods.scope.namespace == key.namespace);
        let diagnostic = of_namespace.filter_map(|pods| match &pods.reading {
            ScopeState::GivenUp(diagnostic) => Some(diagnostic),
            ScopeState::NotYet(_) | ScopeState::Done => None,
        });
        match diagnostic.into_iter().next().filter(|_| needs_pods(&key.gvk, &readiness)) {
            Some(diagnostic) => {
                let message = format!("{}; its Pods cannot be read: {}", readiness.message, diagnostic.message);
                ObjectReadiness { message, ..readiness }
            }
            None => readiness,
        }
    }

    /// Pods and ReplicaSets by namespace, each once, although several scopes may hold it.
    fn owned(&self) -> BTreeMap<&str, Owned<'_>> {
        let mut owned: BTreeMap<&str, Owned<'_>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for collection in &self.collections[self.own..] {
            let entry = owned.entry(collection.scope.namespace.as_deref().unwrap_or_default()).or_default();
            let kind = collection.scope.resource.gvk.kind.as_str();
            for (name, object) in &collection.objects {
                if seen.insert((kind, collection.scope.namespace.as_deref(), name)) {
                    if kind == "Pod" { entry.add_pod(object) } else { entry.add_replica_set(object) }
                }
            }
        }
        owned
    }

    /// The scopes of a workload's Pods: by its labels, or all Pods of a namespace with many workloads.
    fn scopes_of_pods(&self, workload: &Watched, object: &Value) -> Vec<ListWatch> {
        let Some(namespace) = workload.key.namespace.as_deref() else { return Vec::new() };
        let is_crowded = self.crowded.contains(namespace);
        let labels = selector_of(&workload.key.gvk, object).filter(|_| !is_crowded);
        let labels = labels.and_then(|labels| Selector::parse(&labels).ok());
        let selection = labels.map_or(Selection::All, Selection::Labels);
        let mut scopes = vec![ListWatch::of_owned("v1", "Pod", "pods", namespace, selection.clone())];
        if workload.key.gvk.kind == "Deployment" {
            scopes.push(ListWatch::of_owned("apps/v1", "ReplicaSet", "replicasets", namespace, selection));
        }
        scopes
    }
}

/// The readiness of an object that does not exist, by its last state: a Job may be gone because it is done.
fn gone(watched: &Watched, last: Option<&Value>, now: Timestamp) -> ObjectReadiness {
    const DONE: &str = "it finished, and was deleted after its `ttlSecondsAfterFinished`";
    let has_expired = watched.key.gvk.kind == "Job" && last.is_some_and(|job| job.pointer(TTL).is_some());
    let at_its_end = |job: &Value| {
        let mut job = job.clone();
        // Its deletion says nothing of how it ended.
        if let Some(metadata) = job.pointer_mut("/metadata").and_then(Value::as_object_mut) {
            metadata.remove("deletionTimestamp");
        }
        watched.readiness(&job, now)
    };
    match last.filter(|_| has_expired).map(at_its_end) {
        Some(now) if now.is_current() && last.is_some_and(is_complete) => ObjectReadiness::current(DONE),
        Some(last) if last.state == ReadinessState::Failed => last,
        Some(_) => {
            ObjectReadiness::new(ReadinessState::NotFound, "it no longer exists, and it is not known how it ended")
        }
        None if last.is_none() && watched.expires => ObjectReadiness::current(DONE),
        None => ObjectReadiness::new(ReadinessState::NotFound, "it does not exist"),
    }
}

/// Returns true for a Job that has ended well. A suspended one is current as well.
fn is_complete(job: &Value) -> bool {
    job.pointer("/status/completionTime").is_some()
}

/// The namespaces with enough workloads that one LIST of all Pods is cheaper than one per workload.
fn crowded(watched: &[Watched]) -> BTreeSet<&str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for one in watched.iter().filter(|one| one.has_pods()) {
        let count = counts.entry(one.key.namespace.as_deref().unwrap_or_default()).or_default();
        *count = count.saturating_add(1);
    }
    counts.into_iter().filter(|(_, count)| *count > FEW).map(|(namespace, _)| namespace).collect()
}

impl Collection {
    fn new(scope: ListWatch) -> Self {
        Self {
            scope,
            reading: ScopeState::NotYet(None),
            objects: BTreeMap::new(),
            memory: 0,
            gone: BTreeMap::new(),
            unreadable: BTreeMap::new(),
        }
    }

    fn apply(&mut self, update: WatchUpdate) {
        let named = |object: Value| Some((object.name()?.to_owned(), object));
        match update {
            _ if matches!(self.reading, ScopeState::GivenUp(_)) => {}
            WatchUpdate::Listed(listing) => {
                let before = std::mem::take(&mut self.objects);
                self.memory = 0;
                listing.objects.into_iter().filter_map(named).for_each(|(name, object)| self.set(name, object));
                for (name, object) in before {
                    if !self.objects.contains_key(&name) {
                        self.keep_last(name, object);
                    }
                }
                self.unreadable = listing.unreadable.into_iter().collect();
                self.reading = ScopeState::Done;
            }
            WatchUpdate::Set(object) => {
                if let Some((name, object)) = named(object) {
                    self.set(name, object);
                    self.bound();
                }
            }
            WatchUpdate::Deleted(object) => {
                if let Some((name, object)) = named(object) {
                    self.remove(&name);
                    self.keep_last(name, object);
                }
            }
            // Objects read before stay valid until the watcher gives up.
            WatchUpdate::Failing(diagnostic) => {
                if let ScopeState::NotYet(last) = &mut self.reading {
                    *last = Some(diagnostic);
                }
            }
            WatchUpdate::GivenUp(diagnostic) => self.reading = ScopeState::GivenUp(diagnostic),
        }
    }

    fn set(&mut self, name: String, object: Value) {
        self.remove(&name);
        self.memory = self.memory.saturating_add(memory_of(&object));
        self.objects.insert(name, object);
    }

    fn remove(&mut self, name: &str) {
        if let Some(object) = self.objects.remove(name) {
            self.memory = self.memory.saturating_sub(memory_of(&object));
        }
    }

    /// Keeps the last state of a watched object.
    fn keep_last(&mut self, name: String, last: Value) {
        if self.scope.names().is_some() {
            self.gone.insert(name, last);
        }
    }

    /// Gives up if there is too much to keep. Objects that are selected by name are as many as the manifests.
    fn bound(&mut self) {
        if self.scope.names().is_none() && self.memory > MEMORY {
            self.objects.clear();
            let message = format!("there are more of them than fit into {} MiB", MEMORY >> 20);
            self.reading = ScopeState::GivenUp(Diagnostic::new(Code::Failed, message));
        }
    }
}
