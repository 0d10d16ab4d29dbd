//! `-o html`: one page that loads nothing. It is complete without its script, which only filters, and opens and closes.
//!
//! `markup::Markup` is the only way to write, and escapes everything but the literals of the program. The browser enforces the
//! same: `policy` allows this style sheet and this script, by their hashes, and nothing else.

mod change;
mod facets;
mod group;
mod limits;
mod markup;
mod matrix;
mod object;
mod section;
#[cfg(test)]
mod tests;
mod value;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};

use crate::model::{Command, Reports};
use crate::view::View;
use crate::words::summary::verdict_of_all;
use facets::Facets;
use limits::{Limits, OPEN};
use markup::Markup;
use object::Objects;
use section::{Section, facts};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page of a run: that of the only context, or the matrix and a section for each context.
pub fn render(reports: &Reports, view: &View) -> String {
    render_within(reports, view, Limits::of(view))
}

fn render_within(reports: &Reports, view: &View, limits: Limits) -> String {
    let facets = Facets::of(reports.contexts.iter().flat_map(|one| &one.report.objects));
    let sections: Vec<Section<'_>> =
        reports.contexts.iter().enumerate().map(|(number, one)| Section { one, number }).collect();
    let is_open = sections.iter().map(Section::shown).sum::<usize>() <= OPEN;
    let objects = Objects { numbers: facets.numbers(), limits, view, is_open };
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
        matrix::matrix(&mut body, reports, view);
    }
    for section in &sections {
        section.write(&mut body, &objects);
    }
    page(&titles.join(" · "), reports.command, &header, &facets, &body)
}

fn page(title: &str, command: Command, header: &Markup, facets: &Facets<'_>, body: &Markup) -> String {
    let name = match command {
        Command::Diff => "kubectl reconcile diff",
        Command::Apply => "kubectl reconcile apply",
        Command::Status => "kubectl reconcile status",
        Command::Own => "kubectl reconcile own",
    };
    let mut page = Markup::default();
    page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"");
    // Quotation marks in it are single ones, which an escape would keep as they are, only longer.
    page.text(&policy(STYLE, SCRIPT)).raw("\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
    page.raw("<title>").text(title).raw(" · ").raw(name).raw("</title>\n<link rel=\"icon\" href=\"data:,\">\n");
    page.raw("<style>").raw(STYLE).raw("</style>\n</head>\n<body>\n");
    page.raw("<a class=\"skip\" href=\"#objects\">Skip to the objects</a>\n<header>\n<p class=\"command\">");
    page.raw(name).raw("</p>\n").append(header).raw("\n</header>\n");
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
