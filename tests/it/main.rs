//! Everything that is tested from outside: scenarios against a real Kubernetes API server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::string_slice,
    reason = "a test fails by a panic"
)]

mod access;
mod adoption;
mod anonymous;
mod answers;
mod apply_set;
mod attribution;
mod audit_log;
mod autoscalers;
mod bad_input;
mod base;
mod baseline;
mod blame;
mod browser;
mod circles;
mod clear_refusals;
mod client_side_apply;
mod completions;
mod configuration;
mod confirm;
mod connection;
mod contexts;
mod convergence;
mod create_namespace;
mod creation;
mod crowds;
mod definitions;
mod deletions;
mod dependencies;
mod diff;
mod documentation;
mod documents;
mod early;
mod embedded_secrets;
mod embedded_types;
mod evidence;
mod examples;
mod expect;
mod false_drift;
mod fault_matrix;
mod faults;
mod field_sets;
mod foreign_text;
mod formats;
mod gates;
mod generated;
mod hang_up;
mod harness;
mod helm;
mod help;
mod ignore;
mod ignored_parts;
mod immutable;
mod inputs;
mod installs;
mod interrupt;
mod kubeconfig;
mod links;
mod lists;
mod manifests;
mod manual_changes;
mod many;
mod many_mistakes;
mod many_namespaces;
mod mistakes;
mod nulls;
mod odd_inputs;
mod odd_servers;
mod order;
mod output;
mod ownership;
mod packaging;
mod pass;
mod picture;
mod pipelines;
mod pipes;
mod plans;
mod prediction;
mod programs;
mod progress;
mod properties;
mod pull;
mod purity;
mod quiet_day;
mod reading;
mod redirects;
mod reference;
mod refused;
mod replacement;
mod requests;
mod resolve;
mod scale;
mod secrets;
mod server_warnings;
mod shards;
mod sharp_edges;
mod shells;
mod sides;
mod snapshot;
mod soak;
mod soundness;
mod status;
mod stored;
mod structure;
mod succession;
mod suggestions;
mod trouble;
mod unicode;
mod unmanaged;
mod unusual_servers;
mod values;
mod version;
mod visible;
mod wait;
mod waves;
mod week;
mod words;

use test_control_plane as control_plane;
