//! Requests to the API server as values: addresses, bodies, errors and refusals, counts.

mod address;
mod apply_body;
mod error;
mod status;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use address::{Address, InvalidAddress, asks_for_dry_run, is_path_segment};
pub use apply_body::apply_body;
pub use error::RequestError;
pub use status::{Cause, StatusError};

/// Number of requests that were sent, retries included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestCounts {
    /// Reads of one object.
    pub get: u64,
    /// Pages of collections.
    pub list: u64,
    /// Dry runs.
    pub dry_run: u64,
    /// Writes.
    pub write: u64,
    /// Watches. Only waiting opens any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub watch: u64,
    /// Discovery, schemas and similar requests.
    pub other: u64,
}

impl RequestCounts {
    /// Adds the requests of another run.
    pub fn plus(self, other: Self) -> Self {
        let Self { get, list, dry_run, write, watch, other: rest } = other;
        Self {
            get: self.get.saturating_add(get),
            list: self.list.saturating_add(list),
            dry_run: self.dry_run.saturating_add(dry_run),
            write: self.write.saturating_add(write),
            watch: self.watch.saturating_add(watch),
            other: self.other.saturating_add(rest),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
