//! Everything that is tested from outside: scenarios against a real Kubernetes API server, and the architecture of the source.

mod adoption;
mod architecture;
mod control_plane;
mod dependencies;
mod diff;
mod harness;
mod immutable;
mod lists;
mod manifests;
mod ownership;
mod pass;
mod trouble;
mod values;
mod waves;
