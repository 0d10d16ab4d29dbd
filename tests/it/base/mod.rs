//! The third side: what was applied last decides which side of a difference changed.

mod histories;
mod paths;
mod releases;
mod rest;
mod since;
