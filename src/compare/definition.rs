//! CustomResourceDefinitions in the input, and the kinds that they define.

use serde_json::Value;
use structured_merge::GroupVersionKind;

use crate::live::Target;

/// Returns true if a CustomResourceDefinition defines the kind of a target.
#[must_use]
pub fn defines(crd: &Target, target: &Target) -> bool {
    crd.key.gvk.is_crd() && defines_kind(crd.desired.object(), &target.key.gvk)
}

/// The same for an object that is known to be a CustomResourceDefinition.
#[must_use]
pub fn defines_kind(crd: &Value, gvk: &GroupVersionKind) -> bool {
    let at = |pointer: &str| crd.pointer(pointer).and_then(Value::as_str);
    at("/spec/group") == Some(gvk.group.as_str())
        && at("/spec/names/kind") == Some(gvk.kind.as_str())
        && structured_merge::builtin_kind(gvk).is_none()
}
