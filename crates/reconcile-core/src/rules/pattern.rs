use std::fmt;

use apply_set::PART_OF;
use structured_merge::{FieldPath, PathElement, Scalar};

use super::glob::Glob;
use crate::text::one_line;

/// Longest spelling of a field, in bytes.
pub const MAX_PATTERN: usize = 1024;
/// The fields that identify an object.
const IDENTITY: [&[&str]; 5] =
    [&["apiVersion"], &["kind"], &["metadata", "name"], &["metadata", "namespace"], &["metadata", "uid"]];

/// The fields that a rule names, in the spelling in which this tool prints paths: `spec.template.spec.containers[name=app].image`.
///
/// A `*` in a name or in a key's value matches any characters; `[*]` and `.*` match any one step. A pattern covers the fields at
/// which it ends, and everything below them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPattern {
    /// Writes the original spelling.
    pub(super) text: String,
    pub(super) steps: Vec<Step>,
}

/// One step of a [`FieldPattern`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Any one field, item or member.
    Any,
    /// Fields by name.
    Field(Glob),
    /// The items of a list in which these fields have these values.
    Item(Vec<(String, ValuePattern)>),
    /// The members of a set.
    Member(ValuePattern),
    /// The item at a position.
    Index(usize),
    /// A token of a JSON pointer: the field of this name, or the item at this position.
    Token(String),
}

/// A pattern for a scalar: bare text matches a string, a number or a boolean, quoted text only a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValuePattern {
    pub glob: Glob,
    pub is_text: bool,
}

/// A field that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatternError {
    /// One sentence.
    pub message: String,
    /// Advice on what to write instead.
    pub hint: String,
}

impl PatternError {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: one_line(&message.into(), 2 * MAX_PATTERN), hint: hint.into() }
    }
}

impl FieldPattern {
    /// Returns true if it names exactly this path, and not others as well.
    pub fn is_exactly(&self, path: &FieldPath) -> bool {
        self.steps == Self::exactly(path).steps
    }

    /// The pattern that matches exactly one path. Values that consist of other values are matched by their compact JSON.
    pub fn exactly(path: &FieldPath) -> Self {
        let literal = |text: String| Glob::of_pieces(vec![text]);
        let value = |scalar: &Scalar| match scalar {
            Scalar::Text(text) => ValuePattern { glob: literal(text.clone()), is_text: true },
            other => ValuePattern { glob: literal(other.to_json().to_string()), is_text: false },
        };
        let steps = path.elements().iter().map(|element| match element {
            PathElement::Field(name) => Step::Field(literal(name.clone())),
            PathElement::Key(keys) => Step::Item(keys.iter().map(|(name, key)| (name.clone(), value(key))).collect()),
            PathElement::Member(member) => Step::Member(value(member)),
            PathElement::Index(index) => Step::Index(usize::try_from(*index).unwrap_or(usize::MAX)),
        });
        Self { steps: steps.collect(), text: escaped(&path.to_string()) }
    }

    /// Returns true if the pattern covers a path: it ends there or above.
    pub fn covers(&self, path: &FieldPath) -> bool {
        self.steps.len() <= path.elements().len()
            && self.steps.iter().zip(path.elements()).all(|(step, element)| match (step, element) {
                (Step::Any, _) => true,
                (Step::Field(glob), PathElement::Field(name)) => glob.matches(name),
                (Step::Token(token), PathElement::Field(name)) => token == name,
                (Step::Token(token), PathElement::Index(index)) => *token == index.to_string(),
                (Step::Index(index), PathElement::Index(other)) => i64::try_from(*index) == Ok(*other),
                (Step::Member(value), PathElement::Member(member)) => value.matches(member),
                (Step::Item(fields), PathElement::Key(keys)) => fields
                    .iter()
                    .all(|(name, value)| keys.iter().any(|(key, scalar)| key == name && value.matches(scalar))),
                _ => false,
            })
    }

    /// Returns true if the pattern, read step by step, ends at this path of plain fields or above it.
    pub(super) fn reaches(&self, fields: &[&str]) -> bool {
        self.steps.len() <= fields.len()
            && self.steps.iter().zip(fields).all(|(step, name)| match step {
                Step::Any => true,
                Step::Field(glob) => glob.matches(name),
                Step::Token(token) => token == name,
                Step::Item(_) | Step::Member(_) | Step::Index(_) => false,
            })
    }
}

impl ValuePattern {
    pub fn matches(&self, scalar: &Scalar) -> bool {
        match scalar {
            Scalar::Text(text) => self.glob.matches(text),
            _ if self.is_text => false,
            other => self.glob.matches(&other.to_json().to_string()),
        }
    }
}

/// Escapes a printed path to a pattern, so that a `*` of a name or of a value is literal. Such names and values are quoted, and JSON
/// has an escape for every character.
fn escaped(path: &str) -> String {
    path.replace('*', "\\u002a")
}

/// Writes the original spelling.
impl fmt::Display for FieldPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Refuses a pattern that covers a field of the identity, or that names the label of an apply set.
pub(super) fn refuse_protected(pattern: &FieldPattern) -> Result<(), PatternError> {
    if let Some(field) = IDENTITY.iter().find(|field| pattern.reaches(field)) {
        let field = field.join(".");
        let message = if pattern.text == field {
            format!("`{field}` cannot be ignored: it identifies the object")
        } else {
            format!("`{pattern}` would cover `{field}`, which cannot be ignored: it identifies the object")
        };
        return Err(PatternError::new(message, "name the fields to ignore, such as `metadata.annotations[*]`"));
    }
    let is_literal = match pattern.steps.last() {
        Some(Step::Field(glob)) => glob.is_literal(),
        Some(Step::Token(_)) => true,
        _ => false,
    };
    if is_literal && pattern.steps.len() == 3 && pattern.reaches(&["metadata", "labels", PART_OF]) {
        let message = format!("the label `{PART_OF}` cannot be ignored: pruning depends on it");
        return Err(PatternError::new(message, "name the labels to ignore, such as `metadata.labels.tier`"));
    }
    Ok(())
}

/// Returns true for a path that is compared even if a wider pattern or a manager covers it: the identity, and the label that
/// pruning uses.
pub(super) fn is_protected(path: &FieldPath) -> bool {
    let is = |fields: &[&str]| *path == FieldPath::of(fields);
    IDENTITY.into_iter().any(is) || *path == apply_set::label_path()
}

/// Returns true for a map whose entries are covered one by one, because one of them is protected.
pub(super) fn is_split(path: &FieldPath) -> bool {
    *path == FieldPath::of(&["metadata", "labels"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_and_membership_cannot_be_ignored() {
        let refused = |text: &str| FieldPattern::parse(text).unwrap_err().message;
        assert_eq!(refused("kind"), "`kind` cannot be ignored: it identifies the object");
        assert_eq!(refused("metadata.namespace"), "`metadata.namespace` cannot be ignored: it identifies the object");
        for wide in ["*", "metadata", "metadata.*", "metadata[*]", "metadata.n*", "api*", "[\"kind\"]", "m*"] {
            assert!(refused(wide).contains("cannot be ignored"), "{wide}");
        }
        assert!(refused("metadata.labels[\"applyset.kubernetes.io/part-of\"]").contains("pruning"));
        for fine in [
            "metadata.labels",
            "metadata.labels[*]",
            "metadata.labels[\"apply*\"]",
            "metadata.annotations",
            "spec",
            "status",
            "metadata.ownerReferences",
        ] {
            FieldPattern::parse(fine).unwrap();
        }
    }

    #[test]
    fn a_wide_pattern_leaves_the_protected_entry_out() {
        assert!(is_protected(&FieldPath::of(&["metadata", "labels", PART_OF])));
        assert!(!is_protected(&FieldPath::of(&["metadata", "labels", "app"])));
        assert!(is_split(&FieldPath::of(&["metadata", "labels"])));
        assert!(!is_split(&FieldPath::of(&["metadata", "annotations"])) && !is_split(&FieldPath::of(&["spec"])));
    }
}
