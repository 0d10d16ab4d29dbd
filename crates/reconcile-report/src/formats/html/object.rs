//! One object: a line with its name and state, and its details below.

use std::collections::BTreeMap;

use reconcile_core::compare::{Action, Evidence};
use structured_merge::ObjectKey;

use super::change::{changes, more};
use super::facets::Facets;
use super::limits::Limits;
use super::markup::{Markup, styled, tone};
use super::value::{whole, yaml};
use crate::formats::text::{is_shown, object_error};
use crate::model::ObjectReport;
use crate::view::View;
use crate::words::conflict::conflict_hint;
use crate::words::deletions;
use crate::words::effects::effect;
use crate::words::label::{LEFT, sign, summary_label};
use crate::words::users;
use crate::words::why::owner_text;

/// The line in the place of details that are left out.
pub(super) const TOO_BIG: &str =
    "<p class=\"gap\">its details are left out, as the page would be too big: <code>-o json</code> has them</p>";

/// Writes objects, with the numbers by which the filters find them.
pub(super) struct Objects<'f> {
    pub facets: &'f Facets<'f>,
    pub limits: Limits,
    pub view: &'f View,
    /// True if all objects are open from the start.
    pub is_open: bool,
}

/// Returns true if an object is in sync without remarks.
pub(super) fn is_quiet(object: &ObjectReport) -> bool {
    object.diff.action == Action::None
        && object.run.outcome.is_none_or(|_| object.is_done())
        && summary_label(object).word == "in sync"
        && !object.is_kept()
        && object.messages.error.is_none()
        && object.messages.warnings.is_empty()
        && object.diff.conflicts.is_empty()
        && !object.diff.changes.iter().any(is_shown)
}

impl Objects<'_> {
    /// Writes an object that needs nothing, or that is shown in groups as a whole, as a line.
    pub fn quiet(&self, page: &mut Markup, object: &ObjectReport, section: &PageSection<'_>) {
        page.raw("<li class=\"o quiet\"");
        self.identity(page, object, section);
        page.raw("><div class=\"line\">");
        self.line(page, object);
        page.raw("</div></li>\n");
    }

    /// Writes an object with the details that no group has.
    pub fn object(&self, page: &mut Markup, object: &ObjectReport, rest: &ObjectReport, section: &PageSection<'_>) {
        page.raw("<li class=\"o\"");
        self.identity(page, object, section);
        page.raw(if self.is_open { "><details open>" } else { "><details>" });
        page.raw("<summary class=\"line\">");
        self.line(page, object);
        page.raw("</summary><div class=\"body\">");
        if page.len() > self.limits.page_bytes {
            page.raw(TOO_BIG);
        } else {
            self.details(page, rest);
        }
        page.raw("</div></details></li>\n");
    }

    fn identity(&self, page: &mut Markup, object: &ObjectReport, section: &PageSection<'_>) {
        page.raw(" id=\"o").number(section.number).raw("-").number(section.position_of(object)).raw("\"");
        self.facets.attributes(page, object);
        let groups = section.groups_of(object);
        if !groups.is_empty() {
            page.raw(" data-groups=\"").numbers(groups).raw("\"");
        }
    }

    fn line(&self, page: &mut Markup, object: &ObjectReport) {
        let state = summary_label(object);
        page.raw("<span class=\"sign ").raw(tone(state.role)).raw("\" aria-hidden=\"true\">").raw(sign(object).0);
        page.raw("</span><span class=\"id\"><span class=\"kind\">")
            .text(&object.key.gvk.kind)
            .raw("</span> <span class=\"name\">");
        if let Some(namespace) = &object.key.namespace {
            page.raw("<span class=\"ns\">").text(namespace).raw("/</span>");
        }
        page.text(&object.key.name).raw("</span></span> <span class=\"is ").raw(tone(state.role)).raw("\">");
        page.raw(state.word).raw("</span>");
        if let Some(source) = &object.source {
            page.element(" <span class=\"src\"", &self.view.place(source), "</span>");
        }
    }

    fn details(&self, page: &mut Markup, object: &ObjectReport) {
        if let Some(readiness) = &object.run.readiness {
            page.element("<p", &readiness.message, "</p>");
        }
        if let Some(reason) = &object.messages.reason {
            page.element("<p class=\"diagnostic\"", reason, "</p>");
        }
        if let Some(hint) =
            object.messages.hint.as_ref().filter(|hint| conflict_hint(object, 1).as_ref() != Some(*hint))
        {
            page.element("<p class=\"hint\">hint: <span", hint, "</span></p>");
        }
        if let Some(former) = &object.renamed_from {
            page.element("<p", &format!("under a new name, was {former}"), "</p>");
        }
        if let Some(release) = &object.release {
            page.element("<p", &format!("release {release}"), "</p>");
        }
        if let Some((mark, _)) = deletions::mark(object).filter(|_| object.run.outcome.is_none()) {
            page.element("<p class=\"diagnostic\"", &mark, "</p>");
        }
        // The page breaks lines itself.
        styled(page, &object_error(object, &View { width: usize::MAX, ..self.view.clone() }));
        changes(page, &object.diff.changes, &self.limits);
        for one in &object.diff.effects {
            page.element("<p class=\"effect\"", &format!("↳ {}", effect(one)), "</p>");
        }
        self.conflicts(page, object, 1);
        self.notes(page, object);
        for change in object.diff.changes.iter().filter(|change| change.path.elements().is_empty()) {
            if let Some(removed) = users::removed(change, |time| self.view.time(time)) {
                page.element("<p", &removed, "</p>");
            }
            if let Some(value) = change.desired.as_deref().or(change.live.as_deref()) {
                whole(page, &yaml(value), &self.limits);
            }
        }
        Self::footing(page, object);
    }

    /// Writes the conflicts that no change of an object names, and the hint on all of them. `count` objects have them.
    pub fn conflicts(&self, page: &mut Markup, object: &ObjectReport, count: usize) {
        let others = object.other_conflicts();
        if !others.is_empty() {
            page.raw("<ul class=\"notes diagnostic\">");
            for conflict in others.iter().take(self.limits.items) {
                page.raw("<li>conflict: <code>").text(&conflict.path.to_string()).raw("</code> is owned by ");
                page.text(&owner_text(&conflict.owner, self.view)).raw("</li>");
            }
            page.raw("</ul>");
            more(page, others.len().saturating_sub(self.limits.items), "conflict");
        }
        if let Some(hint) = conflict_hint(object, count) {
            page.element("<p class=\"hint\">hint: <span", &hint, "</span></p>");
        }
    }

    fn notes(&self, page: &mut Markup, object: &ObjectReport) {
        let warnings = object.messages.warnings.iter().map(|warning| format!("warning: {warning}"));
        let ignored = object.diff.ignored.iter().flat_map(|ignored| {
            let reason = ignored.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            ignored.paths.iter().map(move |path| format!("ignored by {}: {path}{reason}", ignored.rule))
        });
        let beside = object.diff.added_items.iter().map(|path| format!("added by hand: {path}"));
        let left = object.diff.left.iter().map(|left| match left.path.elements() {
            [] => LEFT.to_owned(),
            _ => format!("left by --only: {}", left.path),
        });
        let mut notes = warnings.chain(ignored).chain(left).chain(beside).peekable();
        if notes.peek().is_none() {
            return;
        }
        page.raw("<ul class=\"notes\">");
        for note in notes.by_ref().take(self.limits.items) {
            page.element("<li", &note, "</li>");
        }
        page.raw("</ul>");
        more(page, notes.count(), "note");
    }

    /// Writes details that few people need: the version of the API, and the evidence for the result.
    fn footing(page: &mut Markup, object: &ObjectReport) {
        page.raw("<p class=\"foot\">").text(&object.key.gvk.api_version());
        page.raw(match object.diff.evidence {
            Some(Evidence::Proven) => " · proven without asking the server",
            Some(Evidence::Server) => " · the server was asked",
            Some(Evidence::Local) => " · compared without the server",
            None => "",
        });
        page.raw("</p>");
    }
}

/// The objects of a section of the page, by which links and filters find them.
pub(super) struct PageSection<'r> {
    /// The number of the section.
    pub number: usize,
    positions: BTreeMap<&'r ObjectKey, usize>,
    groups: BTreeMap<&'r ObjectKey, Vec<usize>>,
    count: usize,
}

impl<'r> PageSection<'r> {
    /// The section with these objects, in their order.
    pub fn new(number: usize, objects: &[&'r ObjectReport]) -> Self {
        let positions = objects.iter().enumerate().map(|(at, object)| (&object.key, at)).collect();
        Self { number, positions, groups: BTreeMap::new(), count: 0 }
    }

    /// Adds a group of objects, and returns its number.
    pub fn add_group(&mut self, objects: &[&'r ObjectReport]) -> usize {
        let number = self.count;
        self.count = number.saturating_add(1);
        for object in objects {
            self.groups.entry(&object.key).or_default().push(number);
        }
        number
    }

    /// The position of an object.
    pub fn position_of(&self, object: &ObjectReport) -> usize {
        self.positions.get(&object.key).copied().unwrap_or_default()
    }

    /// The numbers of the groups that an object is in.
    pub fn groups_of(&self, object: &ObjectReport) -> &[usize] {
        self.groups.get(&object.key).map(Vec::as_slice).unwrap_or_default()
    }
}
