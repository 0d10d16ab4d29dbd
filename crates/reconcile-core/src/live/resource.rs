//! Resources, and the paths of their collections and objects.

use std::collections::BTreeSet;

use structured_merge::{GroupVersionKind, TypeNames};

use crate::request::Address;

/// A resource of the API: it serves the objects of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The kind.
    pub gvk: GroupVersionKind,
    /// Plural name in URLs, such as `deployments`.
    pub plural: String,
    /// True if its objects live in namespaces.
    pub namespaced: bool,
    /// The verbs that it supports, such as `list` and `patch`.
    pub verbs: BTreeSet<String>,
    /// True if it has a `/status` subresource.
    pub status: bool,
    /// True if it is not served yet, because only a CustomResourceDefinition of the input has it. It has objects only if its kind is served
    /// in another version.
    pub pending: bool,
}

impl Resource {
    /// The path of the collection in a namespace, or in all namespaces without one.
    pub fn collection_path(&self, namespace: Option<&str>) -> Address {
        let TypeNames { group, version, .. } = &*self.gvk;
        let root = if group.is_empty() { Address::from("/api") } else { Address::from("/apis").join(group.clone()) };
        let root = root.join(version.clone());
        match namespace {
            Some(namespace) if self.namespaced => {
                root.join("namespaces").join(namespace.to_owned()).join(self.plural.clone())
            }
            _ => root.join(self.plural.clone()),
        }
    }

    /// The path of one object.
    pub fn object_path(&self, namespace: Option<&str>, name: &str) -> Address {
        self.collection_path(namespace).join(name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_api() {
        let mut resource = Resource {
            gvk: GroupVersionKind::new("apps/v1", "Deployment"),
            plural: "deployments".into(),
            namespaced: true,
            verbs: BTreeSet::new(),
            status: true,
            pending: false,
        };
        let web = resource.object_path(Some("shop"), "web");
        assert_eq!(web, "/apis/apps/v1/namespaces/shop/deployments/web".into());
        assert_eq!(resource.collection_path(None), "/apis/apps/v1/deployments".into());
        resource.gvk = GroupVersionKind::new("v1", "Namespace");
        resource.namespaced = false;
        resource.plural = "namespaces".into();
        assert_eq!(resource.object_path(None, "a/b"), Address::from("/api/v1/namespaces").join("a/b"));
    }
}
