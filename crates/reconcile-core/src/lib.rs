//! What `kubectl reconcile` decides, without touching the world: values in, values out, and no file, socket, clock or environment.
//!
//! ```text
//! text of the input ─manifest─▶ Manifest ─live─▶ Target ─compare─▶ Decision ─plan─▶ order
//!                                          LiveState ┘
//! ```
//!
//! - [`manifest`]: manifests once their text is read, with the position of every field, and what is sent for them.
//! - [`live`]: what the program hands over about the cluster: resources, live objects, refusals.
//! - [`request`]: addresses of the API, errors of requests, counts.
//! - [`compare`]: what differs, who changed it, and what an apply would do.
//! - [`plan`]: the order of the objects, their dependencies, and the permissions that a run needs.
//! - [`rules`]: ignore rules and readiness rules.
//! - [`object`], [`diagnostic`], [`text`]: below all others.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::indexing_slicing,
        clippy::string_slice
    )
)]

pub mod compare;
// Lists of our own are counted with plain arithmetic. Where numbers, sizes and times come from outside, none may overflow.
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
pub mod diagnostic;
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
pub mod live;
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
pub mod manifest;
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
pub mod object;
pub mod plan;
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
pub mod request;
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
pub mod rules;
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
pub mod text;
