//! The text about unmanaged objects, which no manifest, owner or apply set explains.

use crate::words::number::grouped;
use crate::{Report, Role, Styled, UnmanagedObject, Verdict, View};

/// Most objects that the text names.
const SHOWN: usize = 100;

impl Report {
    /// The same, with unmanaged objects. They fail a `diff` only if that was chosen.
    pub fn with_unmanaged(mut self, objects: Vec<UnmanagedObject>, fails: bool) -> Self {
        let is_found = !objects.is_empty();
        self.unmanaged = Some(objects);
        if fails && is_found && matches!(self.verdict, Verdict::InSync | Verdict::Drift) {
            self.verdict = Verdict::Drift;
            self.exit_code = self.verdict.exit_code(false);
        }
        self
    }
}

/// A line for each object.
pub(crate) fn lines(report: &Report, view: &View) -> Styled {
    let most = if view.full { usize::MAX } else { SHOWN };
    let mut text = Styled::new();
    let objects = report.unmanaged.as_deref().unwrap_or_default();
    for object in objects.iter().take(most) {
        text.push(Role::Note, "? ");
        text.push(Role::Name, object.to_string());
        text.push(Role::Note, format!("  {}", object.reason()));
        text.line_end();
    }
    if let Some(more @ 1..) = objects.len().checked_sub(most) {
        text.push(Role::Note, format!("… {} more objects: --full", grouped(more)));
        text.line_end();
    }
    text
}
