//! The annotation in which an author declares dependencies (`sigs.k8s.io/cli-utils`, `pkg/object/dependson`).

use serde_json::Value;
use structured_merge::ObjectMeta as _;

use super::dependency::DependencyKind;
use super::references::Reference;
use crate::diagnostic::Diagnostic;
use crate::manifest::Origin;
use crate::manifest::yaml::Step;

/// The annotation.
pub const DEPENDS_ON: &str = "config.kubernetes.io/depends-on";

/// The reason why some objects have no order.
#[derive(Debug)]
pub struct Unplannable {
    /// The index of the object with the annotation.
    pub at: usize,
    /// One sentence.
    pub message: String,
    /// Advice on what to do.
    pub hint: String,
}

/// The objects that the annotation names: `GROUP/namespaces/NAMESPACE/KIND/NAME` or `GROUP/KIND/NAME`, separated by
/// commas; the core group is empty. The error is the first entry that names no object.
pub fn depends_on(object: &Value) -> Result<Vec<Reference<'_>>, &str> {
    let Some(list) = annotation(object) else { return Ok(Vec::new()) };
    list.split(',').map(str::trim).map(|reference| parse(reference).ok_or(reference)).collect()
}

/// Returns true if an object has the annotation.
pub fn is_annotated(object: &Value) -> bool {
    annotation(object).is_some()
}

fn annotation(object: &Value) -> Option<&str> {
    object.annotation(DEPENDS_ON)
}

/// The diagnostic at an annotation that makes a plan impossible.
pub fn diagnostic(origin: &Origin, Unplannable { message, hint, .. }: Unplannable) -> Diagnostic {
    let steps = [Step::Key("metadata"), Step::Key("annotations"), Step::Key(DEPENDS_ON)];
    origin.diagnostic_at_value(&steps, message).with_hint(hint)
}

fn parse(reference: &str) -> Option<Reference<'_>> {
    let parts: Vec<&str> = reference.split('/').collect();
    let (group, namespace, kind, name) = match parts.as_slice() {
        [group, "namespaces", namespace, kind, name] => (*group, Some(*namespace), *kind, *name),
        [group, kind, name] => (*group, None, *kind, *name),
        _ => return None,
    };
    if kind.is_empty() || name.is_empty() || namespace.is_some_and(str::is_empty) {
        return None;
    }
    Some(Reference { group, kind, namespace, name, strength: DependencyKind::Explicit })
}

/// The reason for an annotation that cannot be read, of the object at this index.
pub fn malformed(at: usize, reference: &str) -> Unplannable {
    let message = format!("`{DEPENDS_ON}` cannot be read: `{reference}` names no object");
    let hint = "write `GROUP/namespaces/NAMESPACE/KIND/NAME` or `GROUP/KIND/NAME`, as in `apps/namespaces/shop/Deployment/db`; \
                the core group is empty, as in `/namespaces/shop/ConfigMap/settings`";
    Unplannable { at, message, hint: hint.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_cli_utils_writes_them() {
        for (text, group, namespace, kind, name) in [
            ("apps/namespaces/shop/Deployment/db", "apps", Some("shop"), "Deployment", "db"),
            ("/namespaces/shop/Pod/db", "", Some("shop"), "Pod", "db"),
            ("/Namespace/shop", "", None, "Namespace", "shop"),
            ("rbac.authorization.k8s.io/ClusterRole/r", "rbac.authorization.k8s.io", None, "ClusterRole", "r"),
        ] {
            let strength = DependencyKind::Explicit;
            assert_eq!(parse(text), Some(Reference { group, kind, namespace, name, strength }), "{text}");
        }
        for malformed in
            ["", "db", "Deployment/db", "apps/namespaces//Deployment/db", "apps/namespaces/shop/Deployment/", "a/b/c/d"]
        {
            assert_eq!(parse(malformed), None, "{malformed}");
        }
    }
}
