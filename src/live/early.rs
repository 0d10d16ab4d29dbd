//! Reads that begin while discovery is under way. The paths of built-in kinds do not depend on it, and waiting for it would cost two or
//! three round trips: one to learn that the path is right, and those of the connections that are opened only then.
//!
//! Discovery has the last word. A read is used only when the program sends the same request because of what discovery said, so that a
//! wrong expectation costs a request and changes no verdict. Reads that discovery does not confirm end at once.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use reconcile_core::live::resolve::Namespaces;
use reconcile_core::live::{
    Discovery, ExpectedCollections, Resolution, Resource, expected_collections, is_read_by_name, is_spread,
    reads_documents,
};
use reconcile_core::manifest::{DesiredSet, Manifest};
use tokio::sync::SetOnce;

use super::admission;
use super::all_namespaces::first_request;
use super::autoscalers::AutoscalerSource;
use super::list::Pages;
use super::openapi;
use crate::client::{Cluster, Request};

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
    reads: BTreeSet<EarlySubject>,
    allows_namespace: &'a dyn Fn(&str) -> bool,
    /// The connection once there is one; `None` inside if there will be none.
    connected: SetOnce<Option<(Cluster, Namespaces)>>,
    has_discovery: Cell<bool>,
    sent: RefCell<Vec<(Resource, Request)>>,
}

impl<'a> Early<'a> {
    /// A run that reads these, in namespaces for which `allows_namespace` returns true.
    pub fn new(reads: impl IntoIterator<Item = EarlySubject>, allows_namespace: &'a dyn Fn(&str) -> bool) -> Self {
        let reads = reads.into_iter().collect();
        let (connected, has_discovery, sent) = (SetOnce::new(), Cell::new(false), RefCell::default());
        Self { reads, allows_namespace, connected, has_discovery, sent }
    }

    /// Learns the connection; without one, nothing is read.
    pub fn connected(&self, connection: Option<(&Cluster, &Namespaces)>) {
        let connection = connection.map(|(cluster, namespaces)| (cluster.clone(), namespaces.clone()));
        // It is learned once.
        let _ = self.connected.set(connection);
    }

    /// Sends the reads for these manifests, unless discovery has answered already.
    pub async fn begin(&self, desired: &DesiredSet) {
        if self.reads.is_empty() {
            return;
        }
        let Some((cluster, namespaces)) = self.connected.wait().await else { return };
        if self.has_discovery.get() {
            return;
        }
        let expected = Discovery::assumed();
        let is_read = |manifest: &&Manifest| {
            let namespace = manifest.namespace().unwrap_or(&namespaces.default);
            (self.allows_namespace)(namespace)
        };
        let manifests: Vec<&Manifest> = desired.manifests.iter().filter(is_read).collect();
        let mut requests = Vec::new();
        if self.reads.contains(&EarlySubject::Objects) {
            for (resource, wanted) in expected_collections(manifests.iter().copied(), &expected, namespaces) {
                requests.extend(objects(cluster, resource, &wanted).map(|request| (resource.clone(), request)));
            }
        }
        if self.reads.contains(&EarlySubject::Autoscalers) {
            let scaled: Vec<_> = manifests
                .iter()
                .map(|manifest| (manifest.namespace().unwrap_or(&namespaces.default), manifest.object()))
                .collect();
            let source = AutoscalerSource::new(&expected, std::iter::empty());
            requests.extend(source.first_requests(cluster, &scaled));
        }
        if self.reads.contains(&EarlySubject::Admission) {
            requests.extend(admission::first_request(cluster, &expected));
        }
        let types = self.reads.contains(&EarlySubject::Types) && reads_documents(&desired.manifests);
        cluster.send_early(types.then(openapi::index));
        cluster.send_early(requests.iter().map(|(_, request)| request.clone()));
        self.sent.replace(requests);
    }

    /// Ends the reads of resources that the server serves otherwise, or does not serve. Without discovery, all of them end.
    pub fn discovered(&self, cluster: &Cluster, discovery: Option<&Discovery>) {
        self.has_discovery.set(true);
        let sent = self.sent.take();
        let is_confirmed = |expected: &Resource| {
            let found = discovery.map(|discovery| discovery.resolve(&expected.gvk));
            matches!(found, Some(Resolution::Known(found))
                if (&found.plural, found.namespaced) == (&expected.plural, expected.namespaced)
                    && expected.verbs.is_subset(&found.verbs))
        };
        let refuted: Vec<&Request> =
            sent.iter().filter(|(resource, _)| !is_confirmed(resource)).map(|(_, request)| request).collect();
        cluster.keep_early(|read| discovery.is_some() && !refuted.contains(&read));
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
