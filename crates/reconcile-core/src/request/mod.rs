//! Requests to the API server as values: addresses, bodies, errors and refusals, counts.

mod address;
mod apply_body;
mod counts;
mod error;
mod status;

pub use address::{Address, InvalidAddress, asks_for_dry_run, is_path_segment};
pub use apply_body::apply_body;
pub use counts::RequestCounts;
pub use error::RequestError;
pub use status::{Cause, StatusError};
