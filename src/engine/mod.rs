//! Stages 5 and 6, act and observe: the run that compares all objects and writes them wave by wave, pruning, and waiting.
//!
//! ```text
//! Plan ─comparison─▶ decisions ─apply_run─▶ write (create, update, replace) ─▶ prune ─▶ wait ─▶ readiness
//!          └──────────────────┴────────────────┴─ Event… ─▶ EventSink ──────────┴───────────┘
//! ```
//! `dry_run` asks what the comparison of one object wants to know, for every caller; `reconciliation` is the order of it all. The caller of
//! the engine passes an `event::EventSink`, which shows what happens and folds it into the report: the engine itself writes to no terminal.

pub(crate) mod apply_run;
pub(crate) mod backoff;
pub(crate) mod comparison;
pub(crate) mod comparison_inputs;
pub mod dry_run;
pub(crate) mod event;
pub(crate) mod interrupt;
pub(crate) mod item;
pub(crate) mod other_shards;
pub(crate) mod prune;
pub(crate) mod reconciliation;
pub(crate) mod server;
pub(crate) mod unmanaged;
// Times that are typed.
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
pub mod wait;
pub(crate) mod waiting;
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
pub mod write;
