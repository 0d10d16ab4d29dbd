//! The places in a tree of kustomizations where a value of a built object may be set, and the proof that an edit of them does what it should.
//!
//! ```text
//! kustomizations ─ Tree ─▶ candidates of each change ─ Search ─▶ edited files, whose build has exactly the accepted values
//! ```

mod candidate;
mod candidates;
mod edited;
mod entries;
mod joint;
mod names;
mod new_patch;
mod origins;
mod patch_documents;
mod proof;
mod reason;
mod said;
mod search;
mod subject;
mod tree;
mod tried;

pub use candidate::{AcceptedChange, Allowed, Candidate, How};
pub use edited::{Texts, alone};
pub use origins::built_from;
pub use proof::{BuildChange, build_changes};
pub use said::{Names, Said, said};
pub use search::{Found, search};
pub use tree::{Affix, Level, Remote, Tree, bases, joined, references, urls};
