//! CustomResourceDefinitions in the input, and the kinds that they define.

use serde_json::Value;
use structured_merge::builtin_kind;

use crate::live::Target;

/// Returns true if a CustomResourceDefinition defines the kind of a target.
#[must_use]
pub fn defines(crd: &Target, target: &Target) -> bool {
    let gvk = &target.key.gvk;
    crd.key.gvk.is_crd()
        && defined_kind(crd.desired.object()) == Some((&gvk.group, &gvk.kind))
        && builtin_kind(gvk).is_none()
}

/// The group and the kind that a CustomResourceDefinition names. One of a built-in kind is not defined by it.
#[must_use]
pub fn defined_kind(crd: &Value) -> Option<(&str, &str)> {
    let spec = crd.get("spec")?;
    Some((spec.get("group")?.as_str()?, spec.get("names")?.get("kind")?.as_str()?))
}
