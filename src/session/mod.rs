//! The parts that commands share: [`run::Invocation`] has the flags of a command, and [`run::Run`] is its run in one context.
//! Others: reading the input while connecting, the question of `--confirm`, the edits of manifests, the screen and the report that events make, several
//! contexts at once, and where reports go.

pub(crate) mod agreement;
pub(crate) mod apply_set;
pub(crate) mod audit_log;
pub(crate) mod blaming;
pub(crate) mod captured;
mod child_process;
pub(crate) mod command_report;
pub(crate) mod configured;
pub(crate) mod confirm;
pub(crate) mod context_command;
pub(crate) mod contexts;
pub(crate) mod diff_flags;
pub(crate) mod direct_file;
pub(crate) mod edits;
pub(crate) mod events;
pub(crate) mod external_diff;
pub(crate) mod failure;
mod in_contexts;
pub(crate) mod journal;
pub(crate) mod lookup;
pub(crate) mod output;
pub(crate) mod paging;
pub(crate) mod plan_file;
mod private_folder;
pub(crate) mod question;
pub(crate) mod reading;
pub(crate) mod report_builder;
pub(crate) mod report_file;
pub(crate) mod report_input;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod screen;
pub(crate) mod setup;
pub(crate) mod several;
pub(crate) mod signals;
pub(crate) mod stored;
pub(crate) mod unmanaged;
