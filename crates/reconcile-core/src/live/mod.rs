//! The cluster as values: its resources, the target of each manifest, and the state of each object. The program fetches the
//! documents; this module reads them.
//!
//! ```text
//! discovery documents ──▶ Discovery ┐
//! Manifest ─────────────────────────┴─resolve─▶ Target
//! object, refusal or snapshot ────────────────▶ LiveState
//! ```
//! [`discreet`] and `Diagnostic::about` turn refusals into diagnostics, without the values of Secrets.

mod discovery;
pub mod discreet;
mod expected;
mod group_document;
mod live_state;
pub mod named;
pub mod readiness;
mod reads;
mod request_diagnostic;
pub mod resolve;
mod resource;
pub mod snapshot;

pub(crate) use discovery::is_builtin_group;
pub use discovery::{Discovery, Resolution};
pub use expected::{ExpectedCollections, expected_collections, reads_documents};
pub use group_document::{GroupDocument, LEGACY_FIELDS};
pub use live_state::LiveState;
pub use reads::{FEW, MissingObjects, PartOfList, Rest, is_read_by_name, is_spread, only_name};
pub use resolve::{ShardMember, Target};
pub use resource::Resource;
