//! The differences that ignore rules hide.

use std::collections::{BTreeMap, BTreeSet};

use structured_merge::{ClaimStrength, Claimants, FieldPath, TypeRef, changes, leave_out_bookkeeping};

use super::{LiveObject, last_applied_copy};
use crate::compare::diff::IgnoredFields;
use crate::compare::policy::Policy;
use crate::compare::prediction::CompareContext;
use crate::rules::{BUILT_IN, IGNORE_ANNOTATION, RuleRef};

impl LiveObject {
    /// The differences that an apply would resolve if there were no rules, by rule.
    pub fn hidden(&self, context: CompareContext<'_>) -> Vec<IgnoredFields> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        let CompareContext { target, schema, policy, .. } = context;
        let live = &self.current;
        let manifest = target.desired.object();
        let without_rules = context.predict(manifest, live).object;
        let mut differences = changes(&live.object, &without_rules, schema, target.status_is_apart());
        leave_out_bookkeeping(&mut differences, &target.key.gvk, manifest, schema);
        let copy = last_applied_copy();
        let mut hidden: BTreeMap<RuleRef, BTreeSet<FieldPath>> = BTreeMap::new();
        for path in differences.into_iter().map(|change| change.path).filter(|path| *path != copy) {
            if let Some(rule) = self.rule_of(&path) {
                if rule == RuleRef::Left {
                    continue;
                }
                hidden.entry(rule).or_default().insert(path);
                continue;
            }
            let below = self.rules.range(&path..).take_while(|(ignored, _)| path.is_prefix_of(ignored));
            let below = below.filter(|(_, rule)| **rule != RuleRef::Left);
            for (ignored, rule) in below {
                hidden.entry(*rule).or_default().insert(ignored.clone());
            }
        }
        let entries: Vec<_> = live.owners.entries().cloned().collect();
        let claimants = Claimants::of(&entries);
        let managers = |path: &FieldPath| managers_of(&claimants, path, schema);
        hidden.into_iter().map(|(rule, paths)| named(rule, paths, policy, managers)).collect()
    }

    /// The rule that ignores everything at a path.
    fn rule_of(&self, path: &FieldPath) -> Option<RuleRef> {
        let elements = path.elements();
        let above = |depth: usize| self.rules.get(&FieldPath::from(elements.get(..depth)?.to_vec()));
        (1..=elements.len()).find_map(above).copied()
    }
}

/// The managers that own a field, each once.
fn managers_of(claimants: &Claimants<'_>, path: &FieldPath, schema: TypeRef<'_>) -> Vec<String> {
    let (strength, owners) = claimants.best(path, schema);
    let mut managers: Vec<String> = Vec::new();
    for owner in owners.into_iter().filter(|_| strength == ClaimStrength::Own) {
        if !managers.contains(&owner.manager) {
            managers.push(owner.manager.clone());
        }
    }
    managers
}

fn named(
    rule: RuleRef,
    paths: BTreeSet<FieldPath>,
    policy: &Policy,
    managers: impl Fn(&FieldPath) -> Vec<String>,
) -> IgnoredFields {
    let (name, reason) = match rule {
        RuleRef::Configured(index) => {
            let rule = policy.ignore.rules.get(index);
            (rule.map(|rule| rule.location.to_string()), rule.and_then(|rule| rule.reason.clone()))
        }
        RuleRef::Annotation => (Some(format!("annotation `{IGNORE_ANNOTATION}`")), None),
        RuleRef::Autoscaler(index) => {
            (policy.autoscalers.all.get(index).map(|autoscaler| autoscaler.name.clone()), None)
        }
        RuleRef::BuiltIn(index) => (Some("built in".to_owned()), BUILT_IN.get(index).map(|rule| rule.name.to_owned())),
        RuleRef::Left => (None, None),
    };
    let is_built_in = !rule.is_of_user();
    let owned =
        paths.iter().map(|path| (path.to_string(), managers(path))).filter(|(_, managers)| !managers.is_empty());
    let managers = owned.collect();
    IgnoredFields { rule: name.unwrap_or_default(), reason, is_built_in, paths: paths.into_iter().collect(), managers }
}
