//! Requests on the wire: connections, proxies, deadlines, how many at once, what a failure means, and when a request is sent again.

pub mod connect_cause;
pub mod connector;
pub mod deadline;
pub mod endpoint;
pub mod exchange;
pub mod http;
pub mod pace;
pub mod proxy;
pub mod retry;
mod warnings;
pub mod watch;
