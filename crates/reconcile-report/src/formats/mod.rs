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
    Format {
        name: "text",
        help: "For people: the differences and a summary",
        render: Render::Text(text::render),
        shows_versions: false,
        has_remarks: true,
        has_known: false,
    },
    Format {
        name: "unified",
        help: "For people: a patch, as `kubectl diff` prints it",
        render: Render::Patch(unified::render),
        shows_versions: true,
        has_remarks: true,
        has_known: false,
    },
    Format {
        name: "json",
        help: "For programs: the complete report",
        render: Render::Data(json::render),
        shows_versions: false,
        has_remarks: true,
        has_known: true,
    },
    Format {
        name: "yaml",
        help: "For programs: the document of `json` as YAML",
        render: Render::Data(json::render_yaml),
        shows_versions: false,
        has_remarks: true,
        has_known: true,
    },
    Format {
        name: "jsonl",
        help: "For programs: one event per line, as it happens",
        render: Render::Lines(jsonl::render),
        shows_versions: false,
        has_remarks: true,
        has_known: true,
    },
    Format {
        name: "name",
        help: "The names of what differs or was done, as `kubectl get -o name` prints them",
        render: Render::Data(name::render),
        shows_versions: false,
        has_remarks: false,
        has_known: false,
    },
    Format {
        name: "markdown",
        help: "For a pull request: a comment, or the summary of a job",
        render: Render::Data(markdown::render),
        shows_versions: false,
        has_remarks: true,
        has_known: false,
    },
    Format {
        name: "junit",
        help: "For test reports: a test case for each object",
        render: Render::Data(junit::render),
        shows_versions: false,
        has_remarks: true,
        has_known: false,
    },
    Format {
        name: "sarif",
        help: "For code scanning: SARIF 2.1.0, with files and lines",
        render: Render::Data(sarif::render),
        shows_versions: false,
        has_remarks: true,
        has_known: false,
    },
    Format {
        name: "github",
        help: "For GitHub workflows: annotations",
        render: Render::Data(github::render),
        shows_versions: false,
        has_remarks: true,
        has_known: false,
    },
    Format {
        name: "gitlab",
        help: "For GitLab: a Code Quality report",
        render: Render::Data(gitlab::render),
        shows_versions: false,
        has_remarks: true,
        has_known: false,
    },
    Format {
        name: "prometheus",
        help: "For Prometheus: metrics for the textfile collector",
        render: Render::Data(prometheus::render),
        shows_versions: false,
        has_remarks: true,
        has_known: true,
    },
    Format {
        name: "html",
        help: "For people: one page to open in a browser, with filters, search and both sides of each difference",
        render: Render::Data(html::render),
        shows_versions: false,
        has_remarks: true,
        has_known: false,
    },
];

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
