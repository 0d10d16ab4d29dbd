use serde_json::Value;
use structured_merge::ObjectKey;

use super::glob::Glob;
use crate::object::Selector;

/// The objects that a rule is for. A criterion that is left out matches every object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectPattern {
    /// API group; the empty glob is the core group alone.
    pub group: Option<Glob>,
    /// Kind.
    pub kind: Option<Glob>,
    /// Namespace; matches no cluster-scoped object.
    pub namespace: Option<Glob>,
    /// Name.
    pub name: Option<Glob>,
    /// Labels.
    pub labels: Option<Selector>,
}

impl ObjectPattern {
    /// Returns true if the rule is for the object. Its labels are those of the manifest: anybody may label the live object, and must
    /// not be able to hide it that way.
    pub fn matches(&self, key: &ObjectKey, manifest: Option<&Value>) -> bool {
        let fits = |glob: &Option<Glob>, text: &str| glob.as_ref().is_none_or(|glob| glob.matches(text));
        fits(&self.group, &key.gvk.group)
            && fits(&self.kind, &key.gvk.kind)
            && fits(&self.name, &key.name)
            && self.namespace.as_ref().is_none_or(|glob| key.namespace.as_ref().is_some_and(|name| glob.matches(name)))
            && self.labels.as_ref().is_none_or(|labels| labels.matches(manifest.unwrap_or(&Value::Null)))
    }
}
