//! Evaluates conditions in CEL (the Common Expression Language) over JSON objects. Neither the expression nor the
//! object has to be trusted: both may have been written to exhaust memory or time.
//!
//! ```
//! use bounded_cel::Condition;
//! use serde_json::json;
//!
//! let ready = Condition::parse("status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')")?;
//! let object = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
//! assert_eq!(ready.holds(&object), Ok(true));
//! assert!(ready.holds(&json!({})).is_err(), "there is no `status`");
//! # Ok::<(), bounded_cel::ParseError>(())
//! ```
//!
//! The top-level fields of the object are the variables, as in the `healthCheckExprs` of Flux. The language is that of
//! the crate `cel`: CEL's operators, macros and standard functions, and optional values (`status.?phase.orValue("")`),
//! but no times, durations, regular expressions or extensions.
//!
//! # Bounds
//!
//! ```text
//! text ─check (length, brackets, tokens)─▶ cel's parser ─▶ expression ─allowed (functions)─▶ ─metered─▶ Condition
//! object ─variables it names─▶ cel's interpreter, which pays from a budget at every loop, copy and comparison ─▶ true, false, error
//! ```
//!
//! An expression of bounded length can still take exponential time: `[[0, 0]].map(x, x + x).map(x, x + x)…` doubles a
//! list at each step, and nested loops multiply. The interpreter of `cel` has no limit, so the parsed expression is
//! rewritten to call a function that charges a budget wherever work depends on data. When the budget is spent, the
//! evaluation ends at once.
//!
//! # Panics
//!
//! A panic of `cel` is caught and becomes an error of the expression. The panic hook still runs before, and it belongs to the program:
//! let it print nothing while [`is_guarded`] returns true, as the message of the panic could show a value.
//!
//! ```
//! let usual = std::panic::take_hook();
//! std::panic::set_hook(Box::new(move |panic| {
//!     if !bounded_cel::is_guarded() {
//!         usual(panic);
//!     }
//! }));
//! assert!(bounded_cel::guarded(|| panic!("not printed")).is_err());
//! ```

// What others wrote is read here: a wrong index or sum must not end the program.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
#![cfg_attr(test, allow(clippy::unreachable, clippy::string_slice))]

mod budget;
mod condition;
mod error;
#[cfg(test)]
mod tests;

pub use condition::{Condition, guarded, is_guarded};
pub use error::{EvaluationError, ParseError};

/// Length of the longest expression, in bytes.
pub const MAX_LENGTH: usize = 2_000;
