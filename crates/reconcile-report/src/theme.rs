//! The colours of text: themes, and the text that is painted with them.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::{Ansi256Color, AnsiColor, Color, Style};
use reconcile_core::text::{command_starts, visible};

use crate::words::styled::{Role, Styled};

/// The colours of text. A colour is never the only signal: signs and words say the same.
#[derive(Debug)]
pub struct Theme {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its help.
    pub help: &'static str,
    add: Color,
    change: Color,
    remove: Color,
    error: Color,
    hint: Color,
}

/// Green, yellow and red, as git and kubectl use them.
pub const STANDARD: Theme = Theme {
    name: "standard",
    help: "Green, yellow and red",
    add: Color::Ansi(AnsiColor::Green),
    change: Color::Ansi(AnsiColor::Yellow),
    remove: Color::Ansi(AnsiColor::Red),
    error: Color::Ansi(AnsiColor::Red),
    hint: Color::Ansi(AnsiColor::Cyan),
};

/// All themes; the first is the default. The colours of the second are those of Okabe and Ito, which people with any kind of colour
/// blindness can tell apart.
pub const THEMES: &[Theme] = &[
    STANDARD,
    Theme {
        name: "colour-blind",
        help: "Blue, yellow and orange, which can be distinguished with any kind of colour blindness",
        add: Color::Ansi256(Ansi256Color(39)),
        change: Color::Ansi256(Ansi256Color(221)),
        remove: Color::Ansi256(Ansi256Color(208)),
        error: Color::Ansi256(Ansi256Color(208)),
        hint: Color::Ansi256(Ansi256Color(36)),
    },
];

impl Theme {
    /// Finds a theme by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        THEMES.iter().find(|theme| theme.name == name)
    }

    /// The style of a span of text.
    pub fn style(&self, role: Role) -> Style {
        let colored = |color: Color| Style::new().fg_color(Some(color));
        match role {
            Role::Plain => Style::new(),
            Role::Add => colored(self.add),
            Role::AddWord => colored(self.add).bold().underline(),
            Role::Change => colored(self.change),
            Role::Remove => colored(self.remove),
            Role::RemoveWord => colored(self.remove).bold().underline(),
            Role::Error => colored(self.error).bold(),
            Role::Name => Style::new().bold(),
            Role::Note => Style::new().dimmed(),
            Role::Hint => colored(self.hint),
        }
    }
}

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
