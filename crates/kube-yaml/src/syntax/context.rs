//! Position of a failure, and the text around it.

use crate::Mark;
use crate::events::Parser;
use crate::text::Cursor;

/// Position of a failure, and its document.
pub(super) struct FailureContext<'a> {
    pub text: &'a str,
    pub start: Mark,
    pub at: usize,
    pub parser: &'a Parser<'a>,
}

impl FailureContext<'_> {
    pub(super) fn mark(&self) -> Mark {
        self.mark_at(self.at)
    }

    pub(super) fn mark_at(&self, offset: usize) -> Mark {
        Cursor::new(self.text.as_bytes(), self.start).mark(offset)
    }

    /// Offset of a text that extends to the end of the document.
    pub(super) fn start_of_rest(&self, rest: &str) -> usize {
        self.text.len().saturating_sub(rest.len())
    }

    /// The text up to an offset.
    pub(super) fn text_to(&self, offset: usize) -> &str {
        self.text.get(..offset).unwrap_or_default()
    }

    /// The text from an offset on.
    pub(super) fn text_from(&self, offset: usize) -> &str {
        self.text.get(offset..).unwrap_or_default()
    }

    /// The text from the failure on.
    pub(super) fn rest(&self) -> &str {
        self.text_from(self.at)
    }

    fn line_start(&self, offset: usize) -> usize {
        self.text_to(offset).rfind('\n').map_or(0, |at| at.saturating_add(1))
    }

    /// The line of the failure.
    pub(super) fn line(&self) -> &str {
        self.text_from(self.line_start(self.at)).lines().next().unwrap_or_default()
    }

    /// The line of the failure, up to the failure.
    pub(super) fn line_before(&self) -> &str {
        self.text.get(self.line_start(self.at)..self.at).unwrap_or_default()
    }

    /// The mark of a column on the line of the failure.
    pub(super) fn mark_on_line(&self, length: usize) -> Mark {
        self.mark_at(self.line_start(self.at).saturating_add(length))
    }

    /// The mark of the colon in a line like `key:value` that may have caused the failure: the line itself or the one
    /// above.
    pub(super) fn missing_space(&self) -> Option<Mark> {
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
    pub(super) fn bare_line_above(&self, indentation: usize) -> Option<Mark> {
        let end = self.line_start(self.at).checked_sub(1)?;
        let start = self.line_start(end);
        let line = self.text.get(start..end)?;
        let content = line.trim_start();
        let bare = indentation_of(line) == indentation && !content.contains(':') && !content.starts_with('-');
        bare.then(|| self.mark_at(start.saturating_add(indentation)))
    }
}

/// Number of bytes of white space at the beginning of a line.
pub(super) fn indentation_of(line: &str) -> usize {
    line.len().saturating_sub(line.trim_start().len())
}
