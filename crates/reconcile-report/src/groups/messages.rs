use reconcile_core::compare::Action;

use super::Shows;
use crate::ObjectReport;
use crate::words::shared_diagnostic::SharedDiagnostic;

/// The messages about an object that several can share, without its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Messages {
    diagnostic: Option<SharedDiagnostic>,
    warnings: Vec<String>,
}

impl Messages {
    /// The messages about an object of which nothing else is shown.
    pub fn of(object: &ObjectReport, shows: &impl Shows) -> Option<Self> {
        let diagnostic = SharedDiagnostic::of(object);
        let warnings: Vec<String> = shows.warnings(object).into_iter().map(str::to_owned).collect();
        if diagnostic.is_some() {
            return Some(Self { diagnostic, warnings });
        }
        let is_quiet = object.messages.error.is_none()
            && object.diff.action == Action::None
            && object.diff.conflicts.is_empty()
            && !object.is_kept()
            && !object.diff.changes.iter().any(|change| shows.change(change))
            && !shows.more(object);
        (is_quiet && !warnings.is_empty()).then_some(Self { diagnostic, warnings })
    }

    /// The sentences about all objects that have them, and the advice.
    pub fn sentences(&self, objects: &[&ObjectReport], is_full: bool) -> (Vec<String>, Option<String>) {
        let diagnostic = self.diagnostic.as_ref().map(|diagnostic| diagnostic.sentences(objects, is_full));
        let (mut sentences, hint) = diagnostic.unwrap_or_default();
        sentences.extend(self.warnings.iter().map(|warning| format!("warning: {warning}")));
        (sentences, hint)
    }
}
