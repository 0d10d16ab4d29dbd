//! The reconcile loop, run exactly once: read desired, read current, compare, decide, act, observe, report.

pub mod apply;
pub mod cli;
pub mod cluster;
pub mod commands;
pub mod compare;
pub mod desired;
pub mod live;
pub mod object;
pub mod plan;
pub mod report;
pub mod schema;
pub mod terminal;
