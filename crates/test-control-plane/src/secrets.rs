//! Secret values, which no output of the program may contain in any scenario.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

static REGISTERED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Registers a value for the rest of the test run, and returns it.
pub fn register(value: &str) -> String {
    assert!(value.len() >= 8, "`{value}` is too short to be searched for in all output");
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner).insert(value.to_owned());
    value.to_owned()
}

/// The first registered value in `text`: plain, escaped as in JSON, or in base64.
pub fn leaked_secret(text: &str) -> Option<String> {
    let registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    registered.iter().find(|value| spellings(value).iter().any(|spelling| text.contains(spelling))).cloned()
}

pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The spellings of a value. Base64 is without the incomplete last group, which depends on the next bytes (often a
/// newline).
fn spellings(value: &str) -> [String; 3] {
    let escaped = serde_json::Value::from(value).to_string();
    let whole_groups = value.len() / 3 * 3;
    [value.to_owned(), escaped[1..escaped.len() - 1].to_owned(), base64(&value.as_bytes()[..whole_groups])]
}
