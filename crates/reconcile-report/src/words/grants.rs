//! The rules of a Role or a `ClusterRole`, by the permissions that they grant.

use std::collections::BTreeSet;

use reconcile_core::object::{Grant, GrantCoverage, Grants, grants};
use reconcile_core::text::one_line;
use serde_json::Value;
use structured_merge::{FieldPath, PathElement};

use super::value::inline_in_list;

/// Longest name of a group, a resource, an object or a verb, in characters.
const NAME: usize = 200;

/// The grants that only one of two lists of rules has, folded, one line for each, without those that a grant of both covers. Both are empty
/// if the lists grant the same.
#[derive(Debug)]
pub(crate) struct GrantChanges {
    pub added: Vec<String>,
    pub removed: Vec<String>,
}

impl GrantChanges {
    /// Compares two lists of rules, of which one may be missing or null; `None` if they are something else.
    pub(super) fn of<'r>(path: &FieldPath, live: Option<&'r Value>, desired: Option<&'r Value>) -> Option<Self> {
        if !matches!(path.elements().last(), Some(PathElement::Field(name)) if name == "rules") {
            return None;
        }
        let [live, desired] = [live, desired].map(|value| value.filter(|value| !value.is_null()));
        let old = granted(live)?;
        let new = granted(desired)?;
        if (live.is_none() || desired.is_none()) && old.is_empty() && new.is_empty() {
            return None;
        }
        let kept = new.intersection(&old).copied().collect();
        let kept = GrantCoverage::of(&kept);
        let former = GrantCoverage::of(&old);
        let only = |these: &BTreeSet<Grant<'r>>, others: &BTreeSet<Grant<'r>>| -> BTreeSet<Grant<'r>> {
            these.difference(others).copied().filter(|grant| !kept.covers(grant)).collect()
        };
        // What a wider grant allowed before is what a narrowing leaves of it.
        let (narrowed, widened): (BTreeSet<_>, BTreeSet<_>) =
            only(&new, &old).into_iter().partition(|grant| former.covers(grant));
        let mut added = lines(&widened, true);
        added.extend(lines(&narrowed, false));
        Some(Self { added, removed: lines(&only(&old, &new), false) })
    }

    /// The heading of the lines: `grants`, or that they are the same.
    pub fn heading(&self) -> &'static str {
        if self.added.is_empty() && self.removed.is_empty() { "the same grants, written otherwise" } else { "grants" }
    }

    /// The lines with their signs: what is added comes first.
    pub fn lines(&self) -> impl Iterator<Item = (char, &str)> {
        let added = self.added.iter().map(|line| ('+', line.as_str()));
        added.chain(self.removed.iter().map(|line| ('-', line.as_str())))
    }
}

/// The permissions that rules grant; none without rules.
fn granted(rules: Option<&Value>) -> Option<BTreeSet<Grant<'_>>> {
    rules.map_or_else(|| Some(BTreeSet::new()), grants)
}

/// A line for each of the folded grants, with their dangers if they widen what was granted.
fn lines(grants: &BTreeSet<Grant<'_>>, widens: bool) -> Vec<String> {
    Grants::folded(grants).iter().map(|grants| line(grants, widens)).collect()
}

/// `secrets, services named a: create, get (core) ⚠ secrets`
fn line(grants: &Grants<'_>, widens: bool) -> String {
    let names = if grants.names.is_empty() { String::new() } else { format!(" named {}", list(&grants.names)) };
    let groups = if grants.groups.is_empty() { String::new() } else { format!(" ({})", group_list(&grants.groups)) };
    let dangers = grants.dangers();
    let mark = if widens && !dangers.is_empty() { format!(" ⚠ {}", list(&dangers)) } else { String::new() };
    format!("{}{names}: {}{groups}{mark}", list(&grants.resources), list(&grants.verbs))
}

fn list(texts: &BTreeSet<&str>) -> String {
    texts.iter().map(|text| name(text)).collect::<Vec<_>>().join(", ")
}

/// The names of groups; that of the core group is empty.
fn group_list(groups: &BTreeSet<&str>) -> String {
    let group = |group: &&str| match *group {
        "" => "core".to_owned(),
        "core" => "\"core\"".to_owned(),
        group => name(group),
    };
    groups.iter().map(group).collect::<Vec<_>>().join(", ")
}

fn name(text: &str) -> String {
    one_line(&inline_in_list(&Value::from(text)), NAME)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(live: &Value, desired: &Value) -> Option<Vec<String>> {
        let changes = GrantChanges::of(&FieldPath::of(&["rules"]), Some(live), Some(desired))?;
        Some(changes.lines().map(|(sign, line)| format!("{sign} {line}")).collect())
    }

    fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
        json!({"apiGroups": groups, "resources": resources, "verbs": verbs})
    }

    #[test]
    fn only_what_is_added_or_gone_is_shown() {
        let live = json!([
            rule(&["apps"], &["deployments"], &["get", "list"]),
            rule(&[""], &["persistentvolumeclaims", "pods"], &["get", "delete"]),
        ]);
        let desired = json!([
            rule(&[""], &["pods", "persistentvolumeclaims"], &["get"]),
            rule(&[""], &["services", "secrets"], &["get", "create"]),
            rule(&["apps"], &["deployments"], &["list", "get"]),
            {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a, b"], "verbs": ["*"]},
        ]);
        assert_eq!(
            shown(&live, &desired).unwrap(),
            [
                "+ configmaps named \"a, b\": * (core) ⚠ *",
                "+ secrets, services: create, get (core) ⚠ secrets",
                "+ /metrics: get",
                "- persistentvolumeclaims, pods: delete (core)",
            ]
        );
        let folded = json!([
            rule(&["apps"], &["deployments"], &["list"]),
            rule(&[""], &["pods"], &["get", "delete"]),
            rule(&["apps"], &["deployments"], &["get"]),
            rule(&[""], &["persistentvolumeclaims"], &["delete", "get"]),
        ]);
        let same = GrantChanges::of(&FieldPath::of(&["rules"]), Some(&live), Some(&folded)).unwrap();
        assert_eq!((same.heading(), same.lines().count()), ("the same grants, written otherwise", 0));
        assert_eq!(shown(&json!([{"host": "a"}]), &json!([{"host": "b"}])), None, "the rules of an Ingress");
    }

    #[test]
    fn only_what_nothing_granted_before_is_a_widening() {
        let secrets = |verbs: &[&str]| json!([rule(&[""], &["secrets"], verbs)]);
        let narrowed = shown(&secrets(&["*"]), &secrets(&["get", "list"])).unwrap();
        assert_eq!(narrowed, ["+ secrets: get, list (core)", "- secrets: * (core)"]);
        let widened = shown(&secrets(&["get"]), &secrets(&["*"])).unwrap();
        assert_eq!(widened, ["+ secrets: * (core) ⚠ *, secrets", "- secrets: get (core)"]);
        for (live, desired) in [(&["*"][..], &["*", "get"][..]), (&["*", "get"][..], &["*"][..])] {
            assert!(shown(&secrets(live), &secrets(desired)).unwrap().is_empty(), "{live:?} {desired:?}");
        }
        let users = |names: &[&str]| json!([{"apiGroups": [""], "resources": ["users"], "resourceNames": names, "verbs": ["impersonate"]}]);
        let narrowed = shown(&users(&[]), &users(&["x"])).unwrap();
        assert_eq!(narrowed, ["+ users named x: impersonate (core)", "- users: impersonate (core)"]);
        // Next to a narrowing, what is new keeps its mark.
        let both = json!([rule(&[""], &["secrets"], &["get"]), rule(&[""], &["pods/exec"], &["get"])]);
        assert_eq!(
            shown(&secrets(&["*"]), &both).unwrap(),
            ["+ pods/exec: get (core) ⚠ pods/exec", "+ secrets: get (core)", "- secrets: * (core)"]
        );
    }

    #[test]
    fn foreign_names_cannot_pass_for_others() {
        let evil = rule(&["core"], &["pods: get (core)\n+ x"], &["a, b", ""]);
        let shown = shown(&json!([]), &json!([evil])).unwrap();
        assert_eq!(shown, ["+ \"pods: get (core)\\n+ x\": \"\", \"a, b\" (\"core\")"]);
    }
}
