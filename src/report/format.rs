//! The output formats: one row for each. The values of `-o`, their help, their completion and what is written come from it.

use super::styled::Styled;
use super::view::View;
use super::{Report, Reports, html, json, matrix, name, text};

/// An output format.
#[derive(Debug)]
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its help.
    pub help: &'static str,
    /// What it makes of a report.
    pub render: Render<Report>,
    /// What it makes of the reports of several contexts.
    pub render_all: Render<Reports>,
}

/// How a format renders a report.
#[derive(Debug)]
pub enum Render<R> {
    /// Text for people: in colours on a terminal, and shown while the run goes on.
    Text(fn(&R, &View) -> Styled),
    /// Data for programs: written as it is, once the run is over.
    Data(fn(&R, &View) -> String),
}

/// All formats; the first is the default.
pub const FORMATS: &[Format] = &[TEXT, NAME, JSON, HTML];

const TEXT: Format = Format {
    name: "text",
    help: "For people: the differences and a summary",
    render: Render::Text(text::whole),
    render_all: Render::Text(matrix::whole),
};
const NAME: Format = Format {
    name: "name",
    help: "The names of what differs or was done, as `kubectl get -o name` prints them",
    render: Render::Data(name::render),
    render_all: Render::Data(name::render_all),
};
const JSON: Format = Format {
    name: "json",
    help: "For programs: the complete report",
    render: Render::Data(|report, _| json::render(report)),
    render_all: Render::Data(|reports, _| json::render(reports)),
};
const HTML: Format = Format {
    name: "html",
    help: "For people: one page to open in a browser, with filters, search and both sides of each difference",
    render: Render::Data(html::render),
    render_all: Render::Data(html::render_all),
};

impl Format {
    /// Finds a format by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// Returns true if this is text for people.
    #[must_use]
    pub fn is_text(&self) -> bool {
        matches!(self.render, Render::Text(_))
    }
}
