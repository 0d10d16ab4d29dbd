//! The key of an object, which a report holds in parts: it is put together again when a report is read.

use structured_merge::{GroupVersionKind, ObjectKey};

/// Puts a key together.
pub(crate) fn key(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> ObjectKey {
    let gvk = GroupVersionKind::new(api_version, kind);
    ObjectKey { gvk, namespace: namespace.map(ToOwned::to_owned), name: name.to_owned() }
}

/// A key that is filled in later.
pub(crate) fn no_key() -> ObjectKey {
    key("", "", None, "")
}
