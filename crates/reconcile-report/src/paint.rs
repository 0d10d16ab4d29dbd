//! Text as it is written: with everything visible, no command of a pipeline, and in the colours of a theme.

use std::borrow::Cow;
use std::fmt::Write as _;

use reconcile_core::text::{command_starts, visible};

use crate::{Role, Styled, Theme};

/// Returns text without colours, for files.
pub fn plain(text: &Styled) -> String {
    paint(text, None)
}

/// Returns text in the colours of a theme, if there is one.
pub fn paint(text: &Styled, theme: Option<&Theme>) -> String {
    let mut painted = String::new();
    for spans in text.spans().chunk_by(|(_, before), (_, after)| before != "\n" && after != "\n") {
        match spans {
            [(_, end)] if end == "\n" => painted.push('\n'),
            line => paint_line(&mut painted, line, theme),
        }
    }
    painted
}

fn paint_line(painted: &mut String, spans: &[(Role, String)], theme: Option<&Theme>) {
    let shown: Vec<Cow<'_, str>> = spans.iter().map(|(_, text)| visible(text)).collect();
    // A runner reads the line as a whole. It skips the character that begins a colour, so that a bracket is between two spans.
    let between = if theme.is_some() { "[" } else { "" };
    let starts = command_starts(&shown.join(between));
    let mut start = 0;
    for ((role, _), text) in spans.iter().zip(shown) {
        let end = start + text.len();
        let text = escaped(text, start, &starts);
        match theme.map(|theme| theme.style(*role)) {
            None => painted.push_str(&text),
            Some(style) => drop(write!(painted, "{style}{text}{style:#}")),
        }
        start = end + between.len();
    }
}

/// Escapes the characters of a span at these positions of its line; the span itself begins at `start`.
fn escaped<'t>(text: Cow<'t, str>, start: usize, positions: &[usize]) -> Cow<'t, str> {
    let next = positions.get(positions.partition_point(|at| *at < start));
    if next.is_none_or(|at| *at >= start + text.len()) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if positions.binary_search(&(start + at)).is_ok() {
            escaped.extend(c.escape_unicode());
        } else {
            escaped.push(c);
        }
    }
    escaped.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::STANDARD;

    fn text(spans: &[&str]) -> Styled {
        let mut text = Styled::new();
        for span in spans {
            match *span {
                "\n" => text.line_end(),
                span => text.push(Role::Add, span),
            }
        }
        text
    }

    #[test]
    fn no_line_is_a_command_of_a_pipeline() {
        for (spans, shown) in [
            (&["::add-mask::x"][..], "\\u{3a}:add-mask::x"),
            (&["      ::stop-commands::x"], "      \\u{3a}:stop-commands::x"),
            (&["    ", ":", ":error::x"], "    \\u{3a}:error::x"),
            (&["  ##[error]x"], "  \\u{23}#[error]x"),
            (&["a ##vso[task.complete result=Succeeded;]"], "a \\u{23}#vso[task.complete result=Succeeded;]"),
            (&["a #", "#", "teamcity", "[x]", "##[y]"], "a \\u{23}#teamcity[x]\\u{23}#[y]"),
            (&["- ", "::error::x"], "- ::error::x"),
            (&["# a comment", "\n", "## another [one]"], "# a comment\n## another [one]"),
            (&["a", "::b", "\n", "\n", "::c::", "\n"], "a::b\n\n\\u{3a}:c::\n"),
        ] {
            assert_eq!(plain(&text(spans)), shown, "{spans:?}");
        }
    }

    /// .NET skips the escape character where it compares, so that a colour would complete a command.
    #[test]
    fn a_colour_does_not_complete_a_command() {
        let painted = paint(&text(&["a ##vso", "task.complete]", "\n", "##", "b"]), Some(&STANDARD));
        assert_eq!(painted.matches("\\u{23}#").count(), 2, "{painted:?}");
    }
}
