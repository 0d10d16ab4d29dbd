//! Leaves out of custom resources the nulls that their types do not allow, so that an apply has the effect of `kubectl apply`.

use std::collections::HashMap;

use serde_json::Value;
use structured_merge::{GroupVersionKind, TypeRef, TypeTable};

use super::definition::defines;
use crate::live::Target;

/// Returns true if a manifest may hold nulls that its type does not allow: one of a custom resource that holds any.
#[must_use]
pub fn may_hold_refused_nulls(target: &Target) -> bool {
    structured_merge::builtin_kind(&target.key.gvk).is_none() && holds_null(target.desired.object())
}

/// Leaves such nulls out, each with a warning that names its line. A kind that the input itself defines has
/// the type that it will have.
pub fn leave_out_nulls<'t>(targets: &mut [&mut Target], of: impl Fn(&GroupVersionKind) -> TypeRef<'t>) {
    let mut defined: HashMap<GroupVersionKind, Option<TypeTable>> = HashMap::new();
    for index in 0..targets.len() {
        let Some(target) = targets.get(index).filter(|target| may_hold_refused_nulls(target)) else { continue };
        let gvk = target.key.gvk.clone();
        let types = defined.entry(gvk.clone()).or_insert_with(|| {
            let definition = targets.iter().find(|crd| defines(crd, target))?;
            structured_merge::compile_definition(definition.desired.object(), &gvk)
        });
        let of = types.as_ref().and_then(|types| types.object(&gvk)).unwrap_or_else(|| of(&gvk));
        let Some(target) = targets.get_mut(index) else { continue };
        target.desired.leave_out_refused_nulls(of);
    }
}

/// Returns true if there is a null anywhere in a value.
pub(super) fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.values().any(holds_null),
        Value::Array(items) => items.iter().any(holds_null),
        _ => false,
    }
}
