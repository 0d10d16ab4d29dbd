//! CustomResourceDefinitions in the input, and the kinds that they define.

use serde_json::Value;

use crate::live::Target;
use crate::schema;

/// Returns true if a CustomResourceDefinition defines the kind of a target.
#[must_use]
pub fn defines(crd: &Target, target: &Target) -> bool {
    let at = |pointer: &str| crd.manifest.value.pointer(pointer).and_then(Value::as_str);
    crd.key.gvk.is_crd()
        && at("/spec/group") == Some(target.key.gvk.group.as_str())
        && at("/spec/names/kind") == Some(target.key.gvk.kind.as_str())
        && schema::builtin_kind(&target.key.gvk).is_none()
}
