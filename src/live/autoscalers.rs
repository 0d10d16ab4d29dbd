//! Reads the autoscalers of a run's workloads. Anybody may have autoscalers in the same namespaces, as many and as large as the server
//! takes, so only those of the workloads are kept, and only the fields that count.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use futures::StreamExt as _;
use serde_json::Value;
use structured_merge::{FieldPath, GroupKind, GroupVersionKind};

use super::discovery::served;
use super::list::Pages;
use crate::client::{Cluster, IN_FLIGHT, Request, RequestError};
use reconcile_core::compare::ComparisonMachine;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::{Discovery, LiveState, Resource, Target};
use reconcile_core::manifest::Manifest;
use reconcile_core::rules::{AUTOSCALER_FIELDS, AUTOSCALERS, Autoscaler, Workload, workload};

/// From this many namespaces on, one LIST over all namespaces is tried first.
const MANY: usize = 4;
/// A LIST over all namespaces is left if it takes longer than this.
const PATIENCE: Duration = Duration::from_secs(5);
/// A LIST over all namespaces is left if it is larger than this and half of its objects are in other namespaces, in bytes.
const LARGE: usize = 4 << 20;
/// The most autoscalers of one workload that are kept. The controllers themselves expect one.
const MOST: usize = 16;

/// The kinds of autoscalers that the server has, and the autoscalers of the input.
#[derive(Clone, Debug, Default)]
pub(crate) struct AutoscalerSource {
    resources: Vec<Resource>,
    in_input: Vec<Autoscaler>,
}

impl AutoscalerSource {
    /// The kinds of autoscalers that the server has, and the autoscalers among the targets.
    pub fn new<'t>(discovery: &Discovery, targets: impl Iterator<Item = &'t Target>) -> Self {
        let known = AUTOSCALERS.iter().filter_map(|(group, kind)| {
            let kind = GroupKind { kind: (*kind).to_owned(), group: (*group).to_owned() };
            served(discovery, &kind).filter(|resource| resource.namespaced).cloned()
        });
        let in_input = targets.filter_map(|target| {
            let gvk = &target.key.gvk;
            let is_one = AUTOSCALERS.iter().any(|(group, kind)| (*group, *kind) == (&*gvk.group, &*gvk.kind));
            let namespace = target.key.namespace.as_deref().filter(|_| is_one)?;
            Autoscaler::read(&gvk.group, &gvk.kind, namespace, target.desired.object())
        });
        Self { resources: known.collect(), in_input: in_input.collect() }
    }

    /// The autoscalers of the input, and those among captured objects.
    pub fn captured<'o>(self, objects: impl Iterator<Item = &'o Value>) -> impl Iterator<Item = Autoscaler> {
        let captured: Vec<_> = objects
            .filter_map(|object| {
                let text = |path: &str| object.pointer(path).and_then(Value::as_str);
                let gvk = GroupVersionKind::new(text("/apiVersion")?, text("/kind")?);
                Autoscaler::read(&gvk.group, &gvk.kind, text("/metadata/namespace")?, object)
            })
            .collect();
        self.in_input.into_iter().chain(captured)
    }

    /// The requests that are sent first for these manifests, each with its namespace, as far as their kinds are known.
    pub fn first_requests(&self, cluster: &Cluster, manifests: &[(&str, &Manifest)]) -> Vec<(Resource, Request)> {
        let mut places = self.places();
        for (namespace, manifest) in manifests {
            places.add(namespace, |look| manifest.with_object(look));
        }
        let requests = places.0.into_iter().flat_map(|(resource, namespaces)| {
            let namespaces = namespaces.iter().map(String::as_str).collect();
            let requests = first_requests(cluster, &resource, &namespaces);
            requests.into_iter().map(move |request| (resource.clone(), request))
        });
        requests.collect()
    }

    fn places(&self) -> Places {
        Places(self.resources.iter().map(|resource| (resource.clone(), BTreeSet::new())).collect())
    }

    /// The namespaces in which each kind of autoscaler is listed.
    pub fn searched(&self, targets: &[&Target]) -> Vec<(Resource, BTreeSet<String>)> {
        let mut places = self.places();
        for target in targets {
            if let Some(namespace) = &target.key.namespace {
                places.add(namespace, |look| {
                    if SCALED_FIELDS.iter().any(|field| target.desired.may_have(field)) {
                        target.desired.with_object(look);
                    }
                });
            }
        }
        places.0
    }

    /// Reads the autoscalers in the namespaces of these targets, as far as a manifest sets fields that an autoscaler may change. Also
    /// returns the kinds that cannot be listed.
    pub async fn read(&self, cluster: &Cluster, targets: &[&Target]) -> (Vec<Autoscaler>, Vec<Unlisted>) {
        let (found, unlisted) = self.search(cluster, &self.searched(targets), targets).await;
        (self.in_input.iter().cloned().chain(found).collect(), unlisted)
    }

    /// The objects of which an apply drops a field that an autoscaler of one of the kinds may change.
    pub fn dropped<'t>(&self, machines: &[Box<ComparisonMachine<'t>>]) -> Vec<(Resource, Vec<&'t Target>)> {
        let of_kind = |resource: &Resource| {
            let field = scaled_field(resource);
            machines.iter().filter(|machine| machine.drops(&field)).map(|machine| machine.target()).collect()
        };
        let kinds = self.resources.iter().map(|resource| (resource.clone(), of_kind(resource)));
        kinds.filter(|(_, targets): &(_, Vec<_>)| !targets.is_empty()).collect()
    }

    /// Reads the autoscalers of objects of which an apply drops such a field, in the namespaces that [`Self::read`] has not searched for
    /// these targets. Also returns the kinds that cannot be listed.
    pub async fn read_of_dropped(
        &self,
        cluster: &Cluster,
        targets: &[&Target],
        dropped: &[(Resource, Vec<&Target>)],
    ) -> (Vec<Autoscaler>, Vec<Unlisted>) {
        let searched = self.searched(targets);
        let is_searched = |resource: &Resource, namespace: &str| {
            searched.iter().any(|(kind, namespaces)| kind.gvk == resource.gvk && namespaces.contains(namespace))
        };
        let places = dropped.iter().map(|(resource, targets)| {
            let namespaces = targets.iter().filter_map(|target| target.key.namespace.as_deref());
            let rest = namespaces.filter(|namespace| !is_searched(resource, namespace)).map(ToOwned::to_owned);
            (resource.clone(), rest.collect())
        });
        let targets: Vec<&Target> = dropped.iter().flat_map(|(_, targets)| targets).copied().collect();
        self.search(cluster, &places.collect::<Vec<_>>(), &targets).await
    }

    /// Reads the autoscalers that these targets have in these namespaces.
    async fn search(
        &self,
        cluster: &Cluster,
        places: &[(Resource, BTreeSet<String>)],
        targets: &[&Target],
    ) -> (Vec<Autoscaler>, Vec<Unlisted>) {
        let workloads = targets.iter().enumerate().filter_map(|(index, target)| Some((workload(&target.key)?, index)));
        let workloads: HashMap<_, _> = workloads.collect();
        let workloads = &workloads;
        let searches = places.iter().map(|(resource, namespaces)| async move {
            AutoscalerSearch { cluster, resource, namespaces, workloads }.run().await
        });
        let mut all = Vec::new();
        let mut unlisted = Vec::new();
        for (found, kind) in futures::future::join_all(searches).await {
            all.extend(found);
            unlisted.extend(kind.map(|kind| kind.beside(&self.in_input)));
        }
        (all, unlisted)
    }
}

/// The kinds of autoscalers, each with the namespaces in which one of them may scale an object of the input.
struct Places(Vec<(Resource, BTreeSet<String>)>);

impl Places {
    /// Adds the namespace of an object, at which `with` looks only if that may add something.
    fn add(&mut self, namespace: &str, with: impl FnOnce(&mut dyn FnMut(&Value))) {
        if self.0.iter().all(|(_, namespaces)| namespaces.contains(namespace)) {
            return;
        }
        with(&mut |object| {
            for (_, namespaces) in self.0.iter_mut().filter(|(resource, _)| is_scaled(resource, object)) {
                namespaces.insert(namespace.to_owned());
            }
        });
    }
}

/// A kind of autoscalers that cannot be listed.
pub(crate) struct Unlisted {
    resource: Resource,
    reason: Diagnostic,
    /// The autoscalers of this kind that the input has.
    known: Vec<Autoscaler>,
}

impl Unlisted {
    /// Adds the autoscalers of its kind that the input has: their changes are left alone.
    fn beside(self, in_input: &[Autoscaler]) -> Self {
        let start = format!("{} ", self.resource.gvk.kind);
        let known = in_input.iter().filter(|autoscaler| autoscaler.name.starts_with(&start)).cloned().collect();
        Self { known, ..self }
    }

    /// The warning for these objects. `None` if none of them differs in a field that such an autoscaler changes.
    pub fn warning<'s>(
        &self,
        targets: &[&Target],
        states: impl Iterator<Item = Option<&'s LiveState>>,
    ) -> Option<String> {
        let differs = |(target, state): (&&Target, Option<&LiveState>)| {
            let (wanted, Some(LiveState::Present(live))) = (target.desired.object(), state) else { return false };
            let field = scaled_field(&self.resource);
            is_scaled(&self.resource, wanted)
                && field.value_in(wanted) != field.value_in(live)
                && !self.knows_autoscaler_of(target)
        };
        targets.iter().zip(states).any(differs).then(|| self.text())
    }

    /// The warning for objects of which an apply drops such a field. `None` if there are none.
    pub fn warning_of_dropped(&self, dropped: &[(Resource, Vec<&Target>)]) -> Option<String> {
        let of_kind = dropped.iter().filter(|(resource, _)| resource.gvk == self.resource.gvk);
        let mut targets = of_kind.flat_map(|(_, targets)| targets);
        targets.any(|target| !self.knows_autoscaler_of(target)).then(|| self.text())
    }

    /// Returns true if the input has an autoscaler of an object.
    fn knows_autoscaler_of(&self, target: &Target) -> bool {
        let own = workload(&target.key);
        self.known.iter().any(|known| own == Some(known.workload()))
    }

    fn text(&self) -> String {
        let kind = &self.resource.gvk.kind;
        let hint = self.reason.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        let reason = &self.reason.message;
        format!("{kind}s cannot be listed, so that their changes are shown as drift: {reason}{hint}")
    }
}

fn is_vertical(autoscaler: &Resource) -> bool {
    autoscaler.gvk.kind == "VerticalPodAutoscaler"
}

/// The field that such an autoscaler changes, or in which it changes something.
fn scaled_field(autoscaler: &Resource) -> FieldPath {
    if is_vertical(autoscaler) {
        return FieldPath::of(&["spec", "template", "spec", "containers"]);
    }
    FieldPath::of(&["spec", "replicas"])
}

/// The fields of which [`is_scaled`] needs one: most objects have none of them.
const SCALED_FIELDS: [&str; 2] = ["replicas", "containers"];

/// Returns true if the manifest of a workload sets a field that such an autoscaler changes.
fn is_scaled(autoscaler: &Resource, manifest: &Value) -> bool {
    if is_vertical(autoscaler) {
        return manifest.pointer("/spec/template/spec/containers").is_some();
    }
    manifest.pointer("/spec/replicas").is_some_and(Value::is_number)
}

/// The requests with which the search for autoscalers of one kind in these namespaces begins.
fn first_requests(cluster: &Cluster, resource: &Resource, namespaces: &BTreeSet<&str>) -> Vec<Request> {
    let first = |namespace: Option<&str>| pages(cluster, resource, namespace).first_request();
    if namespaces.len() >= MANY {
        return vec![first(None)];
    }
    namespaces.iter().map(|namespace| first(Some(namespace))).collect()
}

fn pages<'c>(cluster: &'c Cluster, resource: &'c Resource, namespace: Option<&'c str>) -> Pages<'c> {
    Pages::new(cluster, resource, namespace).counted_as_other().keeping(AUTOSCALER_FIELDS)
}

/// The search for the autoscalers of one kind that some workloads in some namespaces have.
struct AutoscalerSearch<'s> {
    cluster: &'s Cluster,
    resource: &'s Resource,
    namespaces: &'s BTreeSet<String>,
    /// The workloads, each with a number.
    workloads: &'s HashMap<Workload<'s>, usize>,
}

impl AutoscalerSearch<'_> {
    /// Lists all namespaces at once if there are many, or else each by itself. Also returns the kind if some cannot be listed.
    async fn run(&self) -> (Vec<Autoscaler>, Option<Unlisted>) {
        if self.namespaces.len() >= MANY
            && let Ok(Ok(Some(found))) = tokio::time::timeout(PATIENCE, self.list(None)).await
        {
            return (found, None);
        }
        let mut found = Vec::new();
        let mut failure = None;
        let lists = self.namespaces.iter().map(|namespace| self.list(Some(namespace)));
        let mut lists = futures::stream::iter(lists).buffered(IN_FLIGHT);
        while let Some(list) = lists.next().await {
            match list {
                Ok(list) => found.extend(list.into_iter().flatten()),
                Err(RequestError::Stopped) => {}
                Err(error) => drop(failure.get_or_insert(error)),
            }
        }
        let unlisted = failure.map(|error: RequestError| {
            let reason = Diagnostic::about(&self.resource.gvk, &error);
            Unlisted { resource: self.resource.clone(), reason, known: Vec::new() }
        });
        (found, unlisted)
    }

    /// Lists a namespace, or all of them. Returns `None` if the list of all turns out to be large and mainly about others.
    async fn list(&self, namespace: Option<&str>) -> Result<Option<Vec<Autoscaler>>, RequestError> {
        let mut pages = pages(self.cluster, self.resource, namespace);
        let mut found = Vec::new();
        let mut counts = BTreeMap::new();
        let mut bytes = 0_usize;
        let mut seen = 0_usize;
        let mut near = 0_usize;
        while let Some(page) = pages.next().await? {
            if page.starts_over {
                found.clear();
                counts.clear();
                bytes = 0;
                seen = 0;
                near = 0;
            }
            bytes = bytes.saturating_add(page.bytes);
            seen = seen.saturating_add(page.len());
            for object in &page.objects {
                let Some(own) = object.pointer("/metadata/namespace").and_then(Value::as_str) else { continue };
                near = near.saturating_add(usize::from(self.namespaces.contains(own)));
                let gvk = &self.resource.gvk;
                let Some(autoscaler) = Autoscaler::read(&gvk.group, &gvk.kind, own, object) else { continue };
                let Some(workload) = self.workloads.get(&autoscaler.workload()) else { continue };
                let count: &mut usize = counts.entry(*workload).or_default();
                if *count < MOST {
                    *count = count.saturating_add(1);
                    found.push(autoscaler);
                }
            }
            if namespace.is_none() && bytes > LARGE && near.saturating_mul(2) < seen {
                return Ok(None);
            }
        }
        Ok(Some(found))
    }
}
