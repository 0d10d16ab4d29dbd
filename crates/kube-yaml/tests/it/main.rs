//! The YAML reader, compared with kubectl.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::string_slice,
    reason = "a test fails by a panic"
)]

mod agreement;
mod bounds;
mod chunks;
mod mutations;
mod positions;
mod round_trip;
mod table;
