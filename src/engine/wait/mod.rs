//! Stage 7, observe: how far the live objects are on their way to being ready.
//!
//! ```text
//! Watched ─feed (LIST, then a stream of changes; polling where that is not allowed)─▶ scene ─rules─▶ Readiness
//! ```
//!
//! The [`rules`] are pure. [`observe`] looks once, or waits until everything is ready, nothing can become ready any
//! more, or the time is over.

mod list_watch;
mod observe;
pub mod rules;
mod stop_policy;
mod tracker;
mod watched;
mod watcher;

pub use crate::live::readiness::{Outlook, Readiness, State};
pub use observe::{Observation, WaitOptions, observe};
pub use stop_policy::WaitEnd;
pub use watched::Watched;
