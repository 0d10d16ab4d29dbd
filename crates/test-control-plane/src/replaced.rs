//! Edits of manifests.

/// Edits a manifest. Unlike `str::replace`, an edit that changes nothing fails the test.
pub trait Replaced {
    /// Replaces all occurrences of a text; panics if there is none.
    #[track_caller]
    fn replaced(&self, from: &str, to: &str) -> String;
}

impl Replaced for str {
    #[track_caller]
    fn replaced(&self, from: &str, to: &str) -> String {
        assert!(self.contains(from), "there is no `{from}` to replace in:\n{self}");
        self.replace(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occurrence_is_replaced() {
        assert_eq!("a: 1, b: 1".replaced("1", "2"), "a: 2, b: 2");
    }

    #[test]
    #[should_panic(expected = "there is no `replicas: 2` to replace")]
    fn an_edit_that_changes_nothing_fails() {
        let _ = "replicas: 3".replaced("replicas: 2", "replicas: 4");
    }
}
