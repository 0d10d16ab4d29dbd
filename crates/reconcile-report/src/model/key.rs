use structured_merge::{GroupVersionKind, ObjectKey};

/// Puts together the key of an object, which the JSON of a report holds in parts.
pub(super) fn key(api_version: &str, kind: &str, namespace: Option<String>, name: String) -> ObjectKey {
    ObjectKey { gvk: GroupVersionKind::new(api_version, kind), namespace, name }
}
