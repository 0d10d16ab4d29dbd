//! The lines of a document, and the splices that change them.

use std::ops::Range;

use super::change::Refusal;

/// The text of one document, by lines.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'t> {
    pub text: &'t str,
    /// The line break of the file.
    pub newline: &'static str,
}

impl<'t> Lines<'t> {
    pub fn of(text: &'t str) -> Self {
        let first = text.find('\n').and_then(|end| text.get(..end));
        Self { text, newline: if first.is_some_and(|line| line.ends_with('\r')) { "\r\n" } else { "\n" } }
    }

    pub fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    /// The offset at which the line of an offset begins.
    pub fn start(&self, at: usize) -> usize {
        self.slice(0..at).rfind('\n').map_or(0, |newline| newline.saturating_add(1))
    }

    /// The end of the line of an offset, without its line break.
    pub fn end(&self, at: usize) -> usize {
        let rest = self.slice(at..self.text.len());
        let line = rest.find('\n').and_then(|end| rest.get(..end)).unwrap_or(rest);
        at.saturating_add(line.strip_suffix('\r').unwrap_or(line).len())
    }

    /// The end of the line above that of an offset; `None` on the first line.
    pub fn end_of_previous(&self, at: usize) -> Option<usize> {
        let newline = self.start(at).checked_sub(1)?;
        Some(if self.slice(0..newline).ends_with('\r') { newline.saturating_sub(1) } else { newline })
    }

    /// The offset at which the line of an offset begins, or the first of the comments right above it.
    pub fn start_with_comments(&self, at: usize) -> usize {
        let mut start = self.start(at);
        while let Some(above) = self.end_of_previous(start).map(|end| self.start(end))
            && self.slice(above..start).trim_start_matches(' ').starts_with('#')
        {
            start = above;
        }
        start
    }

    /// The offset at which the line below that of an offset begins, or the end.
    pub fn start_of_next(&self, at: usize) -> usize {
        let rest = self.slice(at..self.text.len());
        at.saturating_add(rest.find('\n').map_or(rest.len(), |newline| newline.saturating_add(1)))
    }

    /// The text before an offset on its line.
    pub fn before(&self, at: usize) -> &'t str {
        self.slice(self.start(at)..at)
    }

    /// Returns true if an offset is the first on its line, apart from spaces.
    pub fn is_first(&self, at: usize) -> bool {
        self.before(at).bytes().all(|byte| byte == b' ')
    }

    /// The blanks with which the line of an offset begins.
    pub fn indentation(&self, at: usize) -> &'t str {
        let before = self.before(at);
        let blanks = before.len().saturating_sub(before.trim_start_matches([' ', '\t']).len());
        before.get(..blanks).unwrap_or_default()
    }

    /// The column of an offset in characters, from 0.
    pub fn column(&self, at: usize) -> usize {
        self.before(at).trim_start_matches('\u{FEFF}').chars().count()
    }
}

/// The splices of a document: the parts of its text that are replaced, and their new texts.
#[derive(Default)]
pub(crate) struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    pub fn put(&mut self, range: Range<usize>, new: impl Into<String>) {
        self.0.push((range, new.into()));
    }

    pub fn insert(&mut self, at: usize, new: impl Into<String>) {
        self.put(at..at, new);
    }

    /// Returns true if something is inserted at an offset.
    pub fn has_insertion(&self, at: usize) -> bool {
        self.0.iter().any(|(range, _)| *range == (at..at))
    }

    /// The text with all splices. Those at the same place keep their order, with insertions before what is replaced.
    pub fn apply(mut self, text: &str) -> Result<String, Refusal> {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut new = String::with_capacity(text.len());
        let mut at = 0;
        for (range, replacement) in &self.0 {
            // Splices that overlap have no slice between them.
            new.push_str(text.get(at..range.start).ok_or(Refusal::Layout)?);
            new.push_str(replacement);
            at = range.end;
        }
        new.push_str(text.get(at..).ok_or(Refusal::Layout)?);
        Ok(new)
    }
}
