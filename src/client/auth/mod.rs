//! Authentication: credential plugins, token files that change, and sessions that renew the credentials.

pub mod error;
mod exec;
mod expiry;
pub mod session;
