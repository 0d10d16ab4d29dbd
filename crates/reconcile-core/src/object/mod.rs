//! Knowledge about an object's type, name and labels: which objects are secret, which names are valid, which kind a definition
//! defines, which shard has an object, and which of its fields are read.

mod certificate;
mod definition;
mod encoded;
mod escapes;
pub mod generated;
mod grant_coverage;
mod keep;
pub mod names;
mod permission;
mod projection;
mod repeated;
mod secrecy;
mod selector;
mod shard;

pub use certificate::{CERTIFICATES, Certificate, certificates, certificates_in};
pub(crate) use definition::is_kind;
pub use definition::{DefinedVersion, Definition, RefusedName, refused_names};
pub use grant_coverage::GrantCoverage;
pub use keep::{kept_from_deletion, kept_from_pruning};
pub use names::{DNS_LABEL, indefinite, usual_plural, usual_plurals};
pub use permission::{Grant, Grants, Permission, RBAC, granting, grants, is_rbac_resource};
pub use projection::{InParts, Parts, Projection, memory_of};
pub(crate) use repeated::SecretValues;
pub(crate) use secrecy::inner_values;
pub use secrecy::{
    OPEN_FIELDS, embeds_secrets, holds_secrets, is_custom, is_embedded_secret, is_nearly_secret, is_secret_part,
    is_secret_text, is_string_data, may_be_secret, may_quote_secret,
};
pub use selector::Selector;
pub use shard::Shard;
pub use structured_merge::{MAX_LABEL, is_dns_label};
