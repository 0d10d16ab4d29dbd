//! Leaves out of custom resources the nulls that their types do not allow, so that an apply has the effect of `kubectl apply`.

use serde_json::Value;
use structured_merge::{FieldPath, GroupVersionKind, PathElement, RefusedNull, TypeRef, take_out_refused_nulls};

use super::definition::defines;
use crate::desired::Manifest;
use crate::desired::yaml::Step;
use crate::live::Target;

/// Returns true if a manifest may hold nulls that its type does not allow: one of a custom resource that holds any.
#[must_use]
pub fn may_hold_refused_nulls(target: &Target) -> bool {
    structured_merge::builtin_kind(&target.key.gvk).is_none() && holds_null(&target.manifest.value)
}

/// Takes such nulls out of the manifests, each with a warning that names its line. A kind that the input itself defines has
/// the type that it will have.
pub fn leave_out_nulls<'t>(targets: &mut [&mut Target], of: impl Fn(&GroupVersionKind) -> TypeRef<'t>) {
    for index in 0..targets.len() {
        let Some(target) = targets.get(index).filter(|target| may_hold_refused_nulls(target)) else { continue };
        let gvk = target.key.gvk.clone();
        let definition = targets.iter().find(|crd| defines(crd, target));
        let defined = definition.and_then(|crd| structured_merge::compile_definition(&crd.manifest.value, &gvk));
        let of = defined.as_ref().and_then(|table| table.object(&gvk)).unwrap_or_else(|| of(&gvk));
        let Some(target) = targets.get_mut(index) else { continue };
        let nulls = take_out_refused_nulls(&mut target.manifest.value, of);
        let warnings: Vec<String> = nulls.iter().map(|null| warning(&target.manifest, null)).collect();
        target.manifest.warnings.extend(warnings);
    }
}

fn warning(manifest: &Manifest, null: &RefusedNull) -> String {
    let at = manifest.positions.nearest(&steps(&null.path));
    let instead = null.empty.map_or_else(|| "a value".to_owned(), |empty| format!("`{empty}`"));
    format!(
        "{}:{}: `{}` has no value and is left out: write {instead} or delete the line",
        manifest.source.file, at.line, null.path
    )
}

fn steps(path: &FieldPath) -> Vec<Step<'_>> {
    let steps = path.elements().iter().map_while(|element| match element {
        PathElement::Field(name) => Some(Step::Key(name)),
        PathElement::Index(index) => usize::try_from(*index).ok().map(Step::Index),
        PathElement::Key(_) | PathElement::Member(_) => None,
    });
    steps.collect()
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
