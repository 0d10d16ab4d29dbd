use std::fmt;

/// A glob: a name in which `*` matches any characters, including none.
///
/// Matching takes time in proportion to the text: the pieces between the stars are searched from left to right, and the first
/// match of each is as good as any later one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    /// The pieces between the stars; a single piece is the whole text.
    pieces: Vec<String>,
}

/// A name that cannot be read as a glob.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` {cause}")]
pub struct GlobError {
    text: String,
    cause: &'static str,
}

impl Glob {
    /// Reads a glob in which every character but `*` is literal.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self { pieces: text.split('*').map(ToOwned::to_owned).collect() }
    }

    /// Makes a glob from the pieces between its stars.
    pub(super) fn of_pieces(pieces: Vec<String>) -> Self {
        Self { pieces }
    }

    /// Reads a glob for names of Kubernetes. Refuses a regular expression or another kind of glob, which would never match.
    pub fn of_names(text: &str) -> Result<Self, GlobError> {
        let refused = |cause| Err(GlobError { text: text.to_owned(), cause });
        if text.len() > 253 {
            return refused("is longer than the 253 characters of a name");
        }
        if text.contains(|c: char| "?[]{}()|^$+\\".contains(c) || c.is_whitespace() || c.is_control()) {
            return refused("is not a glob: only `*` stands for other characters");
        }
        Ok(Self::new(text))
    }

    /// Returns true if it has no star.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.pieces.len() == 1
    }

    /// Returns true if it matches the whole text.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
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
}

/// Writes the original spelling, unless a piece has a star itself.
impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pieces.join("*"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let refused = |text: &str| Glob::of_names(text).unwrap_err().to_string();
        assert_eq!(
            refused("Deployment|StatefulSet"),
            "`Deployment|StatefulSet` is not a glob: only `*` stands for other characters"
        );
        for text in ["web-?", "^web$", "web-[0-9]", "a b", "{a,b}"] {
            refused(text);
        }
        assert!(refused(&"a".repeat(254)).contains("253"));
        for text in ["*", "system:*", "apps", "example.com", ""] {
            Glob::of_names(text).unwrap();
        }
    }
}
