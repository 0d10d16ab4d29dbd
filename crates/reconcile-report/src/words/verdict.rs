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
    let words = |heading, sentence, of_context| VerdictWords { heading, sentence, of_context };
    match verdict {
        Verdict::InSync if command == Command::Status => words("Ready", "in sync", "ready"),
        Verdict::InSync => words("In sync", "in sync", "without differences"),
        Verdict::Applied => words("Applied", "applied", "applied"),
        Verdict::Drift => words("Drift", "drift", "with drift"),
        Verdict::NotReady => words("Not ready", "not ready", "not ready"),
        Verdict::Unreachable => words("Unreachable", "the cluster cannot be reached", "unreachable"),
        Verdict::Incomplete => words("Incomplete", "incomplete", "incomplete"),
        Verdict::Invalid => words("Invalid", "the input, the configuration or the command line is invalid", "invalid"),
        Verdict::Interrupted => words("Interrupted", "interrupted", "interrupted"),
    }
}
