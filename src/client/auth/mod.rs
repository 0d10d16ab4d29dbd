//! Authentication: credential plugins, token files that change, and sessions that renew the credentials.

pub mod exec;
pub mod session;
