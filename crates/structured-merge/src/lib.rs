//! structured merge

#![forbid(unsafe_code)]

mod applier;
mod bookkeeping;
mod changes;
mod claimants;
mod merge;
mod object;
mod ownership;
mod path_stack;
mod predict;
mod prove;
mod prune;
mod schema;
mod spelling;
mod string_data;

pub use applier::Applier;
pub use bookkeeping::leave_out_bookkeeping;
pub use changes::{Change, Op, changes};
pub use claimants::{ClaimStrength, Claimants, claim_strength};
pub use merge::merge;
pub use object::*;
pub use ownership::Ownership;
pub use predict::{Prediction, predict, predict_without};
pub use prove::{Proof, Unproven, prove};
pub use prune::prune;
pub use schema::*;
pub use spelling::{verbatim, with_live_spelling};
pub use string_data::{with_string_data, with_string_data_folded};
