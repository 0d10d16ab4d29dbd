use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use reconcile_core::manifest::Source;

use crate::model::{ObjectReport, Report, Reports};

/// The options for showing a report, from the command line and from the terminal. Every format gets them.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct View {
    /// The width of a line, in columns.
    pub width: usize,
    /// True if hints are broken into lines of this width. In a log, each is one line, which somebody may search or copy.
    pub wraps_hints: bool,
    /// True if everything is shown, however long it is.
    pub full: bool,
    /// True if only the summary is shown.
    pub summary: bool,
    /// True if something above the report names its cluster already, such as the heading of one of several contexts.
    pub is_headed: bool,
    /// True if differences that the baseline has are shown, too.
    pub show_known: bool,
    /// True if objects of which only the ownership of fields would change are shown, because they fail the run.
    pub shows_ownership: bool,
    /// The order of the objects.
    pub sort: Sort,
    /// The level of detail (`-v`).
    pub verbosity: u8,
    /// The reference for relative times; `None` prints absolute ones.
    pub now: Option<Timestamp>,
    /// The absolute path of the folder to which paths of files are printed relative, if it is known.
    pub folder: Option<Arc<Path>>,
    /// The absolute path of the root of the folder's repository, if it is in one.
    pub repository: Option<Arc<Path>>,
}

/// The order in which objects are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// As they are applied.
    #[default]
    Plan,
    /// By kind, namespace and name.
    Kind,
    /// By namespace, kind and name.
    Namespace,
    /// By file and line.
    Source,
    /// As they are applied, each by itself: equal changes and diagnostics of several objects are not grouped.
    Object,
}

impl Default for View {
    fn default() -> Self {
        Self {
            width: Self::WIDTH,
            wraps_hints: true,
            full: false,
            summary: false,
            is_headed: false,
            show_known: false,
            shows_ownership: false,
            sort: Sort::Plan,
            verbosity: 0,
            now: None,
            folder: None,
            repository: None,
        }
    }
}

impl View {
    /// The default width of a line, in columns.
    pub const WIDTH: usize = 100;

    /// Returns true for an object of which only the ownership of fields would change, where that fails the run.
    pub(crate) fn is_unowned(&self, object: &ObjectReport) -> bool {
        self.shows_ownership && object.is_ownership_only() && !object.is_known_ownership()
    }

    /// A report as it is shown: without known differences, unless they were asked for.
    pub fn shown<'r>(&self, report: &'r Report) -> Cow<'r, Report> {
        let leaves_out = !self.show_known && report.has_known();
        if leaves_out { Cow::Owned(report.clone().without_known()) } else { Cow::Borrowed(report) }
    }

    /// The reports of all contexts as they are shown: without known differences, unless they were asked for.
    pub fn all_shown<'r>(&self, reports: &'r Reports) -> Cow<'r, Reports> {
        let leaves_out = !self.show_known && reports.contexts.iter().any(|one| one.report.has_known());
        if leaves_out { Cow::Owned(reports.clone().without_known()) } else { Cow::Borrowed(reports) }
    }

    /// The objects of a report in the order in which they are shown.
    pub fn sorted<'r>(&self, report: &'r Report) -> Vec<&'r ObjectReport> {
        let mut objects: Vec<&ObjectReport> = report.objects.iter().collect();
        match self.sort {
            Sort::Plan | Sort::Object => {}
            Sort::Kind => objects.sort_by_key(|object| (&object.key.gvk.kind, &object.key.namespace, &object.key.name)),
            Sort::Namespace => {
                objects.sort_by_key(|object| (&object.key.namespace, &object.key.gvk.kind, &object.key.name));
            }
            Sort::Source => objects.sort_by_key(|object| {
                let place = object.source.as_ref().map(|source| (&source.file, source.line, source.document));
                (place.is_none(), place)
            }),
        }
        objects
    }

    /// The number of things of a kind that are shown: at most `bound`, or all of them with `--full`.
    pub(crate) fn most(&self, bound: usize) -> usize {
        if self.full { usize::MAX } else { bound }
    }

    /// The width into which hints are broken, if they are.
    pub(crate) fn hint_columns(&self) -> Option<usize> {
        self.wraps_hints.then_some(self.width)
    }

    /// A time as it is printed: absolute, or relative as in `5m ago`.
    pub fn time(&self, time: &str) -> String {
        let ago = self.now.and_then(|now| {
            let time: Timestamp = time.parse().ok()?;
            now.as_second().checked_sub(time.as_second())
        });
        match ago {
            None | Some(..0) => time.to_owned(),
            Some(seconds @ 0..60) => format!("{seconds}s ago"),
            Some(seconds @ 60..3_600) => format!("{}m ago", seconds / 60),
            Some(seconds @ 3_600..172_800) => format!("{}h ago", seconds / 3_600),
            Some(seconds) => format!("{}d ago", seconds / 86_400),
        }
    }

    /// The name of a file relative to the folder: `deploy/web.yaml`.
    pub fn file<'n>(&self, name: &'n str) -> &'n str {
        let below = self.folder.as_ref().and_then(|folder| {
            let rest = name.strip_prefix(folder.to_str()?)?;
            rest.strip_prefix('/').or_else(|| rest.strip_prefix(std::path::MAIN_SEPARATOR))
        });
        let name = below.unwrap_or(name);
        let shorter = name.trim_start_matches("./");
        if shorter.is_empty() { name } else { shorter }
    }

    /// The location of an object, relative to the folder: `deploy/web.yaml:12`, or the kustomization from which it was built. For a
    /// text that came from a stream, its template if it has one.
    pub fn place(&self, source: &Source) -> String {
        match self.file_and_line(source) {
            (file, Some(line)) => format!("{file}:{line}"),
            (file, None) => file,
        }
    }

    /// The location of an object as file and line. The line in a template is not known.
    pub(crate) fn file_and_line(&self, source: &Source) -> (String, Option<u32>) {
        match source.template_of_stream() {
            Some(template) => (template.to_owned(), None),
            None => (self.file(&source.file).to_owned(), source.line_in_file()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_relative_on_request() {
        let time = "2026-11-20T10:00:00Z";
        assert_eq!(View::default().time(time), time);
        for (now, reported) in [
            ("2026-11-20T10:00:07Z", "7s ago"),
            ("2026-11-20T10:59:59Z", "59m ago"),
            ("2026-11-21T10:00:00Z", "24h ago"),
            ("2026-11-30T10:00:00Z", "10d ago"),
            ("2026-11-20T09:00:00Z", time),
        ] {
            let view = View { now: now.parse().ok(), ..View::default() };
            assert_eq!(view.time(time), reported);
            assert_eq!(view.time("yesterday"), "yesterday");
        }
    }

    #[test]
    fn files_are_reported_from_the_folder() {
        let view = View { folder: Some(Arc::from(Path::new("/home/me/shop"))), ..View::default() };
        for (name, shown) in [
            ("/home/me/shop/deploy/web.yaml", "deploy/web.yaml"),
            ("./web.yaml", "web.yaml"),
            ("././web.yaml", "web.yaml"),
            ("../web.yaml", "../web.yaml"),
            ("/home/me/shopping/web.yaml", "/home/me/shopping/web.yaml"),
            ("/home/me/shop", "/home/me/shop"),
            ("./", "./"),
            ("stdin", "stdin"),
        ] {
            assert_eq!(view.file(name), shown);
        }
        assert_eq!(View::default().file("/home/me/shop/web.yaml"), "/home/me/shop/web.yaml");
    }
}
