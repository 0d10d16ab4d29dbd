//! CustomResourceDefinitions in the input, and the kinds that they define.

use std::collections::HashMap;

use structured_merge::{GroupVersionKind, builtin_kind, defined_kind};

use crate::live::Target;

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
