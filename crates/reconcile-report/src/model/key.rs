//! The key of an object, as a report names it.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use structured_merge::{GroupVersionKind, ObjectKey};

/// The key of an object.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyFields {
    /// As in the manifest.
    api_version: String,
    /// As in the manifest.
    kind: String,
    /// Absent for a cluster-scoped object.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    /// Its name.
    name: String,
}

impl From<&ObjectKey> for KeyFields {
    fn from(ObjectKey { gvk, namespace, name }: &ObjectKey) -> Self {
        let (api_version, kind) = (gvk.api_version(), gvk.kind.clone());
        Self { api_version, kind, namespace: namespace.clone(), name: name.clone() }
    }
}

/// Writes a key as its fields.
pub(crate) fn as_fields<S: Serializer>(key: &ObjectKey, serializer: S) -> Result<S::Ok, S::Error> {
    KeyFields::from(key).serialize(serializer)
}

/// Puts together the key of an object, which the JSON of a report holds in fields.
pub(crate) fn key(api_version: &str, kind: &str, namespace: Option<String>, name: String) -> ObjectKey {
    ObjectKey { gvk: GroupVersionKind::new(api_version, kind), namespace, name }
}
