//! Compares the crate with structured-merge-diff itself, and with the Go types of the API.

mod differential;
mod new_objects;
