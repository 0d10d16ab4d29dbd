//! The third side: what was applied last decides which side of a difference changed.

mod paths;
mod since;
