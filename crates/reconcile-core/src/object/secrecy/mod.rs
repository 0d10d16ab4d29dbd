//! Objects that hold secret values: Secrets, and objects that were meant to be Secrets. A type that the server would refuse still
//! reaches an offline comparison, an excerpt or a snapshot.

pub(crate) mod embedded;

use serde_json::Value;

use structured_merge::GroupVersionKind;

/// The field of a Secret that holds plain text, which no other built-in kind has.
const STRING_DATA: &str = "stringData";

/// Fields of a Secret that hold none of its values. Every other field may hold a value, under a misspelt key or in the wrong place.
pub const OPEN_FIELDS: [&str; 4] = ["apiVersion", "immutable", "kind", "type"];

/// Groups that define a kind named `Secret` of their own, which refers to values and holds none.
const OTHER_SECRETS: [&str; 3] = [".crossplane.io", ".services.k8s.aws", ".upbound.io"];

/// Returns true for the core `Secret` and for kinds that may be misspelt ones: `secret`, `Secrets` or `SecretList` in any group,
/// and in groups that define no other kinds of their own (`v1`, `core/v1`, `apps/v1`) every kind whose name holds the word, or
/// is at most two letters away from it.
pub fn may_be_secret(gvk: &GroupVersionKind) -> bool {
    let kind = gvk.kind.to_lowercase();
    if is_custom(&gvk.group) {
        return is_secret_word(&kind) && !OTHER_SECRETS.iter().any(|suffix| gvk.group.ends_with(suffix));
    }
    kind.contains("secret") || is_nearly_secret(&kind)
}

/// Returns true if the values of an object are secret, by its kind or because it has `stringData` in the place where a Secret
/// has it.
pub fn holds_secrets(gvk: &GroupVersionKind, object: &Value) -> bool {
    may_be_secret(gvk) || object.as_object().is_some_and(|object| object.keys().any(|key| is_string_data(key)))
}

/// Returns true for the kind of a Secret or of a list of them, and for names that are at most two letters away from it,
/// ignoring case.
pub fn is_nearly_secret(kind: &str) -> bool {
    is_secret_word(kind) || is_near(&kind.to_lowercase(), "secret")
}

/// Returns true for the names of the kind of a Secret, and of lists of them, ignoring case.
pub(crate) fn is_secret_word(word: &str) -> bool {
    ["secret", "secrets", "secretlist"].iter().any(|name| word.eq_ignore_ascii_case(name))
}

/// Returns true for `stringData`, ignoring case: what is below it is secret in every custom resource.
pub fn is_string_data(key: &str) -> bool {
    key.eq_ignore_ascii_case(STRING_DATA)
}

/// Returns true if CustomResourceDefinitions may use a group: its name has a dot, and is not one of Kubernetes' own.
pub fn is_custom(group: &str) -> bool {
    group.contains('.') && !group.ends_with(".k8s.io")
}

/// Returns true if at most two letters have to be put in, taken out or replaced.
fn is_near(word: &str, name: &str) -> bool {
    const FAR: usize = 2;
    let (word, name): (Vec<char>, Vec<char>) = (word.chars().collect(), name.chars().collect());
    if word.len().abs_diff(name.len()) > FAR {
        return false;
    }
    let mut row: Vec<usize> = (0..=name.len()).collect();
    for (number, from) in (1..).zip(&word) {
        let mut left: usize = number;
        let distances = row.array_windows().zip(&name).map(|([diagonal, above], to)| {
            let replaced = diagonal.saturating_add(usize::from(from != to));
            left = replaced.min(left.min(*above).saturating_add(1));
            left
        });
        row = std::iter::once(number).chain(distances).collect();
    }
    row.last().is_some_and(|distance| *distance <= FAR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn misspelt_types_of_a_secret_are_known() {
        for (api_version, kind) in [
            ("v1", "Secret"),
            ("v1", "secret"),
            ("v1", "SECRET"),
            ("v1", "Secrets"),
            ("v1", "secretlist"),
            ("v1", "Secert"),
            ("v1", "Secrt"),
            ("v1", "Secret "),
            ("v1", "TLSSecret"),
            ("core/v1", "Secret"),
            ("/v1", "Secret"),
            ("V1", "Secret"),
            ("v1/", "Secret"),
            ("", "Secret"),
            ("apps/v1", "Secret"),
            ("rbac.authorization.k8s.io/v1", "Secret"),
            ("example.com/v1", "secrets"),
        ] {
            assert!(may_be_secret(&GroupVersionKind::new(api_version, kind)), "{api_version} {kind}");
        }
    }

    #[test]
    fn other_kinds_are_none() {
        for (api_version, kind) in [
            ("v1", "ConfigMap"),
            ("v1", "Service"),
            ("v1", "ServiceAccount"),
            ("v1", "Event"),
            ("apps/v1", "Deployment"),
            ("bitnami.com/v1alpha1", "SealedSecret"),
            ("external-secrets.io/v1", "ExternalSecret"),
            ("external-secrets.io/v1", "SecretStore"),
            ("secrets-store.csi.x-k8s.io/v1", "SecretProviderClass"),
            ("secrets.hashicorp.com/v1beta1", "VaultStaticSecret"),
            ("secretsmanager.aws.upbound.io/v1beta1", "Secret"),
        ] {
            let gvk = GroupVersionKind::new(api_version, kind);
            assert!(!may_be_secret(&gvk), "{api_version} {kind}");
            assert!(holds_secrets(&gvk, &json!({"stringdata": {"a": "b"}})), "{api_version} {kind}");
        }
    }
}
