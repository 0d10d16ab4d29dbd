//! Diagnostics for text that the scanner or the parser does not accept, written for the author of the document.

use super::diagnostics::{self, TEMPLATE_HINT};
use super::events::Parser;
use super::scan::{Cause, Failure, MAX_KEY, Style};
use super::{Mark, SyntaxDiagnostic};
use crate::text::Cursor;

/// Hint for a `!` that was meant as text.
const TAG_HINT: &str = "quote the value if the `!` belongs to it";

/// The text from its first content on, after comments and blank lines.
pub(super) fn first_content(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{FEFF}']);
        if !rest.starts_with('#') {
            return Some(rest).filter(|content| !content.is_empty());
        }
        (_, rest) = rest.split_once(['\n', '\r'])?;
    }
}

/// The diagnostic for a failure.
pub(super) fn explain(failure: Failure, text: &str, parser: &Parser, start: Mark) -> SyntaxDiagnostic {
    let context = FailureContext { text, start, at: failure.at, parser };
    let diagnostic = context.diagnostic(failure.cause);
    if context.line().contains("{{") { diagnostic.hint(TEMPLATE_HINT) } else { diagnostic }
}

impl FailureContext<'_> {
    fn diagnostic(&self, cause: Cause) -> SyntaxDiagnostic {
        let mark = self.mark();
        match cause {
            Cause::Tab => SyntaxDiagnostic::refused(mark, "a tab is used for indentation, which YAML does not allow")
                .hint("indent with spaces"),
            Cause::NoToken(character) => {
                SyntaxDiagnostic::refused(mark, format!("unquoted text cannot begin with `{character}`"))
                    .hint("put the value into quotes")
            }
            Cause::EntryNotAllowed => SyntaxDiagnostic::refused(mark, "a list item `- ` is not allowed here")
                .hint("start the list on a line of its own below its key, or quote the value"),
            Cause::KeyNotAllowed => SyntaxDiagnostic::refused(mark, "a key after `? ` is not allowed here")
                .hint("start the mapping on a line of its own, or quote the value"),
            Cause::ValueNotAllowed => self.unexpected_colon(),
            Cause::KeyWithoutColon => self.no_colon(),
            Cause::NoName => self.no_name(),
            Cause::Name => {
                SyntaxDiagnostic::refused(mark, "the name of an anchor can only have letters, digits, `-` and `_`")
                    .hint("quote the value if the `&` or `*` belongs to it")
            }
            Cause::Tag => SyntaxDiagnostic::refused(mark, "`!` begins a tag, but this is not a tag").hint(TAG_HINT),
            Cause::TagHandle => {
                SyntaxDiagnostic::refused(mark, "this tag has a handle that is not declared").hint(TAG_HINT)
            }
            Cause::UnclosedQuote => SyntaxDiagnostic::refused(mark, "the closing quote of this text is missing")
                .hint("close it with the same kind of quote"),
            Cause::Escape => diagnostics::unknown_escape(mark, unknown_escape(self.rest()).unwrap_or("\\")),
            Cause::EscapeDigits => {
                let message = "while parsing a quoted scalar, did not find expected hexadecimal number";
                SyntaxDiagnostic::refused(mark, message)
            }
            Cause::BlockHeader => SyntaxDiagnostic::refused(
                mark,
                "only `+`, `-`, an indentation from 1 to 9 or a comment may follow `|` or `>`",
            )
            .hint("start the text on the next line, indented"),
            Cause::Directive => self.directive(),
            Cause::SignInFlow(sign) => diagnostics::sign_in_flow(mark, sign),
            Cause::ColonInFlow => SyntaxDiagnostic::refused(
                mark,
                "a space is missing after this `:`; without it, kubectl reads the `:` as part of the key",
            ),
            Cause::OldBreak(character) => {
                let message = format!("kubectl reads the character U+{:04X} as a line break", u32::from(character));
                SyntaxDiagnostic::refused(mark, message)
                    .hint("write it as an escape in double quotes, such as `\\u2028`")
            }
            Cause::NoBlockKey if self.rest().starts_with(':') => diagnostics::unsupported_key(mark),
            Cause::NoBlockKey | Cause::NoBlockEntry => self.after_quote(self.at).unwrap_or_else(|| self.misaligned()),
            Cause::NoFlowSeparator => self.after_quote(self.at).unwrap_or_else(|| self.unclosed_bracket()),
            Cause::LateFlowValue => self.late_value(),
            Cause::NoNode => self.no_node(),
        }
    }

    fn unexpected_colon(&self) -> SyntaxDiagnostic {
        if let Some(mark) = self.missing_space() {
            return SyntaxDiagnostic::refused(mark, "a space is missing after this `:`").hint("write `key: value`");
        }
        let before = self.line_before();
        if before.len() > MAX_KEY {
            return diagnostics::long_key(self.mark_on_line(0));
        }
        if before.contains(": ") {
            return SyntaxDiagnostic::refused(self.mark(), "a second `: ` on a line cannot start another mapping")
                .hint("put the value into quotes if the `:` belongs to it");
        }
        let indentation = indentation_of(before);
        if let Some(mark) = self.bare_line_above(indentation) {
            return SyntaxDiagnostic::refused(mark, "this line is not `key: value`")
                .hint("add the `:`, or put the text after the key it belongs to");
        }
        SyntaxDiagnostic::refused(self.mark_on_line(indentation), "this key is indented too far").hint(
            "align it with the other keys of its mapping; a key with a value on its line cannot have keys below it",
        )
    }

    fn misaligned(&self) -> SyntaxDiagnostic {
        let before = self.line_before();
        if before.contains("}}") {
            return SyntaxDiagnostic::refused(self.mark(), "text follows a closing bracket").hint(TEMPLATE_HINT);
        }
        if self.rest().starts_with([']', '}']) {
            return self.unopened_bracket();
        }
        let line = self.line();
        let content = line.trim_start();
        let mark = self.mark_on_line(indentation_of(line));
        if !before.trim_start().is_empty() && !before.trim_start().starts_with('-') {
            return SyntaxDiagnostic::refused(self.mark(), "this text is not expected here")
                .hint("put the whole value into quotes");
        }
        let message = if content.starts_with("- ") || content == "-" {
            "this list item does not line up with the items or keys above it"
        } else {
            "this line does not line up with the lines above it"
        };
        SyntaxDiagnostic::refused(mark, message)
            .hint("indent it like the items or keys it belongs to; all of one level start in the same column")
    }

    fn no_colon(&self) -> SyntaxDiagnostic {
        if let Some(mark) = self.missing_space() {
            return SyntaxDiagnostic::refused(mark, "a space is missing after this `:`").hint("write `key: value`");
        }
        if let Some(diagnostic) = self.after_quoted_key() {
            return diagnostic;
        }
        if self.rest().starts_with("{{-") {
            return SyntaxDiagnostic::refused(
                self.mark_at(self.at.saturating_add(2)),
                "this is not expected inside `{`",
            );
        }
        SyntaxDiagnostic::refused(
            self.mark(),
            "this line is not `key: value`, and does not belong to the text above it",
        )
        .hint("add the `:`, or indent the line further than the key it belongs to")
    }

    fn no_name(&self) -> SyntaxDiagnostic {
        let sign = if self.rest().starts_with('&') { '&' } else { '*' };
        let meaning = if sign == '&' { "an anchor" } else { "an alias" };
        SyntaxDiagnostic::refused(self.mark(), format!("`{sign}` begins {meaning}, but no name follows"))
            .hint(format!("put the value into quotes if the `{sign}` belongs to it"))
    }

    fn directive(&self) -> SyntaxDiagnostic {
        match first_content(self.text).filter(|content| content.starts_with('%')) {
            Some(directive) => SyntaxDiagnostic::refused(
                self.mark_at(self.start_of_rest(directive)),
                "kubectl does not read documents with directives (`%YAML`, `%TAG`)",
            )
            .hint("remove the directive, or quote the text that begins with `%`"),
            None => SyntaxDiagnostic::refused(self.mark(), "a line of a document cannot begin with `%`")
                .hint("put the text into quotes"),
        }
    }

    /// Diagnostic for text behind a closing quote on its line: a quote inside the text may have closed it.
    fn after_quote(&self, at: usize) -> Option<SyntaxDiagnostic> {
        let quoted = self.parser.quoted_before(at)?;
        let between = self.text.get(quoted.end..at)?;
        if !between.bytes().all(|byte| matches!(byte, b' ' | b'\t')) || self.text_from(at).starts_with([']', '}']) {
            return None;
        }
        let hint = match quoted.style {
            Style::SingleQuoted => "write `''` for a `'` inside single quotes",
            _ => "write `\\\"` for a `\"` inside double quotes",
        };
        let diagnostic = SyntaxDiagnostic::refused(self.mark_at(at), "text follows the closing quote");
        Some(diagnostic.also(Some(self.mark_at(quoted.at))).hint(hint))
    }

    /// Diagnostic for text behind a quoted text that has to be a key.
    fn after_quoted_key(&self) -> Option<SyntaxDiagnostic> {
        let quoted = self.parser.quoted_before(self.text.len()).filter(|quoted| quoted.at == self.at)?;
        let rest = self.text_from(quoted.end).trim_start_matches([' ', '\t']);
        if rest.lines().next()?.is_empty() || rest.starts_with('#') {
            return None;
        }
        self.after_quote(self.start_of_rest(rest))
    }

    /// Diagnostic for a colon inside brackets that is too far behind its key.
    fn late_value(&self) -> SyntaxDiagnostic {
        let key = self.parser.last_node;
        match self.text.get(key..self.at) {
            Some(text) if text.contains(['\n', '\r']) => SyntaxDiagnostic::refused(
                self.mark_at(key),
                "a key inside brackets must be on the same line as its `:`",
            ),
            Some(text) if text.len() > MAX_KEY => diagnostics::long_key(self.mark_at(key)),
            _ => self.unclosed_bracket(),
        }
    }

    fn no_node(&self) -> SyntaxDiagnostic {
        let rest = self.rest();
        if self.parser.bracket().is_some() {
            let is_sign = rest.strip_prefix(':').is_some_and(|value| !value.starts_with([' ', '\t', '\n', '\r']));
            return if is_sign { diagnostics::sign_in_flow(self.mark(), ':') } else { self.unclosed_bracket() };
        }
        if rest.starts_with("...") && first_content(self.text_to(self.at)).is_none() {
            return SyntaxDiagnostic::refused(self.mark(), "`...` ends a document, but none has begun")
                .hint("remove the line");
        }
        if rest.starts_with([']', '}']) {
            return self.unopened_bracket();
        }
        SyntaxDiagnostic::refused(self.mark(), "a value cannot begin like this").hint("put the value into quotes")
    }

    fn unopened_bracket(&self) -> SyntaxDiagnostic {
        SyntaxDiagnostic::refused(self.mark(), "this closing bracket has no opening one")
            .hint("quote it if it belongs to a text")
    }

    fn unclosed_bracket(&self) -> SyntaxDiagnostic {
        let Some(open) = self.parser.bracket() else {
            return SyntaxDiagnostic::refused(self.mark(), "this is not expected inside brackets");
        };
        let brackets = self.text_from(open);
        let rest = self.rest();
        let begins = self.mark_at(open);
        let is_last = rest.trim().is_empty();
        if brackets.starts_with("{{") || self.text_to(open).ends_with('{') {
            let mark = if is_last { begins } else { self.mark() };
            return SyntaxDiagnostic::refused(mark, "this is not expected inside `{`").hint(TEMPLATE_HINT);
        }
        let (sign, close, other) = if brackets.starts_with('[') { ('[', ']', '}') } else { ('{', '}', ']') };
        if rest.starts_with(other) {
            let message = format!("this `{sign}` is closed by `{other}`");
            return SyntaxDiagnostic::refused(begins, message).also(Some(begins));
        }
        if is_last {
            return SyntaxDiagnostic::refused(begins, format!("this `{sign}` is not closed"))
                .hint(format!("close it with `{close}`, or put the text that it belongs to into quotes"));
        }
        SyntaxDiagnostic::refused(
            self.mark(),
            format!("`,` or `{close}` is expected here, since `{sign}` is still open"),
        )
        .also(Some(begins))
        .hint(format!("close the bracket with `{close}`, or quote the text that it belongs to"))
    }
}

/// The first unknown escape in double quotes.
fn unknown_escape(raw: &str) -> Option<&str> {
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        let escape = rest.get(at..)?;
        let mut characters = escape.chars();
        let character = characters.nth(1)?;
        let digits = match character {
            '0' | 'a' | 'b' | 't' | '\t' | 'n' | 'v' | 'f' | 'r' | 'e' | ' ' | '"' | '\'' | '\\' | 'N' | '_' | 'L'
            | 'P' | '\n' | '\r' => 0,
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return escape.get(..=character.len_utf8()),
        };
        let (number, behind) = characters.as_str().split_at_checked(digits)?;
        if digits > 0 && u32::from_str_radix(number, 16).ok().and_then(char::from_u32).is_none() {
            return escape.get(..2);
        }
        rest = behind;
    }
    None
}

/// Position of a failure, and its document.
struct FailureContext<'a> {
    pub text: &'a str,
    pub start: Mark,
    pub at: usize,
    pub parser: &'a Parser<'a>,
}

impl FailureContext<'_> {
    fn mark(&self) -> Mark {
        self.mark_at(self.at)
    }

    fn mark_at(&self, offset: usize) -> Mark {
        Cursor::new(self.text.as_bytes(), self.start).mark(offset)
    }

    /// Offset of a text that extends to the end of the document.
    fn start_of_rest(&self, rest: &str) -> usize {
        self.text.len().saturating_sub(rest.len())
    }

    /// The text up to an offset.
    fn text_to(&self, offset: usize) -> &str {
        self.text.get(..offset).unwrap_or_default()
    }

    /// The text from an offset on.
    fn text_from(&self, offset: usize) -> &str {
        self.text.get(offset..).unwrap_or_default()
    }

    /// The text from the failure on.
    fn rest(&self) -> &str {
        self.text_from(self.at)
    }

    fn line_start(&self, offset: usize) -> usize {
        self.text_to(offset).rfind('\n').map_or(0, |at| at.saturating_add(1))
    }

    /// The line of the failure.
    fn line(&self) -> &str {
        self.text_from(self.line_start(self.at)).lines().next().unwrap_or_default()
    }

    /// The line of the failure, up to the failure.
    fn line_before(&self) -> &str {
        self.text.get(self.line_start(self.at)..self.at).unwrap_or_default()
    }

    /// The mark of a column on the line of the failure.
    fn mark_on_line(&self, length: usize) -> Mark {
        self.mark_at(self.line_start(self.at).saturating_add(length))
    }

    /// The mark of the colon in a line like `key:value` that may have caused the failure: the line itself or the one
    /// above.
    fn missing_space(&self) -> Option<Mark> {
        let start = self.line_start(self.at);
        let above = start.checked_sub(1).and_then(|end| self.joined_key(self.line_start(end), end));
        above.or_else(|| self.joined_key(start, start.saturating_add(self.line().len())))
    }

    fn joined_key(&self, start: usize, end: usize) -> Option<Mark> {
        let content = self.text.get(start..end)?.trim_start().trim_start_matches("- ");
        let (name, rest) = content.split_at_checked(content.find(':')?)?;
        let value = rest.strip_prefix(':')?;
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte));
        let follows = value.chars().next().is_some_and(|next| !next.is_whitespace() && next != ':');
        let joined = is_name && !name.is_empty() && follows && !content.contains(": ") && !value.starts_with("//");
        joined.then(|| self.mark_at(end.saturating_sub(rest.len())))
    }

    /// The mark of the line above if it is indented like an entry of a mapping, but is not one.
    fn bare_line_above(&self, indentation: usize) -> Option<Mark> {
        let end = self.line_start(self.at).checked_sub(1)?;
        let start = self.line_start(end);
        let line = self.text.get(start..end)?;
        let content = line.trim_start();
        let bare = indentation_of(line) == indentation && !content.contains(':') && !content.starts_with('-');
        bare.then(|| self.mark_at(start.saturating_add(indentation)))
    }
}

/// Number of bytes of white space at the beginning of a line.
fn indentation_of(line: &str) -> usize {
    line.len().saturating_sub(line.trim_start().len())
}
