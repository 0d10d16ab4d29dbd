//! Observes the readiness of live objects.
//!
//! ```text
//! Watched ─Watcher (LIST, then a watch; polling if that is not allowed)─▶ ReadinessTracker ─rules─▶ ObjectReadiness
//! ```
//!
//! [`observe`] looks once, or waits until everything is ready, nothing more can become ready, or the time is over.

mod list_watch;
mod observe;
mod tracker;
mod watched;
mod watcher;

pub(crate) use observe::Waiting;
pub use observe::observe;
pub use reconcile_core::live::readiness::{ObjectReadiness, ReadinessState};
pub use watched::Watched;
