use crate::client::Cluster;
use crate::live::Discovery;
use crate::live::resolve::Namespaces;

/// A connected API server: the connection, what it serves, and where manifests without a namespace belong.
pub(crate) struct Server {
    /// The connection.
    pub cluster: Cluster,
    /// The resources that it serves.
    pub discovery: Discovery,
    /// Which namespaces apply.
    pub namespaces: Namespaces,
}
