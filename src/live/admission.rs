//! Mutating admission that could change an update. A proof does not include its changes, because it may have been installed after
//! the last apply.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectMeta as _};

use super::list::Pages;
use crate::client::{Cluster, Request};
use reconcile_core::live::Resource;
use reconcile_core::live::{Discovery, Resolution};
use reconcile_core::object::Projection;

const API_VERSION: &str = "admissionregistration.k8s.io/v1";

/// The kinds that have rules, and the path from an object to its rules.
const SOURCES: [(&str, &str); 2] =
    [("MutatingWebhookConfiguration", "/webhooks"), ("MutatingAdmissionPolicy", "/spec/matchConstraints")];

/// The fields of these kinds that are read.
const FIELDS: Projection = {
    use Projection::{Fields, Whole};
    const RULE: Projection = Fields(&[("operations", Whole), ("apiGroups", Whole), ("resources", Whole)]);
    Fields(&[
        ("apiVersion", Whole),
        ("kind", Whole),
        ("metadata", Fields(&[("name", Whole), ("namespace", Whole)])),
        ("webhooks", Fields(&[("rules", RULE)])),
        ("spec", Fields(&[("matchConstraints", Fields(&[("resourceRules", RULE)]))])),
    ])
};

fn pages<'c>(cluster: &'c Cluster, resource: &'c Resource) -> Pages<'c> {
    Pages::new(cluster, resource, None).counted_as_other().keeping(FIELDS)
}

/// The kind of the policies.
pub(crate) fn policy() -> GroupVersionKind {
    GroupVersionKind::new(API_VERSION, "MutatingAdmissionPolicy")
}

/// The resources with rules that the server has.
fn sources(discovery: &Discovery) -> impl Iterator<Item = (&Resource, &'static str)> {
    SOURCES.into_iter().filter_map(|(kind, rules_at)| {
        let Resolution::Known(resource) = discovery.resolve(&GroupVersionKind::new(API_VERSION, kind)) else {
            return None;
        };
        Some((resource, rules_at))
    })
}

/// The first requests for the webhooks and policies.
pub(crate) fn first_requests(cluster: &Cluster, discovery: &Discovery) -> Vec<(Resource, Request)> {
    sources(discovery).map(|(resource, _)| (resource.clone(), pages(cluster, resource).first_request())).collect()
}

/// All rules of a cluster that the user may see.
#[derive(Clone, Debug, Default)]
pub struct Admission {
    rules: Vec<AdmissionRule>,
}

#[derive(Clone, Debug)]
struct AdmissionRule {
    /// `MutatingWebhookConfiguration sidecars`
    owner: String,
    groups: BTreeSet<String>,
    resources: BTreeSet<String>,
}

impl Admission {
    /// Lists webhooks and policies. If that is forbidden, the report does not mention them.
    pub async fn load(cluster: &Cluster, discovery: &Discovery) -> Self {
        let lists = sources(discovery).map(|(resource, rules_at)| async move {
            let pages = pages(cluster, resource);
            let (items, _) = pages.all().await.unwrap_or_default();
            items.iter().flat_map(|item| rules_of(&resource.gvk.kind, item, rules_at)).collect::<Vec<_>>()
        });
        Self { rules: futures::future::join_all(lists).await.into_iter().flatten().collect() }
    }

    /// The webhooks and policies that handle updates of a resource. Namespace and object selectors are ignored.
    fn handling(&self, resource: &Resource) -> impl Iterator<Item = &str> {
        let rules = self.rules.iter().filter(|rule| {
            let matches = |names: &BTreeSet<String>, name: &str| names.contains("*") || names.contains(name);
            matches(&rule.groups, &resource.gvk.group)
                && (matches(&rule.resources, &resource.plural) || rule.resources.contains("*/*"))
        });
        rules.map(|rule| rule.owner.as_str())
    }

    /// A sentence for each webhook configuration and policy that handles one of these resources.
    pub fn caveats<'r>(&self, proven: impl Iterator<Item = &'r Resource>) -> Vec<String> {
        let mut handled: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for resource in proven {
            for name in self.handling(resource) {
                handled.entry(name).or_default().insert(&resource.gvk.kind);
            }
        }
        let sentence = |(name, kinds): (&str, BTreeSet<&str>)| {
            let kinds = kinds.into_iter().collect::<Vec<_>>().join(", ");
            format!(
                "{name} may change objects of kind {kinds} when they are applied; `--evidence=server` asks the server about each object"
            )
        };
        handled.into_iter().map(sentence).collect()
    }
}

/// The rules of one webhook configuration or policy that apply to updates.
fn rules_of(kind: &str, item: &Value, rules_at: &str) -> Vec<AdmissionRule> {
    let name = item.name().unwrap_or_default();
    let holders: Vec<&Value> = match item.pointer(rules_at) {
        Some(Value::Array(webhooks)) => webhooks.iter().filter_map(|webhook| webhook.get("rules")).collect(),
        Some(constraints) => constraints.get("resourceRules").into_iter().collect(),
        None => Vec::new(),
    };
    let rules = holders.into_iter().filter_map(Value::as_array).flatten();
    let on_update = rules.filter(|rule| {
        let operations = strings(rule, "operations");
        operations.contains("*") || operations.contains("UPDATE")
    });
    let rule = |rule: &Value| AdmissionRule {
        owner: format!("{kind} {name}"),
        groups: strings(rule, "apiGroups"),
        resources: strings(rule, "resources"),
    };
    on_update.map(rule).collect()
}

fn strings(value: &Value, name: &str) -> BTreeSet<String> {
    let items = value.get(name).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_rules_on_updates_count() {
        let webhooks = json!({"metadata": {"name": "sidecars"}, "webhooks": [
            {"rules": [{"operations": ["CREATE"], "apiGroups": [""], "resources": ["pods"]}]},
            {"rules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": ["apps"], "resources": ["*"]}]}]});
        let rules = rules_of("MutatingWebhookConfiguration", &webhooks, "/webhooks");
        assert_eq!(rules.len(), 1);
        assert!(rules[0].groups.contains("apps"));
        let policy = json!({"metadata": {"name": "labels"}, "spec": {"matchConstraints": {"resourceRules": [
            {"operations": ["*"], "apiGroups": ["*"], "resources": ["configmaps"]}]}}});
        assert_eq!(rules_of("MutatingAdmissionPolicy", &policy, "/spec/matchConstraints").len(), 1);
    }
}
