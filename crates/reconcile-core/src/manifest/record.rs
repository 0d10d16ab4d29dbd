use std::fmt;

use serde_json::Value;
use structured_merge::{LAST_APPLIED, ObjectKey, ObjectMeta as _};

use super::release::ReleaseName;
use crate::diagnostic::{Code, Diagnostic};
use crate::text::one_line;

/// The annotations that name the release of an object.
const RELEASE: [&str; 2] = ["meta.helm.sh/release-namespace", "meta.helm.sh/release-name"];
/// Longest name of a release in a message, in characters.
const NAME: usize = 100;

/// A record of the cluster that a manifest was taken from. Anybody may have written it who may write where it is kept, so that it speaks
/// only for what it is attached to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The annotation of client-side `kubectl apply`, of the object that has it.
    LastApplied,
    /// The record of a revision of a release of Helm.
    Release {
        /// The namespace of the release.
        namespace: String,
        /// Its name.
        name: String,
        /// True if it is one of several releases whose objects are read together.
        is_among_others: bool,
    },
}

impl Record {
    /// The reason why a live object is not one that the record speaks for. An object outside of the namespace of a release has to name the
    /// release itself, without which Helm does not touch it either (Helm `pkg/action/validate.go`, `checkOwnership`).
    pub fn refusal(&self, key: &ObjectKey, live: &Value) -> Option<Diagnostic> {
        let Self::Release { namespace, name, .. } = self else { return None };
        let named = RELEASE.map(|annotation| live.annotation(annotation));
        if !self.is_outside(key) || named == [Some(namespace.as_str()), Some(name.as_str())] {
            return None;
        }
        let [of_namespace, of_name] = RELEASE;
        let message =
            format!("it does not belong to {self}: its annotations `{of_name}` and `{of_namespace}` do not name that");
        let [namespace, name] = [namespace, name].map(|text| one_line(text, NAME));
        let hint = format!("`helm get manifest {name} -n {namespace}` shows what the release says of it");
        Some(Diagnostic::new(Code::Invalid, message).with_hint(hint))
    }

    /// The namespace that the record is about, if it is about one: that of a release. It may name objects elsewhere.
    pub fn namespace(&self) -> Option<&str> {
        match self {
            Self::LastApplied => None,
            Self::Release { namespace, .. } => Some(namespace),
        }
    }

    /// Returns true if the record names an object that is elsewhere than itself. Nobody gets rights to that because of the record.
    pub fn is_outside(&self, key: &ObjectKey) -> bool {
        self.namespace().is_some_and(|namespace| key.namespace.as_deref() != Some(namespace))
    }

    /// Returns true if the record of one object may not change the place of others in the order. The order of what is only read is of no
    /// importance, and an annotation must not make a cycle with those of others.
    pub fn orders_nothing(&self) -> bool {
        matches!(self, Self::LastApplied | Self::Release { is_among_others: true, .. })
    }

    /// The release that the record is of, if it is one.
    pub fn release(&self) -> Option<ReleaseName> {
        match self {
            Self::Release { namespace, name, .. } => {
                Some(ReleaseName { name: name.clone(), namespace: namespace.clone() })
            }
            Self::LastApplied => None,
        }
    }

    /// The release that an object is reported with: one of several that are read together.
    pub fn named_release(&self) -> Option<ReleaseName> {
        match self {
            Self::Release { is_among_others: true, .. } => self.release(),
            Self::LastApplied | Self::Release { .. } => None,
        }
    }
}

/// `release app of namespace tenant`
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LastApplied => write!(f, "the annotation `{LAST_APPLIED}`"),
            Self::Release { namespace, name, .. } => {
                write!(f, "release `{}` of namespace `{}`", one_line(name, NAME), one_line(namespace, NAME))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::GroupVersionKind;

    use super::*;

    #[test]
    fn a_release_speaks_for_its_namespace_and_for_objects_that_name_it() {
        let record = Record::Release { namespace: "tenant".to_owned(), name: "app".to_owned(), is_among_others: false };
        let refused = |namespace: Option<&str>, annotations: Value| {
            let gvk = GroupVersionKind::new("v1", "ConfigMap");
            let key = ObjectKey { gvk, namespace: namespace.map(ToOwned::to_owned), name: "settings".to_owned() };
            record.refusal(&key, &json!({"metadata": {"annotations": annotations}})).is_some()
        };
        let names = |namespace: &str, name: &str| json!({RELEASE[0]: namespace, RELEASE[1]: name});
        for (namespace, annotations, expected) in [
            (Some("tenant"), json!({}), false),
            (Some("pay"), names("tenant", "app"), false),
            (None, names("tenant", "app"), false),
            (Some("pay"), json!({}), true),
            (None, json!(null), true),
            (Some("pay"), names("pay", "app"), true),
            (Some("pay"), names("tenant", "other"), true),
            (Some("pay"), json!({RELEASE[1]: "app"}), true),
            (Some("pay"), json!({RELEASE[0]: ["tenant"], RELEASE[1]: "app"}), true),
        ] {
            assert_eq!(refused(namespace, annotations.clone()), expected, "{namespace:?} {annotations}");
        }
        let key = ObjectKey { gvk: GroupVersionKind::new("v1", "ConfigMap"), namespace: None, name: "a".to_owned() };
        assert_eq!(Record::LastApplied.refusal(&key, &json!({})), None);
        assert!(!Record::LastApplied.is_outside(&key) && record.is_outside(&key));
    }
}
