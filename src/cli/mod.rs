//! The groups of flags that commands share. The flags of one command are in its file in [`crate::commands`].

mod base;
mod compare;
mod connection;
pub(crate) mod environment;
mod familiar;
mod input;
mod mistyped;
mod output;
mod overlay;
mod prune;
mod shard;
mod typed;
mod wait;

pub use base::BaseArgs;
pub use compare::{
    AutoscalerChoice, CompareArgs, EvidenceArgs, EvidenceChoice, ForceChoice, ReplaceChoice, WritingArgs,
};
pub use connection::ConnectionArgs;
pub use input::{ConfigArgs, FromSource, HooksChoice, InputArgs, ValidateLevel};
pub(crate) use mistyped::hint_for;
pub use output::{ConsoleArgs, OutputArgs, OutputTarget, TextArgs};
pub use overlay::OverlayArgs;
pub use prune::PruneArgs;
pub use shard::ShardArgs;
pub(crate) use typed::Addition;
pub use typed::Typed;
pub use wait::{WaitArgs, WaitTimeout};
