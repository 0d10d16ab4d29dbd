mod bounds;
mod meaning;
mod mistakes;

use serde_json::{Value, json};

use super::*;

/// What an expression is of an object.
#[track_caller]
fn of(text: &str, object: &Value) -> Result<bool, EvaluationError> {
    Condition::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).holds(object)
}

fn refused(text: &str) -> ParseError {
    Condition::parse(text).expect_err(text)
}
