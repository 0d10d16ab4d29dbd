//! The problems of one document while it is read.

use super::{Severity, SyntaxDiagnostic};

/// How many problems of one document are listed; the rest of them would only repeat the cause.
const MAX_PROBLEMS: usize = 100;

/// A list of problems that does not grow without bound, and never misses that the document is refused.
#[derive(Default)]
pub(super) struct Collector {
    problems: Vec<SyntaxDiagnostic>,
}

impl Collector {
    pub(super) fn add(&mut self, problem: SyntaxDiagnostic) {
        if self.has_room(problem.severity) {
            self.problems.push(problem);
        }
    }

    /// Returns true if a problem would be listed; if not, there is no need to look for its places.
    pub(super) fn has_room(&self, severity: Severity) -> bool {
        self.problems.len() < MAX_PROBLEMS || severity == Severity::Refused && !self.is_refused()
    }

    pub(super) fn into_problems(self) -> Vec<SyntaxDiagnostic> {
        self.problems
    }

    fn is_refused(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Refused)
    }
}
