//! The cluster as values: its resources, the target of each manifest, and the state of each object. The program fetches the
//! documents; this module reads them.
//!
//! ```text
//! discovery documents ──▶ Discovery ┐
//! Manifest ─────────────────────────┴─resolve─▶ Target
//! object, refusal or snapshot ────────────────▶ LiveState
//! ```
//! [`discreet`] and `Diagnostic::about` turn refusals into diagnostics, without the values of Secrets.

mod base;
mod discovery;
pub mod discreet;
mod group_document;
mod known_path;
pub mod named;
pub mod readiness;
mod reads;
mod removed_versions;
mod request_diagnostic;
pub mod resolve;
mod resource;
pub mod snapshot;

pub use base::BaseObjects;
pub(crate) use discovery::is_builtin_group;
pub use discovery::{Discovery, Resolution};
pub use group_document::{GroupDocument, LEGACY_FIELDS};
pub use reads::{
    ExpectedCollections, FEW, MissingObjects, ObjectsElsewhere, PartOfList, Rest, expected_collections,
    is_read_by_name, is_spread, only_name, reads_documents,
};
pub use request_diagnostic::failed_request;
pub use resolve::{LiveState, ShardMember, Target};
pub use resource::Resource;
