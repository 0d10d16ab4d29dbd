//! The configurations that client-side `kubectl apply` left in the annotations of live objects.

use std::collections::{BTreeMap, HashMap};

use futures::StreamExt as _;
use serde_json::{Value, json};
use structured_merge::{GroupVersionKind, LAST_APPLIED, ObjectKey, ObjectMeta as _};

use super::list::Pages;
use crate::client::{Cluster, IN_FLIGHT, RequestError};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::Resource;
use reconcile_core::manifest::read_alone;
use reconcile_core::object::Projection;
use reconcile_core::plan::wrong_dependency;
use reconcile_core::text::one_line;

/// The most memory of the configurations of one kind in one namespace, in bytes: those of one namespace displace none of another.
const OF_NAMESPACE: usize = 32 << 20;
/// The most memory of all configurations, in bytes.
const MEMORY: usize = 256 << 20;
/// Longest reason that a message has, in characters.
const REASON: usize = 200;

/// The fields of an object that are read.
const FIELDS: Projection = {
    use Projection::{Fields, Whole};
    const METADATA: Projection = Fields(&[
        ("name", Whole),
        ("namespace", Whole),
        ("labels", Whole),
        ("annotations", Fields(&[(LAST_APPLIED, Whole)])),
    ]);
    Fields(&[("apiVersion", Whole), ("kind", Whole), ("metadata", METADATA)])
};

/// The configurations that were found.
#[derive(Debug, Default)]
pub(crate) struct FoundConfigurations {
    /// A JSON document for each object, one a line.
    pub text: Vec<u8>,
    /// The lines whose object has a configuration that cannot be read, with the reason. They have the identity of the object alone.
    pub unreadable: BTreeMap<u32, String>,
    /// Warnings about objects whose annotation is about something else.
    pub warnings: Vec<String>,
    /// The lists that failed: objects of other kinds were read.
    pub unlisted: Vec<FailedList>,
    lines: u32,
}

/// The configuration in the annotation of one object.
enum Configuration {
    /// It is one of the object.
    Own(Vec<u8>),
    /// It is one of something else.
    Other,
    /// It is none, for this reason.
    Unreadable(String),
}

/// The memory that is left for configurations.
struct Room<'n> {
    all: &'n mut usize,
    of_namespace: HashMap<String, usize>,
}

/// A list that failed, and the error of its request.
pub(crate) type FailedList = (Diagnostic, RequestError);

/// Reads the configurations of the objects of these resources, in one namespace or in all. The annotation is a text that anybody who may
/// write the object chooses: it counts only for that very object, and one that cannot be read or is too large affects that object alone.
pub(crate) async fn last_applied(
    cluster: &Cluster,
    resources: &[Resource],
    namespace: Option<&str>,
) -> FoundConfigurations {
    let lists = resources.iter().map(|resource| async move {
        let pages = Pages::new(cluster, resource, namespace.filter(|_| resource.namespaced));
        let pages = pages.searching().keeping(FIELDS);
        (resource, annotated(pages).await)
    });
    let mut lists = futures::stream::iter(lists).buffered(IN_FLIGHT);
    let mut found = FoundConfigurations::default();
    let mut all = 0;
    while let Some((resource, list)) = lists.next().await {
        match list {
            Ok(objects) => {
                let mut room = Room { all: &mut all, of_namespace: HashMap::new() };
                for object in &objects {
                    found.add(object, resource, &mut room);
                }
            }
            Err(error) => {
                let diagnostic = Diagnostic::about(&resource.gvk, &error);
                let message =
                    format!("objects of kind `{}` cannot be listed: {}", resource.gvk.kind, diagnostic.message);
                found.unlisted.push((Diagnostic { message, ..diagnostic }, error));
            }
        }
    }
    found
}

/// The objects of a list that have the annotation. Of those for which there is no room, the annotation is empty.
async fn annotated(mut pages: Pages<'_>) -> Result<Vec<Value>, RequestError> {
    let mut objects = Vec::new();
    let mut all = 0;
    let mut room = Room { all: &mut all, of_namespace: HashMap::new() };
    while let Some(page) = pages.next().await? {
        if page.starts_over {
            objects.clear();
            *room.all = 0;
            room.of_namespace.clear();
        }
        for mut object in page.objects {
            let Some(text) = object.annotation(LAST_APPLIED) else { continue };
            let is_room = room.takes(namespace(&object), text.len());
            if let Some(annotations) = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut)
                && !is_room
            {
                annotations.insert(LAST_APPLIED.to_owned(), Value::Null);
            }
            objects.push(object);
        }
    }
    Ok(objects)
}

impl Room<'_> {
    /// Returns true if there is room for this number of bytes in a namespace, which it takes.
    fn takes(&mut self, namespace: Option<&str>, bytes: usize) -> bool {
        let of_namespace = self.of_namespace.entry(namespace.unwrap_or_default().to_owned()).or_default();
        let own = of_namespace.saturating_add(bytes);
        let all = self.all.saturating_add(bytes);
        let is_room = own <= OF_NAMESPACE && all <= MEMORY;
        if is_room {
            (*of_namespace, *self.all) = (own, all);
        }
        is_room
    }
}

impl FoundConfigurations {
    fn add(&mut self, object: &Value, resource: &Resource, room: &mut Room<'_>) {
        let annotation = object.annotation(LAST_APPLIED);
        let configuration = match annotation.filter(|text| room.takes(namespace(object), text.len())) {
            Some(text) => configuration(text, object, resource),
            None => Configuration::Unreadable(format!(
                "those of this kind need more than {} MiB in its namespace, or more than {} MiB in all",
                OF_NAMESPACE >> 20,
                MEMORY >> 20
            )),
        };
        match configuration {
            Configuration::Own(text) => self.line(&text),
            Configuration::Other => {
                let kind = &resource.gvk.kind;
                let namespace = namespace(object).map(|namespace| format!("{namespace}/")).unwrap_or_default();
                let name = object.name().unwrap_or_default();
                self.warnings.push(format!(
                    "{kind} {namespace}{name} is left out: its annotation `{LAST_APPLIED}` is not a configuration of it"
                ));
            }
            Configuration::Unreadable(reason) => {
                let Some(text) = identity(object) else { return };
                self.line(&text);
                let reason = one_line(&reason, REASON);
                let reason = format!("its annotation `{LAST_APPLIED}` cannot be read: {reason}");
                self.unreadable.insert(self.lines, reason);
            }
        }
    }

    fn line(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.text.push(b'\n');
        self.lines = self.lines.saturating_add(1);
    }
}

/// The configuration in an annotation. Its namespace is that of the object, whatever it says; a list of objects is none of its object.
fn configuration(text: &str, object: &Value, resource: &Resource) -> Configuration {
    let unreadable = |reason: &str| Configuration::Unreadable(reason.to_owned());
    let Ok(mut configuration) = serde_json::from_str::<Value>(text) else { return unreadable("it is not JSON") };
    let field = |pointer: &str| configuration.pointer(pointer).filter(|value| !value.is_null());
    let texts = ["/apiVersion", "/kind", "/metadata/name"].map(|pointer| field(pointer).and_then(Value::as_str));
    let [Some(api_version), Some(kind), Some(name)] = texts else {
        return unreadable("`apiVersion`, `kind` or `metadata.name` is missing or is no text");
    };
    let gvk = GroupVersionKind::new(api_version, kind);
    let is_own = gvk.group == resource.gvk.group && gvk.kind == resource.gvk.kind && object.name() == Some(name);
    let key = ObjectKey { gvk, namespace: namespace(object).map(ToOwned::to_owned), name: name.to_owned() };
    match field("/metadata/namespace") {
        _ if !is_own || configuration.get("items").is_some_and(Value::is_array) => return Configuration::Other,
        None => {}
        Some(Value::String(named)) if named.is_empty() || !resource.namespaced => {}
        Some(Value::String(named)) if key.namespace.as_deref() == Some(named) => {}
        Some(Value::String(_)) => return Configuration::Other,
        Some(_) => return unreadable("`metadata.namespace` is no text"),
    }
    if let (Some(Value::Object(metadata)), Some(namespace)) = (configuration.get_mut("metadata"), &key.namespace) {
        metadata.insert("namespace".into(), Value::from(namespace.as_str()));
    }
    let text = configuration.to_string().into_bytes();
    match read_alone(text.clone()) {
        Ok(manifest) => match wrong_dependency(&key, manifest.object()) {
            Some(reason) => Configuration::Unreadable(reason),
            None => Configuration::Own(text),
        },
        Err(mistake) => Configuration::Unreadable(mistake.message),
    }
}

/// The manifest of an object that has nothing but its identity and its labels; `None` if not even that can be read.
fn identity(object: &Value) -> Option<Vec<u8>> {
    let metadata = |name: &str| object.metadata(name).cloned().unwrap_or_default();
    let known = json!({
        "apiVersion": object.get("apiVersion")?,
        "kind": object.get("kind")?,
        "metadata": {"name": metadata("name"), "namespace": metadata("namespace"), "labels": metadata("labels")},
    });
    let text = known.to_string().into_bytes();
    read_alone(text.clone()).is_ok().then_some(text)
}

fn namespace(object: &Value) -> Option<&str> {
    object.metadata("namespace").and_then(Value::as_str).filter(|namespace| !namespace.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config_maps(namespaced: bool) -> Resource {
        Resource {
            gvk: GroupVersionKind::new("v1", "ConfigMap"),
            plural: "configmaps".to_owned(),
            namespaced,
            verbs: ["list"].map(ToOwned::to_owned).into(),
            status: false,
            pending: false,
        }
    }

    fn found(texts: &[String]) -> FoundConfigurations {
        let mut all = 0;
        let mut found = FoundConfigurations::default();
        let mut room = Room { all: &mut all, of_namespace: HashMap::new() };
        for text in texts {
            let metadata = json!({"name": "a", "namespace": "tenant", "annotations": {LAST_APPLIED: text}});
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
            found.add(&object, &config_maps(true), &mut room);
        }
        found
    }

    fn about(fields: &Value, metadata: &Value) -> String {
        let mut configuration = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        for (into, from) in [("", fields), ("/metadata", metadata)] {
            let into = configuration.pointer_mut(into).unwrap().as_object_mut().unwrap();
            into.extend(from.as_object().unwrap().clone());
        }
        configuration.to_string()
    }

    #[test]
    fn a_configuration_is_that_of_the_object_in_its_namespace() {
        for metadata in
            [json!({}), json!({"namespace": ""}), json!({"namespace": null}), json!({"namespace": "tenant"})]
        {
            let found = found(&[about(&json!({}), &metadata)]);
            let own =
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "tenant"}});
            assert_eq!(serde_json::from_slice::<Value>(&found.text).unwrap(), own, "{metadata}");
            assert!(found.warnings.is_empty() && found.unreadable.is_empty(), "{found:?}");
        }
    }

    #[test]
    fn what_is_about_others_is_left_out_with_a_warning() {
        let other =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "pay"}});
        for (fields, metadata) in [
            (json!({"items": [other]}), json!({})),
            (json!({"items": []}), json!({})),
            (json!({"kind": "List", "items": [other]}), json!({})),
            (json!({"kind": "ConfigMapList"}), json!({})),
            (json!({}), json!({"namespace": "pay"})),
            (json!({}), json!({"name": "b"})),
            (json!({"apiVersion": "apps/v1"}), json!({})),
        ] {
            let found = found(&[about(&fields, &metadata)]);
            assert_eq!((found.text.len(), found.warnings.len()), (0, 1), "{fields} {metadata}");
        }
    }

    #[test]
    fn what_cannot_be_read_affects_its_object_alone() {
        let itself = json!({"annotations": {"config.kubernetes.io/depends-on": "/namespaces/tenant/ConfigMap/a"}});
        let wrong = [
            "{".to_owned(),
            "7".to_owned(),
            "[]".to_owned(),
            "[".repeat(100_000),
            about(&json!({}), &json!({"labels": 5})),
            about(&json!({}), &json!({"labels": {"a": 5}})),
            about(&json!({}), &json!({"labels": {"a": "!"}})),
            about(&json!({}), &json!({"namespace": 7})),
            about(&json!({}), &json!({"namespace": ["tenant"]})),
            about(&json!({}), &json!({"name": 7})),
            about(&json!({"kind": ["ConfigMap"]}), &json!({})),
            about(&json!({}), &json!({"annotations": {"kubectl-reconcile/ignore": "[[[["}})),
            about(&json!({}), &json!({"annotations": {"config.kubernetes.io/depends-on": "!!!"}})),
            about(&json!({}), &itself),
            about(&json!({}), &json!({"labels": 5, "annotations": {"helm.sh/hook": "test"}})),
        ];
        for wrong in wrong {
            let found = found(&[about(&json!({}), &json!({})), wrong.clone()]);
            assert_eq!(found.unreadable.keys().collect::<Vec<_>>(), [&2], "{wrong:.200}");
            assert_eq!((found.lines, found.warnings.len()), (2, 0), "{wrong:.200}");
        }
    }

    #[test]
    fn the_configurations_of_a_namespace_leave_room_for_those_of_others() {
        let mut all = 0;
        let mut room = Room { all: &mut all, of_namespace: HashMap::new() };
        assert!(room.takes(Some("tenant"), OF_NAMESPACE));
        assert!(!room.takes(Some("tenant"), 1));
        assert!(room.takes(Some("team"), 1) && room.takes(None, 1));
        let taken = (0..20).filter(|number| room.takes(Some(&number.to_string()), OF_NAMESPACE)).count();
        assert_eq!(taken, MEMORY / OF_NAMESPACE - 2);
    }
}
