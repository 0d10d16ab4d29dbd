//! Everything that is tested from outside: scenarios against a real Kubernetes API server, and the architecture of the source.

mod architecture;
mod control_plane;
mod dependencies;
mod embedded_types;
mod harness;
mod inputs;
mod kubeconfig;
mod mistakes;
mod one_pass;
mod structure;
