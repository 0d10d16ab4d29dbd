//! Compares the crate with structured-merge-diff itself, and with the Go types of the API.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::string_slice,
    reason = "a test fails by a panic"
)]

mod differential;
mod new_objects;
