use reconcile_core::object::Shard;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use structured_merge::ObjectKey;

use super::identity::{KeyFields, key};

/// The apply set of a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApplySetInfo {
    /// Its id, which its members carry as a label.
    pub id: String,
    /// Its parent object.
    pub parent: ParentInfo,
    /// The namespaces with deletions that no manifest names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deletes_in: Vec<String>,
    /// The other shard, which prunes the set; absent if this run does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pruned_by: Option<Shard>,
}

/// The parent of an apply set.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParentInfo {
    /// Its version.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Absent for a cluster-scoped object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// The change that its list of kinds and namespaces needs. That alone is not drift.
    pub action: ParentAction,
}

/// The change that the list of a parent needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ParentAction {
    /// Nothing.
    None,
    /// The parent does not exist yet.
    Create,
    /// It lists something else.
    Update,
}

impl ParentInfo {
    /// Its key.
    pub fn key(&self) -> ObjectKey {
        key(&self.api_version, &self.kind, self.namespace.clone(), self.name.clone())
    }
}

impl ApplySetInfo {
    /// The set with this id and this parent.
    pub fn new(id: &str, parent: &ObjectKey, action: ParentAction) -> Self {
        let KeyFields { api_version, kind, namespace, name } = parent.into();
        let parent = ParentInfo { api_version, kind, namespace, name, action };
        Self { id: id.to_owned(), parent, deletes_in: Vec::new(), pruned_by: None }
    }

    /// Describes the namespaces with deletions that no manifest names: ``namespaces `a` and `b`, which no manifest names``;
    /// `None` if there are none.
    pub fn unnamed_namespaces(&self) -> Option<String> {
        let (last, others) = self.deletes_in.split_last()?;
        let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
        Some(if others.is_empty() {
            format!("namespace `{last}`, which no manifest names")
        } else {
            format!("namespaces {} and `{last}`, which no manifest names", others.join(", "))
        })
    }
}
