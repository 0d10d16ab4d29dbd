use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey, ObjectMeta as _};

use crate::client::Address;
use crate::live::Resource;

/// Up to this number, objects of one collection are watched one by one, because the collection may hold many more.
pub(super) const FEW: usize = 4;

/// The objects that one LIST and one watch cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListWatch {
    /// The resource.
    pub resource: Resource,
    /// The namespace; none for cluster-scoped objects.
    pub namespace: Option<String>,
    /// The objects of the collection that are watched.
    pub selection: Selection,
    /// True if a rule of the configuration decides their readiness. Then it is not known which changes may follow.
    pub has_rules: bool,
}

/// A selection of objects of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// Objects with these names.
    Names(BTreeSet<String>),
    /// Objects that match this label selector.
    Labels(String),
    /// All objects.
    All,
}

impl ListWatch {
    /// Pods or ReplicaSets in a namespace, without a lookup in discovery.
    pub fn of_builtin(api_version: &str, kind: &str, plural: &str, namespace: &str, selection: Selection) -> Self {
        let resource = Resource {
            gvk: GroupVersionKind::new(api_version, kind),
            plural: plural.to_owned(),
            namespaced: true,
            verbs: ["get", "list", "watch"].map(ToOwned::to_owned).into(),
            status: true,
            pending: false,
        };
        Self { resource, namespace: Some(namespace.to_owned()), selection, has_rules: false }
    }

    /// The address of the selection.
    pub fn address(&self) -> Address {
        let path = self.resource.collection_path(self.namespace.as_deref());
        match self.selector() {
            Some((name, value)) => path.with(name, value),
            None => path,
        }
    }

    /// The query parameter of the selection, if the server can filter by it.
    pub fn selector(&self) -> Option<(&'static str, String)> {
        match &self.selection {
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

    /// The names, if objects are selected by name.
    pub fn names(&self) -> Option<&BTreeSet<String>> {
        if let Selection::Names(names) = &self.selection { Some(names) } else { None }
    }

    /// Returns true if an object of the collection is selected.
    pub fn holds(&self, object: &Value) -> bool {
        self.names().is_none_or(|names| object.name().is_some_and(|name| names.contains(name)))
    }

    /// Returns true if the resource supports the verb.
    pub fn can(&self, verb: &str) -> bool {
        self.resource.verbs.contains(verb)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(selection: Selection) -> ListWatch {
        ListWatch::of_builtin("v1", "Pod", "pods", "shop", selection)
    }

    #[test]
    fn an_address_asks_for_the_selection() {
        let names = |names: &[&str]| Selection::Names(names.iter().map(|name| (*name).to_owned()).collect());
        let pods = || Address::from("/api/v1/namespaces/shop/pods");
        for (selection, address) in [
            (names(&["web:1"]), pods().with("fieldSelector", "metadata.name=web:1")),
            (names(&["a", "b"]), pods()),
            (
                Selection::Labels("app=web,tier in (a,b)".to_owned()),
                pods().with("labelSelector", "app=web,tier in (a,b)"),
            ),
            (Selection::All, pods()),
        ] {
            assert_eq!(scope(selection).address(), address);
        }
    }

    #[test]
    fn only_objects_selected_by_name_are_held() {
        let named = scope(Selection::Names(["a".to_owned(), "b".to_owned()].into()));
        let pod = |name: &str| serde_json::json!({"metadata": {"name": name}});
        assert!(named.holds(&pod("a")) && !named.holds(&pod("c")) && !named.holds(&serde_json::json!({})));
        assert!(scope(Selection::All).holds(&pod("c")));
    }
}
