use std::error::Error;
use std::fmt;

/// Why a text is not a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// In one sentence, without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// Line and column of the text, from 1, if it is about one place.
    pub place: Option<(usize, usize)>,
}

impl ParseError {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), place: None }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ParseError {}

/// Why a condition is neither true nor false of an object. Says nothing that is not in the expression: values of the object may be
/// secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvaluationError {
    /// The object has no such field, or the map no such key; none if the expression does not spell it out.
    Missing(Option<String>),
    /// Values are of types that do not fit, or not what a function takes.
    Types,
    /// A list has no such item, a number is too large, or something is divided by zero.
    Range,
    /// The result is neither true nor false.
    NotBoolean,
    /// It takes too much time or memory.
    TooCostly,
    /// The interpreter failed.
    Internal,
}

impl fmt::Display for EvaluationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(Some(name)) => write!(f, "there is no `{name}`"),
            Self::Missing(None) => f.write_str("there is no such key"),
            Self::Types => f.write_str("its values are of types that do not fit together"),
            Self::Range => f.write_str("an index or a number is out of range"),
            Self::NotBoolean => f.write_str("it is neither true nor false"),
            Self::TooCostly => f.write_str("it takes too much time or memory for this object"),
            Self::Internal => f.write_str("the interpreter of CEL failed"),
        }
    }
}

impl Error for EvaluationError {}
