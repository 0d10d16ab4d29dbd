//! Compares the crate with structured-merge-diff itself.

mod differential;
