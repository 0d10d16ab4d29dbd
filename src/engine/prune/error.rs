use reconcile_core::diagnostic::Diagnostic;

/// An error that ends a run with an apply set before anything is compared or written.
#[derive(Debug)]
pub(crate) enum ApplySetError {
    /// The flags, the manifests or the parent do not allow it.
    Refused(Vec<Diagnostic>),
    /// The parent could not be read, so that nothing is known of the set.
    Unreadable(Diagnostic),
}

impl ApplySetError {
    /// The flags or the parent do not allow it; the hint says what is possible.
    pub(super) fn refused(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused(vec![Diagnostic::general(message).with_hint(hint)])
    }
}
