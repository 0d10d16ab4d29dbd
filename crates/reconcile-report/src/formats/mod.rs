//! The output formats: a file or folder for each, and the table of them.

mod github;
mod gitlab;
pub mod html;
pub mod json;
pub mod jsonl;
mod junit;
mod markdown;
pub mod name;
mod prometheus;
mod sarif;
pub mod text;
pub mod unified;

use crate::model::Reports;
use crate::view::View;
use crate::words::styled::Styled;

/// An output format.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of its own")]
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its help.
    pub help: &'static str,
    /// The renderer of a run, in one context or in several.
    pub render: Render,
    /// True if it shows objects as a whole, which a comparison keeps only for such formats.
    pub shows_versions: bool,
    /// False if it has no place for remarks about the run, which then go to standard error.
    pub has_remarks: bool,
    /// True if it always has the differences that a baseline has as well.
    pub has_known: bool,
    /// True if it has the document of the report, by whose `cluster` programs tell clusters apart.
    pub has_document: bool,
}

/// The renderer of a format.
#[derive(Debug)]
pub enum Render {
    /// Text for people: in colours on a terminal, and shown while the run goes on.
    Text(fn(&Reports, &View) -> Styled),
    /// A patch: data, in colours on a terminal.
    Patch(fn(&Reports, &View) -> String),
    /// Data for programs: written as it is, once the run is over.
    Data(fn(&Reports, &View) -> String),
    /// Lines for programs: one for each event while the run goes on, and these at the end.
    Lines(fn(&Reports, &View) -> String),
}

/// All formats; the first is the default.
pub const FORMATS: &[Format] = &[
    format("text", "For people: the differences and a summary", Render::Text(text::in_file)),
    Format {
        shows_versions: true,
        ..format("unified", "For people: a patch, as `kubectl diff` prints it", Render::Patch(unified::render))
    },
    Format {
        has_known: true,
        has_document: true,
        ..format("json", "For programs: the complete report", Render::Data(json::render))
    },
    Format {
        has_known: true,
        has_document: true,
        ..format("yaml", "For programs: the document of `json` as YAML", Render::Data(json::render_yaml))
    },
    Format {
        has_known: true,
        has_document: true,
        ..format("jsonl", "For programs: one event per line, as it happens", Render::Lines(jsonl::render))
    },
    Format {
        has_remarks: false,
        ..format(
            "name",
            "The names of what differs or was done, as `kubectl get -o name` prints them",
            Render::Data(name::render),
        )
    },
    format("markdown", "For a pull request: a comment, or the summary of a job", Render::Data(markdown::render)),
    format("junit", "For test reports: a test case for each object", Render::Data(junit::render)),
    format("sarif", "For code scanning: SARIF 2.1.0, with files and lines", Render::Data(sarif::render)),
    format("github", "For GitHub workflows: annotations", Render::Data(github::render)),
    format("gitlab", "For GitLab: a Code Quality report", Render::Data(gitlab::render)),
    Format {
        has_known: true,
        ..format("prometheus", "For Prometheus: metrics for the textfile collector", Render::Data(prometheus::render))
    },
    format(
        "html",
        "For people: one page to open in a browser, with filters, search and both sides of each difference",
        Render::Data(html::render),
    ),
];

/// A format without the data that only some have: versions, known differences and the document.
const fn format(name: &'static str, help: &'static str, render: Render) -> Format {
    Format { name, help, render, shows_versions: false, has_remarks: true, has_known: false, has_document: false }
}

impl Format {
    /// Finds a format by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// Returns true if events are written as they happen.
    pub fn is_lines(&self) -> bool {
        matches!(self.render, Render::Lines(_))
    }

    /// Returns true if it shows data that a report does not hold: whole objects, or events. A report read from a file has none of
    /// it.
    pub fn needs_the_run(&self) -> bool {
        self.shows_versions || self.is_lines()
    }

    /// Returns true if this is text for people.
    pub fn is_text(&self) -> bool {
        matches!(self.render, Render::Text(_))
    }
}
