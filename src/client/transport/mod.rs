//! Requests on the wire: connections, proxies, deadlines, what a failure means, and when a request is sent again.

pub mod connect_cause;
mod connector;
mod exchange;
mod http;
pub mod proxy;
pub mod retry;
mod warnings;
mod watch;

pub use connector::Connector;
pub use exchange::{Deadline, Target, exchange, open, user_agent};
pub use watch::{Watch, WatchEvent};
