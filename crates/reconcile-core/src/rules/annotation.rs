use super::parse::parts;
use super::pattern::{FieldPattern, PatternError};
use super::rule::MAX_FIELDS;

/// The annotation of a manifest that names fields to ignore: `kubectl-reconcile/ignore: spec.replicas,metadata.annotations[*]`. It
/// counts in manifests only: anybody may annotate the live object, and must not be able to hide it that way.
pub const IGNORE_ANNOTATION: &str = "kubectl-reconcile/ignore";

/// Reads the value of the annotation: fields, separated by commas outside brackets and quotes.
pub fn annotated(text: &str) -> Result<Vec<FieldPattern>, PatternError> {
    let fields: Vec<&str> = parts(text).map(str::trim).filter(|field| !field.is_empty()).collect();
    if fields.is_empty() {
        let message = format!("the annotation `{IGNORE_ANNOTATION}` names no field");
        return Err(PatternError::new(message, "name the fields to ignore, such as `spec.replicas`"));
    }
    if fields.len() > MAX_FIELDS {
        let message = format!("the annotation `{IGNORE_ANNOTATION}` names more than {MAX_FIELDS} fields");
        return Err(PatternError::new(message, "name what they have in common, such as `metadata.annotations[*]`"));
    }
    fields.into_iter().map(FieldPattern::parse).collect()
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
