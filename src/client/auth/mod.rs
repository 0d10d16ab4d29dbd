//! Who we are on the wire: credential plugins, tokens that change, and sessions that renew them.

pub mod error;
mod exec;
mod expiry;
pub mod session;
