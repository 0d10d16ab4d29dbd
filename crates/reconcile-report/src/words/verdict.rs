//! Verdicts in words.

use crate::{Summary, Verdict};

/// A verdict in words.
pub(crate) struct VerdictWords {
    /// As a heading, and where there is room for one word or two.
    pub heading: &'static str,
    /// In a sentence.
    pub sentence: &'static str,
    /// Of one of several contexts: `2 with drift`.
    pub of_context: &'static str,
}

/// Returns the words for a result with these counts. Differences are drift if something changed in the cluster; changes of the
/// manifests alone, as in a pull request, are changes.
pub(crate) fn verdict(verdict: Verdict, counts: &Summary) -> VerdictWords {
    let words = |heading, sentence, of_context| VerdictWords { heading, sentence, of_context };
    match verdict {
        Verdict::Ready => words("Ready", "ready", "ready"),
        Verdict::InSync => words("In sync", "in sync", "without differences"),
        Verdict::Applied => words("Applied", "applied", "applied"),
        Verdict::Drift if counts.sides.has_cluster() => words("Drift", "drift", "with drift"),
        Verdict::Drift => words("Changes", "changes", "with changes"),
        Verdict::NotReady => words("Not ready", "not ready", "not ready"),
        Verdict::Unreachable => words("Unreachable", "the cluster cannot be reached", "unreachable"),
        Verdict::Incomplete => words("Incomplete", "incomplete", "incomplete"),
        Verdict::Invalid => words("Invalid", "the input, the configuration or the command line is invalid", "invalid"),
        Verdict::Interrupted => words("Interrupted", "interrupted", "interrupted"),
    }
}
