//! The matrix: which object needs something in which context.

use std::collections::BTreeMap;

use super::markup::{Markup, tone};
use crate::formats::text::matrix::{is_stopped, rows};
use crate::model::{ContextReport, Reports};
use crate::view::View;
use crate::words::value::number::grouped;

/// Largest number of objects that are shown.
const SHOWN: usize = 1_000;

/// A table with a row for each object that needs something anywhere, and a column for each context that was looked at.
pub(super) fn matrix(page: &mut Markup, reports: &Reports, view: &View) {
    let looked_at: Vec<(usize, &ContextReport)> =
        reports.contexts.iter().enumerate().filter(|(_, one)| !is_stopped(&one.report)).collect();
    let contexts: Vec<&ContextReport> = looked_at.iter().map(|(_, one)| *one).collect();
    let rows = rows(&contexts);
    let (alike, different): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.is_quiet(contexts.len()));
    if different.is_empty() {
        return;
    }
    // The numbers that the objects of each section have.
    let places: Vec<BTreeMap<String, usize>> = contexts
        .iter()
        .map(|one| view.sorted(&one.report).iter().enumerate().map(|(at, object)| (id(object), at)).collect())
        .collect();
    page.raw("<section class=\"matrix\" aria-labelledby=\"matrix\"><h2 id=\"matrix\">Contexts</h2>");
    page.raw("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-labelledby=\"matrix\"><table><thead><tr>");
    page.raw("<th scope=\"col\">Object</th>");
    for one in &contexts {
        page.element("<th scope=\"col\"", one.name(), "</th>");
    }
    page.raw("</tr></thead><tbody>\n");
    for row in different.iter().take(SHOWN) {
        page.element("<tr><th scope=\"row\"", &row.name, "</th>");
        for (column, (section, one)) in looked_at.iter().enumerate() {
            let cell = row.cell(column);
            let object = cell.and_then(|cell| one.report.objects.get(cell.object));
            let place = object.and_then(|object| places.get(column)?.get(&id(object)));
            match (cell.map(|cell| cell.label), place) {
                (Some(cell), Some(place)) => {
                    page.raw("<td><a class=\"").raw(tone(cell.role)).raw("\" href=\"#o").number(*section).raw("-");
                    page.number(*place).raw("\">").raw(cell.word).raw("</a></td>");
                }
                _ => {
                    page.raw("<td>-</td>");
                }
            }
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>");
    if let Some(more @ 1..) = different.len().checked_sub(SHOWN) {
        let more = format!("… {} more objects: see the contexts below", grouped(more));
        page.element("<p class=\"gap\"", &more, "</p>");
    }
    if !alike.is_empty() && contexts.len() > 1 {
        let objects = if alike.len() == 1 { "object needs" } else { "objects need" };
        let text = format!("{} more {objects} no change in any of these contexts", grouped(alike.len()));
        page.element("<p class=\"gap\"", &text, "</p>");
    }
    page.raw("</section>\n");
}

fn id(object: &crate::model::ObjectReport) -> String {
    let source = object.source.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("{}\n{}\n{source}", object.key.gvk.api_version(), object.key)
}
