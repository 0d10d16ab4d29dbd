//! Text with roles instead of colours: what a span means is decided here, how it looks in the terminal module.

use reconcile_core::text::width;

/// What a span of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Plain text.
    Plain,
    /// An object that is to be created, a value or a line that comes.
    Add,
    /// An object that is to be changed.
    Change,
    /// The words of it that are new.
    AddWord,
    /// An object, a value or a line that goes.
    Remove,
    /// The words of it that go.
    RemoveWord,
    /// Something that needs attention.
    Problem,
    /// An object's name.
    Name,
    /// What explains: sources, owners, context.
    Note,
    /// What to do about it.
    Hint,
}

/// Text in spans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Styled {
    spans: Vec<(Role, String)>,
}

impl Styled {
    /// No text.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a span. Text that comes from outside may hold anything; line ends belong to [`Styled::line_end`].
    #[must_use]
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

    /// Ends the line.
    pub fn line_end(&mut self) {
        self.spans.push((Role::Plain, "\n".to_owned()));
    }

    /// Appends other text.
    pub fn append(&mut self, other: Self) {
        self.spans.extend(other.spans);
    }

    /// The spans, in order. A line end is a span of its own.
    #[must_use]
    pub fn spans(&self) -> &[(Role, String)] {
        &self.spans
    }

    /// How many lines end in it.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.spans.iter().filter(|(_, text)| text == "\n").count()
    }

    /// Columns that it needs on one line.
    #[must_use]
    pub fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| width(text)).sum()
    }

    /// Returns true if there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }
}
