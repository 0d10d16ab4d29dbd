//! One report of those that are merged.

use reconcile_core::diagnostic::{Diagnostic, Location};

use super::parsed::{Parsed, parsed};
use crate::Report;

/// One report, and its file.
#[derive(Debug)]
pub struct MergeInput {
    pub(super) file: String,
    pub(super) parsed: Parsed,
}

impl MergeInput {
    /// Reads the reports of a file. The error has its location.
    pub fn read(file: &str, text: &[u8]) -> Result<Vec<Self>, Diagnostic> {
        let diagnostic = |error: serde_json::Error| {
            let number = |number: usize| u32::try_from(number).ok().filter(|number| *number > 0);
            let location = Location { file: file.into(), line: number(error.line()), column: number(error.column()) };
            // The text of the error ends with its location as well.
            let reason = error.to_string();
            let at = format!(" at line {} column {}", error.line(), error.column());
            let reason = reason.strip_suffix(&at).unwrap_or(&reason);
            let message = format!("not a report of `kubectl reconcile -o json`: {reason}");
            Diagnostic { location: Some(location), ..Diagnostic::general(message) }
        };
        let reports = parsed(text).map_err(diagnostic)?;
        Ok(reports.into_iter().map(|parsed| Self { file: file.to_owned(), parsed }).collect())
    }

    pub(super) fn report(&self) -> &Report {
        &self.parsed.report
    }

    /// The cluster of the report, if it names one: its context and the server.
    pub(super) fn cluster(&self) -> Option<(Option<&str>, Option<&str>)> {
        let cluster = self.report().cluster.as_ref();
        let context = self.parsed.context.as_deref().or(cluster.and_then(|cluster| cluster.context.as_deref()));
        let server = cluster.map(|cluster| cluster.server.as_str()).or(self.parsed.server.as_deref());
        (context.is_some() || server.is_some()).then_some((context, server))
    }
}
