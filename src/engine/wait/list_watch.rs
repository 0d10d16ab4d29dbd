use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey, ObjectMeta as _};

use crate::client::Address;
use crate::live::Resource;

/// Up to this many objects of one collection are followed one by one: a collection may hold many more than are wanted of it.
pub(super) const FEW: usize = 4;

/// What one LIST and one stream of changes covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListWatch {
    /// The resource.
    pub resource: Resource,
    /// The namespace; none for cluster-scoped objects.
    pub namespace: Option<String>,
    /// Which of its objects.
    pub pick: Selection,
    /// Whether a rule of the configuration says when they are ready: then nothing is known of how they change.
    pub has_rules: bool,
}

/// Which objects of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// Those of these names.
    Names(BTreeSet<String>),
    /// Those with these labels.
    Labels(String),
    /// All of them.
    All,
}

impl ListWatch {
    /// What a workload runs, which anybody may look at who may read Pods.
    pub fn of_builtin(api_version: &str, kind: &str, plural: &str, namespace: &str, pick: Selection) -> Self {
        let resource = Resource {
            gvk: GroupVersionKind::new(api_version, kind),
            plural: plural.to_owned(),
            namespaced: true,
            verbs: ["get", "list", "watch"].map(ToOwned::to_owned).into(),
            status: true,
            pending: false,
        };
        Self { resource, namespace: Some(namespace.to_owned()), pick, has_rules: false }
    }

    /// Where what is picked is watched.
    pub fn address(&self) -> Address {
        let path = self.resource.collection_path(self.namespace.as_deref());
        match self.selector() {
            Some((name, value)) => path.with(name, value),
            None => path,
        }
    }

    /// The query parameter that picks, where the server does it.
    pub fn selector(&self) -> Option<(&'static str, String)> {
        match &self.pick {
            Selection::Names(names) if names.len() == 1 => {
                let name = names.first().map(String::as_str).unwrap_or_default();
                Some(("fieldSelector", format!("metadata.name={name}")))
            }
            Selection::Labels(labels) => Some(("labelSelector", labels.clone())),
            Selection::Names(_) | Selection::All => None,
        }
    }

    /// The key of one object.
    pub fn key(&self, name: &str) -> ObjectKey {
        ObjectKey { gvk: self.resource.gvk.clone(), namespace: self.namespace.clone(), name: name.to_owned() }
    }

    /// Path of one object.
    pub fn object_path(&self, name: &str) -> Address {
        self.resource.object_path(self.namespace.as_deref(), name)
    }

    /// The names, where that is what is picked.
    pub fn names(&self) -> Option<&BTreeSet<String>> {
        if let Selection::Names(names) = &self.pick { Some(names) } else { None }
    }

    /// Returns true if an object of the collection is one of those picked.
    pub fn holds(&self, object: &Value) -> bool {
        self.names().is_none_or(|names| object.name().is_some_and(|name| names.contains(name)))
    }

    /// Returns true if the resource can be used in this way.
    pub fn can(&self, verb: &str) -> bool {
        self.resource.verbs.contains(verb)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(pick: Selection) -> ListWatch {
        ListWatch::of_builtin("v1", "Pod", "pods", "shop", pick)
    }

    #[test]
    fn an_address_asks_for_what_is_picked() {
        let names = |names: &[&str]| Selection::Names(names.iter().map(|name| (*name).to_owned()).collect());
        let pods = || Address::from("/api/v1/namespaces/shop/pods");
        for (pick, address) in [
            (names(&["web:1"]), pods().with("fieldSelector", "metadata.name=web:1")),
            (names(&["a", "b"]), pods()),
            (
                Selection::Labels("app=web,tier in (a,b)".to_owned()),
                pods().with("labelSelector", "app=web,tier in (a,b)"),
            ),
            (Selection::All, pods()),
        ] {
            assert_eq!(scope(pick).address(), address);
        }
    }

    #[test]
    fn only_what_is_picked_by_name_is_held() {
        let named = scope(Selection::Names(["a".to_owned(), "b".to_owned()].into()));
        let pod = |name: &str| serde_json::json!({"metadata": {"name": name}});
        assert!(named.holds(&pod("a")) && !named.holds(&pod("c")) && !named.holds(&serde_json::json!({})));
        assert!(scope(Selection::All).holds(&pod("c")));
    }
}
