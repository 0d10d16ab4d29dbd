//! The commands that permissions are computed for.

/// A command that permissions are computed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// `diff`
    Diff,
    /// `apply`
    Apply,
    /// `blame`
    Blame,
}

impl Purpose {
    /// The name of the command.
    pub fn name(self) -> &'static str {
        match self {
            Self::Diff => "diff",
            Self::Apply => "apply",
            Self::Blame => "blame",
        }
    }

    /// Names commands in a sentence: `diff, apply and blame`.
    pub fn listed(purposes: &[Self]) -> String {
        let names: Vec<&str> = purposes.iter().map(|purpose| purpose.name()).collect();
        match names.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
            _ => names.concat(),
        }
    }
}
