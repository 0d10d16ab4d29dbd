//! The common parts of all ways to read the objects of targets.

use reconcile_core::live::Target;

use crate::client::Cluster;

/// The results for the states that were read, by the indices of their targets.
pub(super) type StatesRead<T> = Vec<(usize, T)>;

/// The objects to read, and the receiver of their states.
pub(super) struct Reader<'r, 't, R, F> {
    pub cluster: &'r Cluster,
    pub targets: &'r [&'t Target],
    /// Waits until states of a resource can be taken.
    pub ready: &'r R,
    /// Takes the state of the target with this index.
    pub take: &'r F,
}
