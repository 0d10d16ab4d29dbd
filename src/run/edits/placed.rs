//! The place in a kustomization that sets the value of a change.

use reconcile_core::pull::kustomize::{Candidate, How};
use reconcile_report::pull::EditedFile;

/// The place of a change that is written.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    /// The file as messages name it.
    pub file: String,
    /// The word of `changes[].how`.
    pub how: &'static str,
    pub candidate: Candidate,
    /// The file with this change alone.
    pub shown: EditedFile,
}

/// The word of `changes[].how`.
pub(crate) fn name_of(how: How) -> &'static str {
    match how {
        How::Images => "images",
        How::Replicas => "replicas",
        How::Labels => "labels",
        How::Annotations => "annotations",
        How::Literal => "literal",
        How::File => "file",
        How::Patch => "patch",
        How::Resource => "resource",
        How::NewEntry => "newEntry",
        How::NewPatch => "newPatch",
    }
}
