//! Signs in the environment that nobody watches, or that the terminal can only print lines.

use std::ffi::{OsStr, OsString};

/// Returns true in a pipeline: `CI` is set, and neither empty nor `false`.
pub(super) fn is_pipeline() -> bool {
    says_pipeline(std::env::var_os("CI"))
}

/// Returns true if the terminal can only print lines: `TERM` is `dumb` or, as in git, not set. Windows does not set it.
pub(super) fn is_dumb() -> bool {
    std::env::var_os("TERM").map_or(!cfg!(windows), |term| says_dumb(&term))
}

fn says_pipeline(ci: Option<OsString>) -> bool {
    ci.is_some_and(|ci| !ci.is_empty() && ci != "false")
}

fn says_dumb(term: &OsStr) -> bool {
    term.is_empty() || term == "dumb"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_is_empty_or_false_is_no_pipeline() {
        for (ci, expected) in
            [(None, false), (Some(""), false), (Some("false"), false), (Some("true"), true), (Some("1"), true)]
        {
            assert_eq!(says_pipeline(ci.map(OsString::from)), expected, "{ci:?}");
        }
    }

    #[test]
    fn a_terminal_without_a_name_is_dumb() {
        for (term, expected) in [("", true), ("dumb", true), ("xterm-256color", false)] {
            assert_eq!(says_dumb(OsStr::new(term)), expected, "{term}");
        }
    }
}
