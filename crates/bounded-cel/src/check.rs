//! Checks a text before the parser of `cel` reads it. That parser recurses for each bracket and each operand, so these
//! checks bound its stack.

use super::MAX_LENGTH;
use super::error::ParseError;

/// Largest number of brackets in an expression, including those in strings. Their number bounds the depth.
const MAX_BRACKETS: usize = 40;
/// Largest number of names, numbers and signs in an expression: each of `a.a.a`, `1+1+1` and `a?b:c` nests as deeply as
/// it is long.
const MAX_TOKENS: usize = 300;

/// Checks the size of a text.
pub(crate) fn check(text: &str) -> Result<(), ParseError> {
    let hint = "shorten it";
    if text.trim().is_empty() {
        return Err(ParseError::new("the expression is empty", "write one as in `status.phase == \"Ready\"`"));
    }
    if text.len() > MAX_LENGTH {
        return Err(ParseError::new(format!("the expression is longer than {MAX_LENGTH} bytes"), hint));
    }
    if text.chars().filter(|character| "([{".contains(*character)).count() > MAX_BRACKETS {
        return Err(ParseError::new(format!("the expression has more than {MAX_BRACKETS} brackets"), hint));
    }
    if tokens(text) > MAX_TOKENS {
        let message = format!("the expression has more than {MAX_TOKENS} names, numbers and signs");
        return Err(ParseError::new(message, hint));
    }
    Ok(())
}

/// Upper bound of the number of tokens: each run of letters and digits, and each other character.
fn tokens(text: &str) -> usize {
    let mut tokens: usize = 0;
    let mut continues = false;
    for character in text.chars() {
        let is_word = character.is_alphanumeric() || character == '_';
        let is_new = if is_word { !continues } else { !character.is_whitespace() };
        tokens = tokens.saturating_add(usize::from(is_new));
        continues = is_word;
    }
    tokens
}
