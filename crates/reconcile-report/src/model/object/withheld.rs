//! Secret values that are parts of paths.

use reconcile_core::compare::Decision;
use reconcile_core::live::Target;

use super::ObjectReport;

impl ObjectReport {
    /// Leaves out of paths what is a secret value: the keys of list items, and the members of sets.
    pub(super) fn withhold_keys(&mut self, target: &Target, decision: &Decision) {
        if !self.diff.has_values_in_paths() {
            return;
        }
        decision.with_secrecy(target, |secrecy| {
            self.diff.withhold_keys(secrecy);
            if !self.details.lines.is_empty() {
                let lines = self.details.lines.iter();
                self.details.lines = lines.map(|(path, line)| (secrecy.shown_path(path), *line)).collect();
            }
        });
    }
}
