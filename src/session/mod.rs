//! What every command begins and ends with: reading the input beside connecting, the question of `--confirm`, the screen and the
//! report that the events of a run make, where reports go, and what a run that could not begin comes to.

pub(crate) mod apply_set;
pub(crate) mod configured;
pub(crate) mod confirm;
pub(crate) mod failure;
pub(crate) mod output;
pub(crate) mod reading;
pub(crate) mod report_builder;
pub(crate) mod report_file;
pub(crate) mod screen;
pub(crate) mod setup;
pub(crate) mod signals;
