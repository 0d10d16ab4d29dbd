//! What every command begins and ends with: reading the input beside connecting, the question of `--confirm`, the screen and the
//! report that the events of a run make, running in several contexts at once, where reports go, and what a run that could not begin comes to.

pub(crate) mod agreement;
pub(crate) mod apply_set;
pub(crate) mod captured;
mod child_process;
pub(crate) mod configured;
pub(crate) mod confirm;
pub(crate) mod contexts;
pub(crate) mod diff_flags;
pub(crate) mod external_diff;
pub(crate) mod failure;
pub(crate) mod journal;
pub(crate) mod lookup;
pub(crate) mod output;
pub(crate) mod paging;
mod private_folder;
pub(crate) mod reading;
pub(crate) mod report_builder;
pub(crate) mod report_file;
pub(crate) mod review;
pub(crate) mod screen;
pub(crate) mod setup;
pub(crate) mod several;
pub(crate) mod signals;
pub(crate) mod site;
pub(crate) mod task;
pub(crate) mod unmanaged;
