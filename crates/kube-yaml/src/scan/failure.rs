/// Reason for which go-yaml does not accept a text as YAML, or reads it differently than its author meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A tab in indentation.
    Tab,
    /// A character that cannot begin a token.
    NoToken(char),
    /// `- ` at a position where no list can begin.
    EntryNotAllowed,
    /// `? ` at a position where a key is not allowed.
    KeyNotAllowed,
    /// `: ` at a position where no mapping can begin.
    ValueNotAllowed,
    /// A line that has to be a key but has no colon; the failure is at its beginning.
    KeyWithoutColon,
    /// `&` or `*` without a name.
    NoName,
    /// A name of an anchor with characters that are not allowed.
    Name,
    /// A `!` that does not begin a valid tag.
    Tag,
    /// A tag with a handle that is not declared.
    TagHandle,
    /// A quote that is not closed; the failure is at the opening one.
    UnclosedQuote,
    /// An unknown escape; the failure is at the opening quote.
    Escape,
    /// An escape without its digits; the failure is at the opening quote.
    EscapeDigits,
    /// Unexpected text behind `|` or `>` on its line.
    BlockHeader,
    /// `%` at the start of a line.
    Directive,
    /// An indicator at the beginning of unquoted text inside brackets, or in it.
    SignInFlow(char),
    /// A colon inside brackets that go-yaml reads as part of the text.
    ColonInFlow,
    /// A line break of YAML 1.1 that editors do not show as one.
    OldBreak(char),
    /// A node that is not an entry of the block mapping around it.
    NoBlockKey,
    /// A node that is not an item of the block sequence around it.
    NoBlockEntry,
    /// A node inside brackets instead of a `,` or the closing bracket.
    NoFlowSeparator,
    /// A key inside brackets that is too long, or on several lines.
    LateFlowValue,
    /// A token instead of a value.
    NoNode,
}

/// Position and reason of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Offset in bytes.
    pub at: usize,
    pub cause: Cause,
}

impl Failure {
    pub(crate) fn new(at: usize, cause: Cause) -> Self {
        Self { at, cause }
    }
}
