//! Names of kinds and objects, and the names, labels and annotation keys that the API would refuse, so that they are reported with their
//! location before any request. The rules are those of apimachinery `pkg/api/validate/content` and `pkg/api/validation`. If kinds differ
//! and not all servers are certain to refuse, the server decides.

use structured_merge::{GroupVersionKind, MAX_LABEL, builtin_kind, is_dns_label, is_dns_subdomain};

/// The rule for the names of namespaces, as for all DNS labels.
pub const DNS_LABEL: &str =
    "up to 63 lowercase letters, digits and `-` are allowed, with a letter or a digit at both ends";
/// Built-in kinds whose names do not have to be DNS subdomains: any path segment is allowed, or the server decides.
const FREE_NAMES: [(&str, &str); 11] = [
    ("", "Event"),
    ("apiregistration.k8s.io", "APIService"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("certificates.k8s.io", "ClusterTrustBundle"),
    ("internal.apiserver.k8s.io", "StorageVersion"),
    ("networking.k8s.io", "IPAddress"),
    ("policy", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
];
/// Kinds whose names are DNS labels, because they occur in DNS names.
const LABEL_NAMES: [(&str, &str); 2] = [("", "Namespace"), ("", "Service")];
/// Most bytes that the annotations of one object have in all (apimachinery `pkg/api/validation/objectmeta.go`,
/// `TotalAnnotationSizeLimitB`).
pub const MAX_ANNOTATIONS: usize = 256 << 10;

/// A noun with its indefinite article: `a Deployment`, `an Ingress`, `an HTTPRoute`. A kind whose name is a plural is an
/// object of it: `an Endpoints object`.
pub fn indefinite(noun: &str) -> String {
    let article = if begins_with_a_vowel(noun) { "an" } else { "a" };
    // `Endpoints`, but neither `Ingress` nor `Alias`, nor abbreviations such as `DNS`.
    let is_plural = noun.ends_with('s')
        && !["ss", "us", "is", "as", "os", "ns"].iter().any(|singular| noun.ends_with(singular))
        || noun.ends_with("ptions");
    let object = if is_plural { " object" } else { "" };
    format!("{article} {noun}{object}")
}

/// Returns true if a word sounds as if it began with a vowel.
fn begins_with_a_vowel(noun: &str) -> bool {
    let mut letters = noun.chars();
    let (Some(first), second) = (letters.next(), letters.next()) else { return false };
    // An abbreviation is spelled: `an HTTPRoute`, `a UDPRoute`.
    let is_spelled = first.is_uppercase() && second.is_some_and(char::is_uppercase);
    if is_spelled {
        return "AEFHILMNORSX".contains(first);
    }
    let noun = noun.to_ascii_lowercase();
    // `a User`, `a Unit`, `a OneAgent`, `a European`
    let is_consonant = ["use", "usa", "uni", "uti", "one", "eu"].iter().any(|start| noun.starts_with(start))
        && !["unin", "unim"].iter().any(|start| noun.starts_with(start));
    !is_consonant && noun.starts_with(['a', 'e', 'i', 'o', 'u']) || noun.starts_with("hour")
}

/// The plural name that the resource of a kind has by the rule of the API machinery, which all kinds of Kubernetes follow (apimachinery
/// `pkg/api/meta/restmapper.go`, `UnsafeGuessKindToResource`).
pub fn usual_plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    match kind.strip_suffix('y') {
        _ if kind.ends_with("endpoints") => kind,
        Some(stem) => format!("{stem}ies"),
        None if kind.ends_with('s') => format!("{kind}es"),
        None => format!("{kind}s"),
    }
}

/// The plural names that the resource of a kind may have. Definitions of custom resources may follow English where the API machinery
/// does not: `gateways` instead of `gatewaies`.
pub fn usual_plurals(kind: &str) -> Vec<String> {
    let english = kind.ends_with('y').then(|| format!("{}s", kind.to_lowercase()));
    std::iter::once(usual_plural(kind)).chain(english).collect()
}

/// The rule that a name breaks if no object of any kind can have it: a name is one segment of a URL's path (apimachinery
/// `pkg/api/validation/path`, `IsValidPathSegmentName`).
pub fn path_segment_refused(name: &str) -> Option<&'static str> {
    (name == "." || name == ".." || name.contains(['/', '%']))
        .then_some("`.`, `..`, `/` and `%` are not allowed, as the name is a part of a URL")
}

/// The rule that a name breaks for an object of this kind, if any.
pub fn name_refused(gvk: &GroupVersionKind, name: &str) -> Option<&'static str> {
    let is = |kinds: &[(&str, &str)]| kinds.contains(&(gvk.group.as_str(), gvk.kind.as_str()));
    if is(&FREE_NAMES) || builtin_kind(gvk).is_none() {
        return None;
    }
    if is(&LABEL_NAMES) {
        return (!is_dns_label(name)).then_some(DNS_LABEL);
    }
    (!is_dns_subdomain(name)).then_some(
        "up to 253 lowercase letters, digits, `-` and `.` are allowed, with a letter or a digit at both ends",
    )
}

/// The rule that a name breaks as the name of a namespace, if any.
pub fn namespace_refused(namespace: &str) -> Option<&'static str> {
    (!is_dns_label(namespace)).then_some(DNS_LABEL)
}

/// The rule that the key of a label breaks, if any.
pub fn label_key_refused(key: &str) -> Option<&'static str> {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    if prefix.is_some_and(|prefix| !is_dns_subdomain(prefix)) {
        return Some("the part before its `/` is a DNS name, such as `example.com`");
    }
    let fits = !name.is_empty() && is_label_value(name);
    (!fits).then_some(
        "up to 63 letters, digits, `-`, `_` and `.` are allowed, with a letter or a digit at both ends; an optional \
         prefix such as `example.com/` comes first",
    )
}

/// The rule that the key of an annotation breaks, if any: that of labels, ignoring case.
pub fn annotation_key_refused(key: &str) -> Option<&'static str> {
    label_key_refused(&key.to_lowercase())
}

/// The rule that the value of a label breaks, if any.
pub fn label_value_refused(value: &str) -> Option<&'static str> {
    (!is_label_value(value))
        .then_some("up to 63 letters, digits, `-`, `_` and `.` are allowed, with a letter or a digit at both ends")
}

/// Returns true for a label's value (`content.IsLabelValue`), which may be empty.
fn is_label_value(text: &str) -> bool {
    let edge = |c: Option<u8>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    text.len() <= MAX_LABEL
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"-_.".contains(&c))
        && edge(text.bytes().next())
        && edge(text.bytes().next_back())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dns_labels_are_namespaces() {
        for name in ["shop", "a", "0", "kube-system", &"a".repeat(63)] {
            assert!(is_dns_label(name), "{name}");
        }
        let refused = ["", "Shop", "a.b", "a_b", "-a", "a-", "a/b", "..", "a#", "a?b", "a%2fb", "ä", "a b", "a\n"];
        for name in refused.into_iter().chain([&*"a".repeat(64)]) {
            assert!(!is_dns_label(name), "{name}");
        }
    }

    #[test]
    fn articles_follow_the_sound() {
        let nouns = [
            ("Deployment", "a Deployment"),
            ("Ingress", "an Ingress"),
            ("Endpoints", "an Endpoints object"),
            ("EndpointSlice", "an EndpointSlice"),
            ("HorizontalPodAutoscaler", "a HorizontalPodAutoscaler"),
            ("HTTPRoute", "an HTTPRoute"),
            ("APIService", "an APIService"),
            ("IPAddress", "an IPAddress"),
            ("CSIDriver", "a CSIDriver"),
            ("UDPRoute", "a UDPRoute"),
            ("NFSServer", "an NFSServer"),
            ("TLSRoute", "a TLSRoute"),
            ("StorageClass", "a StorageClass"),
            ("User", "a User"),
            ("Unit", "a Unit"),
            ("Update", "an Update"),
            ("OneAgent", "a OneAgent"),
            ("Alertmanager", "an Alertmanager"),
            ("Prometheus", "a Prometheus"),
            ("Redis", "a Redis"),
            ("DNS", "a DNS"),
            ("Event", "an Event"),
            ("annotation", "an annotation"),
            ("label", "a label"),
            ("", "a "),
        ];
        for (noun, said) in nouns {
            assert_eq!(indefinite(noun), said);
        }
    }

    #[test]
    fn plural_names_follow_the_convention() {
        for (kind, plurals) in [
            ("Deployment", &["deployments"][..]),
            ("NetworkPolicy", &["networkpolicies", "networkpolicys"]),
            ("Gateway", &["gatewaies", "gateways"]),
            ("Ingress", &["ingresses"]),
            ("Endpoints", &["endpoints"]),
            ("StorageClass", &["storageclasses"]),
            ("", &["s"]),
        ] {
            assert_eq!(usual_plurals(kind), plurals);
        }
    }

    #[track_caller]
    fn is_refused(api_version: &str, kind: &str, name: &str) -> bool {
        name_refused(&GroupVersionKind::new(api_version, kind), name).is_some()
    }

    #[test]
    fn names_follow_the_rule_of_their_kind() {
        for refused in ["Web", "a_b", "a:b", "-a", "a-", "a..b", "ä", &"a".repeat(254)] {
            assert!(is_refused("v1", "ConfigMap", refused), "{refused}");
        }
        for accepted in ["web", "1a", "a.b-c", &"a".repeat(253)] {
            assert!(!is_refused("v1", "ConfigMap", accepted), "{accepted}");
        }
        assert!(is_refused("v1", "Namespace", "a.b") && is_refused("v1", "Service", "a.b"));
        assert!(is_refused("v1", "Namespace", &"a".repeat(64)));
        assert!(!is_refused("rbac.authorization.k8s.io/v1", "ClusterRole", "system:Node"));
        assert!(!is_refused("policy/v1", "PodDisruptionBudget", "a_b"));
        assert!(!is_refused("apiregistration.k8s.io/v1", "APIService", "v1."));
    }

    #[test]
    fn the_server_decides_on_names_of_kinds_that_it_alone_knows() {
        assert!(!is_refused("user.openshift.io/v1", "User", "jane@example.com"));
    }

    #[test]
    fn no_name_leads_to_another_path() {
        for refused in [".", "..", "a/b", "/", "a%2fb", "%"] {
            assert!(path_segment_refused(refused).is_some(), "{refused}");
        }
        for accepted in ["...", "a#b", "system:Node", "jane@example.com"] {
            assert!(path_segment_refused(accepted).is_none(), "{accepted}");
        }
    }

    #[test]
    fn keys_and_values_of_labels_follow_their_rules() {
        for key in ["", "a b", "-a", "a/b/c", "/a", "A.b/c", "a/", &"a".repeat(64)] {
            assert!(label_key_refused(key).is_some(), "{key}");
        }
        for key in ["app", "a.B_c-d", "example.com/App", "1"] {
            assert!(label_key_refused(key).is_none(), "{key}");
        }
        assert!(annotation_key_refused("Example.com/x").is_none());
        assert!(annotation_key_refused("a b").is_some());
        assert!(label_value_refused("y y").is_some() && label_value_refused("-a").is_some());
        assert!(label_value_refused("").is_none() && label_value_refused("V1.2_x").is_none());
    }
}
