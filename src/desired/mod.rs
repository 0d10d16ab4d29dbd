//! Stage 1, read desired: finds and reads the files behind `-f` and `-k`. What their text means is [`reconcile_core::manifest`]'s.
//! URLs are fetched by the cluster's side, which knows of TLS and proxies, and handed in.

pub mod files;

pub use reconcile_core::manifest::*;
pub use reconcile_core::object::{Selector, SelectorError};
