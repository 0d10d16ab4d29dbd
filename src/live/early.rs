//! Reads that begin before the work that needs them. The paths of built-in kinds do not depend on discovery, and waiting for it would
//! cost two or three round trips: one to learn that the path is right, and those of the connections that are opened only then. The
//! paths of all other kinds are known once discovery has answered, and their answers can arrive while the objects are put in order.
//!
//! Discovery has the last word. A read is used only when the program sends the same request because of what discovery said, so that a
//! wrong expectation costs a request and changes no verdict. Reads that discovery does not confirm end at once.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use reconcile_core::live::resolve::{Namespaces, default_namespace};
use reconcile_core::live::{
    Discovery, ExpectedCollections, Resolution, Resource, expected_collections, is_read_by_name, is_spread,
    reads_documents,
};
use reconcile_core::manifest::{DesiredSet, Manifest};
use structured_merge::GroupVersionKind;
use tokio::sync::SetOnce;

use super::admission;
use super::all_namespaces::first_request;
use super::autoscalers::AutoscalerSource;
use super::list::Pages;
use super::openapi;
use super::types::Types;
use crate::client::{Cluster, MOST_EARLY, Request};

/// The most connections that are opened before the manifests are read.
const MOST_AHEAD: usize = 14;
/// Requests that are sent at once, whatever the manifests are: those of discovery and the version.
const FIRST_REQUESTS: usize = 3;

/// The most manifests whose objects are read early. With more, a round trip hardly counts, and the answers that wait would be many.
const MOST_MANIFESTS: usize = 5_000;

/// Something that a command reads besides discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EarlySubject {
    /// The objects of the manifests.
    Objects,
    /// The documents with the types of custom kinds.
    Types,
    /// The autoscalers of the manifests.
    Autoscalers,
    /// The webhooks that change objects.
    Admission,
}

/// The early reads of one run.
pub(crate) struct Early<'a> {
    subjects: BTreeSet<EarlySubject>,
    allows_namespace: &'a dyn Fn(&str) -> bool,
    /// The number of kinds in the manifests, while these are being read.
    kinds: usize,
    /// The connection once there is one; `None` inside if there will be none.
    connected: SetOnce<Option<(Cluster, Namespaces)>>,
    has_discovery: Cell<bool>,
    /// The reads that were sent and not refuted, each with its resource; the index of documents has none.
    sent: RefCell<Vec<EarlyRead>>,
}

type EarlyRead = (Option<Resource>, Request);

impl<'a> Early<'a> {
    /// A run that reads these, in namespaces for which `allows_namespace` returns true. `kinds` is the number of kinds of manifests that take
    /// a while to read, as far as it is known: their connections are opened meanwhile.
    pub fn new(subjects: Vec<EarlySubject>, allows_namespace: &'a dyn Fn(&str) -> bool, kinds: usize) -> Self {
        Self {
            subjects: subjects.into_iter().collect(),
            allows_namespace,
            kinds,
            connected: SetOnce::new(),
            has_discovery: Cell::new(false),
            sent: RefCell::default(),
        }
    }

    /// Learns the connection; without one, nothing is read.
    pub fn connected(&self, connection: Option<(&Cluster, &Namespaces)>) {
        if let Some((cluster, _)) = connection
            && self.kinds > 0
            && !self.subjects.is_empty()
        {
            cluster.open_ahead(self.kinds.saturating_add(FIRST_REQUESTS).min(MOST_AHEAD));
        }
        let connection = connection.map(|(cluster, namespaces)| (cluster.clone(), namespaces.clone()));
        // It is learned once.
        let _ = self.connected.set(connection);
    }

    /// Sends the reads for these manifests whose paths are known without discovery, unless discovery has answered already.
    pub async fn begin(&self, desired: &DesiredSet) {
        if self.subjects.is_empty() {
            return;
        }
        let Some((cluster, namespaces)) = self.connected.wait().await else { return };
        if !self.has_discovery.get() {
            // Policies are younger than some servers.
            let left_out = BTreeSet::from([admission::policy()]);
            self.send(cluster, self.reads(cluster, desired, (&Discovery::assumed(), namespaces), &left_out));
        }
    }

    /// Ends the reads of resources that the server serves otherwise, or does not serve. Without discovery, all of them end.
    pub fn discovered(&self, cluster: &Cluster, discovery: Option<&Discovery>) {
        self.has_discovery.set(true);
        let is_confirmed = |expected: &Resource| {
            let found = discovery.map(|discovery| discovery.resolve(&expected.gvk));
            matches!(found, Some(Resolution::Known(found))
                if (&found.plural, found.namespaced) == (&expected.plural, expected.namespaced)
                    && expected.verbs.is_subset(&found.verbs))
        };
        let mut sent = self.sent.borrow_mut();
        sent.retain(|(resource, _)| discovery.is_some() && resource.as_ref().is_none_or(is_confirmed));
        cluster.keep_early(|read| sent.iter().any(|(_, request)| request.is_same_read(read)));
    }

    /// Sends the reads of all other kinds, once discovery has answered, and begins to load their types.
    pub fn complete(&self, desired: &DesiredSet, discovery: &Discovery, types: &mut Types) {
        let Some(Some((cluster, namespaces))) = self.connected.get() else { return };
        if self.subjects.is_empty() {
            return;
        }
        let sent = self.sent.borrow().iter().filter_map(|(resource, _)| Some(resource.as_ref()?.gvk.clone())).collect();
        let has_index = self.sent.borrow().iter().any(|(resource, _)| resource.is_none());
        let mut reads = self.reads(cluster, desired, (discovery, namespaces), &sent);
        reads.retain(|(resource, _)| resource.is_some() || !has_index);
        self.send(cluster, reads);
        if self.subjects.contains(&EarlySubject::Types) {
            let is_served = |gvk: &&GroupVersionKind| matches!(discovery.resolve(gvk), Resolution::Known(_));
            types.begin(cluster, desired.manifests.iter().map(Manifest::gvk).filter(is_served));
        }
    }

    fn send(&self, cluster: &Cluster, reads: Vec<EarlyRead>) {
        let mut sent = self.sent.borrow_mut();
        let room = MOST_EARLY.saturating_sub(sent.len());
        for (resource, request) in reads.into_iter().take(room) {
            cluster.send_early(request.clone());
            sent.push((resource, request));
        }
    }

    /// The reads with which the work on these manifests begins, without those of some kinds.
    fn reads(
        &self,
        cluster: &Cluster,
        desired: &DesiredSet,
        (discovery, namespaces): (&Discovery, &Namespaces),
        left_out: &BTreeSet<GroupVersionKind>,
    ) -> Vec<EarlyRead> {
        let is_read = |manifest: &&Manifest| {
            let namespace = manifest.namespace().unwrap_or_else(|| default_namespace(manifest, namespaces));
            (self.allows_namespace)(namespace)
        };
        let manifests: Vec<&Manifest> = desired.manifests.iter().filter(is_read).collect();
        let mut reads = Vec::new();
        if self.subjects.contains(&EarlySubject::Types) && reads_documents(&desired.manifests) {
            reads.push((None, openapi::index()));
        }
        let mut add = |resource: Resource, request| reads.push((Some(resource), request));
        if self.subjects.contains(&EarlySubject::Objects) && manifests.len() <= MOST_MANIFESTS {
            let read = manifests.iter().copied().filter(|manifest| !left_out.contains(manifest.gvk()));
            for (resource, wanted) in expected_collections(read, discovery, namespaces) {
                objects(cluster, resource, &wanted).for_each(|request| add(resource.clone(), request));
            }
        }
        let mut add_all = |found: Vec<(Resource, Request)>| {
            let found = found.into_iter().filter(|(resource, _)| !left_out.contains(&resource.gvk));
            found.for_each(|(resource, request)| add(resource, request));
        };
        if self.subjects.contains(&EarlySubject::Autoscalers) {
            let scaled: Vec<_> = manifests
                .iter()
                .map(|manifest| {
                    let namespace = manifest.namespace().unwrap_or_else(|| default_namespace(manifest, namespaces));
                    (namespace, *manifest)
                })
                .collect();
            add_all(AutoscalerSource::new(discovery, std::iter::empty()).first_requests(cluster, &scaled));
        }
        if self.subjects.contains(&EarlySubject::Admission) {
            add_all(admission::first_requests(cluster, discovery));
        }
        reads
    }
}

/// The requests that the reader of live objects sends first.
fn objects<'w>(
    cluster: &'w Cluster,
    resource: &'w Resource,
    wanted: &'w ExpectedCollections<'w>,
) -> Box<dyn Iterator<Item = Request> + 'w> {
    if is_spread(resource, wanted.values().map(BTreeSet::len)) {
        let wanted = wanted.values().map(BTreeSet::len).sum();
        return Box::new(std::iter::once(first_request(cluster, resource, wanted)));
    }
    Box::new(wanted.iter().flat_map(move |(namespace, names)| {
        if is_read_by_name(resource, names.len()) {
            return names.iter().map(|name| Request::get(resource.object_path(*namespace, name))).collect::<Vec<_>>();
        }
        vec![Pages::new(cluster, resource, *namespace).first_request()]
    }))
}
