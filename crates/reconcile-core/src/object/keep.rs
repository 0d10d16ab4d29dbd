//! The annotations of objects that are not to be deleted.

use serde_json::Value;
use structured_merge::ObjectMeta as _;

/// Our own annotation, which is about pruning alone, and its value.
const OWN: (&str, &str) = ("kubectl-reconcile/prune", "keep");
/// The annotation of Helm (`pkg/kube`, `ResourcePolicyAnno`), which is about every deletion, and its value.
const HELM: (&str, &str) = ("helm.sh/resource-policy", "keep");

/// Returns the annotation that keeps an object from being pruned, with its value.
pub fn kept_from_pruning(object: &Value) -> Option<String> {
    [OWN, HELM].into_iter().find_map(|annotation| having(object, annotation))
}

/// Returns the annotation that keeps an object from being deleted at all, with its value.
pub fn kept_from_deletion(object: &Value) -> Option<String> {
    having(object, HELM)
}

/// Helm ignores case and white space around the value (`pkg/action/resource_policy.go`).
fn having(object: &Value, (name, value): (&str, &str)) -> Option<String> {
    let is_set = object.annotation(name).is_some_and(|found| found.trim().eq_ignore_ascii_case(value));
    is_set.then(|| format!("{name}: {value}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn our_annotation_is_about_pruning_and_that_of_helm_about_every_deletion() {
        let with = |name: &str, value: &str| json!({"metadata": {"annotations": {name: value}}});
        for (object, pruning, deletion) in [
            (with("kubectl-reconcile/prune", "keep"), Some("kubectl-reconcile/prune: keep"), None),
            (
                with("helm.sh/resource-policy", " Keep"),
                Some("helm.sh/resource-policy: keep"),
                Some("helm.sh/resource-policy: keep"),
            ),
            (with("helm.sh/resource-policy", "delete"), None, None),
            (json!({"metadata": {"annotations": []}}), None, None),
        ] {
            assert_eq!(kept_from_pruning(&object).as_deref(), pruning, "{object}");
            assert_eq!(kept_from_deletion(&object).as_deref(), deletion, "{object}");
        }
    }
}
