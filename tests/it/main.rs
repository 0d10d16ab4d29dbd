//! Everything that is tested from outside: scenarios against a real Kubernetes API server, and the architecture of the source.

mod adoption;
mod architecture;
mod completions;
mod control_plane;
mod dependencies;
mod diff;
mod embedded_types;
mod harness;
mod immutable;
mod kubeconfig;
mod lists;
mod manifests;
mod one_pass;
mod ownership;
mod pass;
mod trouble;
mod values;
mod waves;
mod yaml;
