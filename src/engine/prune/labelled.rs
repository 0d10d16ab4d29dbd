use apply_set::{ApplySet, PART_OF};
use structured_merge::ObjectMeta as _;

use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::manifest::Manifest;
use reconcile_core::manifest::yaml::Step;

/// Refuses manifests that have the label of a set, because `--applyset` sets it. The parent is no member of its own set, and may have
/// any label. Manifests without a namespace belong to `default_namespace`.
pub(super) fn refuse_labelled(
    manifests: &[Manifest],
    set: &ApplySet,
    default_namespace: &str,
) -> Result<(), Vec<Diagnostic>> {
    let is_parent = |manifest: &Manifest| {
        set.is_parent(manifest.gvk(), manifest.namespace().unwrap_or(default_namespace), manifest.name())
    };
    let is_labelled =
        |manifest: &Manifest| manifest.object().metadata("labels").is_some_and(|all| all.get(PART_OF).is_some());
    let labelled = manifests.iter().filter(|manifest| is_labelled(manifest) && !is_parent(manifest));
    let diagnostics: Vec<Diagnostic> = labelled
        .map(|manifest| {
            let at = [Step::Key("metadata"), Step::Key("labels"), Step::Key(PART_OF)];
            let message = format!("{manifest} already has the label `{PART_OF}`");
            let diagnostic = manifest.origin().diagnostic_at_key(&at, message);
            diagnostic.with_hint("leave it out of the manifest: `--applyset` sets it")
        })
        .collect();
    if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics) }
}
