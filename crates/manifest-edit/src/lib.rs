//! Edits values in Kubernetes manifests in place: YAML and JSON, with every byte outside of the edited lines as it was.
//!
//! ```
//! use manifest_edit::{Change, Edit, Step, edit};
//! use serde_json::json;
//!
//! let text = b"# the shop\nspec:\n  replicas: 3   # for Black Friday\n  paused: 'no'\n";
//! let path = vec![Step::Key("spec".into()), Step::Key("replicas".into())];
//! let edited = edit(text, &[Edit { document: 1, path, change: Change::Set(json!(5)) }]);
//!
//! assert!(edited.refused.is_empty());
//! assert_eq!(edited.text, b"# the shop\nspec:\n  replicas: 5   # for Black Friday\n  paused: 'no'\n");
//! ```
//!
//! # The law
//!
//! What [`kube_yaml`] reads from the new text is what it read from the old one, with the accepted edits applied to the values.
//! This is checked for each result, and an edit that cannot be made in this way is refused with its reason: the text is
//! never left with another meaning.
//!
//! ```text
//! text ─▶ read ─▶ values ─▶ edited values ─┬─▶ compare with the outline ─▶ splices ─▶ new text
//!                                          └──────────── must be equal ◀──── read ◀──────┘
//! ```

// What others wrote is read here: a wrong index or sum must not end the program.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
#![cfg_attr(test, allow(clippy::unreachable, clippy::string_slice))]

mod alignment;
mod block;
mod change;
mod collections;
mod edit;
mod flow;
mod habits;
mod in_brackets;
mod key_order;
mod lines;
mod rewrite;
mod scalar;
mod values;

pub use change::{Change, Edit, Refusal, Step};
pub use edit::{Edited, Refused, edit};
pub use values::{applied, apply};
