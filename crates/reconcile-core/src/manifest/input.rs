//! One input of a run.

use std::sync::Arc;

use super::built::BuiltFrom;
use super::encrypted::Decrypted;
use super::source::SourceText;

/// The content of one file, URL or stream.
#[derive(Debug)]
pub struct Input {
    /// Its name as the user would write it.
    pub name: Arc<str>,
    /// Its text.
    pub text: SourceText,
    /// Its decrypted documents; `None` if they are left encrypted.
    pub decrypted: Option<Decrypted>,
    /// The files that its objects come from, if it was built from a kustomization.
    pub built_from: Option<BuiltFrom>,
}

impl Input {
    /// A text with this name. Documents in it that are encrypted stay so.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<SourceText>) -> Self {
        Self { name: name.into(), text: text.into(), decrypted: None, built_from: None }
    }
}
