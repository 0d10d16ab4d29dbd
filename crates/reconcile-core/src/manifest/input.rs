use std::sync::Arc;

use super::source::SourceText;

/// What was read from one file, URL or stream.
#[derive(Debug)]
pub struct Input {
    /// Its name as the user would write it.
    pub name: Arc<str>,
    /// What it holds.
    pub text: SourceText,
}
