//! The grants that other grants make needless, as RBAC reads wildcards.

use std::collections::BTreeSet;

use super::permission::Grant;

/// RBAC reads this as every verb, group or resource.
const ALL: &str = "*";

/// A set of grants, to be asked whether it allows everything that another grant allows
/// (`k8s.io/kubernetes` `pkg/registry/rbac/validation/policy_comparator.go`, `ruleCovers`).
#[derive(Debug)]
pub struct GrantCoverage<'s, 'r> {
    grants: &'s BTreeSet<Grant<'r>>,
    /// The verbs and the beginnings of URLs that end with `*`.
    beginnings: BTreeSet<(&'r str, &'r str)>,
}

impl<'s, 'r> GrantCoverage<'s, 'r> {
    /// The coverage of a set of grants.
    pub fn of(grants: &'s BTreeSet<Grant<'r>>) -> Self {
        let urls = grants.iter().filter(|grant| grant.group.is_none() && grant.resource.ends_with('*'));
        let beginnings = urls.map(|grant| (grant.verb, grant.resource.trim_end_matches('*'))).collect();
        Self { grants, beginnings }
    }

    /// Returns true if one of the grants allows everything that this one allows.
    pub fn covers(&self, grant: &Grant<'_>) -> bool {
        [grant.verb, ALL].into_iter().any(|verb| match grant.group {
            Some(group) => self.covers_resource(verb, group, grant),
            None => self.covers_url(verb, grant.resource),
        })
    }

    fn covers_resource(&self, verb: &str, group: &str, grant: &Grant<'_>) -> bool {
        let everywhere = grant.resource.split_once('/').map(|(_, subresource)| format!("*/{subresource}"));
        let resources = [Some(grant.resource), Some(ALL), everywhere.as_deref()];
        let mut places =
            [group, ALL].into_iter().flat_map(|group| resources.iter().flatten().map(move |one| (group, *one)));
        places.any(|(group, resource)| {
            let wider = |name| Grant { group: Some(group), resource, name, verb };
            self.has(&wider(None)) || grant.name.is_some() && self.has(&wider(grant.name))
        })
    }

    fn covers_url(&self, verb: &str, url: &str) -> bool {
        let begins = |end: usize| url.get(..end).is_some_and(|beginning| self.beginnings.contains(&(verb, beginning)));
        self.has(&Grant { group: None, resource: url, name: None, verb })
            || !self.beginnings.is_empty() && (0..=url.len()).any(begins)
    }

    fn has(&self, grant: &Grant<'_>) -> bool {
        self.grants.contains(grant)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::permission::grants;
    use super::*;

    /// Returns true if a rule grants everything that another one grants.
    fn covers(wide: &Value, narrow: &Value) -> bool {
        let [wide, narrow] = [wide, narrow].map(|rule| json!([rule]));
        let wide = grants(&wide).unwrap();
        let narrow = grants(&narrow).unwrap();
        let coverage = GrantCoverage::of(&wide);
        narrow.iter().all(|grant| coverage.covers(grant))
    }

    /// As the tests of `policy_comparator.go` have it.
    #[test]
    fn wildcards_cover_what_they_stand_for() {
        let rule = |group: &str, resource: &str, verb: &str| json!({"apiGroups": [group], "resources": [resource], "verbs": [verb]});
        let secrets = rule("", "secrets", "get");
        for (wide, covered) in [
            (rule("", "secrets", "*"), true),
            (rule("*", "secrets", "get"), true),
            (rule("", "*", "get"), true),
            (rule("*", "*", "*"), true),
            (rule("apps", "secrets", "*"), false),
            (rule("", "pods", "*"), false),
            (rule("", "*", "list"), false),
            (rule("", "*/secrets", "get"), false),
        ] {
            assert_eq!(covers(&wide, &secrets), covered, "{wide}");
            assert!(!covers(&secrets, &wide), "{wide}");
        }
        let exec = rule("", "pods/exec", "create");
        assert!(covers(&rule("", "*/exec", "create"), &exec) && covers(&rule("", "*", "create"), &exec));
        assert!(!covers(&rule("", "pods", "create"), &exec) && !covers(&exec, &rule("", "*/exec", "create")));
    }

    #[test]
    fn a_grant_without_names_covers_those_with_names() {
        let rule = |names: &[&str]| json!({"apiGroups": [""], "resources": ["users"], "resourceNames": names, "verbs": ["impersonate"]});
        assert!(covers(&rule(&[]), &rule(&["x"])) && covers(&rule(&["x", "y"]), &rule(&["x"])));
        assert!(!covers(&rule(&["x"]), &rule(&[])) && !covers(&rule(&["x"]), &rule(&["y"])));
    }

    #[test]
    fn a_url_that_ends_with_a_star_covers_those_that_begin_so() {
        let rule = |url: &str| json!({"nonResourceURLs": [url], "verbs": ["get"]});
        for (wide, narrow, covered) in [
            ("*", "/metrics", true),
            ("/api/*", "/api/v1", true),
            ("/api*", "/apis/*", true),
            ("/api/*", "/api", false),
            ("/api", "/api/*", false),
            ("/metrics", "/metrics", true),
            ("/*/x", "/a/x", false),
        ] {
            assert_eq!(covers(&rule(wide), &rule(narrow)), covered, "{wide} {narrow}");
        }
        let resource = json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]});
        assert!(!covers(&resource, &rule("/metrics")) && !covers(&rule("*"), &resource));
    }
}
