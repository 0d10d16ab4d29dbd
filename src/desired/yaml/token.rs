//! Where YAML 1.2, which the parser reads, is wider than go-yaml's YAML 1.1: checks on the text of the tokens, and on the
//! text between them.

use granit_parser::{Event, ScalarStyle, Span, StructureStyle};

use super::mistakes;
use super::{Mark, Problem};

/// The longest key up to its colon, in characters, without a `?` before it.
pub(super) const MAX_KEY: usize = 1024;
/// Characters that are line breaks in YAML 1.1 only.
const OLD_BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// A collection that is open.
enum Level {
    /// In brackets.
    Flow,
    /// A single pair inside brackets, without braces of its own.
    Pair,
    /// In a block that begins at a column, from 1.
    Block(usize),
}

/// Follows the events of a document.
#[expect(clippy::struct_excessive_bools, reason = "go-yaml's scanner has these flags")]
pub(super) struct Tokens<'t> {
    text: &'t str,
    start: Mark,
    /// Where the last token ended, and where it began.
    at: usize,
    last: usize,
    /// The collections that are open.
    levels: Vec<Level>,
    /// Where those in brackets begin.
    open: Vec<usize>,
    /// go-yaml allows a key here, and therefore no tab.
    key_allowed: bool,
    /// A `?` stands before the key of the flow mapping.
    explicit_key: bool,
    /// The last token was unquoted text.
    plain: bool,
    has_old_breaks: bool,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str, start: Mark) -> Self {
        let has_old_breaks = !text.is_ascii() && text.contains(OLD_BREAKS);
        Self {
            text,
            start,
            at: 0,
            last: 0,
            levels: Vec::new(),
            open: Vec::new(),
            key_allowed: true,
            explicit_key: false,
            plain: false,
            has_old_breaks,
        }
    }

    /// Where the last token ended.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// Where the outermost open bracket is.
    pub(super) fn outermost_bracket(&self) -> Option<usize> {
        self.open.first().copied()
    }

    /// Where the innermost open bracket is.
    pub(super) fn bracket(&self) -> Option<usize> {
        self.open.last().copied()
    }

    /// Passes an event, and tells what go-yaml would refuse.
    pub(super) fn pass(&mut self, event: &Event, span: &Span) -> Option<(usize, Problem)> {
        let range = span.byte_range()?;
        if let Event::Anchor(_, name) = event {
            return self.check_name(range.start, name);
        }
        let gap = self.pass_gap(range.start);
        let raw = self.text.get(range.clone())?;
        let problem = match event {
            Event::Scalar(_, style, ..) => self.check_scalar(range.start, raw, *style),
            Event::Alias(_) => self.check_name(range.start, raw.trim_start_matches('*')),
            Event::UnresolvedAlias(_) => None,
            Event::SequenceStart(style, ..) | Event::MappingStart(style, ..) => {
                self.levels.push(match style {
                    StructureStyle::Block => Level::Block(span.start.col() + 1),
                    StructureStyle::Flow if raw.starts_with(['[', '{']) => Level::Flow,
                    StructureStyle::Flow => Level::Pair,
                });
                if !matches!(self.levels.last(), Some(Level::Flow)) {
                    return gap;
                }
                self.open.push(range.start);
                None
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if !matches!(self.levels.pop(), Some(Level::Flow)) {
                    return gap;
                }
                self.open.pop();
                None
            }
            _ => return gap,
        };
        if !raw.is_empty() && range.end > self.at {
            (self.last, self.at) = (range.start, range.end);
            self.key_allowed = matches!(event, Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, ..));
            self.plain = matches!(event, Event::Scalar(_, ScalarStyle::Plain, ..));
        }
        gap.or(problem)
    }

    /// The column of the innermost block collection, from 1; 0 if there is none.
    pub(super) fn column(&self) -> usize {
        let block = self.levels.iter().rev().find_map(|level| match level {
            Level::Block(column) => Some(*column),
            Level::Flow | Level::Pair => None,
        });
        block.unwrap_or_default()
    }

    /// Looks at what stands between the last token and the next: indicators, properties, blanks and comments.
    fn pass_gap(&mut self, end: usize) -> Option<(usize, Problem)> {
        let from = self.at;
        let gap = self.text.get(from..end).filter(|gap| !gap.is_empty())?;
        self.at = end;
        let (mut problem, mut comment, mut line_start) = (None, false, false);
        // Blank lines behind unquoted text are read with it, tabs included if they are indented like its other lines.
        let mut continued = self.plain;
        let mut column = 0;
        for (at, character) in gap.char_indices() {
            let offset = from + at;
            match character {
                '\n' | '\r' => {
                    (comment, line_start, column) = (false, true, 0);
                    self.key_allowed = true;
                    continue;
                }
                character if self.has_old_breaks && OLD_BREAKS.contains(&character) => {
                    problem = problem.or(Some((offset, mistakes::old_line_break(self.start, character))));
                }
                _ if comment => {}
                '#' => comment = true,
                '\t' if continued && line_start && column >= self.column() => {}
                '\t' if continued && line_start => {
                    problem = problem.or(Some((offset, mistakes::tab(self.start))));
                }
                '\t' if self.open.is_empty() && self.key_allowed => {
                    problem = problem.or(Some((offset, mistakes::tab(self.start))));
                }
                ' ' | '\t' => {}
                '-' if self.open.is_empty() => self.key_allowed = !gap[..at].ends_with(['-', '|', '>']),
                '?' => {
                    self.key_allowed = true;
                    self.explicit_key = !self.open.is_empty();
                }
                ':' if !self.open.is_empty() => {
                    problem = problem.or_else(|| self.check_flow_key(offset));
                    self.explicit_key = false;
                }
                ':' => self.key_allowed = line_start,
                ',' => self.explicit_key = false,
                _ => self.key_allowed = false,
            }
            column += 1;
            if !matches!(character, ' ' | '\t') {
                (line_start, continued) = (false, false);
            }
        }
        problem
    }

    /// Before the colon of a flow mapping, a key stands on one line and is not too long; behind an unquoted key, the colon
    /// belongs to the key unless a blank follows.
    fn check_flow_key(&self, colon: usize) -> Option<(usize, Problem)> {
        if self.plain && !self.text[colon + 1..].starts_with([' ', '\t', '\n', '\r']) {
            return Some((colon, mistakes::colon_in_flow(self.start)));
        }
        if self.explicit_key {
            return None;
        }
        let key = &self.text[self.last..colon];
        if key.contains(['\n', '\r']) {
            return Some((self.last, mistakes::key_on_lines(self.start)));
        }
        (key.len() > MAX_KEY && key.chars().count() > MAX_KEY).then(|| (self.last, mistakes::long_key(self.start)))
    }

    fn check_scalar(&self, from: usize, raw: &str, style: ScalarStyle) -> Option<(usize, Problem)> {
        let quoted = matches!(style, ScalarStyle::DoubleQuoted | ScalarStyle::SingleQuoted);
        if self.has_old_breaks {
            let found = raw.char_indices().find(|(at, character)| {
                OLD_BREAKS.contains(character) && !(quoted && *character != '\u{85}' && stands_alone(raw, *at))
            });
            if let Some((at, character)) = found {
                return Some((from + at, mistakes::old_line_break(self.start, character)));
            }
        }
        match style {
            ScalarStyle::DoubleQuoted => {
                let escape = unknown_escape(raw)?;
                Some((from, mistakes::unknown_escape(self.start, escape)))
            }
            // Where the text tells its indentation itself, a tab cannot be a part of it.
            ScalarStyle::Literal | ScalarStyle::Folded if raw.starts_with('\t') => {
                let header = &self.text[self.text[..from].rfind(['|', '>'])?..from];
                let told = header.lines().next().is_some_and(|line| line.contains(|sign: char| sign.is_ascii_digit()));
                (!told).then(|| (from, mistakes::tab(self.start)))
            }
            ScalarStyle::Plain if !self.open.is_empty() => {
                let at = if raw.starts_with(':') { 0 } else { raw.find('?')? };
                Some((from + at, mistakes::sign_in_flow(self.start, &raw[at..=at])))
            }
            _ => None,
        }
    }

    /// Names of anchors are letters, digits, `-` and `_`.
    fn check_name(&self, at: usize, name: &str) -> Option<(usize, Problem)> {
        // A sign that may end the name, or a blank.
        let ended = |rest: &str| {
            rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r', '?', ':', ',', ']', '}', '%', '@', '`'])
        };
        let end = (at + 1 + name.len()).min(self.text.len());
        let sound = self.text.get(end..).is_none_or(ended)
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        (!sound).then(|| (at, mistakes::anchor_name(self.start)))
    }
}

/// Whether the line separator at a place has no blank beside it, so that folding leaves it as it is.
fn stands_alone(raw: &str, at: usize) -> bool {
    let blank = |character: Option<char>| {
        character
            .is_none_or(|character| matches!(character, ' ' | '\t' | '\n' | '\r') || OLD_BREAKS.contains(&character))
    };
    let mut after = raw[at..].chars();
    after.next();
    !blank(raw[..at].chars().next_back()) && !blank(after.next())
}

/// The first escape of a double quoted scalar that go-yaml does not know; the parser knows JSON's too.
pub(super) fn unknown_escape(raw: &str) -> Option<&str> {
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        let escape = &rest[at..];
        let character = escape.chars().nth(1)?;
        let digits = match character {
            '0' | 'a' | 'b' | 't' | '\t' | 'n' | 'v' | 'f' | 'r' | 'e' | ' ' | '"' | '\'' | '\\' | 'N' | '_' | 'L'
            | 'P' | '\n' | '\r' => 0,
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return Some(&escape[..=character.len_utf8()]),
        };
        let end = 1 + character.len_utf8() + digits;
        if digits > 0 && u32::from_str_radix(escape.get(2..end)?, 16).ok().and_then(char::from_u32).is_none() {
            return Some(&escape[..2]);
        }
        rest = &escape[end..];
    }
    None
}
