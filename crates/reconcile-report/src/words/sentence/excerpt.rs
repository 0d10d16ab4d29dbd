//! Draws lines of the input under a message, with the location marked.

use reconcile_core::diagnostic::{Diagnostic, Excerpt, Line};

use super::wrapped::hint_lines;
use crate::words::styled::{Role, Styled};

/// The beginning of a line that goes on with the text of others.
pub const CONTINUED: &str = "  | ";

/// A diagnostic with its location, its lines and its hint; `margin` is before each line. The hint is broken into lines of `columns`, if
/// they are given.
pub fn diagnostic(found: &Diagnostic, margin: &str, before: &str, columns: Option<usize>) -> Styled {
    let mut text = Styled::new();
    // The message of another program may have several lines, and so may a name that a message quotes: none of them looks like ours.
    for (index, line) in format!("{before}{found}").split('\n').enumerate() {
        let continued = if index > 0 { CONTINUED } else { "" };
        text.line(Role::Error, format!("{margin}{continued}{line}"));
    }
    if let Some(excerpt) = &found.excerpt {
        text.append(lines(excerpt, margin));
    }
    for line in found.hint.iter().flat_map(|hint| hint_lines(hint, margin.len(), columns)) {
        text.line(Role::Hint, line);
    }
    text
}

/// Diagnostics one below the other. A hint that several in a row share is printed once, below the last of them.
pub fn diagnostics<'d>(
    found: impl Iterator<Item = &'d Diagnostic>,
    margin: &str,
    columns: Option<usize>,
    before: impl Fn(&Diagnostic) -> String,
) -> Styled {
    let mut text = Styled::new();
    let mut found = found.peekable();
    while let Some(one) = found.next() {
        let is_said_below = one.hint.is_some() && found.peek().is_some_and(|next| next.hint == one.hint);
        let hint = if is_said_below { None } else { one.hint.clone() };
        text.append(diagnostic(&Diagnostic { hint, ..one.clone() }, margin, &before(one), columns));
    }
    text
}

/// ```text
///    |
/// 17 |       - name: web
/// 18 |         imagee: shop/web:1.3
///    |         ^^^^^^
/// ```
fn lines(excerpt: &Excerpt, margin: &str) -> Styled {
    let width = excerpt.lines.iter().map(|line| line.number.to_string().len()).max().unwrap_or_default();
    let mut text = Styled::new();
    gutter(&mut text, margin, width, "");
    text.line_end();
    let mut last = None;
    for line in &excerpt.lines {
        if last.is_some_and(|last: u32| last.saturating_add(1) < line.number) {
            text.line(Role::Note, format!("{margin}{}…", " ".repeat(width)));
        }
        last = Some(line.number);
        gutter(&mut text, margin, width, &line.number.to_string());
        text.line(Role::Plain, if line.text.is_empty() { String::new() } else { format!(" {}", line.text) });
        mark(&mut text, line, margin, width);
    }
    text
}

fn mark(text: &mut Styled, line: &Line, margin: &str, width: usize) {
    let Some(mark) = line.mark else { return };
    gutter(text, margin, width, "");
    let (sign, role) = if mark.is_primary { ("^", Role::Error) } else { ("-", Role::Note) };
    let note = if mark.is_primary { "" } else { " first here" };
    text.line(role, format!(" {}{}{note}", " ".repeat(mark.start), sign.repeat(mark.length)));
}

fn gutter(text: &mut Styled, margin: &str, width: usize, number: &str) {
    text.push(Role::Note, format!("{margin}{number:>width$} |"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::plain;

    /// A name with line breaks cannot pass for messages of ours.
    #[test]
    fn the_lines_of_others_are_marked() {
        let found = Diagnostic::general("`x\n3 in sync\nerror: y` is wrong").with_hint("a\nb");
        let text = plain(&diagnostic(&found, "", "error: ", None));
        assert_eq!(text, "error: `x\n  | 3 in sync\n  | error: y` is wrong\nhint: a\\nb\n");
    }
}
