//! The configurations that client-side `kubectl apply` left in the annotations of live objects.

use futures::StreamExt as _;
use serde_json::Value;
use structured_merge::{GroupVersionKind, LAST_APPLIED, ObjectMeta as _};

use super::list::{Budget, Pages};
use crate::client::{Cluster, IN_FLIGHT, RequestError};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::Resource;
use reconcile_core::object::Projection;

/// The most memory of all configurations, in bytes.
const MEMORY: usize = 32 << 20;

/// The fields of an object that are read.
const FIELDS: Projection = {
    use Projection::{Fields, Whole};
    const METADATA: Projection =
        Fields(&[("name", Whole), ("namespace", Whole), ("annotations", Fields(&[(LAST_APPLIED, Whole)]))]);
    Fields(&[("apiVersion", Whole), ("kind", Whole), ("metadata", METADATA)])
};

/// The configurations that were found.
#[derive(Debug, Default)]
pub(crate) struct FoundConfigurations {
    /// A JSON document for each object.
    pub text: Vec<u8>,
    /// Warnings about objects whose annotation is of no use.
    pub warnings: Vec<String>,
}

/// A list that failed, and the error of its request.
pub(crate) type FailedList = (Diagnostic, RequestError);

/// Reads the configurations of the objects of these resources, in one namespace or in all. The annotation is a text that anybody who may
/// write the object chooses: it counts only if it is about that very object.
pub(crate) async fn last_applied(
    cluster: &Cluster,
    resources: &[Resource],
    namespace: Option<&str>,
) -> Result<FoundConfigurations, Vec<FailedList>> {
    let lists = resources.iter().map(|resource| async move {
        let pages = Pages::new(cluster, resource, namespace.filter(|_| resource.namespaced)).keeping(FIELDS);
        (resource, pages.all_within(MEMORY).await)
    });
    let mut lists = futures::stream::iter(lists).buffered(IN_FLIGHT);
    let mut found = FoundConfigurations::default();
    let mut unlisted = Vec::new();
    let mut budget = Budget::of(MEMORY);
    while let Some((resource, list)) = lists.next().await {
        match list.and_then(|(objects, _)| budget.admit(objects)) {
            Ok(objects) => objects.iter().for_each(|object| found.add(object, resource)),
            Err(error) => {
                let diagnostic = Diagnostic::about(&resource.gvk, &error);
                let message =
                    format!("objects of kind `{}` cannot be listed: {}", resource.gvk.kind, diagnostic.message);
                unlisted.push((Diagnostic { message, ..diagnostic }, error));
            }
        }
    }
    if unlisted.is_empty() { Ok(found) } else { Err(unlisted) }
}

impl FoundConfigurations {
    fn add(&mut self, object: &Value, resource: &Resource) {
        let Some(text) = object.annotation(LAST_APPLIED) else { return };
        let configuration: Option<Value> = serde_json::from_str(text).ok();
        if let Some(configuration) = configuration.filter(|it| is_about(it, object, resource)) {
            self.text.extend_from_slice(configuration.to_string().as_bytes());
            self.text.push(b'\n');
        } else {
            let namespace = namespace(object).map(|namespace| format!("{namespace}/")).unwrap_or_default();
            let kind = &resource.gvk.kind;
            let name = object.name().unwrap_or_default();
            self.warnings.push(format!(
                "{kind} {namespace}{name} is left out: its annotation `{LAST_APPLIED}` is not a configuration of it"
            ));
        }
    }
}

/// Returns true if a configuration is one of an object, perhaps in another version or without its namespace.
fn is_about(configuration: &Value, object: &Value, resource: &Resource) -> bool {
    let text = |name: &str| configuration.get(name).and_then(Value::as_str).unwrap_or_default();
    let gvk = GroupVersionKind::new(text("apiVersion"), text("kind"));
    gvk.group == resource.gvk.group
        && gvk.kind == resource.gvk.kind
        && configuration.name().is_some()
        && configuration.name() == object.name()
        && namespace(configuration).is_none_or(|named| namespace(object) == Some(named))
}

fn namespace(object: &Value) -> Option<&str> {
    object.metadata("namespace").and_then(Value::as_str).filter(|namespace| !namespace.is_empty())
}
