//! What is wrong with a document that the parser can follow, in words for the person who wrote it.
//!
//! The texts name keys, never values.

use granit_parser::Span;

use super::{MAX_DEPTH, Mark, Problem};

pub(super) fn too_deep(mark: Mark) -> Problem {
    Problem::refused(mark, format!("mappings and sequences are nested more than {MAX_DEPTH} levels deep"))
}

pub(super) fn too_many_aliases(mark: Mark) -> Problem {
    Problem::refused(mark, "the aliases of this document expand it beyond all measure")
        .hint("write the values out, or use fewer aliases inside anchored values")
}

pub(super) fn unknown_anchor(mark: Mark, name: &str) -> Problem {
    Problem::refused(mark, format!("`*{name}` is an alias, but no anchor `&{name}` stands before it in this document"))
        .hint("quote the value if the `*` belongs to it")
}

pub(super) fn alias_in_itself(mark: Mark) -> Problem {
    Problem::refused(mark, "this alias stands inside the value that its anchor names, which would never end")
}

pub(super) fn unsupported_key(mark: Mark) -> Problem {
    Problem::refused(mark, "this key is null, too large a number or a collection, and JSON has no such key")
        .hint("quote the key to use its text")
}

pub(super) fn collection_as_key(mark: Mark, text: &str, span: Span) -> Problem {
    let problem = Problem::refused(mark, "a mapping or sequence cannot be a key");
    let template = span.start.byte_offset().is_some_and(|at| text[at..].starts_with("{"))
        && span.start.byte_offset().is_some_and(|at| at > 0 && text[..at].ends_with('{'));
    if template { problem.hint(TEMPLATE_HINT) } else { problem }
}

/// For `{{ … }}` that was not filled in or not quoted.
pub(super) const TEMPLATE_HINT: &str =
    "`{{ … }}` is template text: render the template first, or quote the whole value";

pub(super) fn not_a_number(mark: Mark) -> Problem {
    Problem::refused(mark, "infinity and not-a-number have no form in JSON").hint("quote the value if it is a text")
}

pub(super) fn not_base64(mark: Mark) -> Problem {
    Problem::refused(mark, "the value of `!!binary` is not valid base64")
}

pub(super) fn binary_loss(mark: Mark) -> Problem {
    Problem::lossy(mark, "the bytes of this `!!binary` value are not UTF-8, and kubectl replaces the invalid ones")
        .hint("write the base64 text without the tag, into a field that takes base64")
}

pub(super) fn tag_mismatch(mark: Mark, name: &str) -> Problem {
    Problem::refused(mark, format!("this value is not what its tag `!!{name}` says"))
}

pub(super) fn unknown_escape(mark: Mark, escape: &str) -> Problem {
    let problem = Problem::refused(mark, format!("YAML has no escape `{escape}` in double quotes"));
    match escape {
        "\\/" => problem.hint("write `/` without the backslash"),
        "\\u" | "\\U" => problem.hint("write the character itself; YAML has no surrogate pairs"),
        _ => problem.hint("write `\\\\` for a backslash, or use single quotes"),
    }
}
