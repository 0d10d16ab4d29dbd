//! Who we are on the wire: credential plugins, tokens that change, and sessions that renew them.

pub mod exec;
pub mod session;
