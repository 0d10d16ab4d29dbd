//! Knowledge about an object's type, name and labels: which objects are secret, which names are valid, which shard has an object.

mod granting;
pub mod name_rules;
mod names;
mod permission;
mod secrecy;
mod selector;
mod shard;

pub use granting::granting;
pub use names::{DNS_LABEL, MAX_LABEL, indefinite, is_dns_label};
pub use permission::Permission;
pub use secrecy::{holds_secrets, is_custom, is_nearly_secret, is_string_data, may_be_secret};
pub use selector::{Selector, SelectorError};
pub use shard::Shard;
