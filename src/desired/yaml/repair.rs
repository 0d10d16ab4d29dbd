//! Where YAML 1.2, which the parser reads, is narrower than go-yaml's YAML 1.1: the text is written in the narrower way, and
//! read again.
//!
//! Four things that kubectl accepts are repaired: continuation lines of a quoted scalar that are not indented, tabs before
//! the lines of a quoted scalar or of a collection in brackets, the escape `\'` in double quotes, and a comment right behind
//! a closing quote or bracket.

use std::collections::HashMap;

use granit_parser::{ErrorKind, ScanError};

use super::Mark;
use super::found::Found;
use super::stream::Content;
use super::token::Tokens;

/// Each repair reads the document again, so there are few of them.
const MAX_REPAIRS: usize = 16;
/// Quotes further to the right are not repaired, since the indentation is added to each line.
const MAX_COLUMN: usize = 1000;

/// The text of a document with what was added to it.
#[derive(Default)]
pub(super) struct Repairs {
    count: usize,
    /// By line: columns and how many characters were added there, in the coordinates of the repaired text.
    added: HashMap<u32, Vec<(u32, u32)>>,
}

impl Repairs {
    /// The text in which the cause of an error is repaired, if it can be.
    pub(super) fn repair(&mut self, error: &ScanError, text: &str, tokens: &Tokens) -> Option<String> {
        let token = tokens.offset();
        self.count += 1;
        if self.count > MAX_REPAIRS {
            return None;
        }
        let at = error.marker().byte_offset()?;
        let places = match error.kind() {
            ErrorKind::InvalidQuotedScalarIndent => {
                let scalar = quoted_scalar(text, token)?;
                let column = text[..scalar.start].chars().rev().take_while(|c| *c != '\n').take(MAX_COLUMN + 1).count();
                if column > MAX_COLUMN {
                    return None;
                }
                let indentation = " ".repeat(column + 1);
                let breaks = text[scalar.clone()].match_indices(['\n', '\r']).map(|(at, _)| scalar.start + at + 1);
                let lines = breaks.filter(|line| !(text[..*line].ends_with('\r') && text[*line..].starts_with('\n')));
                lines.map(|line| (line, indentation.clone())).collect()
            }
            ErrorKind::UnknownQuotedScalarEscape => {
                let scalar = quoted_scalar(text, at)?;
                escaped_quotes(&text[scalar.clone()]).map(|quote| (scalar.start + quote, "x27".to_owned())).collect()
            }
            ErrorKind::TabInIndentation | ErrorKind::TabInBlockIndentation | ErrorKind::TabNotAllowed => {
                let lines = match tokens.outermost_bracket() {
                    Some(open) => open..flow_end(text, open),
                    None => quoted_scalar(text, token).filter(|scalar| scalar.contains(&at))?,
                };
                return without_tabs(text, lines, tokens.column() > 0 && tokens.outermost_bracket().is_some());
            }
            ErrorKind::CommentNotSeparated => vec![(at, " ".to_owned())],
            _ => Vec::new(),
        };
        if places.is_empty() { None } else { Some(self.rewrite(text, places)) }
    }

    /// Tells all places as they are in the text as it was written; problems from a number on are of this document.
    pub(super) fn undo(&self, mut content: Content, start: Mark, problems: &mut Found, from: usize) -> Content {
        if !self.added.is_empty() {
            let original = |mark| self.original(mark, start);
            for problem in problems.since(from) {
                problem.mark = original(problem.mark);
                problem.also = problem.also.map(original);
            }
            content.start = original(content.start);
            content.nodes.map_marks(original);
        }
        content
    }

    fn original(&self, mark: Mark, start: Mark) -> Mark {
        let line = mark.line + 1 - start.line;
        let Some(added) = self.added.get(&line) else { return mark };
        let offset = if line == 1 { start.column - 1 } else { 0 };
        let column = added.iter().rev().fold(mark.column.saturating_sub(offset), |column, (at, length)| {
            if *at <= column { column.saturating_sub(*length).max(*at) } else { column }
        });
        Mark { column: column + offset, ..mark }
    }

    /// Puts texts in; an `x27` replaces the quote that stands there.
    fn rewrite(&mut self, text: &str, places: Vec<(usize, String)>) -> String {
        let mut repaired =
            String::with_capacity(text.len() + places.iter().map(|(_, added)| added.len()).sum::<usize>());
        let (mut from, mut mark) = (0, Mark::START);
        for (at, added) in places {
            let kept = &text[from..at];
            mark = kept.chars().fold(mark, |mark, character| match character {
                '\n' => Mark { line: mark.line + 1, column: 1 },
                _ => Mark { column: mark.column + 1, ..mark },
            });
            let replaced = usize::from(added == "x27");
            let length = u32::try_from(added.len() - replaced).unwrap_or(0);
            self.added.entry(mark.line).or_default().push((mark.column, length));
            mark.column += length;
            repaired.push_str(kept);
            repaired.push_str(&added);
            from = at + replaced;
        }
        repaired.push_str(&text[from..]);
        repaired
    }
}

/// The quoted scalar that begins first behind a place, without its quotes.
pub(super) fn quoted_scalar(text: &str, from: usize) -> Option<std::ops::Range<usize>> {
    let start = from + text.get(from..)?.find(['"', '\''])? + 1;
    let mut rest = text[start..].char_indices().peekable();
    let double = text[..start].ends_with('"');
    while let Some((at, character)) = rest.next() {
        match character {
            '\\' if double => {
                rest.next();
            }
            '"' if double => return Some(start..start + at),
            '\'' if !double && rest.next_if(|(_, next)| *next == '\'').is_none() => return Some(start..start + at),
            _ => {}
        }
    }
    None
}

/// Where the `'` of each `\'` is.
fn escaped_quotes(scalar: &str) -> impl Iterator<Item = usize> + '_ {
    let mut escaped = false;
    scalar.char_indices().filter_map(move |(at, character)| {
        let found = escaped && character == '\'';
        escaped = !escaped && character == '\\';
        found.then_some(at)
    })
}

/// Where the collection in brackets that begins at a place ends.
fn flow_end(text: &str, open: usize) -> usize {
    let (mut depth, mut at, mut before) = (0_usize, open, ' ');
    while let Some(character) = text[at..].chars().next() {
        match character {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            // A quote inside unquoted text is none.
            '"' | '\'' if before.is_whitespace() || "[{,:".contains(before) => match quoted_scalar(text, at) {
                Some(scalar) => at = scalar.end,
                None => return text.len(),
            },
            _ => {}
        }
        at += character.len_utf8();
        before = character;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The text with spaces for the tabs in the indentation of some lines; nothing if there are none. Inside a block, go-yaml
/// does not allow a tab behind a line that ends with unquoted text.
fn without_tabs(text: &str, lines: std::ops::Range<usize>, in_block: bool) -> Option<String> {
    let mut repaired = String::with_capacity(text.len());
    repaired.push_str(&text[..lines.start]);
    let (mut indentation, mut ended) = (false, true);
    for character in text[lines.clone()].chars() {
        if !character.is_whitespace() {
            ended = "[]{},:\"'".contains(character);
        }
        indentation = matches!(character, '\n' | '\r') || indentation && matches!(character, ' ' | '\t');
        repaired.push(if indentation && character == '\t' && (ended || !in_block) { ' ' } else { character });
    }
    repaired.push_str(&text[lines.end..]);
    (repaired != text).then_some(repaired)
}
