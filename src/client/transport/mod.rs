//! The transport of requests: connections, proxies, deadlines, concurrency, causes of failures, and retries.

pub mod ahead;
pub mod connect_cause;
pub mod connector;
pub mod contact;
pub mod endpoint;
pub mod exchange;
pub mod pace;
pub mod proxy;
pub mod retry;
mod tls;
mod trust;
mod warnings;
pub mod watch;
