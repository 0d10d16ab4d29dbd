mod bounds;
mod invalid;
mod meaning;

use serde_json::{Value, json};

use super::*;

/// The result of an expression for an object.
#[track_caller]
fn evaluate(text: &str, object: &Value) -> Result<bool, EvaluationError> {
    Condition::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).holds(object)
}

fn refused(text: &str) -> ParseError {
    Condition::parse(text).expect_err(text)
}
