use std::fmt;

use serde::{Serialize, Serializer};

/// Longest name of an object (apimachinery `pkg/api/validate/content`, `IsDNS1123Subdomain`).
pub const MAX_NAME: usize = 253;
/// The characters that [`Glob::of_names`] reads, as a regular expression of JSON Schema.
pub const NAME_PATTERN: &str = r"^[^\[\]{}()|^$+\\\s]*$";

/// A glob: a name in which `*` matches any characters, including none. In a glob for names of Kubernetes, `?` matches one character.
///
/// Matching takes time in proportion to the text: the pieces between the stars are searched from left to right, and the first
/// match of each is as good as any later one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    /// The pieces between the stars; a single piece is the whole text.
    pieces: Vec<String>,
    /// True if `?` matches any one character.
    has_single: bool,
}

impl Glob {
    /// Reads a glob in which every character but `*` is literal: names of field managers have any characters.
    pub fn new(text: &str) -> Self {
        Self { pieces: text.split('*').map(ToOwned::to_owned).collect(), has_single: false }
    }

    /// Reads a glob for names of contexts, which have any characters; `?` matches one of them, as in names of Kubernetes.
    pub fn of_contexts(text: &str) -> Self {
        Self { has_single: text.contains('?'), ..Self::new(text) }
    }

    /// Makes a glob from the pieces between its stars.
    pub(super) fn of_pieces(pieces: Vec<String>) -> Self {
        Self { pieces, has_single: false }
    }

    /// Reads a glob for names of Kubernetes. Refuses a regular expression or another kind of glob, which would never match.
    pub fn of_names(text: &str) -> Result<Self, String> {
        let refused = |cause| Err(format!("`{text}` {cause}"));
        if text.len() > MAX_NAME {
            return refused("is longer than the 253 characters of a name");
        }
        if text.contains(|c: char| "[]{}()|^$+\\".contains(c) || c.is_whitespace() || c.is_control()) {
            return refused("is not a glob: only `*` and `?` stand for other characters");
        }
        Ok(Self { has_single: text.contains('?'), ..Self::new(text) })
    }

    /// Returns true if it matches its own spelling only.
    pub fn is_literal(&self) -> bool {
        self.pieces.len() == 1 && !self.has_single
    }

    /// Returns true if it matches the whole text.
    pub fn matches(&self, text: &str) -> bool {
        if self.has_single {
            return self.matches_singles(text);
        }
        let Some((first, rest)) = self.pieces.split_first() else { return text.is_empty() };
        let Some((last, middle)) = rest.split_last() else { return text == first };
        let Some(mut text) = text.strip_prefix(first.as_str()) else { return false };
        for piece in middle {
            match text.split_once(piece.as_str()) {
                Some((_, rest)) => text = rest,
                None => return false,
            }
        }
        text.ends_with(last.as_str())
    }

    /// Matches pieces in which `?` stands for one character. Each piece has a fixed length, so that its first match is still as good as any later one. A name that is longer
    /// than names of Kubernetes matches nothing, which bounds the time.
    fn matches_singles(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().take(MAX_NAME + 1).collect();
        let pieces: Vec<Vec<char>> = self.pieces.iter().map(|piece| piece.chars().collect()).collect();
        let fits = |piece: &[char], text: &[char]| {
            piece.len() == text.len() && piece.iter().zip(text).all(|(want, is)| *want == '?' || want == is)
        };
        let Some((first, rest)) = pieces.split_first().filter(|_| text.len() <= MAX_NAME) else { return false };
        let Some((last, middle)) = rest.split_last() else { return fits(first, &text) };
        let Some((start, mut left)) = text.split_at_checked(first.len()) else { return false };
        if !fits(first, start) {
            return false;
        }
        for piece in middle {
            let found = (0..=left.len())
                .find(|at| left.get(*at..at.saturating_add(piece.len())).is_some_and(|part| fits(piece, part)));
            match found.and_then(|at| left.get(at.saturating_add(piece.len())..)) {
                Some(rest) => left = rest,
                None => return false,
            }
        }
        left.len().checked_sub(last.len()).and_then(|at| left.get(at..)).is_some_and(|end| fits(last, end))
    }
}

/// Writes the original spelling, unless a piece has a star itself.
impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pieces.join("*"))
    }
}

impl Serialize for Glob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_have_any_characters() {
        for (glob, text, matches) in [
            ("prod-?", "prod-1", true),
            ("prod-?", "prod-12", false),
            ("prod-?", "prod-", false),
            ("arn:aws:eks:*:1:cluster/a (b)", "arn:aws:eks:eu:1:cluster/a (b)", true),
            ("user@[::1]:6443/?", "user@[::1]:6443/x", true),
        ] {
            assert_eq!(Glob::of_contexts(glob).matches(text), matches, "{glob} {text}");
        }
    }

    #[test]
    fn stars_stand_for_any_characters() {
        for (glob, text) in [
            ("web", "web"),
            ("*", ""),
            ("*", "web"),
            ("web-*", "web-"),
            ("*-web", "my-web"),
            ("a*b*c", "a-b-b-c"),
            ("a*bc", "abcbc"),
            ("*ab*ab*", "abab"),
            ("", ""),
            ("**", "x"),
        ] {
            assert!(Glob::new(glob).matches(text), "{glob} {text}");
        }
        for (glob, text) in
            [("web", "webx"), ("", "x"), ("a*a", "a"), ("ab*ba", "aba"), ("*ab*ab*", "ab"), ("a*b", "ax")]
        {
            assert!(!Glob::new(glob).matches(text), "{glob} {text}");
        }
    }

    #[test]
    fn in_names_a_question_mark_is_one_character() {
        for (glob, text) in [
            ("web-?", "web-1"),
            ("?", "é"),
            ("??", "ab"),
            ("*-?", "web-1"),
            ("a?c*e?", "abcdef"),
            ("*?b*", "xxab"),
            ("?*", "x"),
            ("*a?b*c", "aab-axb-c"),
        ] {
            assert!(Glob::of_names(glob).unwrap().matches(text), "{glob} {text}");
        }
        for (glob, text) in
            [("web-?", "web-"), ("web-?", "web-10"), ("?", ""), ("?*?", "x"), ("a?c*e?", "abcde"), ("*a?b*c", "ab-c")]
        {
            assert!(!Glob::of_names(glob).unwrap().matches(text), "{glob} {text}");
        }
        assert!(!Glob::new("web-?").matches("web-1"), "a name of a field manager may have any character");
        let hostile = Glob::of_names(&"?*".repeat(126)).unwrap();
        assert!(!hostile.matches(&"a".repeat(1_000_000)), "longer than any name");
    }

    #[test]
    fn a_hostile_glob_takes_no_time() {
        let glob = Glob::new(&"a*".repeat(200));
        let started = std::time::Instant::now();
        for _ in 0..100 {
            assert!(!glob.matches(&format!("b{}", "a".repeat(10_000))));
            assert!(!Glob::new(&format!("{}b", "a*".repeat(500))).matches(&"a".repeat(100_000)));
        }
        assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    }

    #[test]
    fn regular_expressions_are_refused() {
        let refused = |text: &str| Glob::of_names(text).unwrap_err();
        assert_eq!(
            refused("Deployment|StatefulSet"),
            "`Deployment|StatefulSet` is not a glob: only `*` and `?` stand for other characters"
        );
        for text in ["^web$", "web-[0-9]", "a b", "{a,b}"] {
            refused(text);
        }
        assert!(refused(&"a".repeat(254)).contains("253"));
        for text in ["*", "system:*", "apps", "example.com", ""] {
            Glob::of_names(text).unwrap();
        }
    }
}
