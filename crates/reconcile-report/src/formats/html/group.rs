//! Several objects with something in common: a line with their number, and below it what they have in common and their names.

use reconcile_core::text::width;

use super::change::{changes, more};
use super::limits::OPEN;
use super::markup::{Markup, tone};
use super::object::{Objects, PageSection, TOO_BIG};
use crate::groups::{ChangeGroup, Messages};
use crate::model::ObjectReport;
use crate::words::label::{sign, summary_label};
use crate::words::sentence::location::places;
use crate::words::value::number::{counted, counted_objects};

/// Most objects of a group that are named.
const NAMED: usize = 5;
/// Most locations of a group that are named, if they fit into the column of locations; otherwise the first one is.
const PLACES: usize = 3;
const COLUMN: usize = 40;
/// Most objects of a group that can be unfolded.
const UNFOLDED: usize = 1_000;

impl Objects<'_> {
    /// Writes changes and conflicts that objects of a section have in common.
    pub fn change_group<'r>(&self, page: &mut Markup, group: &ChangeGroup<'r>, section: &mut PageSection<'r>) {
        let ChangeGroup { common, objects } = group;
        self.group(page, common, objects, section, |page| {
            changes(page, &common.diff.changes, &self.limits);
            self.conflicts(page, common, objects.len());
        });
    }

    /// Writes messages that objects of a section have in common.
    pub fn message_group<'r>(
        &self,
        page: &mut Markup,
        messages: &Messages,
        objects: &[&'r ObjectReport],
        section: &mut PageSection<'r>,
    ) {
        let Some(first) = objects.first() else { return };
        self.group(page, first, objects, section, |page| {
            let (sentences, hint) = messages.sentences(objects, self.limits.is_full);
            for sentence in sentences {
                page.element("<p class=\"diagnostic\"", &sentence, "</p>");
            }
            if let Some(hint) = hint {
                page.element("<p class=\"hint\">hint: <span", &hint, "</span></p>");
            }
        });
    }

    /// Writes a group, whose sign and state are those of `first`; opened if all objects are, or if there are few groups.
    fn group<'r>(
        &self,
        page: &mut Markup,
        first: &ObjectReport,
        objects: &[&'r ObjectReport],
        section: &mut PageSection<'r>,
        common: impl FnOnce(&mut Markup),
    ) {
        let number = section.add_group(objects);
        page.raw("<li class=\"o group\" id=\"g").number(section.number).raw("-").number(number);
        page.raw(if self.is_open || number < OPEN { "\"><details open>" } else { "\"><details>" });
        let state = summary_label(first);
        page.raw("<summary class=\"line\"><span class=\"sign ").raw(tone(state.role)).raw("\" aria-hidden=\"true\">");
        page.raw(sign(first).0).raw("</span>");
        let count = counted_objects(objects.iter().map(|object| &object.key));
        page.element("<span class=\"id\"><span class=\"name\"", &count, "</span>");
        page.raw("</span> <span class=\"is ").raw(tone(state.role)).raw("\">").raw(state.word).raw("</span>");
        let named = |most| places(objects, most, |source| Some(self.view.file_and_line(source)));
        let places = Some(named(PLACES)).filter(|places| width(places) <= COLUMN).unwrap_or_else(|| named(1));
        page.element(" <span class=\"src\"", &places, "</span>");
        page.raw("</summary><div class=\"body\">");
        if page.len() > self.limits.page_bytes {
            page.raw(TOO_BIG);
        } else {
            page.raw("<div class=\"common\">");
            common(page);
            page.raw("</div>");
            self.names(page, objects, section);
        }
        page.raw("</div></details></li>\n");
    }

    /// Writes the names of the first objects, which lead to their lines, or of all of them.
    fn names(&self, page: &mut Markup, objects: &[&ObjectReport], section: &PageSection<'_>) {
        let (named, others) = objects.split_at_checked(self.view.most(NAMED)).unwrap_or((objects, &[]));
        list(page, named, section);
        if others.is_empty() {
            return;
        }
        let count = counted(others.len(), "more object", "more objects");
        page.element("<details class=\"others\"><summary", &count, "</summary>");
        list(page, others.get(..UNFOLDED).unwrap_or(others), section);
        more(page, others.len().saturating_sub(UNFOLDED), "object");
        page.raw("</details>");
    }
}

/// The names of objects, which lead to their lines.
fn list(page: &mut Markup, objects: &[&ObjectReport], section: &PageSection<'_>) {
    page.raw("<ul class=\"names\">");
    for object in objects {
        page.raw("<li><a href=\"#o").number(section.number).raw("-").number(section.position_of(object));
        page.element("\"", &object.key.to_string(), "</a></li>");
    }
    page.raw("</ul>");
}
