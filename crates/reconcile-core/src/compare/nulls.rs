//! Leaves out of custom resources the nulls that their types do not allow, so that an apply has the effect of `kubectl apply`.

use std::collections::HashMap;

use serde_json::Value;
use structured_merge::{GroupVersionKind, TypeRef, TypeTable};

use super::definition::DefinedKinds;
use crate::live::Target;

/// Returns true if a manifest may hold nulls that its type does not allow: one of a custom resource that holds any.
#[must_use]
pub fn may_hold_refused_nulls(target: &Target) -> bool {
    structured_merge::builtin_kind(&target.key.gvk).is_none() && holds_null(target.desired.object())
}

/// Leaves such nulls out, each with a warning that names its line. A kind that the input itself defines has
/// the type that it will have.
pub fn leave_out_nulls<'t>(targets: &mut [&mut Target], of: impl Fn(&GroupVersionKind) -> TypeRef<'t>) {
    let types = defined_types(targets);
    for target in targets {
        let gvk = target.key.gvk.clone();
        let Some(defined) = types.get(&gvk) else { continue };
        let of = defined.as_ref().and_then(|types| types.object(&gvk)).unwrap_or_else(|| of(&gvk));
        target.desired.leave_out_refused_nulls(of);
    }
}

/// The types of the kinds whose objects may hold such nulls, where the input defines them.
fn defined_types(targets: &[&mut Target]) -> HashMap<GroupVersionKind, Option<TypeTable>> {
    let kinds = DefinedKinds::in_list(targets.iter().map(|target| &**target));
    let mut types = HashMap::new();
    for target in targets.iter().filter(|target| may_hold_refused_nulls(target)) {
        let gvk = &target.key.gvk;
        if !types.contains_key(gvk) {
            let crd = kinds.place_of(gvk).and_then(|place| targets.get(place));
            let defined = crd.and_then(|crd| structured_merge::compile_definition(crd.desired.object(), gvk));
            types.insert(gvk.clone(), defined);
        }
    }
    types
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
