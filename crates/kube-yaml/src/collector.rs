//! The diagnostics of one document while it is read.

use super::{Severity, SyntaxDiagnostic};

/// Largest number of diagnostics for one document; more would only repeat the cause.
const MAX_DIAGNOSTICS: usize = 100;

/// A bounded list of diagnostics that always shows if the document is refused.
#[derive(Default)]
pub(super) struct Collector {
    diagnostics: Vec<SyntaxDiagnostic>,
}

impl Collector {
    pub(super) fn add(&mut self, diagnostic: SyntaxDiagnostic) {
        if self.has_room(diagnostic.severity) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Returns true if a diagnostic of this severity would be added; if not, its marks need not be computed.
    pub(super) fn has_room(&self, severity: Severity) -> bool {
        self.diagnostics.len() < MAX_DIAGNOSTICS || severity == Severity::Refused && !self.is_refused()
    }

    pub(super) fn into_diagnostics(self) -> Vec<SyntaxDiagnostic> {
        self.diagnostics
    }

    fn is_refused(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Refused)
    }
}
