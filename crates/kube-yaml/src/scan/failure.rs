/// Why a text is no YAML as go-yaml reads it, or none that a person means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A tab where indentation is.
    Tab,
    /// A character that begins nothing.
    NoToken(char),
    /// `- ` where no list can begin.
    EntryNotAllowed,
    /// `? ` where no key can stand.
    KeyNotAllowed,
    /// `: ` where no mapping can begin.
    ValueNotAllowed,
    /// A line that has to be a key, at its beginning.
    KeyWithoutColon,
    /// `&` or `*` without a name.
    NoName,
    /// A name of an anchor that does not end where it should.
    Name,
    /// A tag that is none.
    Tag,
    /// A tag with a handle that is not declared.
    TagHandle,
    /// A quote that is not closed, at the opening one.
    UnclosedQuote,
    /// An escape that does not exist, at the opening quote.
    Escape,
    /// An escape without its digits, at the opening quote.
    EscapeDigits,
    /// What follows `|` or `>` on its line.
    BlockHeader,
    /// `%` at the start of a line.
    Directive,
    /// A sign that begins unquoted text inside brackets, or is in it.
    SignInFlow(char),
    /// A colon inside brackets that go-yaml takes for a part of the text.
    ColonInFlow,
    /// A line break of YAML 1.1 that no editor shows as one.
    OldBreak(char),
    /// Something that is no entry of the block mapping around it.
    NoBlockKey,
    /// Something that is no item of the block sequence around it.
    NoBlockEntry,
    /// Something inside brackets where they should go on or end.
    NoFlowSeparator,
    /// A key inside brackets that is too long, or on several lines.
    LateFlowValue,
    /// Something that is no value.
    NoNode,
}

/// Where a text is no YAML, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The offset in bytes.
    pub at: usize,
    pub cause: Cause,
}

impl Failure {
    pub(crate) fn new(at: usize, cause: Cause) -> Self {
        Self { at, cause }
    }
}
