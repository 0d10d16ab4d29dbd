use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey, ObjectMeta as _};

/// The label of an object that belongs to an apply set; its value is the set's id.
pub const PART_OF: &str = "applyset.kubernetes.io/part-of";

/// An apply set, identified by its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplySet {
    /// The parent object.
    pub parent: ObjectKey,
    /// The value of [`PART_OF`] that its members have.
    pub id: String,
}

impl ApplySet {
    /// The set of a parent. The id is `applyset-BASE64URL(SHA-256(NAME.NAMESPACE.KIND.GROUP))-v1`; parts that the
    /// parent does not have are empty.
    pub fn of(parent: ObjectKey) -> Self {
        let ObjectKey { gvk: GroupVersionKind { group, kind, .. }, namespace, name } = &parent;
        let text = format!("{name}.{}.{kind}.{group}", namespace.as_deref().unwrap_or_default());
        let id = format!("applyset-{}-v1", URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes())));
        Self { parent, id }
    }

    /// Returns true for the parent of the set, in any version. A parent without a namespace is in every namespace.
    pub fn is_parent(&self, gvk: &GroupVersionKind, namespace: &str, name: &str) -> bool {
        let parent = &self.parent;
        name == parent.name
            && (&gvk.group, &gvk.kind) == (&parent.gvk.group, &parent.gvk.kind)
            && parent.namespace.as_deref().is_none_or(|parents| parents == namespace)
    }
}

/// The id of the apply set that the label of an object names.
pub fn part_of(object: &Value) -> Option<&str> {
    object.label(PART_OF).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_kubectl() {
        for (api_version, kind, namespace, name, id) in [
            ("v1", "Secret", Some("test"), "my-set", "applyset-0eFHV8ySqp7XoShsGvyWFQD3s96yqwHmzc4e0HR1dsY-v1"),
            ("company.com/v1", "ApplySet", None, "my-set", "applyset-rhp1a-HVAVT_dFgyEygyA1BEB82HPp2o10UiFTpqtAs-v1"),
            ("v1", "Secret", Some("as1"), "set1", "applyset-T_ycqxUjnOYjhLAP_dNrVBEJzeuz2_C7ry_Q7gB4doo-v1"),
            ("v1", "ConfigMap", Some("as1"), "cmset", "applyset-69BKZ62qn4gPD2NmgxRYMxSjiAc8KWgBOXHNkFTJW-s-v1"),
        ] {
            let gvk = GroupVersionKind::new(api_version, kind);
            let parent = ObjectKey { gvk, namespace: namespace.map(ToOwned::to_owned), name: name.to_owned() };
            assert_eq!(ApplySet::of(parent).id, id);
        }
    }
}
