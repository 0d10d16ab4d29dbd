use super::pattern::{FieldPattern, PatternError};
use super::rule::MAX_FIELDS;

/// The annotation of a manifest that names fields to ignore: `kubectl-reconcile/ignore: spec.replicas,metadata.annotations[*]`. It
/// counts in manifests only: anybody may annotate the live object, and must not be able to hide it that way.
pub const IGNORE_ANNOTATION: &str = "kubectl-reconcile/ignore";

/// Reads the value of the annotation: fields, separated by commas outside brackets and quotes.
pub fn annotated(text: &str) -> Result<Vec<FieldPattern>, PatternError> {
    let fields: Vec<&str> = parts(text).into_iter().map(str::trim).filter(|field| !field.is_empty()).collect();
    if fields.is_empty() {
        let error = PatternError::new(format!("the annotation `{IGNORE_ANNOTATION}` names no field"));
        return Err(error.with_hint("name the fields to ignore, such as `spec.replicas`"));
    }
    if fields.len() > MAX_FIELDS {
        return Err(PatternError::new(format!(
            "the annotation `{IGNORE_ANNOTATION}` names more than {MAX_FIELDS} fields"
        )));
    }
    fields.into_iter().map(FieldPattern::parse).collect()
}

fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut is_quoted, mut is_escaped, mut start) = (0_usize, false, false, 0);
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '[' if !is_quoted => depth = depth.saturating_add(1),
            ']' if !is_quoted => depth = depth.saturating_sub(1),
            ',' if !is_quoted && depth == 0 => {
                parts.extend(text.get(start..at));
                start = at.saturating_add(1);
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_separated_by_commas_outside_of_brackets() {
        let texts = |text: &str| -> Vec<String> { annotated(text).unwrap().iter().map(ToString::to_string).collect() };
        assert_eq!(texts("spec.replicas, metadata.annotations[*],"), ["spec.replicas", "metadata.annotations[*]"]);
        assert_eq!(
            texts("spec.ports[port=80,protocol=TCP].nodePort,data[\"a,]\\\"b\"],spec.x"),
            ["spec.ports[port=80,protocol=TCP].nodePort", "data[\"a,]\\\"b\"]", "spec.x"]
        );
        assert_eq!(annotated(" , ").unwrap_err().message, "the annotation `kubectl-reconcile/ignore` names no field");
        annotated("spec.replicas,kind").unwrap_err();
        annotated(&"spec.a,".repeat(51)).unwrap_err();
    }
}
