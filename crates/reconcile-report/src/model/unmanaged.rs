//! An unmanaged object, as a report names it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use structured_merge::ObjectKey;

use super::key::key;

/// An object that no manifest, owner or apply set explains, by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnmanagedObject {
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

impl From<&ObjectKey> for UnmanagedObject {
    fn from(ObjectKey { gvk, namespace, name }: &ObjectKey) -> Self {
        Self {
            api_version: gvk.api_version(),
            kind: gvk.kind.clone(),
            namespace: namespace.clone(),
            name: name.clone(),
        }
    }
}

impl UnmanagedObject {
    /// Its key.
    pub(crate) fn key(&self) -> ObjectKey {
        key(&self.api_version, &self.kind, self.namespace.clone(), self.name.clone())
    }
}

/// Writes a key as the fields `apiVersion`, `kind`, `namespace` and `name`.
pub(super) fn as_fields<S: Serializer>(key: &ObjectKey, serializer: S) -> Result<S::Ok, S::Error> {
    UnmanagedObject::from(key).serialize(serializer)
}

/// `ConfigMap shop/web`
impl fmt::Display for UnmanagedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key().fmt(f)
    }
}
