//! Fields that no rule may ignore.

use structured_merge::{FieldPath, PathElement};

use super::pattern::{FieldPattern, PatternError, Step};
use apply_set::PART_OF;

/// The fields that identify an object.
const IDENTITY: [&[&str]; 5] =
    [&["apiVersion"], &["kind"], &["metadata", "name"], &["metadata", "namespace"], &["metadata", "uid"]];

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
    let is = |fields: &[&str]| {
        let elements = path.elements();
        elements.len() == fields.len()
            && elements
                .iter()
                .zip(fields)
                .all(|(element, name)| matches!(element, PathElement::Field(field) if field == name))
    };
    IDENTITY.into_iter().any(is) || is(&["metadata", "labels", PART_OF])
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
