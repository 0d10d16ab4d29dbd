/// The rule for the names of namespaces, as for all DNS labels.
pub const DNS_LABEL: &str =
    "up to 63 lowercase letters, digits and `-` are allowed, with a letter or a digit at both ends";

/// Longest DNS label.
pub const MAX_LABEL: usize = 63;

/// Returns true for a valid name of a namespace (RFC 1123; apimachinery `pkg/api/validate/content`, `IsDNS1123Label`). Nothing
/// else may get into the path of a request.
pub fn is_dns_label(text: &str) -> bool {
    let is_edge = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.len() <= MAX_LABEL
        && text.bytes().all(|c| is_edge(c) || c == b'-')
        && text.bytes().next().is_some_and(is_edge)
        && text.bytes().next_back().is_some_and(is_edge)
}

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
}
