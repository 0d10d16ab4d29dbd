//! Removes nulls that the types of custom resources do not allow, so that an apply has the same effect as `kubectl apply`.
//! The types are those of the server, or of the CustomResourceDefinitions in the input.

use std::collections::HashMap;

use serde_json::Value;
use structured_merge::{GroupVersionKind, TypeRef, TypeTable, builtin_kind, defined_kind};

use crate::live::Target;

/// Returns true if a manifest may hold nulls that its type does not allow: a custom resource that holds any null.
pub fn may_hold_refused_nulls(target: &Target) -> bool {
    structured_merge::builtin_kind(&target.key.gvk).is_none() && target.desired.with_object(holds_null)
}

/// Removes nulls that the types of the targets do not allow, each with a warning that names its line. For a kind that the input
/// itself defines, the new definition counts.
pub fn leave_out_nulls<'t>(targets: &mut [&mut Target], schema_of: impl Fn(&GroupVersionKind) -> TypeRef<'t>) {
    let types = defined_types(targets);
    for target in targets {
        let gvk = target.key.gvk.clone();
        let Some(defined) = types.get(&gvk) else { continue };
        let schema = defined.as_ref().and_then(|types| types.object(&gvk)).unwrap_or_else(|| schema_of(&gvk));
        target.desired.leave_out_refused_nulls(schema);
    }
}

/// The types of the kinds whose objects may hold such nulls, if the input defines them.
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

/// Returns true if a value holds a null at any depth.
pub(super) fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.values().any(holds_null),
        Value::Array(items) => items.iter().any(holds_null),
        _ => false,
    }
}

/// Kinds by group and name, with the index of their definition in a list.
#[derive(Debug, Default)]
pub struct DefinedKinds<'a>(HashMap<(&'a str, &'a str), usize>);

impl<'a> DefinedKinds<'a> {
    /// Collects the kinds that the CustomResourceDefinitions of a list define. The first definition of a kind counts.
    pub fn in_list(targets: impl IntoIterator<Item = &'a Target>) -> Self {
        let mut kinds = Self::default();
        for (index, target) in targets.into_iter().enumerate() {
            kinds.add(index, target);
        }
        kinds
    }

    /// Adds the kind that an object defines, if it is a CustomResourceDefinition.
    pub fn add(&mut self, index: usize, target: &'a Target) {
        if target.key.gvk.is_crd()
            && let Some(kind) = defined_kind(target.desired.object())
        {
            self.0.entry(kind).or_insert(index);
        }
    }

    /// The index of the definition of a kind. A built-in kind has none.
    pub fn place_of(&self, gvk: &GroupVersionKind) -> Option<usize> {
        let place = self.0.get(&(gvk.group.as_str(), gvk.kind.as_str()))?;
        builtin_kind(gvk).is_none().then_some(*place)
    }
}
