//! Where the objects of a kind live on the server, and the paths that lead there.

use std::collections::BTreeSet;

use structured_merge::GroupVersionKind;

use crate::request::Address;

/// A resource: where the objects of a kind live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The kind.
    pub gvk: GroupVersionKind,
    /// Plural name in URLs, such as `deployments`.
    pub plural: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// What can be done, such as `list` and `patch`.
    pub verbs: BTreeSet<String>,
    /// Whether there is a `/status` subresource.
    pub status: bool,
    /// Whether it is not served yet, as its CustomResourceDefinition is only in the input: it holds no objects.
    pub pending: bool,
}

impl Resource {
    /// The path of the collection, or of all namespaces' objects where none is given.
    #[must_use]
    pub fn collection_path(&self, namespace: Option<&str>) -> Address {
        let GroupVersionKind { group, version, .. } = &self.gvk;
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
    #[must_use]
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
