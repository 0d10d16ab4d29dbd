//! The values of an object that rules ignore: single fields, values that the API replaces as a whole, and parts of such values.
//!
//! ```text
//! a covered path into an atomic list
//!     ├─ both lists have the same length and no item has moved ─▶ a part: its live value is sent with the rest of the list
//!     │       ├─ the rest is the same too ─▶ the list is ignored as a whole, so that its owner keeps it
//!     │       └─ the rule is for managers that own the list ─▶ a conflict with them, as the rule would not hold after an apply
//!     ├─ the live object has no such list ─▶ nothing is ignored: it is created as the manifest has it
//!     └─ otherwise ─▶ the list is ignored as a whole, with a warning
//! ```

use std::collections::BTreeMap;

use serde_json::Value;
use structured_merge::{
    Applier as _, FieldPath, FieldSet, ManagedFieldsEntry, ManagedObject, PathElement, TypeRef, Unpaired, WithParts,
    changes, whole_value, with_parts_of,
};

use crate::compare::policy::{ForceConflicts, Policy};
use crate::compare::prediction::CompareContext;
use crate::rules::{Coverage, RuleRef};

/// The ignored values of an object that exists.
#[derive(Debug, Default)]
pub(super) struct IgnoredValues {
    /// The rules of fields and of values that are ignored as a whole.
    pub rules: BTreeMap<FieldPath, RuleRef>,
    /// The rules of parts of values that are replaced as a whole.
    pub parts: BTreeMap<FieldPath, RuleRef>,
    /// The values around these parts in which nothing else differs.
    pub unchanged: FieldSet,
    /// The values around these parts in which something else differs.
    pub changed: FieldSet,
    /// Those of them whose owners keep them, because the rule holds for these owners only.
    pub kept_by_owners: FieldSet,
    /// The manifest with the live values of the parts, if there are any.
    pub manifest: Option<Value>,
    /// Warnings about rules that ignore more than they name, each with the value that it begins with.
    pub warnings: Vec<(FieldPath, String)>,
}

/// The parts of one value that is replaced as a whole.
type Parts = BTreeMap<FieldPath, RuleRef>;

impl IgnoredValues {
    /// Finds the ignored values of an object among its covered fields.
    pub fn of(context: CompareContext<'_>, live: &ManagedObject, coverage: &Coverage) -> Self {
        let CompareContext { target, schema, policy, .. } = context;
        let mut values = Self::default();
        let around = values.sort_by_value(coverage, schema, target.key.gvk.is_secret());
        if around.is_empty() {
            return values;
        }
        let manifest = target.desired.object();
        let parts: FieldSet = around.values().flat_map(Parts::keys).cloned().collect();
        let WithParts { object, unpaired } = with_parts_of(manifest, &live.object, &parts, schema);
        let paired = around.into_iter().filter_map(|(value, parts)| {
            let parts = values.paired(&value, parts, &unpaired, live)?;
            Some((value, parts))
        });
        let paired: Vec<_> = paired.collect();
        if paired.is_empty() {
            return values;
        }
        let predicted = context.predict(&object, live).object;
        let differences = changes(&live.object, &predicted, schema, target.status_is_apart());
        let differences: FieldSet = differences.into_iter().map(|change| change.path).collect();
        for (value, parts) in paired {
            values.add_parts(&value, parts, &differences, live, policy);
        }
        values.manifest = Some(object);
        values
    }

    /// Adds the fields and whole values, and returns the covered parts of values that are replaced as a whole. A value of a Secret
    /// has two names (`data` and `stringData`).
    fn sort_by_value(
        &mut self,
        coverage: &Coverage,
        schema: TypeRef<'_>,
        is_secret: bool,
    ) -> BTreeMap<FieldPath, Parts> {
        let mut around: BTreeMap<FieldPath, Parts> = BTreeMap::new();
        for (path, covered) in &coverage.fields {
            let value = whole_value(path, schema);
            if !is_in_list(path, &value) {
                if let Some(other_name) = other_name(&value).filter(|_| is_secret) {
                    self.rules.entry(other_name).or_insert(covered.rule);
                }
                self.rules.entry(value).or_insert(covered.rule);
                continue;
            }
            let list = covered.moved_in.and_then(|depth| path.elements().get(..depth));
            let part = list.map_or_else(|| path.clone(), |list| FieldPath::from(list.to_vec()));
            if part != *path {
                self.warn(
                    &part,
                    "an ignore rule selects items that have other positions in the manifest than in the cluster",
                );
            }
            if part == value {
                self.rules.entry(value).or_insert(covered.rule);
            } else {
                around.entry(value).or_default().entry(part).or_insert(covered.rule);
            }
        }
        let ignored: FieldSet = self.rules.keys().cloned().collect();
        around.retain(|value, _| !ignored.contains_at_or_above(value));
        around
    }

    /// The parts of a value if they are paired with those of the live object. Lists in the value that are not are parts as a whole.
    fn paired(
        &mut self,
        value: &FieldPath,
        mut parts: Parts,
        unpaired: &BTreeMap<FieldPath, Unpaired>,
        live: &ManagedObject,
    ) -> Option<Parts> {
        let rule = *parts.values().next()?;
        let elements = value.elements();
        let above = |depth: usize| unpaired.get(&FieldPath::from(elements.get(..depth)?.to_vec()));
        if let Some(reason) = (1..=elements.len()).find_map(above) {
            let is_ours = || live.owners.our_fields().contains_at_or_below(value);
            let is_silent = match reason {
                Unpaired::OnlyHere => return None,
                Unpaired::NothingElse => true,
                Unpaired::OnlyThere => !is_ours(),
                Unpaired::Lengths(..) | Unpaired::Moved | Unpaired::Types => false,
            };
            if !is_silent {
                self.warn(value, &why_whole(*reason));
            }
            self.rules.insert(value.clone(), rule);
            return None;
        }
        let inner = unpaired.range(value..).take_while(|(list, _)| value.is_prefix_of(list));
        for (list, reason) in inner {
            let is_inside = |part: &FieldPath| list.is_prefix_of(part);
            let rule = parts.iter().find(|(part, _)| is_inside(part)).map_or(rule, |(_, rule)| *rule);
            parts.retain(|part, _| !is_inside(part));
            parts.insert(list.clone(), rule);
            self.warn(list, &why_whole(*reason));
        }
        Some(parts)
    }

    /// Adds the parts of a value. An apply of the rest would take the value from its managers: then a rule for them no longer holds, and
    /// the next apply would reset the part.
    fn add_parts(
        &mut self,
        value: &FieldPath,
        parts: Parts,
        differences: &FieldSet,
        live: &ManagedObject,
        policy: &Policy,
    ) {
        if differences.overlaps(value) {
            self.changed.insert(value);
            if parts.values().any(|rule| ends_with_an_apply(*rule, policy)) {
                self.keep_for_owners(value, live, policy);
            }
        } else {
            self.unchanged.insert(value);
        }
        self.parts.extend(parts);
    }

    /// Leaves a value to its owners, unless the flags allow to take it from them.
    fn keep_for_owners(&mut self, value: &FieldPath, live: &ManagedObject, policy: &Policy) {
        let owns = |entry: &&ManagedFieldsEntry| entry.fields.overlaps(value);
        let is_kept = |entry: &ManagedFieldsEntry| policy.force != ForceConflicts::All && !policy.adopts(entry);
        if live.owners.others.iter().filter(owns).any(is_kept) {
            self.kept_by_owners.insert(value);
            let text = " stays as it is: an ignore rule for its managers names a part of it, and ends once an apply has written the rest; name the part in a rule without `managers`, or pass `--force-conflicts`";
            self.add_warning(value, text.to_owned());
        } else {
            let text = ": this apply takes the value from the managers that its ignore rule names; the rule then no longer matches, and the next apply resets the ignored part";
            self.add_warning(value, text.to_owned());
        }
    }

    /// Warns about a rule that covers more than it names.
    fn warn(&mut self, value: &FieldPath, reason: &str) {
        self.add_warning(value, format!(" is ignored as a whole: {reason}"));
    }

    fn add_warning(&mut self, value: &FieldPath, text: String) {
        let warning = (value.clone(), text);
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

/// The reason why a value of which a rule names a part is ignored as a whole.
fn why_whole(unpaired: Unpaired) -> String {
    match unpaired {
        Unpaired::Lengths(here, there) => format!(
            "an ignore rule names a part of its items, and the manifest has {here} of them while the cluster has {there}"
        ),
        Unpaired::OnlyThere => "an ignore rule names a part of it, and the manifest does not have it".to_owned(),
        Unpaired::Moved => {
            "an ignore rule names a part of its items, which have another order in the manifest than in the cluster"
                .to_owned()
        }
        _ => "an ignore rule names a part of it, and its type in the manifest is not the one in the cluster".to_owned(),
    }
}

/// Returns true if a path leads into an item of an atomic list in a value that is replaced as a whole.
fn is_in_list(path: &FieldPath, value: &FieldPath) -> bool {
    let inside = path.elements().iter().skip(value.elements().len());
    inside.into_iter().any(|element| matches!(element, PathElement::Index(_)))
}

/// Returns true if a rule covers only what certain managers own, and our own is not one of them.
fn ends_with_an_apply(rule: RuleRef, policy: &Policy) -> bool {
    match rule {
        RuleRef::Configured(index) => policy.ignore.rules.get(index).is_some_and(|rule| {
            !rule.managers.is_empty() && !rule.managers.iter().any(|glob| glob.matches(&policy.manager))
        }),
        RuleRef::Annotation | RuleRef::Left => false,
        RuleRef::Autoscaler(_) | RuleRef::BuiltIn(_) => true,
    }
}

/// The other name of a value of a Secret: `stringData` sets `data`.
fn other_name(path: &FieldPath) -> Option<FieldPath> {
    let (first, rest) = path.elements().split_first()?;
    let other = match first {
        PathElement::Field(name) if name == "data" => "stringData",
        PathElement::Field(name) if name == "stringData" => "data",
        _ => return None,
    };
    let other = PathElement::Field(other.to_owned());
    Some(FieldPath::from(std::iter::once(other).chain(rest.iter().cloned()).collect::<Vec<_>>()))
}
