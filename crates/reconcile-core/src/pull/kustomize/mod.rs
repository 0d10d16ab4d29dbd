//! The places in a tree of kustomizations where a value of a built object may be set, and the proof that an edit of them does what it should.
//!
//! ```text
//! kustomizations ─ Tree ─▶ candidates of each change ─ Search ─▶ edited files, whose build has exactly the accepted values
//! ```

mod candidate;
mod candidates;
mod edited;
mod entries;
mod proof;
mod search;
mod tree;

pub use candidate::{AcceptedChange, Candidate, How};
pub use search::{Found, search};
pub use tree::{Level, Tree, joined, references};
