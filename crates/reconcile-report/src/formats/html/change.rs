//! The changes of an object: path, values and managers.

use structured_merge::{FieldPath, PathElement};

use super::limits::Limits;
use super::markup::Markup;
use super::value::values;
use crate::formats::text::{foremost, is_shown};
use crate::view::View;
use crate::words::value::number;
use crate::words::why::why_in_full;
use reconcile_core::compare::FieldChange;

/// All changes of an object that are shown. The common start of their paths is written once.
pub(super) fn changes(page: &mut Markup, all: &[FieldChange], limits: &Limits) {
    let shown: Vec<&FieldChange> = all.iter().filter(|change| is_shown(change)).collect();
    if shown.is_empty() {
        return;
    }
    page.raw(
        "<div class=\"heads\" aria-hidden=\"true\"><span>Field</span><span>Live</span><span>Desired</span>\
         <span>Why</span></div><ul class=\"changes\">",
    );
    let until = page.len().saturating_add(limits.object_bytes);
    let mut item: Option<FieldPath> = None;
    let mut omitted = shown.len();
    for change in foremost(&shown, limits.items) {
        if page.len() > until {
            break;
        }
        let (around, rest) = split_at_item(&change.path);
        if around.is_some() && around != item {
            let path = around.clone().unwrap_or_default().to_string();
            page.element("<li class=\"item\"><code", &path, "</code></li>");
        }
        field(page, change, &rest, around.is_some(), limits);
        item = around;
        omitted = omitted.saturating_sub(1);
    }
    page.raw("</ul>");
    more(page, omitted, "change");
}

/// The line that counts the entries that are not shown.
pub(super) fn more(page: &mut Markup, count: usize, noun: &'static str) {
    if let Some(more) = number::more(count, noun) {
        page.element("<p class=\"gap\"", &more, "</p>");
    }
}

fn field(page: &mut Markup, change: &FieldChange, path: &FieldPath, is_inside: bool, limits: &Limits) {
    page.raw(if is_inside { "<li class=\"f in\">" } else { "<li class=\"f\">" });
    let (parents, name) = split_at_name(path);
    page.raw("<code class=\"p\">");
    if !parents.is_empty() {
        page.element("<span", &parents, "</span>");
    }
    page.text(&name).raw("</code>");
    values(page, change, limits);
    reason(page, change);
    page.raw("</li>");
}

/// The reason for the difference; a time at the end is not broken across lines.
fn reason(page: &mut Markup, change: &FieldChange) {
    let why = why_in_full(change, &View::default());
    if why.is_empty() {
        return;
    }
    let time = change.managers.last().and_then(|owner| owner.time.as_deref()).unwrap_or_default();
    page.raw("<span class=\"n\">");
    match why.strip_suffix(time).filter(|_| !time.is_empty()) {
        Some(rest) => page.text(rest).element("<time", time, "</time>"),
        None => page.text(&why),
    };
    page.raw("</span>");
}

/// The last part of a path, and the parts before it.
fn split_at_name(path: &FieldPath) -> (String, String) {
    let full = path.to_string();
    let parents = path.elements().split_last().map_or(&[][..], |(_, parents)| parents);
    let parents = FieldPath::from(parents.to_vec()).to_string();
    match full.strip_prefix(parents.as_str()) {
        Some(name) => (parents, name.to_owned()),
        None => (String::new(), full),
    }
}

/// The outermost list item around a path (a container, a port), and the path inside it.
fn split_at_item(path: &FieldPath) -> (Option<FieldPath>, FieldPath) {
    let elements = path.elements();
    let parents = elements.split_last().map_or(elements, |(_, parents)| parents);
    let Some(at) = parents.iter().position(|element| matches!(element, PathElement::Key(_))) else {
        return (None, path.clone());
    };
    let (item, rest) = elements.split_at(at + 1);
    (Some(FieldPath::from(item.to_vec())), FieldPath::from(rest.to_vec()))
}
