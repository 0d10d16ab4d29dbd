//! The types of the kinds at hand: built-in kinds from the table in the program, all others from the server.

use std::collections::BTreeMap;

use serde_json::Value;

use super::json;
use crate::cluster::{Cluster, Request};
use crate::object::GroupVersionKind;
use crate::schema::{self, Origin, TypeRef, TypeTable};

/// Types of all kinds that a run deals with.
#[derive(Debug, Default)]
pub struct Types {
    custom: BTreeMap<(String, String), TypeTable>,
}

impl Types {
    /// The type of a kind's objects. A kind of which nothing is known is compared as an untyped object.
    #[must_use]
    pub fn of(&self, gvk: &GroupVersionKind) -> TypeRef<'_> {
        if let Some(builtin) = schema::builtin().object(gvk) {
            return builtin;
        }
        let table = self.custom.get(&(gvk.group.clone(), gvk.version.clone()));
        match table.and_then(|table| table.object(gvk)) {
            Some(custom) => custom,
            None => schema::untyped_object(),
        }
    }

    /// Fetches the OpenAPI documents of the group-versions that aren't built in and aren't there yet. A document that
    /// can't be had leaves its kinds untyped: the server's answers need no types, only their display does.
    pub async fn load(&mut self, cluster: &Cluster, kinds: impl IntoIterator<Item = &GroupVersionKind>) {
        let mut wanted: Vec<(String, String)> = kinds
            .into_iter()
            .filter(|gvk| !gvk.group.is_empty() && schema::builtin_kind(gvk).is_none())
            .map(|gvk| (gvk.group.clone(), gvk.version.clone()))
            .filter(|group_version| !self.custom.contains_key(group_version))
            .collect();
        wanted.sort();
        wanted.dedup();
        let documents = wanted.into_iter().map(|(group, version)| async move {
            let document: Result<Value, _> =
                json(cluster, Request::read(format!("/openapi/v3/apis/{group}/{version}"))).await;
            let table = document.ok().and_then(|document| schema::compile([&document], Origin::Custom).ok());
            ((group, version), table)
        });
        for (group_version, table) in futures::future::join_all(documents).await {
            if let Some(table) = table {
                self.custom.insert(group_version, table);
            }
        }
    }

    /// Forgets what came from the server, for when its CustomResourceDefinitions have changed.
    pub fn forget(&mut self) {
        self.custom.clear();
    }
}
