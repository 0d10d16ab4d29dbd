//! Values, side by side or one above the other: the style sheet decides which, from the same markup.

use reconcile_core::compare::FieldChange;
use reconcile_core::manifest::Packed;
use serde_json::Value;
use similar::ChangeTag;
use structured_merge::Op;

use super::limits::Limits;
use super::markup::Markup;
use crate::words::value::certificate::{self, summarised};
use crate::words::value::line_diff::{Line, groups};
use crate::words::value::word_diff::{Contrast, DiffedText};
use crate::words::value::{block, inline, is_long, stays};
use crate::words::value::{line_pairs, meaning, number};

/// Both values of a change: on one line, or as a comparison of their lines.
pub(super) fn values(page: &mut Markup, change: &FieldChange, limits: &Limits) {
    // The note names the object that has the difference.
    if change.is_following() {
        return;
    }
    if let Some((what, lines)) = meaning::lines(change, limits.is_full) {
        return inner(page, &what, &[lines], limits);
    }
    let values = [&change.live, &change.desired];
    let is_block = |value: &Value| is_long(value) || certificate::sentences(value).is_some();
    if values.into_iter().flatten().any(|value| is_block(value)) {
        long(page, change, limits);
    } else {
        short(page, change);
    }
}

fn short(page: &mut Markup, change: &FieldChange) {
    let text = |value: &Value| if is_alone(change) { inline(&summarised(value)) } else { inline(value) };
    let live = change.live.as_deref().map(text);
    let desired = change.desired.as_deref().map(text);
    page.raw("<span class=\"v\">");
    match (change.op, live, desired) {
        (_, Some(live), _) if stays(change) => {
            page.element("<span class=\"is\"", &live, "</span>");
        }
        (Op::Remove, Some(live), _) => {
            page.element("<del class=\"only\"", &live, "</del>");
        }
        (Op::Add, _, Some(desired)) => {
            page.element("<ins class=\"only\"", &desired, "</ins>");
        }
        (_, live, desired) => {
            let live = live.unwrap_or_default();
            let desired = desired.unwrap_or_default();
            let (old, new) = emphasised(&live, &desired);
            page.raw("<del>").append(&old).raw("</del><i>→</i><ins>").append(&new).raw("</ins>");
        }
    }
    page.raw("</span>");
}

/// Returns true if no value stands next to the one of the change.
fn is_alone(change: &FieldChange) -> bool {
    stays(change) || change.live.is_none() || change.desired.is_none()
}

fn long(page: &mut Markup, change: &FieldChange, limits: &Limits) {
    let text = |value: &Option<Packed>| {
        let text = |value: &Value| match certificate::sentences(value) {
            Some(sentences) => sentences.join("\n"),
            None if is_alone(change) => yaml(value),
            None => block(value),
        };
        value.as_deref().map(text).unwrap_or_default()
    };
    let live = text(&change.live);
    let desired = text(&change.desired);
    if stays(change) {
        whole(page, &live, limits);
        return;
    }
    inner(page, "", &groups(&live, &desired), limits);
}

/// The lines that differ, below the name of their structure.
fn inner(page: &mut Markup, what: &str, groups: &[Vec<Line<'_>>], limits: &Limits) {
    page.raw("<div class=\"d\">");
    if !what.is_empty() {
        page.element("<div class=\"gap\"", what, "</div>");
    }
    let mut left = Left::new(limits, page);
    for (at, group) in groups.iter().enumerate() {
        if at > 0 && left.lines > 0 {
            page.raw("<div class=\"gap\">…</div>");
        }
        let mut lines = group.as_slice();
        while let Some((tag, _)) = lines.first() {
            let is_context = *tag == ChangeTag::Equal;
            let length = lines.iter().take_while(|(tag, _)| (*tag == ChangeTag::Equal) == is_context).count();
            let (these, others) = lines.split_at(length);
            lines = others;
            let these = left.take(these, page);
            if is_context { context(page, these) } else { replaced(page, these) }
        }
    }
    left.rest(page);
    page.raw("</div>");
}

/// A value of several lines without a comparison.
pub(super) fn whole(page: &mut Markup, text: &str, limits: &Limits) {
    let lines: Vec<Line<'_>> = text.lines().map(|line| (ChangeTag::Equal, line.into())).collect();
    page.raw("<div class=\"d\">");
    let mut left = Left::new(limits, page);
    let shown = left.take(&lines, page);
    page.raw("<div class=\"r w\"><div>");
    plain(page, shown);
    page.raw("</div></div>");
    left.rest(page);
    page.raw("</div>");
}

/// A value as YAML, in which secrets are replaced by their numbers, and certificates are summarised.
pub(super) fn yaml(value: &Value) -> String {
    block(&summarised(value))
}

/// Lines around a change, on both sides; one side is enough if the sides are one above the other.
fn context(page: &mut Markup, lines: &[Line<'_>]) {
    if lines.is_empty() {
        return;
    }
    page.raw("<div class=\"r q\"><div>");
    plain(page, lines);
    page.raw("</div><div aria-hidden=\"true\">");
    plain(page, lines);
    page.raw("</div></div>");
}

fn plain(page: &mut Markup, lines: &[Line<'_>]) {
    for (_, line) in lines {
        page.raw("<span>").append(&cut(line)).raw("</span>");
    }
}

/// Removed lines, and next to them the added ones, with the words that differ emphasised.
fn replaced(page: &mut Markup, lines: &[Line<'_>]) {
    if lines.is_empty() {
        return;
    }
    let lines: Vec<(ChangeTag, Markup)> =
        line_pairs::shown(lines, Some(LINE)).iter().map(|(tag, text)| (*tag, line(text, true))).collect();
    let tagged = |wanted: ChangeTag| lines.iter().filter(move |(tag, _)| *tag == wanted);
    page.raw("<div class=\"r\"><div>");
    for (_, line) in tagged(ChangeTag::Delete) {
        page.raw("<del>").append(line).raw("</del>");
    }
    page.raw("</div><div>");
    for (_, line) in tagged(ChangeTag::Insert) {
        page.raw("<ins>").append(line).raw("</ins>");
    }
    page.raw("</div></div>");
}

/// The number of lines of a field that may still be shown.
struct Left {
    lines: usize,
    until: usize,
    omitted: usize,
}

impl Left {
    fn new(limits: &Limits, page: &Markup) -> Self {
        Self { lines: limits.lines, until: page.len().saturating_add(limits.field_bytes), omitted: 0 }
    }

    /// Returns the lines that are shown.
    fn take<'l, 't>(&mut self, lines: &'l [Line<'t>], page: &Markup) -> &'l [Line<'t>] {
        let fit = if page.len() > self.until { 0 } else { self.lines.min(lines.len()) };
        let (shown, omitted) = lines.split_at(fit);
        self.lines = self.lines.saturating_sub(fit);
        self.omitted += omitted.len();
        shown
    }

    fn rest(&self, page: &mut Markup) {
        if let Some(more) = number::more(self.omitted, "line") {
            page.element("<div class=\"gap\"", &more, "</div>");
        }
    }
}

/// Longest line that is shown in full: in columns, or in characters where nothing is compared to it.
const LINE: usize = 2_000;

/// Both texts, with the words that differ emphasised.
fn emphasised(old: &str, new: &str) -> (Markup, Markup) {
    let contrast = Contrast::of(old, new);
    // Two texts with nothing in common differ as a whole, which the colour says already.
    let is_emphasised = !contrast.is_whole();
    let (live, desired) = contrast.within(LINE);
    (line(&live, is_emphasised), line(&desired, is_emphasised))
}

/// A line, with the words that differ emphasised.
fn line(text: &DiffedText, is_emphasised: bool) -> Markup {
    let mut markup = Markup::default();
    for (text, differs) in text.parts() {
        if differs && is_emphasised {
            markup.raw("<b>").text(text).raw("</b>");
        } else {
            markup.text(text);
        }
    }
    markup
}

/// The text, cut where it is very long.
fn cut(text: &str) -> Markup {
    let mut markup = Markup::default();
    match text.char_indices().nth(LINE) {
        None => markup.text(text),
        Some((at, _)) => markup.text(text.get(..at).unwrap_or_default()).raw(" …"),
    };
    markup
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shown(old: &str, new: &str) -> [String; 2] {
        let (old, new) = emphasised(old, new);
        [old.finish(), new.finish()]
    }

    #[test]
    fn words_that_differ_are_emphasised() {
        assert_eq!(shown("shop/web:1.3.0", "shop/web:1.2.9"), ["shop/web:1.<b>3.0</b>", "shop/web:1.<b>2.9</b>"]);
        assert_eq!(
            shown("ttl = \"5m\"", "ttl = \"15m\""),
            ["ttl = &quot;<b>5m</b>&quot;", "ttl = &quot;<b>15m</b>&quot;"]
        );
        assert_eq!(shown("a b", "a b c"), ["a b", "a b<b> c</b>"]);
        assert_eq!(shown("debug", "info"), ["debug", "info"]);
        assert_eq!(shown("größe eins", "größe zwei"), ["größe <b>eins</b>", "größe <b>zwei</b>"]);
        assert_eq!(shown("aa", "aaa"), ["aa", "aaa"]);
    }

    #[test]
    fn the_difference_of_long_lines_is_in_sight() {
        let text = |tail: &str| format!("{} {tail}", "x".repeat(100_000));
        let [old, new] = shown(&text("<1>"), &text("<2>"));
        assert!(old.len() < 200 && old.ends_with("&lt;<b>1</b>&gt;"), "{old}");
        assert!(new.len() < 200 && new.ends_with("&lt;<b>2</b>&gt;"), "{new}");
        assert!(cut(&"y".repeat(100_000)).finish().len() < 2_100);
    }
}
