use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, Lookup, ManagedObject, ObjectKey, TypeRef};

use super::autoscaler::Autoscalers;
use super::built_in::BUILT_IN;
use super::glob::Glob;
use super::matching::{Sides, walk};
use super::pattern::{FieldPattern, is_protected};
use super::rule::IgnoreRules;

/// An object whose fields rules may cover.
#[derive(Clone, Copy, Debug)]
pub struct CoveredObject<'a> {
    /// The identity of the object.
    pub key: &'a ObjectKey,
    /// The manifest, if there is one.
    pub manifest: Option<&'a Value>,
    /// The live object and its owners, if there is one.
    pub live: Option<&'a ManagedObject>,
    /// The type's fields.
    pub schema: TypeRef<'a>,
    /// The owners that are manual changes, which are never left to themselves because a manifest has a placeholder.
    pub manual: &'a BTreeSet<String>,
}

impl<'a> CoveredObject<'a> {
    fn sides(&self) -> Sides<'a> {
        Sides::of(self.manifest, self.live.map(|live| &live.object))
    }
}

/// A reference to a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleRef {
    /// The rule of the configuration at this position of [`IgnoreRules`].
    Configured(usize),
    /// The annotation of the manifest.
    Annotation,
    /// The autoscaler at this position of [`Autoscalers`].
    Autoscaler(usize),
    /// The rule at this position of [`BUILT_IN`].
    BuiltIn(usize),
    /// No rule: the pass leaves the difference.
    Left,
}

impl RuleRef {
    /// Returns true for a rule of the configuration or of a manifest.
    pub fn is_of_user(self) -> bool {
        matches!(self, Self::Configured(_) | Self::Annotation)
    }
}

/// A field that a rule covers, with everything below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The first rule that covers it.
    pub rule: RuleRef,
    /// True if the manifest has it. Items of atomic lists go by positions, which may mean different items on the two sides.
    pub in_manifest: bool,
    /// True if the live object has it.
    pub in_live: bool,
    /// Number of steps to the atomic list in which all its rules select items at different positions on the two sides, if they do.
    pub moved_in: Option<usize>,
}

/// The fields of one object that rules cover.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The fields, in the order of their paths.
    pub fields: BTreeMap<FieldPath, Covered>,
}

impl Coverage {
    /// The rule that covers a path, at the path itself or above it.
    pub fn rule_of(&self, path: &FieldPath) -> Option<RuleRef> {
        let elements = path.elements();
        let above = |length: usize| self.fields.get(&FieldPath::from(elements.get(..length)?.to_vec()));
        (1..=elements.len()).find_map(above).map(|covered| covered.rule)
    }

    /// Adds fields that a pass leaves, unless a rule covers them.
    pub fn leave(&mut self, fields: &FieldSet) {
        for path in fields.paths() {
            if self.rule_of(&path).is_none() {
                let left = Covered { rule: RuleRef::Left, in_manifest: true, in_live: true, moved_in: None };
                self.fields.insert(path, left);
            }
        }
    }

    fn add(&mut self, path: FieldPath, rule: RuleRef, at: Sides<'_>) {
        if is_protected(&path) {
            return;
        }
        let new = Covered { rule, in_manifest: false, in_live: false, moved_in: at.moved_in };
        let covered = self.fields.entry(path).or_insert(new);
        covered.in_manifest |= at.manifest.is_some();
        covered.in_live |= at.live.is_some();
        covered.moved_in = covered.moved_in.min(at.moved_in);
    }
}

impl IgnoreRules {
    /// The fields of an object that the rules, the annotation of its manifest, its autoscalers and the built-in rules cover. Fields
    /// that neither the manifest nor the live object has are left out.
    pub fn coverage(
        &self,
        subject: CoveredObject<'_>,
        annotation: &[FieldPattern],
        autoscalers: &Autoscalers,
    ) -> Coverage {
        let mut coverage = Coverage::default();
        for (index, rule) in self.rules.iter().enumerate() {
            if rule.target.matches(subject.key, subject.manifest) {
                let rule_ref = RuleRef::Configured(index);
                if rule.managers.is_empty() {
                    cover(&mut coverage, &rule.fields, rule_ref, subject);
                } else {
                    cover_owned(&mut coverage, &rule.fields, &rule.managers, rule_ref, subject, |_| true);
                }
            }
        }
        cover(&mut coverage, annotation, RuleRef::Annotation, subject);
        cover_others(&mut coverage, autoscalers, subject);
        coverage
    }
}

fn cover(coverage: &mut Coverage, fields: &[FieldPattern], rule: RuleRef, subject: CoveredObject<'_>) {
    for field in fields {
        walk(field, subject.sides(), subject.schema, &mut |path, at| coverage.add(path, rule, at));
    }
}

/// Covers the fields that need no rule: those of autoscalers, and those that controllers fill in by design.
fn cover_others(coverage: &mut Coverage, autoscalers: &Autoscalers, subject: CoveredObject<'_>) {
    let Some(live) = subject.live else { return };
    for (index, (fields, managers)) in autoscalers.fields_of(subject.key, live) {
        let rule = RuleRef::Autoscaler(index);
        if managers.is_empty() {
            cover(coverage, &fields, rule, subject);
        } else {
            cover_owned(coverage, &fields, &managers, rule, subject, |_| true);
        }
    }
    for (index, built_in) in BUILT_IN.iter().enumerate().filter(|(_, built_in)| built_in.is_for(subject.key)) {
        let (fields, managers) = built_in.fields();
        let is_left = |value: Option<&Value>| built_in.is_left_to_it(subject.manifest, value);
        cover_owned(coverage, &fields, &managers, RuleRef::BuiltIn(index), subject, is_left);
        let ours = live.owners.ours.as_ref().map(|entry| entry.manager.as_str());
        let others = live.owners.others.iter().map(|entry| entry.manager.as_str());
        let others = others.filter(|other| Some(*other) != ours && !subject.manual.contains(*other));
        let others: Vec<Glob> = others.map(|other| Glob::of_pieces(vec![other.to_owned()])).collect();
        let is_open = |value: Option<&Value>| built_in.is_open_to_all(value);
        cover_owned(coverage, &fields, &others, RuleRef::BuiltIn(index), subject, is_open);
    }
}

/// Covers the fields of a rule that one of its managers owns: at the field, above it as a whole, or below it. `covers` decides by
/// the value that the manifest has there.
fn cover_owned(
    coverage: &mut Coverage,
    fields: &[FieldPattern],
    managers: &[Glob],
    rule: RuleRef,
    subject: CoveredObject<'_>,
    covers: impl Fn(Option<&Value>) -> bool,
) {
    let is_named = |manager: &str| managers.iter().any(|glob| glob.matches(manager));
    let entries = subject.live.into_iter().flat_map(|live| live.owners.entries());
    let owned = entries.filter(|entry| is_named(&entry.manager));
    let owned = owned.fold(FieldSet::new(), |owned, entry| owned.union(&entry.fields));
    if owned.is_empty() {
        return;
    }
    let leaves = owned.leaves();
    let sides = subject.sides();
    let mut manifest = sides.manifest.map(Lookup::of);
    let mut live = sides.live.map(Lookup::of);
    let mut add = |path: &FieldPath| {
        let at = Sides::of(
            manifest.as_mut().and_then(|manifest| manifest.value(path)),
            live.as_mut().and_then(|live| live.value(path)),
        );
        if covers(at.manifest) {
            coverage.add(path.clone(), rule, at);
        }
    };
    if fields.is_empty() {
        return leaves.iter().for_each(add);
    }
    for field in fields {
        walk(field, sides, subject.schema, &mut |path, _| {
            let below = leaves.partition_point(|leaf| *leaf < path);
            let mut is_below = false;
            for leaf in leaves.iter().skip(below).take_while(|leaf| path.is_prefix_of(leaf)) {
                is_below = true;
                add(leaf);
            }
            if !is_below && owned.covers(&path) {
                add(&path);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::{GroupVersionKind, builtin};

    use super::*;
    use crate::diagnostic::Location;
    use crate::object::Selector;
    use crate::rules::{Glob, IgnoreRule, ObjectPattern, annotated};

    fn rule(target: ObjectPattern, fields: &[&str], managers: &[&str]) -> IgnoreRule {
        IgnoreRule {
            target,
            fields: fields.iter().map(|field| FieldPattern::parse(field).unwrap()).collect(),
            managers: managers.iter().map(|manager| Glob::new(manager)).collect(),
            reason: None,
            expires: None,
            location: Location { file: "c.yaml".into(), line: None, column: None },
        }
    }

    fn covered(rules: Vec<IgnoreRule>, annotation: &str, live: &Value) -> Vec<(String, RuleRef)> {
        let manifest = json!({"metadata": {"name": "web", "labels": {"app": "web"}, "annotations": {"a": "1"}}, "spec": {"replicas": 3}});
        let gvk = GroupVersionKind::new("apps/v1", "Deployment");
        let key = ObjectKey { gvk, namespace: Some("shop".into()), name: "web".into() };
        let schema = builtin().object(&key.gvk).unwrap();
        let live = ManagedObject::new(live.clone(), "us");
        let annotation = if annotation.is_empty() { Vec::new() } else { annotated(annotation).unwrap() };
        let (rules, _) = IgnoreRules::in_force(rules, jiff::Timestamp::UNIX_EPOCH);
        let subject =
            CoveredObject { key: &key, manifest: Some(&manifest), live: Some(&live), schema, manual: &BTreeSet::new() };
        let coverage = rules.coverage(subject, &annotation, &Autoscalers::default());
        coverage.fields.iter().map(|(path, covered)| (path.to_string(), covered.rule)).collect()
    }

    fn only(rules: Vec<IgnoreRule>, live: &Value) -> Vec<String> {
        covered(rules, "", live).into_iter().map(|(path, _)| path).collect()
    }

    #[test]
    fn the_first_rule_that_covers_a_field_is_named() {
        let live = json!({"spec": {"replicas": 5}});
        let rules = vec![
            rule(ObjectPattern::default(), &["spec.paused"], &[]),
            rule(ObjectPattern::default(), &["spec.replicas"], &[]),
        ];
        assert_eq!(
            covered(rules, "spec.replicas,metadata.annotations", &live),
            [
                ("metadata.annotations".to_owned(), RuleRef::Annotation),
                ("spec.replicas".to_owned(), RuleRef::Configured(1)),
            ]
        );
    }

    #[test]
    fn a_rule_is_for_its_target_only() {
        let live = json!({"spec": {"replicas": 5}, "metadata": {"labels": {"tier": "test"}}});
        let glob = |text: &str| Some(Glob::new(text));
        let with = |target: ObjectPattern| !only(vec![rule(target, &["spec.replicas"], &[])], &live).is_empty();
        let any = ObjectPattern::default;
        assert!(with(any()));
        assert!(with(ObjectPattern {
            group: glob("apps"),
            kind: glob("Deploy*"),
            namespace: glob("*"),
            name: glob("w*b"),
            ..any()
        }));
        assert!(!with(ObjectPattern { group: glob(""), ..any() }));
        assert!(!with(ObjectPattern { kind: glob("deployment"), ..any() }));
        assert!(!with(ObjectPattern { namespace: glob("prod"), ..any() }));
        let labels = |text: &str| Some(Selector::parse(text).unwrap());
        assert!(
            with(ObjectPattern { labels: labels("app=web,tier!=test"), ..any() }),
            "labels of the live object do not count"
        );
        assert!(!with(ObjectPattern { labels: labels("app!=web"), ..any() }));
    }

    #[test]
    fn a_rule_with_managers_is_for_what_they_own() {
        let entry = |manager: &str, fields: Value| json!({"manager": manager, "operation": "Update", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": fields});
        let live = json!({"metadata": {"annotations": {"a": "2", "b": "3"}, "managedFields": [
            entry("scaler", json!({"f:spec": {"f:replicas": {}}, "f:metadata": {"f:annotations": {"f:b": {}}, "f:labels": {"f:applyset.kubernetes.io/part-of": {}}}})),
            entry("person", json!({"f:metadata": {"f:annotations": {".": {}, "f:a": {}}}}))]},
            "spec": {"replicas": 5}});
        let by =
            |fields: &[&str], managers: &[&str]| only(vec![rule(ObjectPattern::default(), fields, managers)], &live);
        assert_eq!(by(&[], &["sc*"]), ["metadata.annotations.b", "spec.replicas"], "but for what is protected");
        assert_eq!(by(&["metadata.annotations"], &["scaler"]), ["metadata.annotations.b"]);
        assert_eq!(by(&["metadata.annotations[*]"], &["person"]), ["metadata.annotations.a"]);
        assert_eq!(by(&["spec.replicas"], &["person"]), [""; 0]);
        assert_eq!(by(&["spec"], &["scaler"]), ["spec.replicas"]);
    }

    #[test]
    fn what_is_below_a_covered_field_is_covered() {
        let rules = vec![rule(ObjectPattern::default(), &["metadata.annotations"], &[])];
        let gvk = GroupVersionKind::new("apps/v1", "Deployment");
        let key = ObjectKey { gvk, namespace: None, name: "web".into() };
        let live = ManagedObject::new(json!({"metadata": {"annotations": {"a": "1"}}}), "us");
        let (rules, _) = IgnoreRules::in_force(rules, jiff::Timestamp::UNIX_EPOCH);
        let coverage = rules.coverage(
            CoveredObject {
                key: &key,
                manifest: None,
                live: Some(&live),
                schema: TypeRef::untyped(),
                manual: &BTreeSet::new(),
            },
            &[],
            &Autoscalers::default(),
        );
        assert_eq!(coverage.rule_of(&FieldPath::of(&["metadata", "annotations", "a"])), Some(RuleRef::Configured(0)));
        assert_eq!(coverage.rule_of(&FieldPath::of(&["metadata"])), None);
    }
}
