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
