use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use serde_json::Value;
use structured_merge::{FieldPath, GroupVersionKind, MAX_SUBDOMAIN, ObjectKey, ObjectMeta as _, is_dns_subdomain};

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
        let ObjectKey { gvk, namespace, name } = &parent;
        let text = format!("{name}.{}.{}.{}", namespace.as_deref().unwrap_or_default(), gvk.kind, gvk.group);
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

/// The field of the label that names the set of an object.
pub fn label_path() -> FieldPath {
    FieldPath::of(&["metadata", "labels", PART_OF])
}

/// The id of the apply set that the label of an object names.
pub fn part_of(object: &Value) -> Option<&str> {
    object.label(PART_OF).filter(|id| !id.is_empty())
}

/// The parent that `--applyset` names: `[RESOURCE[.GROUP]/]NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentReference {
    /// Resource and group as typed; `None` for a Secret.
    pub resource: Option<(String, Option<String>)>,
    /// Name of the parent object.
    pub name: String,
}

impl ParentReference {
    /// Parses the value of the flag. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (resource, name) = match text.split_once('/') {
            Some((resource, name)) => (Some(resource), name),
            None => (None, text),
        };
        if name.is_empty() || name.contains('/') || resource == Some("") {
            return Err(format!("`{text}` does not name an apply set"));
        }
        check_name(name)?;
        let resource = resource.map(|resource| match resource.split_once('.') {
            Some((resource, group)) => (resource.to_owned(), Some(group.to_owned())),
            None => (resource.to_owned(), None),
        });
        Ok(Self { resource, name: name.to_owned() })
    }

    /// Returns true if both name the same parent, as far as can be seen without the resources of a server: in the singular or in the
    /// plural, a ConfigMap by its short name, and a Secret with or without its resource.
    pub fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.singular() == other.singular()
    }

    /// The resource in the singular, and its group.
    fn singular(&self) -> (String, Option<&str>) {
        let (resource, group) = match &self.resource {
            None => ("secret", None),
            Some((resource, group)) => (resource.as_str(), group.as_deref()),
        };
        let group = group.filter(|group| !group.is_empty());
        let resource = resource.to_lowercase();
        let singular = match resource.as_str() {
            // A Secret has no short name, and those of other kinds are known to their servers alone.
            "cm" if group.is_none() => "configmap",
            resource => resource.strip_suffix('s').unwrap_or(resource),
        };
        (singular.to_owned(), group)
    }
}

/// Refuses a name that no object can have: those of parents are DNS subdomains.
fn check_name(name: &str) -> Result<(), String> {
    let length = name.len();
    if length > MAX_SUBDOMAIN {
        return Err(format!(
            "the name of the apply set has {length} bytes, and that of an object at most {MAX_SUBDOMAIN}"
        ));
    }
    if is_dns_subdomain(name) {
        return Ok(());
    }
    Err(format!(
        "`{name}` cannot be the name of an apply set: lowercase letters, digits, `-` and `.`, with a letter or digit at both ends"
    ))
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

    #[test]
    fn the_same_parent_has_several_spellings() {
        let is_same = |a, b| ParentReference::parse(a).unwrap().is_same(&ParentReference::parse(b).unwrap());
        for (a, b) in [
            ("web", "secret/web"),
            ("Secrets/web", "web"),
            ("sets.example.com/web", "set.example.com/web"),
            ("cm/web", "configmap/web"),
            ("ConfigMap/web", "cm/web"),
            ("configmaps/web", "cm./web"),
        ] {
            assert!(is_same(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("web", "db"),
            ("web", "configmap/web"),
            ("sets.a.com/web", "sets.b.com/web"),
            ("sets/web", "sets.a.com/web"),
            ("cm.a.com/web", "configmap.a.com/web"),
            ("cm/web", "web"),
        ] {
            assert!(!is_same(a, b), "{a} {b}");
        }
        for wrong in ["", "/web", "secrets/", "a/b/c"] {
            assert!(ParentReference::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_name_that_no_object_can_have_names_no_set() {
        let longest = "a".repeat(MAX_SUBDOMAIN);
        for name in ["pay", "cm/pay.v1", "0-a", longest.as_str()] {
            assert!(ParentReference::parse(name).is_ok(), "{name}");
        }
        let too_long = "a".repeat(MAX_SUBDOMAIN + 1);
        for name in ["Pay", "a b", "cm/-a", "a-", "a..b", ".a", "a_b", "grün", "secret/Pay", too_long.as_str()] {
            assert!(ParentReference::parse(name).is_err(), "{name}");
        }
    }
}
