//! Stage 4, decide: in which order the objects are acted on.

mod wave;

use crate::live::Target;
pub use wave::Wave;

/// Sorts targets into the order in which `apply` acts: by wave, then by kind, namespace and name.
pub fn order(targets: &mut [Target]) {
    targets.sort_by_cached_key(|target| {
        let key = &target.key;
        let group_and_version = (key.gvk.group.clone(), key.gvk.version.clone());
        (Wave::of(&key.gvk), key.gvk.kind.clone(), key.namespace.clone(), key.name.clone(), group_and_version)
    });
}
