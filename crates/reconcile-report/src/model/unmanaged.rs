//! An unmanaged object, as a report names it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use structured_merge::{GroupVersionKind, ObjectKey};

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
        let Self { api_version, kind, namespace, name } = self.clone();
        ObjectKey { gvk: GroupVersionKind::new(&api_version, &kind), namespace, name }
    }
}

/// `ConfigMap shop/web`
impl fmt::Display for UnmanagedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}
