//! Patterns of definitions, matched within limits: a definition of the input may hold any pattern, and an object any text.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use regex_lite::{Regex, RegexBuilder};

/// Limits in bytes: the longest pattern, the memory that one takes once compiled, and the longest text that is matched.
const LONGEST_PATTERN: usize = 1_000;
const SMALLEST_PATTERN: usize = 1024;
const LARGEST_PATTERN: usize = 64 * 1024;
const LONGEST_TEXT: usize = 4_000;
/// The cost of matching the longest text with the largest pattern, in bytes of the compiled pattern times bytes of the text: the time
/// that a match takes grows with both.
const LARGEST_MATCH: usize = LARGEST_PATTERN * LONGEST_TEXT;
/// Number of the largest matches in a run.
const MOST_MATCHES: usize = 200;

/// The patterns that a run has matched, each compiled once, with what is left for others. Once nothing is left, each pattern counts as
/// fulfilled: the server decides.
#[derive(Debug)]
pub struct Patterns(Mutex<Matching>);

#[derive(Debug)]
struct Matching {
    /// The compiled patterns. `None` for one that is not checked here.
    compiled: HashMap<String, Option<Pattern>>,
    /// The cost that the matches to come may have.
    left: usize,
}

/// A compiled pattern, with a bound of its memory in bytes.
#[derive(Debug)]
struct Pattern {
    expression: Regex,
    size: usize,
}

impl Default for Patterns {
    fn default() -> Self {
        Self::within(LARGEST_MATCH.saturating_mul(MOST_MATCHES))
    }
}

impl Patterns {
    fn within(left: usize) -> Self {
        Self(Mutex::new(Matching { compiled: HashMap::new(), left }))
    }

    /// Returns false if a text is known not to match a pattern.
    pub(super) fn may_match(&self, pattern: &str, text: &str) -> bool {
        if pattern.len() > LONGEST_PATTERN || text.len() > LONGEST_TEXT {
            return true;
        }
        let mut matching = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        matching.may_match(pattern, text).unwrap_or(true)
    }
}

impl Matching {
    /// `None` if nothing is known.
    fn may_match(&mut self, pattern: &str, text: &str) -> Option<bool> {
        if !self.compiled.contains_key(pattern) {
            // To read a pattern takes time, too, and it stays in memory.
            self.spend(SMALLEST_PATTERN.saturating_mul(LONGEST_TEXT))?;
            let compiled = Pattern::compile(pattern);
            let size = compiled.as_ref().map_or(LARGEST_PATTERN, |compiled| compiled.size);
            self.compiled.insert(pattern.to_owned(), compiled);
            self.spend(size.saturating_mul(LONGEST_TEXT))?;
        }
        let size = self.compiled.get(pattern)?.as_ref()?.size;
        self.spend(size.saturating_mul(text.len()))?;
        Some(self.compiled.get(pattern)?.as_ref()?.expression.is_match(text))
    }

    /// Takes a cost from what is left; `None` once that is not enough.
    fn spend(&mut self, cost: usize) -> Option<()> {
        let left = self.left.checked_sub(cost);
        self.left = left.unwrap_or(0);
        left.map(|_| ())
    }
}

impl Pattern {
    /// A pattern, read as Go reads it: its classes are those of ASCII. `None` if it is too large, or cannot be read here.
    fn compile(pattern: &str) -> Option<Self> {
        let sizes = std::iter::successors(Some(SMALLEST_PATTERN), |size| size.checked_mul(2));
        sizes.take_while(|size| *size <= LARGEST_PATTERN).find_map(|size| {
            let expression = RegexBuilder::new(pattern).size_limit(size).build().ok()?;
            Some(Self { expression, size })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_count_as_fulfilled_once_matching_has_cost_enough() {
        let patterns = Patterns::within(LARGEST_MATCH.saturating_mul(4));
        let found =
            (0..100).filter(|at| !patterns.may_match("^(a?a?a?a?a?){100}$", &format!("{}{at}", "a".repeat(3_990))));
        assert!((1..=4).contains(&found.count()));
        assert!(patterns.may_match("^a$", "b"), "nothing is left");
    }

    #[test]
    fn usual_patterns_are_matched_in_many_texts() {
        let patterns = Patterns::default();
        let refused = (0..10_000).filter(|at| !patterns.may_match(r"^[a-z]+(-\d+)?$", &format!("name-{at}-")));
        assert_eq!(refused.count(), 10_000);
        assert!(patterns.may_match(r"^[a-z]+(-\d+)?$", "name-1") && patterns.may_match("(", "a"));
        assert!(patterns.may_match("^a$", &"b".repeat(LONGEST_TEXT.saturating_add(1))), "too long");
    }
}
