#![expect(clippy::indexing_slicing, reason = "the value was made with `json!` here: it is an object")]

use reconcile_core::object::Permission;
use reconcile_core::plan::access::Purpose;
use serde::{Serialize, Serializer};

/// A permission, and whether the user has it.
#[derive(Clone, Debug, Serialize)]
pub struct Reviewed {
    /// The commands that need it.
    #[serde(rename = "for", serialize_with = "names")]
    pub purposes: Vec<Purpose>,
    /// The verb and the resources that it allows.
    #[serde(flatten, serialize_with = "fields")]
    pub permission: Permission,
    /// True if the user has it; `None` if that could not be determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<bool>,
}

fn names<S: Serializer>(purposes: &[Purpose], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(purposes.iter().map(|purpose| purpose.name()))
}

fn fields<S: Serializer>(permission: &Permission, serializer: S) -> Result<S::Ok, S::Error> {
    fields_of(permission).serialize(serializer)
}

/// A permission as an access review names it.
pub(super) fn fields_of(permission: &Permission) -> serde_json::Value {
    let Permission { namespace, group, resource, name, verb } = permission;
    let mut fields = serde_json::json!({"verb": verb, "group": group, "resource": resource});
    for (key, value) in [("namespace", namespace), ("name", name)] {
        if let Some(value) = value {
            fields[key] = value.as_str().into();
        }
    }
    fields
}
