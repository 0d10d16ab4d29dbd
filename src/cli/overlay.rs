use std::ffi::OsStr;

use clap::Args;
use reconcile_core::pull::kustomize::Allowed;
use reconcile_report::Failure;

/// The places in a kustomization that live values may be written to, beside those that set them now.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct OverlayArgs {
    /// With `-k`: where nothing in the overlay sets a value, write it into a patch of the overlay, in one file for each kind
    #[arg(long, help_heading = "Kustomization")]
    pub add_patches: bool,
    /// With `-k`: where nothing in the overlay can set a value, edit files outside of its directory, and show what changes in the other overlays of the repository
    #[arg(long, help_heading = "Kustomization")]
    pub edit_bases: bool,
}

impl OverlayArgs {
    /// The places, for an input that may be a kustomization.
    pub fn allowed(self, kustomize: Option<&OsStr>) -> Result<Allowed, Failure> {
        let Self { add_patches, edit_bases } = self;
        if kustomize.is_none() && (add_patches || edit_bases) {
            let flag = if add_patches { "--add-patches" } else { "--edit-bases" };
            let message = format!("`{flag}` is about kustomizations, and the manifests are not built from one");
            return Err(Failure::refused(&message, "pass the directory of the kustomization with `-k`"));
        }
        Ok(Allowed { new_patches: add_patches, bases: edit_bases })
    }
}
