//! Several objects with something in common: a line with their number, and below it what they have in common and their names.

use std::collections::BTreeMap;

use structured_merge::ObjectKey;

use super::change::{changes, more};
use super::limits::OPEN;
use super::markup::Markup;
use super::object::{Objects, TOO_BIG};
use super::tone::tone;
use crate::formats::text::places;
use crate::model::equal_changes::name;
use crate::words::label::{sign, summary_label};
use crate::words::shared_diagnostic::SharedDiagnostic;
use crate::{ObjectReport, View};

/// Most objects of a group that are named.
const NAMED: usize = 5;

/// The part that several objects have in common.
pub(super) enum Common<'r> {
    /// Changes and conflicts, as those of an object that has nothing else.
    Changes(&'r ObjectReport),
    /// A diagnostic.
    Diagnostic(&'r SharedDiagnostic),
}

/// The groups of a section, and which objects are in them.
#[derive(Default)]
pub(super) struct Groups<'r> {
    count: usize,
    of_objects: BTreeMap<&'r ObjectKey, Vec<usize>>,
}

impl<'r> Groups<'r> {
    /// The number of a new group of these objects.
    fn add(&mut self, objects: &[&'r ObjectReport]) -> usize {
        let number = self.count;
        self.count = number.saturating_add(1);
        for object in objects {
            self.of_objects.entry(&object.key).or_default().push(number);
        }
        number
    }

    /// The numbers of the groups that an object is in.
    pub fn of(&self, object: &ObjectReport) -> &[usize] {
        self.of_objects.get(&object.key).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The position of each object in its section, by which links find it.
pub(super) type Positions<'r> = BTreeMap<&'r ObjectKey, usize>;

impl Objects<'_> {
    /// Writes what objects of a section have in common, opened if all objects are, or if there are few groups.
    pub fn group<'r>(
        &self,
        page: &mut Markup,
        (common, objects): (&Common<'_>, &[&'r ObjectReport]),
        (section, positions, groups): (usize, &Positions<'_>, &mut Groups<'r>),
        is_open: bool,
    ) {
        let Some(first) = objects.first() else { return };
        let first = match common {
            Common::Changes(common) => *common,
            Common::Diagnostic(_) => *first,
        };
        let number = groups.add(objects);
        page.raw("<li class=\"o group\" id=\"g").number(section).raw("-").number(number);
        page.raw(if is_open || number < OPEN { "\"><details open>" } else { "\"><details>" });
        let state = summary_label(first);
        page.raw("<summary class=\"line\"><span class=\"sign ").raw(tone(state.role)).raw("\" aria-hidden=\"true\">");
        page.raw(sign(first).0).raw("</span>").element(
            "<span class=\"id\"><span class=\"name\"",
            &name(objects),
            "</span>",
        );
        page.raw("</span> <span class=\"is ").raw(tone(state.role)).raw("\">").raw(state.word).raw("</span>");
        page.element(" <span class=\"src\"", &places(objects, self.view), "</span>");
        page.raw("</summary><div class=\"body\">");
        if page.len() > self.limits.page_bytes {
            page.raw(TOO_BIG);
        } else {
            page.raw("<div class=\"common\">");
            match common {
                Common::Changes(common) => {
                    changes(page, &common.diff.changes, &self.limits);
                    self.conflicts(page, common);
                }
                Common::Diagnostic(diagnostic) => self.diagnostic(page, diagnostic, objects),
            }
            page.raw("</div>");
            names(page, objects, (section, positions), self.view);
        }
        page.raw("</div></details></li>\n");
    }

    fn diagnostic(&self, page: &mut Markup, diagnostic: &SharedDiagnostic, objects: &[&ObjectReport]) {
        let (sentences, hint) = diagnostic.sentences(objects, self.limits.is_full);
        for sentence in sentences {
            page.element("<p class=\"problem\"", &sentence, "</p>");
        }
        if let Some(hint) = hint {
            page.element("<p class=\"hint\">hint: <span", &hint, "</span></p>");
        }
    }
}

/// The names of the first objects, which lead to their lines, or of all of them.
fn names(page: &mut Markup, objects: &[&ObjectReport], (section, positions): (usize, &Positions<'_>), view: &View) {
    let most = if view.full { usize::MAX } else { NAMED };
    page.raw("<ul class=\"names\">");
    for object in objects.iter().take(most) {
        page.raw("<li><a href=\"#o").number(section).raw("-");
        page.number(positions.get(&object.key).copied().unwrap_or_default());
        page.element("\"", &object.key.to_string(), "</a></li>");
    }
    page.raw("</ul>");
    more(page, objects.len().saturating_sub(most), "object");
}
