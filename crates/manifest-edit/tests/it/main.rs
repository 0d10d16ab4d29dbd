//! Edits of manifests in all styles of YAML and JSON.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::string_slice,
    reason = "a test fails by a panic"
)]

mod examples;
mod law;
mod refusals;
mod support;
mod writer;
