//! The commands that permissions are computed for.

/// A command that permissions are computed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// `diff`
    Diff,
    /// `apply`
    Apply,
}

impl Purpose {
    /// The name of the command.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Diff => "diff",
            Self::Apply => "apply",
        }
    }
}
