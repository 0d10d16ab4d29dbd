//! Hooks: objects that Helm and Argo CD create at moments of a release, and not as a part of it.

use serde_json::Value;
use structured_merge::ObjectMeta as _;

/// The annotation of Helm, with a list of events (Helm `pkg/release`, `HookAnnotation`), and that of Argo CD.
const ANNOTATIONS: [&str; 2] = [HELM, "argocd.argoproj.io/hook"];
const HELM: &str = "helm.sh/hook";
/// The event of Helm 2 whose objects stay as long as the release.
const CRD_INSTALL: &str = "crd-install";

/// Treatment of hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hooks {
    /// They are left out.
    #[default]
    Skip,
    /// They are objects like all others.
    Include,
}

/// Returns true if an object is a hook. Helm takes an object with an event that it does not know for no part of the release either.
pub(super) fn is_hook(object: &Value) -> bool {
    let is_definition =
        || object.annotation(HELM).is_some_and(|events| events.split(',').any(|event| event.trim() == CRD_INSTALL));
    ANNOTATIONS.iter().any(|name| object.annotation(name).is_some()) && !is_definition()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_annotation_makes_a_hook_unless_it_installs_definitions() {
        let is = |annotations: Value| is_hook(&json!({"metadata": {"annotations": annotations}}));
        for hook in [
            json!({"helm.sh/hook": "pre-install,post-upgrade"}),
            json!({"helm.sh/hook": "test"}),
            json!({"helm.sh/hook": "unknown"}),
            json!({"helm.sh/hook": ""}),
            json!({"argocd.argoproj.io/hook": "PreSync"}),
        ] {
            assert!(is(hook.clone()), "{hook}");
        }
        for object in [
            json!({}),
            json!(null),
            json!("helm.sh/hook"),
            json!({"helm.sh/hook": null}),
            json!({"helm.sh/hook": 1}),
            json!({"helm.sh/hook": "pre-install, crd-install"}),
            json!({"helm.sh/hook-weight": "1"}),
        ] {
            assert!(!is(object.clone()), "{object}");
        }
        assert!(!is_hook(&json!(null)) && !is_hook(&json!({"metadata": []})));
    }
}
