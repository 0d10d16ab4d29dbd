//! The reconcile loop, run exactly once: read desired, read current, compare, decide, act, observe, report.

pub mod cluster;
pub mod desired;
pub mod object;
pub mod schema;
pub mod compare;
pub mod live;
