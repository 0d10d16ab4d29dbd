//! CustomResourceDefinitions: the names that the API accepts in one, and the kind that it defines. The rules are those of
//! apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go` (`ValidateCustomResourceDefinition`,
//! `validateCustomResourceDefinitionSpec`, `ValidateCustomResourceDefinitionNames`).

use kube_yaml::Step;
use serde_json::Value;
use structured_merge::{MAX_LABEL, is_dns_subdomain};

/// The rule for plural names, kinds and versions (apimachinery `pkg/util/validation`, `IsDNS1035Label`).
const DNS_1035_LABEL: &str = "up to 63 lowercase letters, digits and `-` are allowed, with a letter at the start and a letter or a digit at the end";
/// The rule for kinds: that for plural names, in upper case as well.
const KIND: &str =
    "up to 63 letters, digits and `-` are allowed, with a letter at the start and a letter or a digit at the end";
/// The rule for groups.
const GROUP: &str = "it has to be a DNS name with at least one dot, such as `example.com`";

/// The kind that a CustomResourceDefinition defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition<'d> {
    /// The API group.
    pub group: &'d str,
    /// The plural name, as in URLs.
    pub plural: &'d str,
    /// The kind.
    pub kind: &'d str,
    /// True if its objects live in namespaces.
    pub namespaced: bool,
    /// The versions that are served.
    pub served: Vec<DefinedVersion<'d>>,
}

/// A served version of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefinedVersion<'d> {
    /// Its name, such as `v1`.
    pub name: &'d str,
    /// True if it has the status subresource.
    pub status: bool,
}

/// A name in a CustomResourceDefinition that the API refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedName<'d> {
    /// The path of the name.
    pub path: Vec<Step<'d>>,
    /// A sentence with the name.
    pub message: String,
    /// The rule that it breaks.
    pub rule: String,
}

impl<'d> Definition<'d> {
    /// Reads a definition. `None` if the API would not accept it, because a name is missing or breaks a rule.
    pub fn read(crd: &'d Value) -> Option<Self> {
        if refused_names(crd).next().is_some() {
            return None;
        }
        let [group, plural, kind] = ["/spec/group", "/spec/names/plural", "/spec/names/kind"].map(|at| text(crd, at));
        let namespaced = match text(crd, "/spec/scope")? {
            "Namespaced" => true,
            "Cluster" => false,
            _ => return None,
        };
        text(crd, "/metadata/name")?;
        let is_served = |version: &&Value| version.get("served") == Some(&Value::Bool(true));
        let served = versions(crd).iter().filter(is_served).filter_map(|version| {
            Some(DefinedVersion {
                name: text(version, "/name")?,
                status: version.pointer("/subresources/status").is_some(),
            })
        });
        Some(Self { group: group?, plural: plural?, kind: kind?, namespaced, served: served.collect() })
    }
}

/// The names for which the API refuses a CustomResourceDefinition. A name that is missing or that is no text is not among them: the
/// server says more about it.
pub fn refused_names(crd: &Value) -> impl Iterator<Item = RefusedName<'_>> {
    let group = check(crd, &["spec", "group"], "group", is_group, GROUP);
    let plural = check(crd, &["spec", "names", "plural"], "plural name", is_dns_1035_label, DNS_1035_LABEL);
    let kind = check(crd, &["spec", "names", "kind"], "kind", is_kind, KIND);
    // The name follows from the other two, so it is right or wrong only if they are right.
    let name = if group.is_none() && plural.is_none() { other_name(crd) } else { None };
    let versions = versions(crd).iter().enumerate().filter_map(|(index, version)| {
        let name = text(version, "/name").filter(|name| !is_dns_1035_label(name))?;
        let path = vec![Step::Key("spec"), Step::Key("versions"), Step::Index(index), Step::Key("name")];
        Some(RefusedName { path, message: refused(name, "version"), rule: DNS_1035_LABEL.to_owned() })
    });
    [name, group, plural, kind].into_iter().flatten().chain(versions)
}

fn check<'d>(
    crd: &'d Value,
    keys: &[&'static str],
    what: &str,
    is_right: impl Fn(&str) -> bool,
    rule: &str,
) -> Option<RefusedName<'d>> {
    let found = keys.iter().try_fold(crd, |value, key| value.get(key))?.as_str()?;
    let path = keys.iter().map(|key| Step::Key(key)).collect();
    (!found.is_empty() && !is_right(found)).then(|| RefusedName {
        path,
        message: refused(found, what),
        rule: rule.to_owned(),
    })
}

fn refused(name: &str, what: &str) -> String {
    format!("`{name}` cannot be the {what} of a CustomResourceDefinition")
}

/// The refusal of `metadata.name` if it is not made of the plural name and the group.
fn other_name(crd: &Value) -> Option<RefusedName<'_>> {
    let name = text(crd, "/metadata/name")?;
    let right = format!("{}.{}", text(crd, "/spec/names/plural")?, text(crd, "/spec/group")?);
    (name != right).then(|| RefusedName {
        path: vec![Step::Key("metadata"), Step::Key("name")],
        message: format!("`{name}` cannot be the name of this CustomResourceDefinition"),
        rule: format!("it has to be `{right}`: `spec.names.plural`, a dot and `spec.group`"),
    })
}

fn versions(crd: &Value) -> &[Value] {
    crd.pointer("/spec/versions").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text at a pointer, unless it is empty.
fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn is_group(text: &str) -> bool {
    is_dns_subdomain(text) && text.contains('.')
}

/// Returns true for a valid kind, in which case does not count.
pub(crate) fn is_kind(text: &str) -> bool {
    is_dns_1035_label(&text.to_ascii_lowercase())
}

fn is_dns_1035_label(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= MAX_LABEL
        && bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn crd(group: &str, plural: &str, kind: &str, version: &str) -> Value {
        json!({
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {
                "group": group, "scope": "Cluster", "names": {"plural": plural, "kind": kind},
                "versions": [
                    {"name": version, "served": true, "subresources": {"status": {}}}, {"name": "v0", "served": false},
                ],
            },
        })
    }

    fn messages(crd: &Value) -> Vec<String> {
        refused_names(crd).map(|refused| refused.message).collect()
    }

    #[test]
    fn a_definition_names_a_kind_and_the_versions_that_are_served() {
        let crd = crd("example.com", "widgets", "Widget", "v1");
        let served = vec![DefinedVersion { name: "v1", status: true }];
        let expected =
            Definition { group: "example.com", plural: "widgets", kind: "Widget", namespaced: false, served };
        assert_eq!(Definition::read(&crd), Some(expected));
    }

    #[test]
    fn what_the_api_refuses_defines_nothing() {
        for (group, plural, kind, version, refused) in [
            ("*", "widgets", "Widget", "v1", "`*` cannot be the group"),
            ("apps", "widgets", "Widget", "v1", "`apps` cannot be the group"),
            ("Example.com", "widgets", "Widget", "v1", "`Example.com` cannot be the group"),
            ("example.com/v1", "widgets", "Widget", "v1", "`example.com/v1` cannot be the group"),
            ("example.com", "*", "Widget", "v1", "`*` cannot be the plural name"),
            ("example.com", "wid/gets", "Widget", "v1", "`wid/gets` cannot be the plural name"),
            ("example.com", "..", "Widget", "v1", "`..` cannot be the plural name"),
            ("example.com", "1widgets", "Widget", "v1", "`1widgets` cannot be the plural name"),
            ("example.com", "widgets", "Wid.get", "v1", "`Wid.get` cannot be the kind"),
            ("example.com", "widgets", "Widget", "*", "`*` cannot be the version"),
            ("example.com", "widgets", "Widget", "1", "`1` cannot be the version"),
        ] {
            let crd = crd(group, plural, kind, version);
            assert_eq!(messages(&crd), [format!("{refused} of a CustomResourceDefinition")]);
            assert_eq!(Definition::read(&crd), None);
        }
    }

    #[test]
    fn the_name_is_made_of_the_plural_name_and_the_group() {
        let mut crd = crd("example.com", "widgets", "Widget", "v1");
        crd["metadata"]["name"] = json!("widgets.example.org");
        assert_eq!(messages(&crd), ["`widgets.example.org` cannot be the name of this CustomResourceDefinition"]);
        assert_eq!(Definition::read(&crd), None);
    }

    #[test]
    fn what_is_missing_is_left_to_the_server() {
        let whole = crd("example.com", "widgets", "Widget", "v1");
        for pointer in
            ["/metadata/name", "/spec/group", "/spec/names/plural", "/spec/names/kind", "/spec/scope", "/spec"]
        {
            for nothing in [json!(null), json!(""), json!(7), json!([])] {
                let mut crd = whole.clone();
                *crd.pointer_mut(pointer).unwrap() = nothing;
                assert_eq!(messages(&crd), [""; 0], "{pointer}");
                assert_eq!(Definition::read(&crd), None, "{pointer}");
            }
        }
    }
}
