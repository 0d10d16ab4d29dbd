use serde::Serialize;

/// In sync, or the pass is complete, or all is ready.
pub const EXIT_SUCCESS: u8 = 0;
/// `diff` found drift.
pub const EXIT_DRIFT: u8 = 1;
/// Usage or configuration error, or input that can't be read: nothing was compared or changed.
pub const EXIT_INVALID: u8 = 2;
/// The cluster could not be reached, or refused the credentials: nothing was compared.
pub const EXIT_UNREACHABLE: u8 = 3;
/// At least one object could not be compared or applied; the others were.
pub const EXIT_INCOMPLETE: u8 = 4;
/// Applied, but not ready; or not ready (`status`).
pub const EXIT_NOT_READY: u8 = 5;
/// Interrupted; what was done so far is reported.
pub const EXIT_INTERRUPTED: u8 = 130;

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// `diff`: nothing differs. `status`: all is ready.
    InSync,
    /// `diff`: something differs, and everything was compared.
    Drift,
    /// Something could not be compared or applied.
    Incomplete,
    /// `apply`: the pass is complete.
    Applied,
    /// Applied, but not ready; or not ready (`status`).
    NotReady,
    /// The input or the command line is no good.
    Invalid,
    /// No cluster.
    Unreachable,
    /// Interrupted.
    Interrupted,
}

impl Verdict {
    /// The exit code. `exit_zero` changes the one of drift only.
    #[must_use]
    pub fn exit_code(self, exit_zero: bool) -> u8 {
        match self {
            Self::Drift if exit_zero => EXIT_SUCCESS,
            Self::InSync | Self::Applied => EXIT_SUCCESS,
            Self::Drift => EXIT_DRIFT,
            Self::Incomplete => EXIT_INCOMPLETE,
            Self::NotReady => EXIT_NOT_READY,
            Self::Invalid => EXIT_INVALID,
            Self::Unreachable => EXIT_UNREACHABLE,
            Self::Interrupted => EXIT_INTERRUPTED,
        }
    }
}
