//! Fields in the spelling of other tools, so that their rules can be reused: JSON pointers (Argo CD, Flux) and jq expressions that
//! are plain paths (Argo CD).

use super::glob::Glob;
use super::parse::check_size;
use super::pattern::{FieldPattern, PatternError, Step};

/// Reads a JSON pointer (RFC 6901), such as `/spec/replicas`. A number is the field of this name, or the item at this position of the
/// manifest's list.
pub fn json_pointer(text: &str) -> Result<FieldPattern, PatternError> {
    check_size(text)?;
    let Some(tokens) = text.strip_prefix('/') else {
        let message = format!("`{text}` is not a JSON pointer: it does not begin with `/`");
        return Err(PatternError::new(message, "list paths with dots under `fields`"));
    };
    let steps: Option<Vec<Step>> = tokens.split('/').map(|token| unescaped(token).map(Step::Token)).collect();
    let message = "`~` is followed by `0` or `1` in a JSON pointer";
    let hint = "write `~0` for `~`, and `~1` for `/`";
    let steps = steps.ok_or_else(|| PatternError::new(format!("`{text}` is not a JSON pointer: {message}"), hint))?;
    FieldPattern::of(text, steps)
}

/// Unescapes `~1` to `/` and `~0` to `~`. `None` for any other `~`.
fn unescaped(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut name = parts.next()?.to_owned();
    for part in parts {
        let (c, rest) = match part.strip_prefix('1') {
            Some(rest) => ('/', rest),
            None => ('~', part.strip_prefix('0')?),
        };
        name.push(c);
        name.push_str(rest);
    }
    Some(name)
}

/// Reads a jq expression that is a plain path, such as `.spec.template.spec.containers[].image`.
pub fn jq_path(text: &str) -> Result<FieldPattern, PatternError> {
    check_size(text)?;
    let refused = || {
        let message = format!("`{text}` is not a plain path of jq, and only plain paths are supported");
        let hint =
            "name list items by their keys under `fields`, as in `spec.template.spec.containers[name=app].image`";
        PatternError::new(message, hint)
    };
    let mut rest = text.trim();
    if !rest.starts_with('.') {
        return Err(refused());
    }
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let step;
        (step, rest) = jq_step(rest).ok_or_else(refused)?;
        steps.push(step);
    }
    FieldPattern::of(text, steps)
}

/// `.name`, `."name"`, `.["name"]`, `["name"]`, `.[]`, `[]`, `[0]`
fn jq_step(text: &str) -> Option<(Step, &str)> {
    let dotted = text.strip_prefix('.');
    let rest = dotted.unwrap_or(text);
    if let Some(inside) = rest.strip_prefix('[') {
        if let Some(rest) = inside.strip_prefix(']') {
            return Some((Step::Any, rest));
        }
        if inside.starts_with('"') {
            let (name, rest) = jq_string(inside)?;
            return Some((Step::Field(Glob::of_pieces(vec![name])), rest.strip_prefix(']')?));
        }
        let (digits, rest) = inside.split_once(']')?;
        return Some((Step::Index(digits.parse().ok()?), rest));
    }
    dotted?;
    if rest.starts_with('"') {
        let (name, rest) = jq_string(rest)?;
        return Some((Step::Field(Glob::of_pieces(vec![name])), rest));
    }
    let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, rest) = rest.split_at(length);
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()))
        .then(|| (Step::Field(Glob::of_pieces(vec![name.to_owned()])), rest))
}

/// Reads a JSON string at the beginning of a text, and returns the rest. An interpolation is no name.
fn jq_string(text: &str) -> Option<(String, &str)> {
    let mut strings = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let name = strings.next()?.ok()?;
    let rest = text.get(strings.byte_offset()..)?;
    Some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_read_as_the_rfc_says() {
        let token = |text: &str| Step::Token(text.to_owned());
        let steps = |text: &str| json_pointer(text).unwrap().steps;
        assert_eq!(steps("/spec/replicas"), [token("spec"), token("replicas")]);
        assert_eq!(
            steps("/metadata/annotations/a~1b~0c~01"),
            [token("metadata"), token("annotations"), token("a/b~c~1")]
        );
        for refused in ["spec/replicas", "", "/a~2", "/a~", "/kind", "/metadata", "/metadata/name"] {
            json_pointer(refused).unwrap_err();
        }
    }

    #[test]
    fn plain_paths_of_jq_are_read_and_programs_are_refused() {
        let steps = |text: &str| jq_path(text).unwrap().steps;
        let field = |text: &str| Step::Field(Glob::of_pieces(vec![text.to_owned()]));
        assert_eq!(steps(".spec.containers[].image"), [field("spec"), field("containers"), Step::Any, field("image")]);
        assert_eq!(steps(".spec.containers[0]"), [field("spec"), field("containers"), Step::Index(0)]);
        let annotation = [field("metadata"), field("annotations"), field("a*b/c")];
        assert_eq!(steps(".metadata.annotations[\"a*b/c\"]"), annotation);
        assert_eq!(steps(".metadata.annotations.\"a*b/c\""), annotation);
        assert_eq!(steps(".[\"metadata\"].[\"annotations\"][\"a*b/c\"]"), annotation);
        for refused in [
            ".spec.containers[] | select(.name == \"app\")",
            ".spec.containers[] | .image",
            "spec.replicas",
            ".",
            "..",
            ".spec.a?",
            ".spec[1:2]",
            ".spec[-1]",
            ".metadata.annotations | keys",
            ".a-b",
            ".metadata[\"\\(.kind)\"]",
            ".kind",
        ] {
            jq_path(refused).unwrap_err();
        }
        let error = jq_path(".a | b").unwrap_err();
        assert_eq!(error.message, "`.a | b` is not a plain path of jq, and only plain paths are supported");
    }
}
