//! The vocabulary of every stage: object keys, field paths, field sets, owners and quantities. Pure.

mod apply_set;

pub use apply_set::{GroupKind, PART_OF, part_of};
pub use structured_merge::object::*;
