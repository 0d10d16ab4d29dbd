//! Decisions about differences, one by one: which are applied, which go into the manifests, which a rule ignores from now on, and which
//! stay as they are.
//!
//! ```text
//! Difference ─ Choice ─▶ Decisions ─┬─▶ rules for the configuration
//!                                   ├─▶ rules for the pass, under which everything stays that is not applied
//!                                   └─▶ Consent to each write
//! ```

mod decisions;
mod difference;
#[cfg(test)]
mod tests;

pub use decisions::{Choice, Consent, Decisions};
pub use difference::{Difference, exact_field, exact_managers, exact_rule, exact_target};
