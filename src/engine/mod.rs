//! Stages 5 and 6, act and observe: the run that compares all objects and writes them wave by wave, pruning, and waiting.
//!
//! ```text
//! Plan ─comparison─▶ decisions ─apply_run─▶ write (create, update, replace) ─▶ outcomes
//!                                  └─ prune (what no manifest names any more)   └─ wait ─▶ readiness
//! ```

pub(crate) mod apply_run;
pub(crate) mod comparison;
pub mod dry_run;
pub(crate) mod interrupt;
pub(crate) mod item;
pub(crate) mod progress;
pub(crate) mod prune;
pub mod wait;
pub(crate) mod waiting;
pub mod write;
