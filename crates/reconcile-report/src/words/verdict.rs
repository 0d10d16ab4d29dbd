//! Verdicts in words.

use crate::{Command, Verdict};

/// A verdict in words.
pub(crate) struct VerdictWords {
    /// As a heading, and where there is room for one word or two.
    pub heading: &'static str,
    /// In a sentence.
    pub sentence: &'static str,
    /// Of one of several contexts: `2 with drift`.
    pub of_context: &'static str,
}

/// Returns the words for a verdict.
pub(crate) fn verdict(verdict: Verdict, command: Command) -> VerdictWords {
    let of = |heading, sentence, of_context| VerdictWords { heading, sentence, of_context };
    match verdict {
        Verdict::InSync if command == Command::Status => of("Ready", "in sync", "ready"),
        Verdict::InSync => of("In sync", "in sync", "without differences"),
        Verdict::Applied => of("Applied", "applied", "applied"),
        Verdict::Drift => of("Drift", "drift", "with drift"),
        Verdict::NotReady => of("Not ready", "not ready", "not ready"),
        Verdict::Unreachable => of("Unreachable", "the cluster cannot be reached", "unreachable"),
        Verdict::Incomplete => of("Incomplete", "incomplete", "incomplete"),
        Verdict::Invalid => of("Invalid", "the input, the configuration or the command line is invalid", "invalid"),
        Verdict::Interrupted => of("Interrupted", "interrupted", "interrupted"),
    }
}
