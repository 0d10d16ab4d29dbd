//! Who we are on the wire: credential plugins, tokens that change, and sessions that renew them.

mod exec;
mod session;

pub use exec::{ExecError, Plugin};
pub use session::{Session, Sessions};
