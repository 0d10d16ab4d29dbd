//! The parts of a run that commands share: [`invocation::Invocation`] has the flags of a command, and [`invocation::Run`] is its run in one
//! context. Others: reading the input while connecting, the question of `--confirm`, the edits of manifests, and several contexts at
//! once.

pub(crate) mod agreement;
pub(crate) mod audit_log;
pub(crate) mod base;
pub(crate) mod connection;
pub(crate) mod contexts;
pub(crate) mod driver;
pub(crate) mod earlier_runs;
pub(crate) mod edits;
pub(crate) mod former;
pub(crate) mod interrupt;
pub(crate) mod invocation;
pub(crate) mod question;
pub(crate) mod reading;
pub(crate) mod settings;
pub(crate) mod setup;
pub(crate) mod unmanaged;
