//! One report of those that are merged.

use reconcile_core::diagnostic::{Diagnostic, Location};

use super::consistent::consistent;
use super::parsed::{Parsed, ParsedContext, ParsedContexts, parsed};
use crate::Report;
use crate::model::contexts::worst;

/// One report, and its file.
#[derive(Debug)]
pub struct MergeInput {
    pub(super) file: String,
    /// Its context, in a document with several.
    context: Option<String>,
    /// The URL of the server of its context, if it is known.
    server: Option<String>,
    pub(crate) report: Report,
}

impl MergeInput {
    /// Reads the reports of a file. The error has its location.
    pub fn read(file: &str, text: &[u8]) -> Result<Vec<Self>, Diagnostic> {
        match parsed(text).map_err(|error| no_report(file, &error))? {
            Parsed::One(report) => Ok(vec![Self::new(file, None, None, *report)?]),
            Parsed::Several(ParsedContexts { verdict, exit_code, contexts, .. }) => {
                let of_context = |one: ParsedContext| Self::new(file, Some(one.context), one.server, one.report);
                let reports = contexts.into_iter().map(of_context).collect::<Result<Vec<_>, _>>()?;
                let worst = worst(reports.iter().map(|one| &one.report));
                if worst != (verdict, exit_code) {
                    let (claimed, worst) = (verdict.name(), worst.0.name());
                    let reason =
                        format!("it says `{claimed}` with exit code {exit_code}, but the worst context `{worst}`");
                    return Err(contradiction(file, &reason));
                }
                Ok(reports)
            }
        }
    }

    fn new(file: &str, context: Option<String>, server: Option<String>, report: Report) -> Result<Self, Diagnostic> {
        let report = consistent(report).map_err(|reason| match &context {
            Some(context) => contradiction(file, &format!("in the context `{context}`, {reason}")),
            None => contradiction(file, &reason),
        })?;
        Ok(Self { file: file.to_owned(), context, server, report })
    }

    /// The context of the report, if it names one.
    pub(crate) fn context(&self) -> Option<&str> {
        let cluster = self.report.cluster.as_ref();
        self.context.as_deref().or(cluster.and_then(|cluster| cluster.context.as_deref()))
    }

    /// The cluster of the report, if it names one: its context and the server.
    pub(super) fn cluster(&self) -> Option<(Option<&str>, Option<&str>)> {
        let cluster = self.report.cluster.as_ref();
        let context = self.context();
        let server = cluster.map(|cluster| cluster.server.as_str()).or(self.server.as_deref());
        (context.is_some() || server.is_some()).then_some((context, server))
    }
}

/// The error for a text that is no report, with its location.
fn no_report(file: &str, error: &serde_json::Error) -> Diagnostic {
    let number = |number: usize| u32::try_from(number).ok().filter(|number| *number > 0);
    let location = Location { file: file.into(), line: number(error.line()), column: number(error.column()) };
    // The text of the error ends with its location as well.
    let reason = error.to_string();
    let at = format!(" at line {} column {}", error.line(), error.column());
    let reason = reason.strip_suffix(&at).unwrap_or(&reason);
    let message = format!("not a report of `kubectl reconcile -o json`: {reason}");
    Diagnostic { location: Some(location), ..Diagnostic::general(message) }
}

/// The error for a report that cannot be what a run wrote.
fn contradiction(file: &str, reason: &str) -> Diagnostic {
    let message = format!("the report contradicts itself: {reason}");
    Diagnostic::of_file(file, message).with_hint("pass reports as `kubectl reconcile -o json` wrote them")
}
