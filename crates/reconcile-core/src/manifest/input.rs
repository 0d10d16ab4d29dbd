use std::sync::Arc;

use super::source::SourceText;

/// The content of one file, URL or stream.
#[derive(Debug)]
pub struct Input {
    /// Its name as the user would write it.
    pub name: Arc<str>,
    /// Its text.
    pub text: SourceText,
}
