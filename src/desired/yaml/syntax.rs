//! Where a document begins and ends, and what the parser cannot follow, in words for the person who wrote it.

use granit_parser::{ErrorKind, Marker, ScanError};

use super::mistakes::{self, TEMPLATE_HINT};
use super::repair;
use super::text::Cursor;
use super::token::{MAX_KEY, Tokens};
use super::{Mark, Problem};

/// A place in a document as a place in the input.
pub(super) fn place(marker: Marker, start: Mark) -> Mark {
    let number = |value| u32::try_from(value).unwrap_or(u32::MAX / 2);
    absolute(Mark { line: number(marker.line()).max(1), column: number(marker.col()) + 1 }, start)
}

fn absolute(mark: Mark, start: Mark) -> Mark {
    if mark.line == 1 {
        Mark { line: start.line, column: start.column + mark.column - 1 }
    } else {
        Mark { line: start.line + mark.line - 1, ..mark }
    }
}

/// The end marker at which kubectl stops to read a document: the offset behind the dots of a line that begins with `...`.
pub(super) fn end_marker(text: &str) -> Option<usize> {
    let dots = text.match_indices("...").find(|(at, dots)| {
        let before = text[..*at].chars().next_back();
        let after = text[at + dots.len()..].chars().next();
        before.is_none_or(|character| matches!(character, '\n' | '\r'))
            && after.is_none_or(|character| matches!(character, ' ' | '\t' | '\n' | '\r'))
    });
    dots.map(|(at, dots)| at + dots.len())
}

/// Where the first content of a text is, comments and blank lines left out.
pub(super) fn first_content(text: &str) -> Option<usize> {
    let mut offset = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        let content = line.trim_start_matches([' ', '\t', '\n', '\r', '\u{FEFF}']);
        if !content.is_empty() && !content.starts_with('#') {
            return Some(offset + line.len() - content.len());
        }
        offset += line.len();
    }
    None
}

/// An error of the parser in plain words.
pub(super) fn explain(error: &ScanError, text: &str, tokens: &Tokens, start: Mark) -> Problem {
    let place = Place { text, start, at: error.marker().byte_offset().unwrap_or(0).min(text.len()), tokens };
    let problem = place.problem(error);
    if place.line().contains("{{") { problem.hint(TEMPLATE_HINT) } else { problem }
}

/// Where an error is.
struct Place<'a> {
    text: &'a str,
    start: Mark,
    at: usize,
    tokens: &'a Tokens<'a>,
}

impl Place<'_> {
    fn problem(&self, error: &ScanError) -> Problem {
        match error.kind() {
            ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabNotAllowed
            | ErrorKind::TabInPlainScalar
            | ErrorKind::TabAtBlockScalarStart => mistakes::tab(self.tab()),
            ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => self.unexpected_colon(),
            ErrorKind::ExpectedBlockMappingKey | ErrorKind::ExpectedBlockSequenceEntry => self.misaligned(),
            ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey | ErrorKind::InvalidIndentation => {
                self.no_colon()
            }
            ErrorKind::BlockSequenceEntryNotAllowed => {
                Problem::refused(self.mark(), "a list item `- ` cannot stand here")
                    .hint("start the list on a line of its own below its key, or quote the value")
            }
            ErrorKind::UnexpectedCharacter { character } => {
                Problem::refused(self.mark(), format!("unquoted text cannot begin with `{character}`"))
                    .hint("put the value into quotes")
            }
            ErrorKind::MissingAnchorOrAliasName => self.no_name(),
            ErrorKind::UnclosedQuotedScalar
            | ErrorKind::DocumentIndicatorInQuotedScalar
            | ErrorKind::InvalidQuotedScalarIndent => self.unclosed_quote(),
            ErrorKind::InvalidTrailingSingleQuotedScalar => {
                self.after_quote("write `''` for a `'` inside single quotes")
            }
            ErrorKind::InvalidTrailingDoubleQuotedScalar => {
                self.after_quote("write `\\\"` for a `\"` inside double quotes")
            }
            ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofImplicitFlowMapping
            | ErrorKind::UnclosedFlowCollection { .. }
            | ErrorKind::ExpectedFlowMappingSeparator
            | ErrorKind::ExpectedFlowSequenceSeparator
            | ErrorKind::BlockEntryInFlowCollection
            | ErrorKind::FlowMappingValueAdjacentCollection => self.unclosed_bracket(),
            ErrorKind::MisplacedFlowCollectionEnd => {
                Problem::refused(self.mark(), "this closing bracket has no opening one")
                    .hint("quote it if it belongs to a text")
            }
            ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
                Problem::refused(self.mark(), format!("this `{open}` is closed by `{close}`")).also(self.bracket())
            }
            ErrorKind::UnknownQuotedScalarEscape => mistakes::unknown_escape(self.mark(), self.escape()),
            ErrorKind::RecursionLimitExceeded => mistakes::too_deep(self.mark()),
            ErrorKind::InvalidBlockScalarHeader | ErrorKind::ZeroBlockScalarIndent => Problem::refused(
                self.mark(),
                "only `+`, `-`, an indentation from 1 to 9 or a comment may follow `|` or `>`",
            )
            .hint("start the text on the next line, indented"),
            ErrorKind::ExpectedDocumentStart | ErrorKind::InvalidDirectiveName | ErrorKind::MissingDirectiveName
                if self.line().starts_with('%') || self.text.trim_start().starts_with('%') =>
            {
                let directive = first_content(self.text).unwrap_or(self.at);
                Problem::refused(
                    self.mark_at(directive),
                    "kubectl does not read documents with directives (`%YAML`, `%TAG`)",
                )
                .hint("remove the directive, or quote the text that begins with `%`")
            }
            ErrorKind::MissingDocumentEndBeforeDirective => {
                Problem::refused(self.mark(), "a line of a document cannot begin with `%`")
                    .hint("put the text into quotes")
            }
            ErrorKind::UndeclaredTagHandle => {
                Problem::refused(self.mark(), "this tag has a handle that is not declared")
                    .hint("quote the value if the `!` belongs to it")
            }
            ErrorKind::CommentInterceptedScalar => {
                Problem::refused(self.mark(), "a text cannot go on behind a comment").hint("quote the text, or use `|`")
            }
            ErrorKind::ExpectedNodeContent
            | ErrorKind::UnexpectedEof
            | ErrorKind::UnexpectedEofBlockMapping
            | ErrorKind::UnexpectedEofBlockSequence => {
                Problem::refused(self.mark(), "a value cannot begin like this").hint("put the value into quotes")
            }
            _ => Problem::refused(self.mark(), error.info()),
        }
    }

    fn mark(&self) -> Mark {
        self.mark_at(self.at)
    }

    fn mark_at(&self, offset: usize) -> Mark {
        Cursor::new(self.text.as_bytes(), self.start).mark(offset)
    }

    fn line_start(&self, offset: usize) -> usize {
        self.text[..offset].rfind('\n').map_or(0, |at| at + 1)
    }

    /// The line of the error.
    fn line(&self) -> &str {
        self.text[self.line_start(self.at)..].lines().next().unwrap_or_default()
    }

    /// The first tab in an indentation from the error's line on.
    fn tab(&self) -> Mark {
        let mut offset = self.line_start(self.at);
        for line in self.text[offset..].split_inclusive('\n') {
            let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
            if let Some(tab) = line[..indentation].find('\t') {
                return self.mark_at(offset + tab);
            }
            offset += line.len();
        }
        self.mark()
    }

    /// The mark of the line, or of the one above, that looks like `key:value`, if the error comes from it.
    fn missing_space(&self) -> Option<Mark> {
        let start = self.line_start(self.at);
        let above = start.checked_sub(1).and_then(|end| self.joined_key(self.line_start(end), end));
        above.or_else(|| self.joined_key(start, start + self.line().len()))
    }

    fn joined_key(&self, start: usize, end: usize) -> Option<Mark> {
        let line = &self.text[start..end];
        let content = line.trim_start().trim_start_matches("- ");
        let colon = content.find(':')?;
        let name = content[..colon].bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte));
        let follows = content[colon + 1..].chars().next().is_some_and(|next| !next.is_whitespace() && next != ':');
        let joined = name && colon > 0 && follows && !content.contains(": ") && !content[colon + 1..].starts_with("//");
        joined.then(|| self.mark_at(start + line.len() - content.len() + colon))
    }

    /// The line above if it is no entry of a mapping, but stands where one would.
    fn bare_line_above(&self, indentation: usize) -> Option<Mark> {
        let end = self.line_start(self.at).checked_sub(1)?;
        let start = self.line_start(end);
        let line = &self.text[start..end];
        let content = line.trim_start();
        let bare = line.len() - content.len() == indentation && !content.contains(':') && !content.starts_with('-');
        bare.then(|| self.mark_at(start + indentation))
    }

    fn unexpected_colon(&self) -> Problem {
        if let Some(mark) = self.missing_space() {
            return Problem::refused(mark, "a space is missing after this `:`").hint("write `key: value`");
        }
        if self.tokens.bracket().is_some() {
            return self.unclosed_bracket();
        }
        if self.at - self.line_start(self.at) > MAX_KEY {
            return mistakes::long_key(self.mark_at(self.line_start(self.at)));
        }
        let before = &self.text[self.line_start(self.at)..self.at];
        if before.contains(": ") {
            return Problem::refused(self.mark(), "a second `: ` on a line cannot start another mapping")
                .hint("put the value into quotes if the `:` belongs to it");
        }
        let indentation = before.len() - before.trim_start().len();
        if let Some(mark) = self.bare_line_above(indentation) {
            return Problem::refused(mark, "this line is no `key: value`")
                .hint("add the `:`, or put the text behind the key it belongs to");
        }
        Problem::refused(self.mark_at(self.line_start(self.at) + indentation), "this key is indented too far").hint(
            "align it with the other keys of its mapping; a key with a value on its line cannot have keys below it",
        )
    }

    fn misaligned(&self) -> Problem {
        let before = &self.text[self.line_start(self.at)..self.at];
        if before.contains("}}") {
            return Problem::refused(self.mark(), "text follows a closing bracket").hint(TEMPLATE_HINT);
        }
        let line = self.line();
        let content = line.trim_start();
        let mark = self.mark_at(self.line_start(self.at) + line.len() - content.len());
        if !before.trim_start().is_empty() && !before.trim_start().starts_with('-') {
            return Problem::refused(self.mark(), "this text is not expected here")
                .hint("put the whole value into quotes");
        }
        let problem = if content.starts_with("- ") || content == "-" {
            "this list item does not line up with the items or keys above it"
        } else {
            "this line does not line up with the lines above it"
        };
        Problem::refused(mark, problem)
            .hint("indent it like the items or keys it belongs to; all of one level start in the same column")
    }

    fn no_colon(&self) -> Problem {
        if let Some(mark) = self.missing_space() {
            return Problem::refused(mark, "a space is missing after this `:`").hint("write `key: value`");
        }
        Problem::refused(self.mark(), "this line is no `key: value`, and does not belong to the text above it")
            .hint("add the `:`, or indent the line further than the key it belongs to")
    }

    fn no_name(&self) -> Problem {
        let sign = if self.text[self.at..].starts_with('&') { '&' } else { '*' };
        let meaning = if sign == '&' { "an anchor" } else { "an alias" };
        Problem::refused(self.mark(), format!("`{sign}` begins {meaning}, but no name follows"))
            .hint(format!("put the value into quotes if the `{sign}` belongs to it"))
    }

    fn unclosed_quote(&self) -> Problem {
        let quote = self.text[self.tokens.offset()..].find(['"', '\'']).map_or(self.at, |at| at + self.tokens.offset());
        let quote = if self.text[self.at..].starts_with(['"', '\'']) { self.at } else { quote };
        Problem::refused(self.mark_at(quote), "the closing quote of this text is missing")
            .hint("close it with the same kind of quote")
    }

    fn after_quote(&self, hint: &str) -> Problem {
        let begins = repair::quoted_scalar(self.text, self.tokens.offset())
            .filter(|scalar| scalar.start <= self.at)
            .map(|scalar| self.mark_at(scalar.start - 1));
        Problem::refused(self.mark(), "text follows the closing quote").also(begins).hint(hint)
    }

    fn unclosed_bracket(&self) -> Problem {
        // The event of the bracket may still wait for its end.
        let behind = (self.at + 1).min(self.text.len());
        let before = self.text.get(..behind).and_then(|text| text.rfind(['[', '{']));
        let Some(open) = self.tokens.bracket().or(before) else {
            return Problem::refused(self.mark(), "this is not expected inside brackets");
        };
        if self.text[open..].starts_with("{{") || self.text[..open].ends_with('{') {
            return Problem::refused(self.mark(), "this is not expected inside `{`")
                .also(self.bracket())
                .hint(TEMPLATE_HINT);
        }
        let (sign, close) = if self.text[open..].starts_with('[') { ('[', ']') } else { ('{', '}') };
        if self.at <= open || self.text[self.at..].trim().is_empty() {
            return Problem::refused(self.mark_at(open), format!("this `{sign}` is not closed"))
                .hint(format!("close it with `{close}`, or put the text that it belongs to into quotes"));
        }
        Problem::refused(self.mark(), format!("`,` or `{close}` is expected here, since `{sign}` is still open"))
            .also(self.bracket())
            .hint(format!("close the bracket with `{close}`, or quote the text that it belongs to"))
    }

    fn bracket(&self) -> Option<Mark> {
        self.tokens.bracket().map(|open| self.mark_at(open))
    }

    /// The escape that is unknown: the error is at its scalar.
    fn escape(&self) -> &str {
        super::token::unknown_escape(&self.text[self.at..]).unwrap_or("\\")
    }
}
