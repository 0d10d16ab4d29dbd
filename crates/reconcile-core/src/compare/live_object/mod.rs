//! A live object, and the object that an apply sends over it: the manifest, with the live values of the fields that rules ignore, and
//! with the label of an apply set that the object stays in.
//!
//! ```text
//! manifest, live object, rules ─coverage─▶ ignored fields
//!     ├─ of other managers, or without owner ─▶ left out: never taken, and given up if we own them too
//!     ├─ only ours ─▶ the live value: an apply without it would reset or remove it
//!     ├─ in a list that is replaced as a whole, and that differs elsewhere ─▶ the live value, in the list of the manifest
//!     └─ in something that this apply creates ─▶ the value of the manifest
//! ```
//! A missing object is created as the manifest has it. [`LiveObject::new`] runs once each time an object is read, and everything that
//! compares or writes the object uses its result: the proof, the dry run, the local prediction, the display, and the write, also
//! after a 409.

mod hidden;
mod ignored_values;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use structured_merge::{
    Applier as _, FieldPath, FieldSet, LAST_APPLIED, ManagedObject, Op, Ownership, PathElement, TypeRef, field_set,
    fields_of, item_element, with_equal_texts_in_data, with_fields_of, without_fields,
};

use crate::compare::additions::to_remove;
use crate::compare::classify::only::left_fields;
use crate::compare::decision::membership::{Membership, UnnamedSet, unnamed_set};
use crate::compare::diff::FieldChange;
use crate::compare::policy::{Ignored, Policy};
use crate::compare::prediction::CompareContext;
use crate::compare::secrecy::Secrecy;
use crate::live::Target;
use crate::rules::{Coverage, CoveredObject, RuleRef};
use ignored_values::IgnoredValues;

/// A live object, and the values that are computed once each time it is read.
#[derive(Clone, Debug)]
pub struct LiveObject {
    /// The object and its owners.
    pub current: ManagedObject,
    /// The object that an apply sends over it; `None` if it is the manifest itself.
    pub(in crate::compare) sent: Option<Value>,
    /// The claims on the fields that others added, and that the apply takes out.
    pub removed: FieldSet,
    /// The fields that rules ignore, each with everything below it.
    pub ignored: FieldSet,
    /// The values that an apply replaces as a whole although rules ignore parts of them: it sends the live values of these parts. A
    /// controller owns them because of these parts, which is no conflict.
    pub partly_ignored: FieldSet,
    /// Those of them that their owners keep, because the rules hold for these owners only: to take them is a conflict.
    pub kept_by_owners: FieldSet,
    /// The rule that ignores each of these fields.
    pub(in crate::compare) rules: BTreeMap<FieldPath, RuleRef>,
    /// All rules that cover a field of the object.
    pub covering: BTreeSet<RuleRef>,
    /// The apply set that the object does not leave, if its manifest does not name it.
    pub membership: Option<Membership>,
    /// Warnings about rules that ignore more than they name.
    pub warnings: Vec<String>,
}

impl LiveObject {
    /// Reads the owners of an object, and applies the ignore rules to it.
    pub fn new(context: CompareContext<'_>, object: Value) -> Self {
        Self::leaving(&[], context, object)
    }

    /// Reads the object for a pass that leaves these differences.
    pub(crate) fn leaving(left: &[FieldChange], context: CompareContext<'_>, object: Value) -> Self {
        let mut live = Self {
            current: ManagedObject::new(object, &context.policy.manager),
            sent: None,
            removed: FieldSet::new(),
            ignored: FieldSet::new(),
            partly_ignored: FieldSet::new(),
            kept_by_owners: FieldSet::new(),
            rules: BTreeMap::new(),
            covering: BTreeSet::new(),
            membership: None,
            warnings: Vec::new(),
        };
        live.apply_rules(left, context);
        live.share_equal_texts(context);
        live.removed = to_remove(context, &live.current, live.sent(context.target), &live.ignored);
        live
    }

    /// Computes the object to send over this one, without the differences that the pass leaves.
    fn apply_rules(&mut self, left: &[FieldChange], context: CompareContext<'_>) {
        let CompareContext { target, schema, policy, .. } = context;
        let live = &self.current;
        let unmarked = target.desired.without_marks(&live.object);
        let manifest = unmarked.as_ref().unwrap_or(target.desired.object());
        let mut coverage = coverage(context, Some(live));
        self.covering = coverage.fields.values().map(|covered| covered.rule).collect();
        if policy.ignored == Ignored::Compare {
            coverage.fields.retain(|_, covered| !covered.rule.is_of_user());
        }
        let fields = left_fields(left);
        coverage.leave(&fields);
        let values = IgnoredValues::of(context, live, &coverage);
        let unnamed = unnamed_set(manifest, &live.object);
        if !values.warnings.is_empty() {
            let secrecy = Secrecy::of_target(target, Some(&live.object));
            let named = values.warnings.iter().map(|(value, text)| format!("`{}`{text}", secrecy.shown_path(value)));
            self.warnings = named.collect();
        }
        if values.rules.is_empty() && values.parts.is_empty() && unnamed.is_none() && left.is_empty() {
            self.membership = Membership::in_another_set(manifest, &live.object);
            self.sent = unmarked;
            return;
        }
        let manifest = values.manifest.as_ref().unwrap_or(manifest);
        self.rules = without_created(values.rules, manifest, live, schema);
        let left_out: FieldSet = self.rules.keys().cloned().collect();
        let left_out = left_out.union(&values.unchanged);
        let bare = without_fields(manifest, &left_out, schema);
        let settled = settled(context, live, &bare);
        let mut kept = fields_to_keep(&settled, &left_out, &live.object);
        // What is left stays ours, too, where others own it as well.
        let copy = last_applied_copy();
        kept = kept.union(&live.owners.our_fields().filter(|path| fields.contains_at_or_above(path) && *path != copy));
        self.membership = match unnamed {
            Some(id) => keep_label(id, &settled, policy, &mut kept),
            None => Membership::in_another_set(manifest, &live.object),
        };
        let mut object = with_fields_of(&bare, &live.object, &kept, schema);
        if unmarked.is_some() {
            target.desired.leave_out_marks(&live.object, &mut object);
        }
        for moved in left.iter().filter(|change| change.op == Op::Move) {
            keep_order(&mut object, &live.object, &moved.path, schema);
        }
        self.sent = Some(object);
        self.ignored = left_out.union(&values.parts.keys().cloned().collect());
        self.rules.extend(values.parts);
        self.partly_ignored = values.changed;
        self.kept_by_owners = values.kept_by_owners;
    }

    /// Leaves the texts of a Secret with their other owners, unless these are taken over.
    fn share_equal_texts(&mut self, context: CompareContext<'_>) {
        let CompareContext { target, policy, .. } = context;
        if !target.key.gvk.is_secret() {
            return;
        }
        let texts = PathElement::Field("stringData".to_owned());
        let others = self.current.owners.others.iter();
        let others = others.filter(|entry| entry.fields.step(&texts).is_some() && !policy.adopts(entry));
        let others: Vec<_> = others.collect();
        if !others.is_empty() {
            let shared = with_equal_texts_in_data(self.sent(target), &self.current.object, &others);
            self.sent = shared.or(self.sent.take());
        }
    }

    /// The object that an apply sends over this one.
    pub fn sent<'a>(&'a self, target: &'a Target) -> &'a Value {
        self.sent.as_ref().unwrap_or_else(|| target.desired.object())
    }

    /// The object to send without nulls at these fields, as a null in an apply keeps what is there; `None` if it has none there.
    pub(in crate::compare) fn sent_without_nulls_at(
        &self,
        fields: &FieldSet,
        context: CompareContext<'_>,
    ) -> Option<Value> {
        let object = self.sent(context.target);
        let nulls: FieldSet =
            fields.paths().into_iter().filter(|path| path.value_in(object).is_some_and(Value::is_null)).collect();
        (!nulls.is_empty()).then(|| without_fields(object, &nulls, context.schema))
    }

    /// Returns true if a rule ignores everything at a path.
    pub fn ignores(&self, path: &FieldPath) -> bool {
        self.ignored.contains_at_or_above(path)
    }
}

/// The rules that cover a field of an object that does not exist. It is created as the manifest has it, ignored fields included.
pub(in crate::compare) fn covering_new(context: CompareContext<'_>) -> BTreeSet<RuleRef> {
    coverage(context, None).fields.values().map(|covered| covered.rule).collect()
}

pub(in crate::compare) fn last_applied_copy() -> FieldPath {
    FieldPath::of(&["metadata", "annotations", LAST_APPLIED])
}

fn coverage(context: CompareContext<'_>, live: Option<&ManagedObject>) -> Coverage {
    let CompareContext { target, schema, policy, .. } = context;
    let entries = live.into_iter().flat_map(|live| &live.owners.others);
    let manual = &entries.filter(|entry| policy.is_manual(entry)).map(|entry| entry.manager.clone()).collect();
    target.desired.with_object(|manifest| {
        let subject = CoveredObject { key: &target.key, manifest: Some(manifest), live, schema, manual };
        policy.ignore.coverage(subject, target.desired.ignored(), &policy.autoscalers)
    })
}

/// The rules without those of fields that an apply creates together with their parents.
fn without_created(
    rules: BTreeMap<FieldPath, RuleRef>,
    manifest: &Value,
    live: &ManagedObject,
    schema: TypeRef<'_>,
) -> BTreeMap<FieldPath, RuleRef> {
    if rules.is_empty() {
        return rules;
    }
    let ignored: FieldSet = rules.keys().cloned().collect();
    let bare = without_fields(manifest, &ignored, schema);
    let there = fields_of(&live.object, schema);
    let left = fields_of(&bare, schema);
    rules.into_iter().filter(|(path, _)| !is_created(path, &there, &left, schema)).collect()
}

/// Returns true if an apply creates the parent of a field, and the field with it: a list item or a struct that the live object
/// lacks, and that holds more than ignored fields. An entry of a map does not depend on the other entries.
fn is_created(path: &FieldPath, live: &FieldSet, bare: &FieldSet, schema: TypeRef<'_>) -> bool {
    let elements = path.elements();
    let above = |depth: usize| FieldPath::from(elements.iter().take(depth).cloned().collect::<Vec<_>>());
    let missing = (1..elements.len()).map(above).find(|path| !live.contains_at_or_below(path));
    let Some(missing) = missing else { return false };
    let is_map_entry = missing.elements().len() + 1 == elements.len() && is_entry(path, schema);
    !is_map_entry && bare.contains_at_or_below(&missing)
}

/// Returns true if the last step of a path is the key of a map entry, not the name of a declared field.
fn is_entry(path: &FieldPath, schema: TypeRef<'_>) -> bool {
    let Some((PathElement::Field(name), parents)) = path.elements().split_last() else { return false };
    !schema.at(parents).declares(name)
}

/// The owners of a live object, once the claims of manual changes and of adopted managers have been transferred to us.
fn settled<'l>(context: CompareContext<'_>, live: &'l ManagedObject, bare: &Value) -> Cow<'l, Ownership> {
    let CompareContext { target, schema, policy, .. } = context;
    let ManagedObject { object, owners: before } = live;
    let claims = field_set(bare, schema, target.kind().as_ref());
    let api_version = target.key.gvk.api_version();
    let settled = before.with_claims_transferred(object, schema, &claims, &api_version, policy);
    settled.map_or(Cow::Borrowed(before), Cow::Owned)
}

/// The fields that an apply would remove or reset if it left them out: those that only we own, of the ignored ones and of the maps around
/// them. An entry of a map that we own goes with all that others own in it (structured-merge-diff `merge/update.go`, `prune`), so it is
/// sent as an empty one where everything in it is ignored.
fn fields_to_keep(settled: &Ownership, ignored: &FieldSet, live: &Value) -> FieldSet {
    let others = settled.fields_of_others();
    // The last-applied annotation of client-side apply is removed together with its owner.
    let copy = last_applied_copy();
    let is_around =
        |path: &FieldPath| ignored.contains_at_or_below(path) && path.value_in(live).is_some_and(Value::is_object);
    let would_go = |path: &FieldPath| ignored.contains_at_or_above(path) || is_around(path);
    settled.our_fields().filter(|path| would_go(path) && !others.contains(path) && *path != copy)
}

/// Sorts the items of a list with keys as the live object has them; those that it lacks come last.
fn keep_order(object: &mut Value, live: &Value, at: &FieldPath, schema: TypeRef<'_>) {
    let Some(live) = at.value_in(live).and_then(Value::as_array) else { return };
    let Some(Value::Array(items)) = at.value_in_mut(object) else { return };
    let list = schema.at(at.elements());
    let places: BTreeMap<PathElement, usize> =
        live.iter().enumerate().filter_map(|(place, item)| Some((item_element(item, list)?, place))).collect();
    items.sort_by_key(|item| item_element(item, list).and_then(|key| places.get(&key).copied()).unwrap_or(usize::MAX));
}

/// Adds the label of an apply set to the fields to keep, unless the object is to leave the set. A label that only others own needs
/// nothing: they keep it. We also keep our share of one that others own too, because pruning trusts the label for its owner.
fn keep_label(id: &str, settled: &Ownership, policy: &Policy, kept: &mut FieldSet) -> Option<Membership> {
    let label = apply_set::label_path();
    let is_ours = settled.our_fields().contains(&label);
    match policy.unnamed_set {
        UnnamedSet::Leave if is_ours && !settled.fields_of_others().contains(&label) => return None,
        UnnamedSet::Leave => return Some(Membership::Unremovable(id.to_owned())),
        UnnamedSet::Stay if is_ours => kept.insert(&label),
        UnnamedSet::Stay => {}
    }
    Some(Membership::Kept(id.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::compare::FIELD_MANAGER;
    use crate::compare::diff::IgnoredFields;
    use crate::diagnostic::Location;
    use crate::live::Resource;
    use crate::manifest::Input;
    use crate::manifest::{DesiredObject, Hooks, ReadOptions, read, yaml::Validation};
    use crate::object::Selector;
    use crate::rules::{FieldPattern, Glob, IgnoreRule, IgnoreRules, ObjectPattern};
    use serde_json::json;
    use structured_merge::{GroupVersionKind, ObjectKey, builtin};

    fn target(object: Value) -> Target {
        let text = b"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}".to_vec();
        let options = ReadOptions {
            validation: Validation::Strict,
            selector: Selector::default(),
            hooks: Hooks::Include,
            allow_empty: false,
        };
        let manifest = read(&[Input::new("web.yaml", text)], &options).unwrap().manifests.remove(0);
        let gvk = GroupVersionKind::new("apps/v1", "Deployment");
        let key = ObjectKey { gvk: gvk.clone(), namespace: Some("shop".into()), name: "web".into() };
        let resource = Resource {
            gvk,
            plural: "deployments".into(),
            namespaced: true,
            verbs: [].into(),
            status: true,
            pending: false,
        };
        Target {
            key,
            resource: Ok(resource.into()),
            versions: [].into(),
            desired: DesiredObject::exactly(object, manifest.origin().clone()),
            base: std::sync::OnceLock::new(),
            shard_member: None,
        }
    }

    fn policy(fields: &[&str], managers: &[&str]) -> Policy {
        let rule = IgnoreRule {
            target: ObjectPattern::default(),
            fields: fields.iter().map(|field| FieldPattern::parse(field).unwrap()).collect(),
            managers: managers.iter().map(|manager| Glob::new(manager)).collect(),
            reason: Some("scaled".into()),
            expires: None,
            location: Location { file: "c.yaml".into(), line: Some(4), column: Some(3) },
        };
        let (rules, _) = IgnoreRules::in_force(vec![rule], jiff::Timestamp::UNIX_EPOCH);
        Policy { ignore: Arc::new(rules), ..Policy::of(FIELD_MANAGER) }
    }

    fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": fields})
    }

    fn replicas(live: u32, owners: &Value) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "managedFields": owners}, "spec": {"replicas": live, "paused": true}})
    }

    fn sent(manifest: Value, live: &Value, policy: &Policy) -> (Value, Vec<IgnoredFields>) {
        let target = target(manifest);
        let schema = builtin().object(&target.key.gvk).unwrap();
        let context = CompareContext::new(&target, schema, policy);
        let live = LiveObject::new(context, live.clone());
        (live.sent(&target).get("spec").cloned().unwrap_or_default(), live.hidden(context))
    }

    #[test]
    fn the_owner_decides_between_leaving_out_and_the_live_value() {
        let f = || json!({"f:spec": {"f:replicas": {}}});
        let paused = || json!({"f:spec": {"f:paused": {}}});
        let manifest = || replicas(3, &json!([]));
        for (owners, expected, what, managers) in [
            (json!([entry("scaler", "Update", &f())]), json!({"paused": true}), "another updater", vec!["scaler"]),
            (json!([entry("gitops", "Apply", &f())]), json!({"paused": true}), "another applier", vec!["gitops"]),
            (
                json!([entry(FIELD_MANAGER, "Apply", &f())]),
                json!({"replicas": 7, "paused": true}),
                "ours",
                vec![FIELD_MANAGER],
            ),
            (
                json!([entry(FIELD_MANAGER, "Apply", &f()), entry("gitops", "Apply", &f())]),
                json!({"paused": true}),
                "shared",
                vec!["gitops", FIELD_MANAGER],
            ),
            (json!([entry(FIELD_MANAGER, "Apply", &paused())]), json!({"paused": true}), "nobody", vec![]),
            (
                json!([entry(FIELD_MANAGER, "Apply", &f()), entry("kubectl", "Update", &f())]),
                json!({"replicas": 7, "paused": true}),
                "ours, once the claims of a manual change have passed",
                vec!["kubectl", FIELD_MANAGER],
            ),
            (
                json!([entry("kubectl", "Update", &f())]),
                json!({"paused": true}),
                "a manual change alone",
                vec!["kubectl"],
            ),
        ] {
            let (sent, hidden) = sent(manifest(), &replicas(7, &owners), &policy(&["spec.replicas"], &[]));
            assert_eq!(sent, expected, "{what}");
            let paths = vec![FieldPath::of(&["spec", "replicas"])];
            let managers: Vec<String> = managers.into_iter().map(str::to_owned).collect();
            let ignored = IgnoredFields {
                rule: "c.yaml:4:3".into(),
                reason: Some("scaled".into()),
                is_built_in: false,
                paths,
                managers: (!managers.is_empty()).then(|| ("spec.replicas".to_owned(), managers)).into_iter().collect(),
            };
            assert_eq!(hidden, [ignored], "{what}");
        }
    }

    #[test]
    fn a_rule_with_managers_leaves_what_others_own_as_it_is() {
        let f = || json!({"f:spec": {"f:replicas": {}}});
        let by = |manager: &str| {
            let live = replicas(7, &json!([entry(manager, "Update", &f())]));
            sent(replicas(3, &json!([])), &live, &policy(&["spec.replicas"], &["scaler*"]))
        };
        assert_eq!(by("scaler-1").0, json!({"paused": true}));
        let (sent, hidden) = by("somebody");
        assert_eq!((sent, hidden), (json!({"replicas": 3, "paused": true}), Vec::new()));
    }

    #[test]
    fn without_rules_the_manifest_is_sent() {
        let target = target(replicas(3, &json!([])));
        let schema = builtin().object(&target.key.gvk).unwrap();
        let policy = Policy::of(FIELD_MANAGER);
        let live = LiveObject::new(CompareContext::new(&target, schema, &policy), replicas(7, &json!([])));
        assert!(live.sent.is_none() && live.covering.is_empty());
    }

    #[test]
    fn the_label_of_a_set_that_nobody_names_is_kept_as_its_owner_has_it() {
        let label = || json!({"f:metadata": {"f:labels": {"f:applyset.kubernetes.io/part-of": {}}}});
        let ours = entry(FIELD_MANAGER, "Apply", &label());
        let theirs = entry("gitops", "Apply", &label());
        let kept = Some(Membership::Kept("set".to_owned()));
        let stuck = Some(Membership::Unremovable("set".to_owned()));
        for (owners, is_sent, when_leaving) in [
            (json!([ours]), true, None),
            (json!([ours, theirs]), true, stuck.clone()),
            (json!([theirs]), false, stuck.clone()),
            (json!([]), false, stuck),
        ] {
            let mut object = replicas(3, &owners);
            object["metadata"]["labels"] = json!({"applyset.kubernetes.io/part-of": "set"});
            let target = target(replicas(3, &json!([])));
            let schema = builtin().object(&target.key.gvk).unwrap();
            let read = |policy: &Policy| LiveObject::new(CompareContext::new(&target, schema, policy), object.clone());
            let names_set = |live: &LiveObject| live.sent(&target).pointer("/metadata/labels").is_some();
            let live = read(&Policy::of(FIELD_MANAGER));
            assert_eq!((names_set(&live), &live.membership), (is_sent, &kept), "{owners}");
            let live = read(&Policy { unnamed_set: UnnamedSet::Leave, ..Policy::of(FIELD_MANAGER) });
            assert_eq!(live.membership, when_leaving, "{owners}");
            assert!(!names_set(&live), "{owners}");
        }
    }

    #[test]
    fn a_struct_that_an_apply_creates_has_all_its_fields_and_a_map_gets_only_its_entries() {
        let strategy = |rolling: &Value| json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"strategy": rolling}});
        let rolling = json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
        let rule = policy(&["spec.strategy.rollingUpdate.maxSurge"], &[]);
        let (sent_over_nothing, _) = sent(strategy(&rolling), &strategy(&json!({"type": "Recreate"})), &rule);
        assert_eq!(sent_over_nothing["strategy"], rolling, "the struct is created");
        let both = policy(&["spec.strategy.rollingUpdate.*"], &[]);
        let (sent_over_nothing, _) = sent(strategy(&rolling), &strategy(&json!({"type": "Recreate"})), &both);
        assert_eq!(sent_over_nothing, Value::Null, "nothing but ignored fields creates nothing");
    }

    #[test]
    fn the_owner_of_a_list_keeps_it_while_only_an_ignored_part_differs() {
        let args = |args: &[&str], owners: &Value| {
            let mut object = replicas(3, owners);
            object["spec"]["template"] = json!({"spec": {"containers": [{"name": "app", "args": args}]}});
            object
        };
        let f = json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"app\"}": {".": {}, "f:name": {}, "f:args": {}}}}}}});
        let rule = policy(&["spec.template.spec.containers[*].args[1]"], &[]);
        let sent_args = |manifest: &[&str], live: &[&str], manager: &str, operation: &str| {
            let live = args(live, &json!([entry(manager, operation, &f)]));
            let (sent, hidden) = sent(args(manifest, &json!([])), &live, &rule);
            let container = &sent["template"]["spec"]["containers"][0];
            (container.get("args").cloned(), hidden.into_iter().flat_map(|hidden| hidden.paths).count())
        };
        let same = sent_args(&["a", "b"], &["a", "x"], "tuner", "Update");
        assert_eq!(same, (None, 1), "its owner keeps it");
        let same = sent_args(&["a", "b"], &["a", "x"], FIELD_MANAGER, "Apply");
        assert_eq!(same, (Some(json!(["a", "x"])), 1), "ours is sent as it is");
        let other = sent_args(&["c", "b"], &["a", "x"], "tuner", "Update");
        assert_eq!(other, (Some(json!(["c", "x"])), 1), "the rest is written");
        let longer = sent_args(&["a", "b", "c"], &["a", "x"], "tuner", "Update");
        assert_eq!(longer, (None, 1), "not paired");
    }

    #[test]
    fn thousands_of_ignored_fields_take_little_time() {
        let data = |value: &str| -> Value {
            let env: Vec<Value> = (0..3_000).map(|n| json!({"name": format!("N{n}"), "value": value})).collect();
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
                   "spec": {"template": {"spec": {"containers": [{"name": "app", "env": env}]}}}})
        };
        let began = std::time::Instant::now();
        let (_, hidden) = sent(data("a"), &data("b"), &policy(&["spec.template.spec.containers[*].env[*].value"], &[]));
        assert_eq!(hidden[0].paths.len(), 3_000);
        assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    }
}
