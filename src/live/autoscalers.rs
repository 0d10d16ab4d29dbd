//! Reads the autoscalers of a run's workloads.

use std::collections::BTreeSet;

use apply_set::GroupKind;
use futures::StreamExt as _;
use serde_json::Value;
use structured_merge::GroupVersionKind;

use super::list::Pages;
use crate::client::{Cluster, IN_FLIGHT, RequestError};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::{Discovery, Resolution};
use reconcile_core::live::{LiveState, Resource, Target};
use reconcile_core::rules::{AUTOSCALERS, Autoscaler};

/// From this many namespaces on, one LIST over all namespaces is tried first.
const MANY: usize = 4;

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
            match discovery.resolve_kind(&GroupKind { kind: (*kind).to_owned(), group: (*group).to_owned() }) {
                Resolution::Known(resource) if resource.namespaced && !resource.pending => Some(resource.clone()),
                _ => None,
            }
        });
        let in_input = targets.filter_map(|target| {
            let gvk = &target.key.gvk;
            Autoscaler::read(&gvk.group, &gvk.kind, target.key.namespace.as_deref()?, target.desired.object())
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

    /// The namespaces in which each kind of autoscaler is listed.
    pub fn searched(&self, targets: &[&Target]) -> Vec<(Resource, BTreeSet<String>)> {
        let places = self.resources.iter().map(|resource| {
            let scaled = targets.iter().filter(|target| is_scaled(resource, target.desired.object()));
            (resource.clone(), scaled.filter_map(|target| target.key.namespace.clone()).collect())
        });
        places.collect()
    }

    /// Reads the autoscalers in the namespaces of these targets, as far as a manifest sets fields that an autoscaler may change. Also
    /// returns the kinds that cannot be listed.
    pub async fn read(&self, cluster: &Cluster, targets: &[&Target]) -> (Vec<Autoscaler>, Vec<Unlisted>) {
        let searched = self.searched(targets);
        let lists = searched.iter().map(|(resource, namespaces)| listed(cluster, resource, namespaces));
        let (mut all, mut unlisted) = (self.in_input.clone(), Vec::new());
        for (found, kind) in futures::future::join_all(lists).await {
            all.extend(found);
            unlisted.extend(kind);
        }
        (all, unlisted)
    }
}

/// A kind of autoscalers that cannot be listed.
pub(crate) struct Unlisted {
    resource: Resource,
    reason: Diagnostic,
}

impl Unlisted {
    /// The warning for these objects. `None` if none of them differs in a field that such an autoscaler changes.
    pub fn warning<'s>(
        &self,
        targets: &[&Target],
        states: impl Iterator<Item = Option<&'s LiveState>>,
    ) -> Option<String> {
        let differs = |(target, state): (&&Target, Option<&LiveState>)| {
            let (wanted, Some(LiveState::Present(live))) = (target.desired.object(), state) else { return false };
            let field = if is_vertical(&self.resource) { "/spec/template/spec/containers" } else { "/spec/replicas" };
            is_scaled(&self.resource, wanted) && wanted.pointer(field) != live.pointer(field)
        };
        let kind = &self.resource.gvk.kind;
        targets.iter().zip(states).any(differs).then(|| {
            let hint = self.reason.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
            let reason = &self.reason.message;
            format!("{kind}s cannot be listed, so that their changes are shown as drift: {reason}{hint}")
        })
    }
}

fn is_vertical(autoscaler: &Resource) -> bool {
    autoscaler.gvk.kind == "VerticalPodAutoscaler"
}

/// Returns true if the manifest of a workload sets a field that such an autoscaler changes.
fn is_scaled(autoscaler: &Resource, manifest: &Value) -> bool {
    if is_vertical(autoscaler) {
        return manifest.pointer("/spec/template/spec/containers").is_some();
    }
    manifest.pointer("/spec/replicas").is_some_and(Value::is_number)
}

/// Lists the autoscalers of one kind in some namespaces. Also returns the kind if some cannot be listed.
async fn listed(
    cluster: &Cluster,
    resource: &Resource,
    namespaces: &BTreeSet<String>,
) -> (Vec<Autoscaler>, Option<Unlisted>) {
    let all = |namespace| Pages::new(cluster, resource, namespace).counted_as_other().all();
    if namespaces.len() >= MANY
        && let Ok((objects, _)) = all(None).await
    {
        return (objects.iter().filter_map(|object| autoscaler(resource, object)).collect(), None);
    }
    let (mut found, mut failure) = (Vec::new(), None);
    let mut lists = futures::stream::iter(namespaces).map(|namespace| all(Some(namespace))).buffered(IN_FLIGHT);
    while let Some(list) = lists.next().await {
        match list {
            Ok((objects, _)) => found.extend(objects.iter().filter_map(|object| autoscaler(resource, object))),
            Err(RequestError::Stopped) => {}
            Err(error) => drop(failure.get_or_insert(error)),
        }
    }
    let unlisted = failure.map(|error: RequestError| {
        let reason = Diagnostic::about(&resource.gvk, &error);
        Unlisted { resource: resource.clone(), reason }
    });
    (found, unlisted)
}

fn autoscaler(resource: &Resource, object: &Value) -> Option<Autoscaler> {
    let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str)?;
    Autoscaler::read(&resource.gvk.group, &resource.gvk.kind, namespace, object)
}
