//! The run: compares all objects, writes them wave by wave, waits for readiness, and prunes.
//!
//! ```text
//! Plan ─comparison─▶ decisions ─apply_run─▶ write (create, update, replace) ─▶ wait ─▶ readiness ─▶ prune
//!          └──────────────────┴────────────────┴─ Event… ─▶ EventSink ─────────┴───────────┴─────────┘
//! ```
//! `comparison::dry_run` sends the dry runs of a comparison, for every caller; `reconciliation` is the order of the pass. The caller of
//! the engine passes an `event::EventSink`, which shows events and folds them into the report: the engine itself writes to no terminal.

pub(crate) mod apply_run;
pub(crate) mod backoff;
pub mod comparison;
pub(crate) mod event;
pub(crate) mod interrupt;
pub(crate) mod item;
pub(crate) mod membership;
mod missing_owners;
pub(crate) mod namespaces;
pub(crate) mod other_shards;
pub(crate) mod own;
pub(crate) mod prune;
pub(crate) mod reconciliation;
pub(crate) mod unmanaged;
pub(crate) mod upgrade;
// Computes with timeouts from the command line.
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
pub(crate) mod wait;
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
pub mod write;
