//! The diagnostics of one document while it is read.

use super::{Severity, SyntaxDiagnostic};

/// Largest number of diagnostics for one document; more would only repeat the cause.
const MAX_DIAGNOSTICS: usize = 100;

/// A bounded list of diagnostics that always shows if the document is refused.
#[derive(Default)]
pub(super) struct Collector {
    pub diagnostics: Vec<SyntaxDiagnostic>,
    /// Keys that are read with another text than they are written.
    pub changed_keys: Vec<SyntaxDiagnostic>,
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

    pub(super) fn add_changed_key(&mut self, diagnostic: impl FnOnce() -> SyntaxDiagnostic) {
        if self.changed_keys.len() < MAX_DIAGNOSTICS {
            self.changed_keys.push(diagnostic());
        }
    }

    /// Returns true if kubectl refuses the document, or a bound is exceeded.
    pub(super) fn is_refused(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Refused)
    }
}
