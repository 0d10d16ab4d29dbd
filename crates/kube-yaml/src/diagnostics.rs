//! Diagnostics for documents that the parser accepts, written for the author of the document.
//!
//! The texts quote keys, never values.

use super::anchors::Excess;
use super::scalar::KeyKind;
use super::{MAX_DEPTH, Mark, SyntaxDiagnostic};

/// Diagnostic for a document above [`MAX_DOCUMENT`](super::MAX_DOCUMENT).
pub(super) fn too_large(mark: Mark) -> SyntaxDiagnostic {
    SyntaxDiagnostic::refused(mark, "the document is larger than 8 MiB").hint("split it into several documents")
}

pub(super) fn too_deep(mark: Mark) -> SyntaxDiagnostic {
    SyntaxDiagnostic::refused(mark, format!("mappings and sequences are nested more than {MAX_DEPTH} levels deep"))
}

pub(super) fn too_many_aliases(mark: Mark, excess: Excess) -> SyntaxDiagnostic {
    let message = match excess {
        Excess::Document => "the aliases of this document expand it too much".to_owned(),
        Excess::Run { mebibytes } => {
            format!("the aliases up to here expand the input by more than {mebibytes} MiB, the bound for all documents")
        }
    };
    SyntaxDiagnostic::refused(mark, message).hint("write the values out, or use fewer aliases inside anchored values")
}

/// Diagnostic for an alias without an anchor. It does not quote the name: the text may be a password that begins with
/// `*`.
pub(super) fn unknown_anchor(mark: Mark) -> SyntaxDiagnostic {
    SyntaxDiagnostic::refused(
        mark,
        "`*` begins an alias here, but no anchor of its name comes before it in this document",
    )
    .hint("put the value into quotes if the `*` belongs to it")
}

pub(super) fn alias_in_itself(mark: Mark) -> SyntaxDiagnostic {
    SyntaxDiagnostic::refused(mark, "this alias is inside the value of its own anchor, which would never end")
}

pub(super) fn unsupported_key(mark: Mark) -> SyntaxDiagnostic {
    SyntaxDiagnostic::refused(mark, "this key is null, too large a number or a collection, and JSON has no such key")
        .hint("quote the key to use its text")
}

/// Diagnostic for an unquoted key that has another text in JSON, as it is a boolean or a number in YAML 1.1.
pub(super) fn changed_key(mark: Mark, written: &str, text: &str, kind: KeyKind) -> SyntaxDiagnostic {
    let what = if kind == KeyKind::Bool { "boolean" } else { "number" };
    SyntaxDiagnostic::lossy(mark, format!("the key `{written}` is a {what} without quotes, and becomes `{text}`"))
        .hint(format!("quote it to use its text: `\"{written}\"`"))
}

pub(super) fn collection_as_key(mark: Mark, template: bool) -> SyntaxDiagnostic {
    if template {
        SyntaxDiagnostic::refused(mark, "`{{` opens a mapping inside a mapping's key").hint(TEMPLATE_HINT)
    } else {
        SyntaxDiagnostic::refused(mark, "a mapping or a list cannot be a key").hint("quote the key to use its text")
    }
}

/// Hint for `{{ … }}` that was not rendered or not quoted.
pub(super) const TEMPLATE_HINT: &str =
    "`{{ … }}` is template text: render the template first, or quote the whole value";

pub(super) fn not_a_number(mark: Mark) -> SyntaxDiagnostic {
    SyntaxDiagnostic::refused(mark, "infinity and not-a-number have no form in JSON")
        .hint("quote the value if it is a text")
}

pub(super) fn not_base64(mark: Mark) -> SyntaxDiagnostic {
    SyntaxDiagnostic::refused(mark, "the value of `!!binary` is not valid base64")
}

pub(super) fn binary_loss(mark: Mark) -> SyntaxDiagnostic {
    SyntaxDiagnostic::lossy(
        mark,
        "the bytes of this `!!binary` value are not UTF-8, and kubectl replaces the invalid ones",
    )
    .hint("write the base64 text without the tag, into a field that takes base64")
}

pub(super) fn tag_mismatch(mark: Mark, name: &str) -> SyntaxDiagnostic {
    SyntaxDiagnostic::refused(mark, format!("this value is not what its tag `!!{name}` says"))
}

pub(super) fn unknown_escape(mark: Mark, escape: &str) -> SyntaxDiagnostic {
    let diagnostic = SyntaxDiagnostic::refused(mark, format!("YAML has no escape `{escape}` in double quotes"));
    match escape {
        "\\/" => diagnostic.hint("write `/` without the backslash"),
        "\\u" | "\\U" => diagnostic.hint("write the character itself; YAML has no surrogate pairs"),
        _ => diagnostic.hint("write `\\\\` for a backslash, or use single quotes"),
    }
}

pub(super) fn long_key(mark: Mark) -> SyntaxDiagnostic {
    SyntaxDiagnostic::refused(mark, "a key cannot be longer than 1024 characters")
        .hint("write `? ` before the key, and its `: ` on the next line")
}

pub(super) fn sign_in_flow(mark: Mark, sign: char) -> SyntaxDiagnostic {
    SyntaxDiagnostic::refused(mark, format!("unquoted text inside brackets cannot have a `{sign}` here"))
        .hint("put the text into quotes")
}

pub(super) fn dropped(mark: Mark, end: Mark) -> SyntaxDiagnostic {
    SyntaxDiagnostic::lossy(mark, "the document ends before this text, and kubectl silently drops it")
        .also(Some(end))
        .hint("separate documents with a line `---`, and indent the keys of one mapping alike")
}
