//! Apply sets (KEP-3659): which object is the parent, what it records, and which members are pruned.
//!
//! ```text
//! --applyset ─Reference─▶ ApplySet ─▶ Standing of the parent ─▶ Contents ─(members are listed)─▶ Fate of each
//!                                            ▲                     │
//!                                            └────── Record ◀──────┘  a superset before the pass, exact after it
//! ```

mod decision;
mod label;
mod label_members;
mod parent;
mod prune_order;
mod reference;

pub use decision::{DesiredMembers, Member, PruneDecision, Sight};
pub use label_members::refuse_labelled;
pub use parent::{ApplySet, IS_PARENT_TYPE, Inventory, Listed, ParentAnnotations, ParentState, Refusal};
pub use prune_order::PruneStep;
pub use reference::Reference;
