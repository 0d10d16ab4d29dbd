//! The third side: what was applied last decides which side of a difference changed.

mod charts;
mod claims;
mod histories;
mod only;
mod parts;
mod paths;
mod releases;
mod rest;
mod since;
