//! Requests to the API server as values: addresses, errors and refusals, counts.

mod address;
mod counts;
mod error;
mod status;

pub use address::{Address, InvalidAddress, asks_for_dry_run, is_path_segment};
pub use counts::RequestCounts;
pub use error::RequestError;
pub use status::{Cause, StatusError};
