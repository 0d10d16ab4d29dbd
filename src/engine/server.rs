use crate::client::Cluster;
use reconcile_core::live::Discovery;
use reconcile_core::live::resolve::Namespaces;

/// A connected API server: the connection, its resources, and the namespace of manifests without one.
pub(crate) struct Server {
    /// The connection.
    pub cluster: Cluster,
    /// The resources that it serves.
    pub discovery: Discovery,
    /// The namespaces for manifests.
    pub namespaces: Namespaces,
}
