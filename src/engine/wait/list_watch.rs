use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey, ObjectMeta as _};

use crate::client::Address;
use reconcile_core::live::Resource;
use reconcile_core::object::{Projection, Selector};

/// Up to this number, objects of one collection are watched one by one, because the collection may hold many more.
pub(super) const FEW: usize = 4;

/// The fields of Pods and ReplicaSets from which the readiness of their owners follows.
const FIELDS_OF_OWNED: Projection = {
    use Projection::{Fields, Whole};
    const METADATA: Projection = Fields(&[
        ("name", Whole),
        ("namespace", Whole),
        ("uid", Whole),
        ("generation", Whole),
        ("creationTimestamp", Whole),
        ("deletionTimestamp", Whole),
        ("labels", Whole),
        ("annotations", Fields(&[("deployment.kubernetes.io/revision", Whole)])),
        ("ownerReferences", Fields(&[("uid", Whole), ("controller", Whole)])),
    ]);
    Fields(&[("apiVersion", Whole), ("kind", Whole), ("metadata", METADATA), ("status", Whole)])
};

/// The objects that one LIST and one watch cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListWatch {
    /// The resource.
    pub resource: Resource,
    /// The namespace; none for cluster-scoped objects.
    pub namespace: Option<String>,
    /// The objects of the collection that are watched.
    pub selection: Selection,
    /// The fields of the objects that are read.
    pub fields: Projection,
    /// True if a rule of the configuration decides their readiness. Then it is not known which changes may follow.
    pub has_rules: bool,
}

/// A selection of objects of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// Objects with these names.
    Names(BTreeSet<String>),
    /// Objects that match this label selector.
    Labels(Selector),
    /// All objects.
    All,
}

impl ListWatch {
    /// Pods or ReplicaSets in a namespace that explain the readiness of their owners, without a lookup in discovery.
    pub fn of_owned(api_version: &str, kind: &str, plural: &str, namespace: &str, selection: Selection) -> Self {
        let resource = Resource {
            gvk: GroupVersionKind::new(api_version, kind),
            plural: plural.to_owned(),
            namespaced: true,
            verbs: ["get", "list", "watch"].map(ToOwned::to_owned).into(),
            status: true,
            pending: false,
        };
        Self { resource, namespace: Some(namespace.to_owned()), selection, fields: FIELDS_OF_OWNED, has_rules: false }
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
            Selection::Labels(labels) => Some(("labelSelector", labels.to_string())),
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
    pub fn selects(&self, object: &Value) -> bool {
        match &self.selection {
            Selection::Names(names) => object.name().is_some_and(|name| names.contains(name)),
            Selection::Labels(labels) => labels.matches(object),
            Selection::All => true,
        }
    }

    /// Returns true if a selected object is kept: Pods and ReplicaSets that no controller owns explain nothing.
    pub fn keeps(&self, object: &Value) -> bool {
        let controls = |owner: &Value| owner.get("controller") == Some(&Value::Bool(true));
        self.selects(object) && (self.names().is_some() || object.owner_references().iter().any(controls))
    }

    /// Returns true if the resource supports the verb.
    pub fn can(&self, verb: &str) -> bool {
        self.resource.verbs.contains(verb)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scope(selection: Selection) -> ListWatch {
        ListWatch::of_owned("v1", "Pod", "pods", "shop", selection)
    }

    #[test]
    fn an_address_asks_for_the_selection() {
        let names = |names: &[&str]| Selection::Names(names.iter().map(|name| (*name).to_owned()).collect());
        let pods = || Address::from("/api/v1/namespaces/shop/pods");
        for (selection, address) in [
            (names(&["web:1"]), pods().with("fieldSelector", "metadata.name=web:1")),
            (names(&["a", "b"]), pods()),
            (
                Selection::Labels(Selector::parse("app=web,tier in (a,b)").unwrap()),
                pods().with("labelSelector", "app=web,tier in (a,b)"),
            ),
            (Selection::All, pods()),
        ] {
            assert_eq!(scope(selection).address(), address);
        }
    }

    #[test]
    fn only_what_is_selected_and_owned_is_kept() {
        let pod = |name: &str, app: &str, owners: Value| json!({"metadata": {"name": name, "labels": {"app": app}, "ownerReferences": owners}});
        let owned = json!([{"uid": "1"}, {"uid": "2", "controller": true}]);
        let alone = json!([{"uid": "1"}]);
        let named = scope(Selection::Names(["a".to_owned(), "b".to_owned()].into()));
        assert!(named.keeps(&pod("a", "web", alone.clone())) && !named.keeps(&pod("c", "web", owned.clone())));
        assert!(!named.keeps(&json!({})));
        let labelled = scope(Selection::Labels(Selector::parse("app in (web)").unwrap()));
        assert!(labelled.keeps(&pod("a", "web", owned.clone())));
        assert!(!labelled.keeps(&pod("a", "api", owned.clone())) && !labelled.selects(&pod("a", "api", owned.clone())));
        assert!(!labelled.keeps(&pod("a", "web", alone.clone())) && labelled.selects(&pod("a", "web", alone.clone())));
        assert!(
            scope(Selection::All).keeps(&pod("a", "api", owned))
                && !scope(Selection::All).keeps(&pod("a", "api", alone))
        );
    }

    #[test]
    fn what_owners_add_to_their_pods_is_not_read() {
        let status = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
        let metadata = json!({"name": "a", "uid": "1", "labels": {"app": "web"}, "annotations": {"deployment.kubernetes.io/revision": "3"},
            "ownerReferences": [{"uid": "2", "controller": true}], "creationTimestamp": "2026-11-20T10:00:00Z"});
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": status});
        let kept = pod.clone();
        pod["metadata"]["annotations"]["note"] = json!("x");
        pod["metadata"]["managedFields"] = json!([{}]);
        pod["spec"] = json!({"containers": []});
        assert_eq!(scope(Selection::All).fields.read(pod.to_string().as_bytes()).unwrap(), kept);
    }
}
