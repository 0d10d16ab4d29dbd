//! Apply sets (KEP-3659): which object is the parent, what it records, and which members are pruned.
//!
//! ```text
//! --applyset ─Reference─▶ ApplySet ─▶ Standing of the parent ─▶ Contents ─(members are listed)─▶ Fate of each
//!                                            ▲                     │
//!                                            └────── Record ◀──────┘  a superset before the pass, exact after it
//! ```

mod enlist;
mod fate;
mod label;
mod reference;
mod standing;
mod turn;

pub use enlist::enlist;
pub use fate::{Fate, Member, Sight, Wanted};
pub use reference::Reference;
pub use standing::{ApplySet, Contents, IS_PARENT_TYPE, Listed, Record, Refusal, Standing};
pub use turn::Turn;
