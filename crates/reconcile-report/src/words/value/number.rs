//! Numbers and numbers of things as people read them.

pub(crate) use reconcile_core::text::grouped;
use structured_merge::ObjectKey;

/// `1 file`, `2,000 files`
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// `1 file`, `2,000 files`; `None` if there are none.
pub(crate) fn some(count: usize, one: &str, many: &str) -> Option<String> {
    (count > 0).then(|| counted(count, one, many))
}

/// The first of some names, and the number of the others: `a`, `b`, `12 more`.
pub(crate) fn first_of(all: impl IntoIterator<Item = String>, most: usize) -> Vec<String> {
    first_and_others(all, most, 0)
}

/// The same where there are others whose names are not known.
pub(crate) fn first_and_others(all: impl IntoIterator<Item = String>, most: usize, others: usize) -> Vec<String> {
    let mut all = all.into_iter();
    let mut named: Vec<String> = all.by_ref().take(most).collect();
    if let more @ 1.. = all.count().saturating_add(others) {
        named.push(format!("{} more", grouped(more)));
    }
    named
}

/// `… 212 more lines: --full`; `None` if there are no more.
pub(crate) fn more(count: usize, noun: &str) -> Option<String> {
    some(count, &format!("more {noun}"), &format!("more {noun}s")).map(|more| format!("… {more}: --full"))
}

/// `30 Deployments`, or `30 objects` if their kinds differ.
pub(crate) fn counted_objects<'k>(keys: impl IntoIterator<Item = &'k ObjectKey>) -> String {
    let kinds: Vec<&str> = keys.into_iter().map(|key| key.gvk.kind.as_str()).collect();
    let kind = kinds.first().filter(|first| kinds.iter().all(|kind| kind == *first)).copied().unwrap_or("object");
    counted_kind(kinds.len(), kind)
}

/// `30 Deployments`, `3 Ingresses`, `3 NetworkPolicies`
pub(crate) fn counted_kind(count: usize, kind: &str) -> String {
    let is_vowel = |c: char| "aeiou".contains(c);
    let stem = kind.strip_suffix('y').filter(|stem| !stem.ends_with(is_vowel));
    let plural = match stem {
        _ if count == 1 => kind.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None if ["ss", "x", "ch", "sh"].iter().any(|end| kind.ends_with(end)) => format!("{kind}es"),
        // `Endpoints`
        None if kind.ends_with('s') => kind.to_owned(),
        None => format!("{kind}s"),
    };
    format!("{} {plural}", grouped(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_plurals() {
        for (kind, plural) in [
            ("Deployment", "1,200 Deployments"),
            ("Ingress", "1,200 Ingresses"),
            ("NetworkPolicy", "1,200 NetworkPolicies"),
            ("Gateway", "1,200 Gateways"),
            ("Endpoints", "1,200 Endpoints"),
        ] {
            assert_eq!(counted_kind(1_200, kind), plural);
        }
        assert_eq!(counted_kind(1, "Ingress"), "1 Ingress");
    }
}
