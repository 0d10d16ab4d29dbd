use std::error::Error;
use std::fmt;

/// Error for a text that is not a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Description in one sentence, without a full stop.
    pub message: String,
    /// A suggestion to fix it.
    pub hint: String,
    /// Line and column in the text, from 1, if the error has a position.
    pub position: Option<(usize, usize)>,
}

impl ParseError {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), position: None }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ParseError {}

/// Reason why a condition is neither true nor false for an object. It only quotes the expression, as values of the
/// object may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvaluationError {
    /// The object has no such field, or the map no such key; `None` if the expression does not contain the name.
    Missing(Option<String>),
    /// Types of values do not match each other or a function.
    Types,
    /// A list has no such item, a number is too large, or something is divided by zero.
    Range,
    /// The result is neither true nor false.
    NotBoolean,
    /// The evaluation takes too much time or memory.
    TooCostly,
    /// The interpreter failed.
    Internal,
}

impl fmt::Display for EvaluationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(Some(name)) => write!(f, "there is no `{name}`"),
            Self::Missing(None) => f.write_str("there is no such key"),
            Self::Types => f.write_str("its values have types that cannot be combined"),
            Self::Range => f.write_str("an index or a number is out of range"),
            Self::NotBoolean => f.write_str("it is neither true nor false"),
            Self::TooCostly => f.write_str("it takes too much time or memory for this object"),
            Self::Internal => f.write_str("the interpreter of CEL failed"),
        }
    }
}

impl Error for EvaluationError {}
