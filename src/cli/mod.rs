//! The groups of flags that commands share. The flags of one command are in its file in [`crate::commands`].

mod compare;
mod familiar;
mod input;
mod kuberc;
mod mistyped;
mod output;
mod prune;
mod typed;
mod wait;

pub use crate::client::ConnectOptions;
pub use compare::{
    AutoscalerChoice, BaseArgs, CompareArgs, EvidenceArgs, EvidenceChoice, ForceChoice, ReplaceChoice, WritingArgs,
};
pub use input::{ConfigArgs, FromSource, HooksChoice, InputArgs, OverlayArgs, ShardArgs, ValidateLevel};
pub(crate) use kuberc::first_kuberc;
pub(crate) use mistyped::hint_for;
pub use output::{ConsoleArgs, OutputArgs, OutputTarget, TextArgs};
pub use prune::PruneArgs;
pub(crate) use typed::Addition;
pub use typed::Typed;
pub use wait::{WaitArgs, WaitTimeout};
