//! `-o html`: one page that loads nothing. It is complete without its script, which only filters, and opens and closes.
//!
//! `markup::Markup` is the only way to write, and escapes everything but the literals of the program. The browser enforces the
//! same: `policy` allows this style sheet and this script, by their hashes, and nothing else.

mod change;
mod facets;
mod group;
mod limits;
mod markup;
mod object;
mod section;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};

use super::text::matrix::{is_stopped, quiet_rows, rows};
use crate::model::{Command, ContextReport, Reports};
use crate::view::View;
use crate::words::describe;
use crate::words::summary::verdict_of_all;
use crate::words::value::number::some;
use facets::Facets;
use limits::{Limits, OPEN};
use markup::{Markup, tone};
use object::Objects;
use section::facts;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Largest number of objects that are shown.
const SHOWN: usize = 1_000;

/// The page of a run: that of the only context, or the matrix and a section for each context.
pub fn render(reports: &Reports, view: &View) -> String {
    render_within(reports, view, Limits::of(view))
}

fn render_within(reports: &Reports, view: &View, limits: Limits) -> String {
    let facets = Facets::of(reports.contexts.iter().flat_map(|one| &one.report.objects));
    let is_open = reports.contexts.iter().map(|one| section::shown(&one.report)).sum::<usize>() <= OPEN;
    let objects = Objects { facets: &facets, limits, view, is_open };
    let heading = verdict_of_all(reports).heading;
    let mut titles = vec![heading];
    let mut header = Markup::default();
    let mut body = Markup::default();
    header.element("<h1", heading, "</h1>");
    if let Some(report) = reports.only() {
        header.element("<p", &section::result(report), "</p>");
        facts(&mut header, report);
        titles.extend(report.cluster.as_ref().and_then(|cluster| cluster.context.as_deref()));
    } else {
        header.element("<p", &crate::formats::text::matrix::totals(reports), "</p>");
        if let Some(time) = reports.time {
            header.element("<p><time", &time.to_string(), "</time></p>");
        }
        section::warnings(&mut body, &reports.warnings);
        matrix(&mut body, reports, view);
    }
    for (number, one) in reports.contexts.iter().enumerate() {
        section::write(&mut body, one, number, &objects);
    }
    page(&titles.join(" · "), reports.command, &header, &facets, &body)
}

fn page(title: &str, command: Command, header: &Markup, facets: &Facets<'_>, body: &Markup) -> String {
    let command = describe::command(command);
    let mut page = Markup::default();
    page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"");
    // Quotation marks in it are single ones, which an escape would keep as they are, only longer.
    page.text(&policy(STYLE, SCRIPT)).raw("\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
    page.raw("<title>").text(title).raw(" · kubectl reconcile ").raw(command).raw("</title>\n");
    page.raw("<link rel=\"icon\" href=\"data:,\">\n<style>").raw(STYLE).raw("</style>\n</head>\n<body>\n");
    page.raw("<a class=\"skip\" href=\"#objects\">Skip to the objects</a>\n<header>\n<p class=\"command\">");
    page.raw("kubectl reconcile ").raw(command).raw("</p>\n").append(header).raw("\n</header>\n");
    controls(&mut page, facets);
    page.raw("<main id=\"objects\" tabindex=\"-1\">\n").append(body);
    page.raw(
        "<p id=\"none\" hidden>No object matches. <button type=\"button\" data-do=\"reset\">Show all</button></p>\n",
    );
    page.raw("</main>\n<footer><p>kubectl-reconcile ").raw(env!("CARGO_PKG_VERSION")).raw("</p></footer>\n");
    page.raw(HELP).raw("\n<script>").raw(SCRIPT).raw("</script>\n</body>\n</html>\n");
    page.finish()
}

/// The controls that work only with the script: hidden until it runs.
fn controls(page: &mut Markup, facets: &Facets<'_>) {
    page.raw("<div id=\"controls\" role=\"search\" aria-label=\"Filter\" hidden>\n<div class=\"row\">");
    page.raw("<div class=\"states\" role=\"group\" aria-label=\"State\">");
    facets.buttons(page);
    page.raw("</div><button type=\"button\" data-do=\"more\" aria-pressed=\"false\">Filters and tools</button>");
    page.raw("<div class=\"tools\">");
    page.raw("<button type=\"button\" data-do=\"expand\">Expand all</button>");
    page.raw("<button type=\"button\" data-do=\"collapse\">Collapse all</button>");
    page.raw("<button type=\"button\" data-do=\"side\" aria-pressed=\"false\">Side by side</button>");
    page.raw("<button type=\"button\" data-do=\"dark\" aria-pressed=\"false\">Dark</button>");
    page.raw("<button type=\"button\" data-do=\"help\" aria-label=\"Keyboard shortcuts\">?</button></div></div>\n");
    page.raw("<div class=\"row\"><input type=\"search\" id=\"search\" aria-label=\"Search\" ");
    page.raw("placeholder=\"Search names, fields and values\" autocomplete=\"off\" spellcheck=\"false\">");
    facets.lists(page);
    page.raw("<button type=\"button\" data-do=\"reset\" id=\"reset\" hidden>Reset</button>");
    page.raw("<p id=\"count\" role=\"status\"></p></div>\n</div>\n");
}

const HELP: &str = "<dialog id=\"help\" aria-labelledby=\"help-title\"><h2 id=\"help-title\">Keyboard shortcuts</h2><dl>\
<dt><kbd>/</kbd></dt><dd>Search</dd>\
<dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>Next and previous object</dd>\
<dt><kbd>Enter</kbd></dt><dd>Open or close the object</dd>\
<dt><kbd>e</kbd> <kbd>c</kbd></dt><dd>Expand all, collapse all</dd>\
<dt><kbd>s</kbd></dt><dd>Side by side, or one above the other</dd>\
<dt><kbd>d</kbd></dt><dd>Dark or light</dd>\
<dt><kbd>r</kbd></dt><dd>Reset all filters</dd>\
<dt><kbd>?</kbd></dt><dd>This list</dd>\
<dt><kbd>Esc</kbd></dt><dd>Close this list, clear the search</dd></dl>\
<p><label><input type=\"checkbox\" id=\"keys\" checked> Use single-key shortcuts</label></p>\
<p><button type=\"button\" data-do=\"close\">Close</button></p></dialog>";

/// The content security policy of a page with this style sheet and this script: the browser may use them, as their hashes say, and
/// load nothing.
fn policy(style: &str, script: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(digest(&SHA256, text.as_bytes())));
    format!(
        "default-src 'none'; style-src {}; script-src {}; img-src data:; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'",
        hash(style),
        hash(script)
    )
}

/// A table with a row for each object that needs something anywhere, and a column for each context that was looked at.
fn matrix(page: &mut Markup, reports: &Reports, view: &View) {
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
    if let Some(more) = some(different.len().saturating_sub(SHOWN), "more object", "more objects") {
        page.element("<p class=\"gap\"", &format!("… {more}: see the contexts below"), "</p>");
    }
    if !alike.is_empty() && contexts.len() > 1 {
        page.element("<p class=\"gap\"", &quiet_rows(reports, alike.len(), "more "), "</p>");
    }
    page.raw("</section>\n");
}

fn id(object: &crate::model::ObjectReport) -> String {
    let source = object.source.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("{}\n{}\n{source}", object.key.gvk.api_version(), object.key)
}
