//! The users behind field managers, from the audit log of an API server.
//!
//! ```text
//! entries of managedFields, missing objects ─ask─▶ AuditSearch ─answer─▶ AuditAnswer: the only user who can have done it, or all who may have
//! line of the log ─read─▶ AuditLine::Write(event) ──take──▶┘
//! ```
//! The search knows all its questions before it sees the first event, and keeps a few users for each: it needs the same memory for a log
//! of any length, in any order. Everything in a log is foreign text: it is bounded and made visible here.

mod event;
mod search;
mod user_list;

#[cfg(test)]
mod tests;

pub use event::{AuditEvent, AuditLine, AuditRead};
pub use search::{AuditQuestion, AuditSearch, AuditedObject, FirstWrite};
