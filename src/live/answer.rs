//! Reads answers of the server, and checks that each is the requested object. Any other answer says nothing about that object.

use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey, ObjectMeta as _};

use crate::client::{Cluster, Request, RequestError};
use reconcile_core::exact;
use reconcile_core::live::Resource;

/// The identity of a requested object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    gvk: &'a GroupVersionKind,
    namespace: Option<&'a str>,
    name: &'a str,
    uid: Option<&'a str>,
}

impl<'a> Asked<'a> {
    /// Requests the object with this key.
    pub fn key(key: &'a ObjectKey) -> Self {
        Self { gvk: &key.gvk, namespace: key.namespace.as_deref(), name: &key.name, uid: None }
    }

    /// Requests the object with this key in the version of a resource.
    pub fn by(resource: &'a Resource, key: &'a ObjectKey) -> Self {
        Self { gvk: &resource.gvk, ..Self::key(key) }
    }

    /// Expects the uid that the body names as a precondition, if it names one.
    pub fn sent(self, body: &'a Value) -> Self {
        Self { uid: body.uid(), ..self }
    }

    /// Expects the name of the object that is created, if the body has one.
    pub fn created(self, body: &'a Value) -> Self {
        Self { name: body.name().unwrap_or(self.name), ..self }
    }

    /// Reads an answer.
    pub fn read(&self, cluster: &Cluster, body: &[u8]) -> Result<Value, RequestError> {
        let answer: Value = parse(cluster, body)?;
        match self.misfit(&answer) {
            None => Ok(answer),
            Some(cause) => Err(unexpected(cluster, cause)),
        }
    }

    /// The reason why an answer is not this object, if it is not.
    fn misfit(&self, answer: &Value) -> Option<&'static str> {
        let name = |name: &str| name == self.name;
        misfit(answer, self.gvk, |namespace| namespace == self.namespace.unwrap_or_default(), name)
            .or_else(|| (self.uid.is_some() && self.uid != answer.uid()).then_some("its `metadata.uid` is different"))
    }
}

/// The reason why an item of a list is not an object of the resource, if it is not. No namespace means that all are listed.
pub(crate) fn misfit_of_item(item: &Value, resource: &Resource, namespace: Option<&str>) -> Option<&'static str> {
    let is_namespace = |found: &str| match namespace {
        _ if !resource.namespaced => found.is_empty(),
        Some(namespace) => found == namespace,
        None => !found.is_empty(),
    };
    misfit(item, &resource.gvk, is_namespace, |name| !name.is_empty())
}

/// Sends a request whose answer is JSON.
pub(crate) async fn json(cluster: &Cluster, request: Request) -> Result<Value, RequestError> {
    let reply = cluster.send(request).await?;
    parse(cluster, reply.body())
}

/// Parses an answer.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(cluster: &Cluster, body: &[u8]) -> Result<T, RequestError> {
    exact::from_slice(body).map_err(|_| RequestError::Unreadable {
        server: cluster.server().to_owned(),
        cause: "it is not JSON".to_owned(),
    })
}

/// The error for an answer that is not the requested document.
pub(crate) fn unexpected(cluster: &Cluster, cause: impl Into<String>) -> RequestError {
    RequestError::Unexpected { server: cluster.server().to_owned(), cause: cause.into() }
}

fn misfit(
    object: &Value,
    gvk: &GroupVersionKind,
    is_namespace: impl Fn(&str) -> bool,
    is_name: impl Fn(&str) -> bool,
) -> Option<&'static str> {
    let metadata = object.get("metadata");
    let object = Some(object).filter(|object| object.is_object());
    if object.is_none() {
        Some("it is not a JSON object")
    } else if text(object, "apiVersion") != gvk.api_version() {
        Some("its `apiVersion` is different")
    } else if text(object, "kind") != gvk.kind {
        Some("its `kind` is different")
    } else if !is_name(text(metadata, "name")) {
        Some("its `metadata.name` is different")
    } else if !is_namespace(text(metadata, "namespace")) {
        Some("its `metadata.namespace` is different")
    } else {
        None
    }
}

fn text<'v>(value: Option<&'v Value>, name: &str) -> &'v str {
    value.and_then(|value| value.get(name)).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_object_asked_for_fits() {
        let key = ObjectKey {
            gvk: GroupVersionKind::new("example.com/v1", "Widget"),
            namespace: Some("shop".to_owned()),
            name: "web".to_owned(),
        };
        let body = json!({"metadata": {"name": "web", "uid": "1"}});
        let asked = Asked::key(&key).sent(&body);
        let right = json!({"apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": "web", "namespace": "shop", "uid": "1"}});
        assert_eq!(asked.misfit(&right), None);
        for nothing in [json!([]), json!(null), json!(3), json!("text"), json!({}), json!([right])] {
            assert!(asked.misfit(&nothing).is_some(), "{nothing}");
        }
        for (pointer, other) in [
            ("/apiVersion", json!("example.com/v2")),
            ("/kind", json!("Status")),
            ("/metadata/name", json!("db")),
            ("/metadata/namespace", json!("bank")),
            ("/metadata/namespace", json!(null)),
            ("/metadata/uid", json!("2")),
            ("/metadata", json!([])),
        ] {
            let mut wrong = right.clone();
            *wrong.pointer_mut(pointer).unwrap() = other;
            assert!(asked.misfit(&wrong).is_some(), "{wrong}");
        }
    }
}
