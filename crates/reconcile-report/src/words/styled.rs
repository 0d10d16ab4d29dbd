//! Text with roles instead of colours: a span has a meaning here, and the theme gives it a colour.

use reconcile_core::text::width;

/// The role of a span of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Plain text.
    Plain,
    /// An object that is to be created, or an added value or line.
    Add,
    /// An object that is to be changed.
    Change,
    /// The added words of a line.
    AddWord,
    /// An object that is to be deleted, or a removed value or line.
    Remove,
    /// The removed words of a line.
    RemoveWord,
    /// An error, or anything else that needs attention.
    Error,
    /// An object's name.
    Name,
    /// An explanation: sources, owners, context.
    Note,
    /// A hint: an action to take.
    Hint,
}

/// Text in spans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Styled {
    spans: Vec<(Role, String)>,
}

impl Styled {
    /// No text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a span. Text that comes from outside may hold anything; line ends belong to [`Styled::line_end`].
    pub fn with(mut self, role: Role, text: impl Into<String>) -> Self {
        self.push(role, text);
        self
    }

    /// Appends a span.
    pub fn push(&mut self, role: Role, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.spans.push((role, text));
        }
    }

    /// Replaces the text of a span that was appended.
    pub(crate) fn replace(&mut self, span: usize, text: String) {
        if let Some((_, old)) = self.spans.get_mut(span) {
            *old = text;
        }
    }

    /// Appends a span, and ends the line.
    pub fn line(&mut self, role: Role, text: impl Into<String>) {
        self.push(role, text);
        self.line_end();
    }

    /// Ends the line.
    pub fn line_end(&mut self) {
        self.spans.push((Role::Plain, "\n".to_owned()));
    }

    /// Appends other text.
    pub fn append(&mut self, other: Self) {
        self.spans.extend(other.spans);
    }

    /// The spans, in order. A line end is a span of its own.
    pub fn spans(&self) -> &[(Role, String)] {
        &self.spans
    }

    /// Number of line ends in the text.
    pub fn lines(&self) -> usize {
        self.spans.iter().filter(|(_, text)| text == "\n").count()
    }

    /// The width of the text on one line, in columns.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| width(text)).sum()
    }

    /// Returns true if there is no text.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }
}
