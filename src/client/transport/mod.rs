//! The transport of requests: connections, proxies, deadlines, concurrency, causes of failures, and retries.

pub mod connect_cause;
pub mod connector;
pub mod endpoint;
pub mod exchange;
pub mod pace;
pub mod proxy;
pub mod retry;
mod tls;
pub mod watch;
