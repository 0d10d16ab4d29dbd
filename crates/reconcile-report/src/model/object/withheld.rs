//! Values of encrypted objects that are parts of paths.

use reconcile_core::compare::ObjectDiff;
use reconcile_core::live::Target;
use structured_merge::{FieldPath, PathElement, Scalar};

use super::ObjectReport;

/// The text in a path in the place of a secret key or member.
const WITHHELD: &str = "(secret)";

impl ObjectReport {
    /// Leaves out of paths what is a value of an encrypted object: the keys of list items, and the members of sets.
    pub(super) fn withhold_keys(&mut self, target: &Target) {
        if !target.desired.origin.is_encrypted {
            return;
        }
        let ObjectDiff { changes, conflicts, transfers, added_items, ignored, left, .. } = &mut self.diff;
        let paths = changes.iter_mut().map(|change| &mut change.path);
        let paths = paths.chain(conflicts.iter_mut().map(|conflict| &mut conflict.path)).chain(added_items);
        let paths = paths.chain(ignored.iter_mut().flat_map(|ignored| &mut ignored.paths));
        let paths = paths.chain(left.iter_mut().map(|left| &mut left.path));
        let paths = paths.chain(transfers.iter_mut().flatten().map(|transfer| &mut transfer.path));
        let withheld = |path: &FieldPath| {
            let withheld_scalar = || Scalar::Text(WITHHELD.to_owned());
            let elements = path.elements().iter().map(|element| match element {
                PathElement::Member(_) => PathElement::Member(withheld_scalar()),
                PathElement::Key(pairs) => {
                    PathElement::Key(pairs.iter().map(|(name, _)| (name.clone(), withheld_scalar())).collect())
                }
                PathElement::Field(_) | PathElement::Index(_) => element.clone(),
            });
            FieldPath::from(elements.collect::<Vec<_>>())
        };
        for path in paths {
            *path = withheld(path);
        }
        if !self.details.lines.is_empty() {
            self.details.lines = self.details.lines.iter().map(|(path, line)| (withheld(path), *line)).collect();
        }
    }
}
