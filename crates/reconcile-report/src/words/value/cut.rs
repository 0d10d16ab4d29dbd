//! Cuts texts that are too long. Two different texts are cut around their first and last difference, so that they never read the same,
//! and values keep their quotes in pairs.

use reconcile_core::text::{common_ends, end_within, start_within, width};

/// The smallest number of columns into which texts are fitted.
pub(crate) const LEAST: usize = 20;
/// The largest width of an omission: an ellipsis and a quote.
const OMISSION: usize = 2;

/// The kind of a text, which decides whether quotes are a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A line of a file.
    Line,
    /// A value, in which strings may be in quotes.
    Value,
}

/// Cuts two different texts around their differences; each has at most this many columns. Of each, the texts before the difference, of
/// the difference and after it are returned.
pub(crate) fn around_difference(live: &str, desired: &str, columns: usize, kind: Kind) -> [[String; 3]; 2] {
    let columns = columns.max(LEAST);
    let ends = ends(live, desired);
    [live, desired].map(|text| cut(text, ends, columns, kind))
}

/// Cuts the middle out of a value that is shown alone.
pub(crate) fn alone(text: &str, columns: usize) -> String {
    let columns = columns.max(LEAST);
    if width(text) <= columns {
        return text.to_owned();
    }
    within(text, 0, text.len(), columns, Kind::Value)
}

/// The omission between two parts of a text that are shown, with the quotes that it takes from strings.
pub(crate) fn omission(text: &str, (from, to): (usize, usize), kind: Kind) -> &'static str {
    let is_quoted = |at: usize| kind == Kind::Value && is_quoted(text.get(..at).unwrap_or_default());
    match (is_quoted(from), is_quoted(to)) {
        (true, false) => "…\"",
        (false, true) => "\"…",
        _ => "…",
    }
}

/// An omission that takes escapes as a whole: a backslash, and what follows it.
pub(crate) fn around_escapes(text: &str, (from, to): (usize, usize)) -> (usize, usize) {
    let from = if is_escape(text.get(..from).unwrap_or_default()) { from.saturating_sub(1) } else { from };
    let to = if is_escape(text.get(..to).unwrap_or_default()) { next(text, to) } else { to };
    (from, to)
}

/// Returns true if a text ends inside of a string in quotes.
fn is_quoted(text: &str) -> bool {
    let mut is_quoted = false;
    let mut is_escape = false;
    for c in text.chars() {
        match c {
            _ if is_escape => is_escape = false,
            '\\' => is_escape = is_quoted,
            '"' => is_quoted = !is_quoted,
            _ => {}
        }
    }
    is_quoted
}

/// The lengths of the common start and end of two texts, without parts of characters and of escapes.
fn ends(live: &str, desired: &str) -> (usize, usize) {
    let (mut start, mut end) = common_ends(live, desired);
    let starts_inside = |text: &str, at: usize| {
        let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
        is_escape(before) || after.chars().next().is_some_and(is_combining)
    };
    while start > 0 && [live, desired].iter().any(|text| starts_inside(text, start)) {
        let last = live.get(..start).and_then(|head| head.chars().next_back());
        start = start.saturating_sub(last.map_or(start, char::len_utf8));
    }
    let before_end = |text: &str, end: usize| starts_inside(text, text.len().saturating_sub(end));
    while end > 0 && [live, desired].iter().any(|text| before_end(text, end)) {
        let first = live.get(live.len().saturating_sub(end)..).and_then(|tail| tail.chars().next());
        end = end.saturating_sub(first.map_or(end, char::len_utf8));
    }
    (start, end)
}

/// Returns true if a text ends in a backslash that belongs to the next character.
fn is_escape(text: &str) -> bool {
    text.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

fn is_combining(c: char) -> bool {
    width(c.encode_utf8(&mut [0; 4])) == 0
}

fn cut(text: &str, (start, end): (usize, usize), columns: usize, kind: Kind) -> [String; 3] {
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let aside = columns / 4;
    let short = aside.saturating_sub(OMISSION);
    let tail = text.len().saturating_sub(end);
    let mut before = part(0, start).to_owned();
    if width(&before) > aside {
        let omitted = around_escapes(text, (0, start.saturating_sub(end_within(&before, short).len())));
        before = format!("{}{}", omission(text, omitted, kind), part(omitted.1, start));
    }
    let mut after = part(tail, text.len()).to_owned();
    if width(&after) > aside {
        let omitted = around_escapes(text, (tail.saturating_add(start_within(&after, short).len()), text.len()));
        after = format!("{}{}", part(tail, omitted.0), omission(text, omitted, kind));
    }
    let room = columns.saturating_sub(width(&before)).saturating_sub(width(&after));
    [before, within(text, start, tail, room, kind), after]
}

/// A part of a text, without its middle if it is longer than the room.
fn within(text: &str, from: usize, to: usize, room: usize, kind: Kind) -> String {
    let middle = text.get(from..to).unwrap_or_default();
    if width(middle) <= room {
        return middle.to_owned();
    }
    let room = room.saturating_sub(OMISSION);
    let first = start_within(middle, room.saturating_sub(room / 3));
    let last = end_within(middle, room.saturating_sub(width(first)));
    let omitted = (from.saturating_add(first.len()), to.saturating_sub(last.len()));
    let omitted = around_escapes(text, omitted);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    format!("{}{}{}", part(from, omitted.0), omission(text, omitted, kind), part(omitted.1, to))
}

/// The position after the character at a position.
fn next(text: &str, at: usize) -> usize {
    let c = text.get(at..).and_then(|rest| rest.chars().next());
    at.saturating_add(c.map_or(0, char::len_utf8))
}
