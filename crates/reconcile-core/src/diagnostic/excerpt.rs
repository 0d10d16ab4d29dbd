//! Lines of the input for a message. This is data only; the report draws them.

use crate::text::IndexedLine;

/// Number of characters of a line that are shown, and how many of them precede the mark.
const WIDTH: usize = 120;
const BEFORE: usize = 60;

/// Some lines of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// In the order of the file.
    pub lines: Vec<Line>,
}

impl Excerpt {
    /// The text that is marked as the location of the diagnostic.
    pub fn marked(&self) -> Option<String> {
        let line = self.lines.iter().find(|line| line.mark.is_some_and(|mark| mark.is_primary))?;
        let mark = line.mark?;
        let text: String = line.text.chars().skip(mark.start).take(mark.length).collect();
        (!text.is_empty() && !text.contains('`') && text.chars().count() <= 60).then_some(text)
    }
}

/// One line, perhaps with a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u32,
    /// Its text, cut where it is long. Tabs are shown as arrows, which take one column.
    pub text: String,
    /// The mark, if the line has one.
    pub mark: Option<Underline>,
}

/// A marked part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Underline {
    /// Number of characters before it.
    pub start: usize,
    /// Number of characters, at least 1.
    pub length: usize,
    /// True for the location itself, false for a second one that is involved.
    pub is_primary: bool,
}

impl Line {
    /// `mark` is the column to mark, in characters from 1, and whether it is the location itself.
    ///
    /// Only the characters that are shown are read, as a line may be a whole document with thousands of mistakes.
    pub(crate) fn new(number: u32, line: &IndexedLine<'_>, mark: Option<(u32, bool)>) -> Self {
        let Some((column, is_primary)) = mark else {
            return Self { number, text: cut(&window(line, 0), 0), mark: None };
        };
        let length = line.length();
        let start = usize::try_from(column).unwrap_or(1).saturating_sub(1).min(length);
        let skipped = if length > WIDTH { start.saturating_sub(BEFORE) } else { 0 };
        let text = window(line, skipped);
        let start = start.saturating_sub(skipped);
        let length = length_at(&text.chars().skip(start).collect::<String>());
        let length = length.min(WIDTH.saturating_sub(start)).max(1);
        Self { number, text: cut(&text, skipped), mark: Some(Underline { start, length, is_primary }) }
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim_matches(['→', ' ']).is_empty()
    }
}

/// The characters that are shown, and one more if there are more.
fn window(line: &IndexedLine<'_>, skipped: usize) -> String {
    line.characters(skipped..skipped.saturating_add(WIDTH).saturating_add(1))
}

/// The shown text, with `…` where it goes on.
fn cut(window: &str, skipped: usize) -> String {
    let mut characters = window.chars().map(|c| if c == '\t' { '→' } else { c });
    let mut shown: String = characters.by_ref().take(WIDTH).collect();
    if skipped > 0 {
        shown = std::iter::once('…').chain(shown.chars().skip(1)).collect();
    }
    if characters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Length in characters of the key or the scalar that begins here.
fn length_at(text: &str) -> usize {
    let tabs = text.chars().take_while(|c| *c == '\t').count();
    if tabs > 0 {
        return tabs;
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let mut length = 0_usize;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let next = characters.peek().copied();
        let ends = match quote {
            Some(quote) if length > 0 && c == quote => return length.saturating_add(1),
            Some(_) => false,
            None => match c {
                ':' => next.is_none_or(char::is_whitespace),
                ' ' | '\t' => next.is_none_or(|next| next == '#' || next == ' '),
                ',' | ']' | '}' | '[' | '{' => true,
                _ => false,
            },
        };
        if ends {
            break;
        }
        length = length.saturating_add(1);
    }
    length.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::LineIndex;

    fn line(text: &str, column: u32) -> Line {
        let index = LineIndex::of(text.as_bytes());
        Line::new(1, &index.line(text.as_bytes(), 1).unwrap(), Some((column, true)))
    }

    #[track_caller]
    fn marked(text: &str, column: u32) -> String {
        let line = line(text, column);
        let mark = line.mark.unwrap();
        line.text.chars().skip(mark.start).take(mark.length).collect()
    }

    #[test]
    fn the_mark_spans_a_key_or_a_scalar() {
        assert_eq!(marked("    imagee: x", 5), "imagee");
        assert_eq!(marked("enabled: yes # really", 10), "yes");
        assert_eq!(marked("a: {b: yes, c: d}", 8), "yes");
        assert_eq!(marked("a: \"b: c, d\" # e", 4), "\"b: c, d\"");
        assert_eq!(marked("image: shop/web:1.3", 8), "shop/web:1.3");
        assert_eq!(marked("text: two words", 7), "two words");
        assert_eq!(marked("\t\tname: web", 1), "→→");
        assert_eq!(marked("short", 99), "");
    }

    #[test]
    fn a_long_line_is_cut_around_its_mark() {
        let text = format!("{{{}bad: yes, {}}}", "x: y, ".repeat(100), "z: w, ".repeat(100));
        let column = u32::try_from(text.find("yes").unwrap()).unwrap() + 1;
        assert_eq!(marked(&text, column), "yes");
        let line = line(&text, column);
        assert!(line.text.starts_with('…') && line.text.ends_with('…'), "{line:?}");
        assert!(line.text.chars().count() <= WIDTH + 1);
    }
}
