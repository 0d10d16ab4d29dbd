//! Everything that is tested from outside: scenarios against a real Kubernetes API server, and the architecture of the source.

mod adoption;
mod architecture;
mod completions;
mod control_plane;
mod dependencies;
mod diff;
mod embedded_types;
mod field_sets;
mod generated;
mod harness;
mod immutable;
mod kubeconfig;
mod lists;
mod manifests;
mod one_pass;
mod ownership;
mod pass;
mod soundness;
mod trouble;
mod values;
mod waves;
