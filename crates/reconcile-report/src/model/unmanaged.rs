//! An unmanaged object, as a report names it.

use reconcile_core::plan::{FalseClaim, UnexplainedObject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use structured_merge::ObjectKey;

use super::identity::{KeyFields, key};

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
    /// The reason why the owner or the apply set that it names does not explain it. Absent if it names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<FalseClaim>,
}

impl From<&UnexplainedObject> for UnmanagedObject {
    fn from(UnexplainedObject { key, claim }: &UnexplainedObject) -> Self {
        let KeyFields { api_version, kind, namespace, name } = key.into();
        Self { api_version, kind, namespace, name, claim: *claim }
    }
}

impl UnmanagedObject {
    /// The reason why it is reported.
    pub(crate) fn reason(&self) -> &'static str {
        match self.claim {
            None => "not in the manifests, not owned, and not in an apply set",
            Some(FalseClaim::SetWithoutParent) => "not in the manifests, and in an apply set without a parent",
            Some(FalseClaim::OwnerMissing) => "not in the manifests, and its owner does not exist",
            Some(FalseClaim::OwnerUnmanaged) => "not in the manifests, and its owner is unmanaged, too",
            Some(FalseClaim::OwnerOfOtherKind) => "not in the manifests, and its owner makes no objects of its kind",
        }
    }

    /// Its key.
    pub(crate) fn key(&self) -> ObjectKey {
        key(&self.api_version, &self.kind, self.namespace.clone(), self.name.clone())
    }
}
