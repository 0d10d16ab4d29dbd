//! Reads CustomResourceDefinitions: the kinds that may be parents, and the kinds that exist although they are not served.

use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{GroupKind, ObjectMeta as _, defined_kind};

use crate::client::{Cluster, Request, RequestError};
use crate::live::answer::{Asked, unexpected};
use crate::live::definitions::{definition_key, definitions};
use crate::live::discovery::served;
use crate::live::list::Pages;
use reconcile_core::live::{Discovery, Resource};
use reconcile_core::object::Projection;

/// Label of a CustomResourceDefinition whose objects may be parents.
pub(super) const IS_PARENT_TYPE: &str = "applyset.kubernetes.io/is-parent-type";

/// The most kinds of custom resources in which the parent of a set is looked for.
const MOST_KINDS: usize = 5;

/// The fields of definitions that are read. Their schemas are large.
const FIELDS: Projection = {
    use Projection::{Fields, Whole};
    Fields(&[
        ("apiVersion", Whole),
        ("kind", Whole),
        ("metadata", Fields(&[("name", Whole), ("namespace", Whole)])),
        ("spec", Fields(&[("group", Whole), ("names", Fields(&[("kind", Whole)]))])),
    ])
};

/// Lists the CustomResourceDefinitions with a label, or all of them. It is an error if one of them cannot be read.
async fn list_definitions(cluster: &Cluster, label: &str) -> Result<Vec<Value>, RequestError> {
    let resource = definitions();
    let pages = Pages::new(cluster, &resource, None).searching().with("labelSelector", label).keeping(FIELDS);
    let (definitions, spoilt) = pages.all().await?;
    match spoilt.first() {
        None => Ok(definitions),
        Some(spoilt) => Err(unexpected(cluster, spoilt.cause.clone())),
    }
}

/// The kinds that CustomResourceDefinitions define, whether they are served or not.
pub(super) async fn defined_kinds(cluster: &Cluster) -> Result<BTreeSet<GroupKind>, RequestError> {
    Ok(list_definitions(cluster, "").await?.iter().filter_map(kind_of).collect())
}

fn kind_of(definition: &Value) -> Option<GroupKind> {
    defined_kind(definition).map(|(group, kind)| GroupKind { group: group.to_owned(), kind: kind.to_owned() })
}

/// The kinds of custom resources whose objects may be parents, as far as they can be read.
pub(crate) async fn parent_kinds(cluster: &Cluster, discovery: &Discovery) -> Vec<Resource> {
    let definitions = list_definitions(cluster, IS_PARENT_TYPE).await.unwrap_or_default();
    let kinds = definitions.iter().filter_map(kind_of);
    kinds.filter_map(|kind| served(discovery, &kind)).take(MOST_KINDS).cloned().collect()
}

/// Returns true if the objects of a custom resource may be parents: its CustomResourceDefinition carries a label. It is read from the
/// list of definitions if the user may not get a single one.
pub(super) async fn is_parent_type(cluster: &Cluster, resource: &Resource) -> Result<bool, RequestError> {
    if resource.gvk.group.is_empty() {
        return Ok(false);
    }
    let key = definition_key(resource);
    let answer = cluster.send(Request::get(definitions().object_path(None, &key.name))).await;
    match answer.and_then(|reply| Asked::key(&key).read(cluster, reply.body())) {
        Ok(definition) => Ok(definition.label(IS_PARENT_TYPE).is_some()),
        Err(error) => match error.status().map(|status| status.code) {
            Some(404) => Ok(false),
            Some(403) => {
                let labelled = list_definitions(cluster, IS_PARENT_TYPE).await?;
                Ok(labelled.iter().any(|found| found.name() == Some(&key.name)))
            }
            _ => Err(error),
        },
    }
}
