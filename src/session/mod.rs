//! What every command begins and ends with: reading the input beside connecting, the question of `--confirm`, where reports go, and
//! what a run that could not begin comes to.

pub(crate) mod confirm;
pub(crate) mod failure;
pub(crate) mod output;
pub(crate) mod reading;
pub(crate) mod report_file;
pub(crate) mod setup;
