//! The patterns of a selection that choose nothing.

use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{ObjectKey, TypeRef, builtin};

use super::selection::Selection;
use crate::compare::{Class, FieldChange};
use crate::rules::{FieldPattern, Glob};

/// The places in which a field is looked for that a pattern names without its beginning.
const ABOVE: [&str; 4] = ["spec.", "spec.template.spec.", "metadata.", "data."];

/// Notes which patterns of a selection match something, while objects are compared.
#[derive(Debug)]
pub struct Unmatched {
    selection: Selection,
    classes: Vec<Noted<Class>>,
    managers: Vec<Noted<Glob>>,
    fields: Vec<NotedField>,
    /// True if an object could not be compared: a pattern may match something of it.
    is_incomplete: bool,
}

/// A pattern of fields, with what was found of it.
#[derive(Debug)]
struct NotedField {
    field: Noted<FieldPattern>,
    /// The same field in other places.
    meant: Vec<Noted<FieldPattern>>,
    /// True if a change that it covers is chosen.
    is_chosen: bool,
    /// The classes of the changes that it covers and that are chosen with their class alone.
    others: BTreeSet<Class>,
}

#[derive(Debug)]
struct Noted<T> {
    pattern: T,
    is_matched: bool,
}

impl<T> Noted<T> {
    fn of(pattern: T) -> Self {
        Self { pattern, is_matched: false }
    }

    fn note(&mut self, matches: impl FnOnce(&T) -> bool) {
        self.is_matched = self.is_matched || matches(&self.pattern);
    }
}

impl Unmatched {
    /// Nothing was compared yet.
    pub fn of(selection: &Selection) -> Self {
        let field = |field: &FieldPattern| {
            let meant = ABOVE.iter().filter_map(|above| FieldPattern::parse(&format!("{above}{field}")).ok());
            let (field, meant) = (Noted::of(field.clone()), meant.map(Noted::of).collect());
            NotedField { field, meant, is_chosen: false, others: BTreeSet::new() }
        };
        Self {
            selection: selection.clone(),
            classes: selection.classes.iter().copied().map(Noted::of).collect(),
            managers: selection.managers.iter().cloned().map(Noted::of).collect(),
            fields: selection.fields.iter().map(field).collect(),
            is_incomplete: false,
        }
    }

    /// Notes what matches something of an object: of its manifest, and of its differences.
    pub fn compared(&mut self, key: &ObjectKey, manifest: &Value, changes: &[FieldChange]) {
        if !self.selection.chooses_object(key) {
            return;
        }
        let Self { selection, classes, managers, fields, .. } = self;
        for class in classes {
            class.note(|class| changes.iter().any(|change| change.class == *class && selection.chooses_owner(change)));
        }
        for manager in managers {
            let owns = |glob: &Glob, change: &FieldChange| change.managers.iter().any(|one| glob.matches(&one.manager));
            manager.note(|glob| changes.iter().any(|change| owns(glob, change)));
        }
        let schema = builtin().object(&key.gvk).unwrap_or_else(TypeRef::untyped);
        let is_there = |field: &FieldPattern| {
            field.is_in(manifest, schema) || changes.iter().any(|change| field.covers(&change.path))
        };
        for NotedField { field, meant, is_chosen, others } in fields {
            field.note(is_there);
            if !field.is_matched {
                for meant in meant {
                    meant.note(is_there);
                }
            }
            for change in changes.iter().filter(|change| field.pattern.covers(&change.path)) {
                *is_chosen |= selection.chooses(key, change);
                others.extend(selection.class_without(change));
            }
        }
    }

    /// Notes that an object could not be compared.
    pub fn not_compared(&mut self, key: &ObjectKey) {
        self.is_incomplete |= self.selection.chooses_object(key);
    }

    /// A warning for each pattern that matches nothing. `name_of` names a class as the command line does. Where an object could not be
    /// compared, nothing is known.
    pub fn warnings(&self, name_of: impl Fn(Class) -> &'static str) -> Vec<String> {
        if self.is_incomplete {
            return Vec::new();
        }
        let within = if self.selection.objects.is_empty() { "" } else { " in the objects of `--object`" };
        let mut warnings = Vec::new();
        for class in self.classes.iter().filter(|class| !class.is_matched) {
            let name = name_of(class.pattern);
            warnings.push(match class.pattern {
                Class::Unmanaged if self.managers.is_empty() => {
                    format!("`--class {name}`: no field was added by hand{within}; `--manager` names other owners")
                }
                _ => format!("`--class {name}`: there is no difference of this class{within}"),
            });
        }
        for Noted { pattern, .. } in self.managers.iter().filter(|manager| !manager.is_matched) {
            warnings.push(format!("`--manager {pattern}`: no difference{within} is of a field that this manager owns"));
        }
        for NotedField { field: Noted { pattern, is_matched }, meant, is_chosen, others } in &self.fields {
            if *is_matched {
                if let Some(class) = others.first().filter(|_| !is_chosen) {
                    let flag = self.selection.flag_with(*class);
                    warnings.push(format!(
                        "`--field {pattern}`: its difference is of another class: {flag} chooses it{within}"
                    ));
                }
                continue;
            }
            let meant = meant.iter().find(|meant| meant.is_matched);
            let meant = meant.map(|meant| format!(": did you mean `{}`?", meant.pattern)).unwrap_or_default();
            warnings.push(format!(
                "`--field {pattern}`: neither the manifests nor the differences have this field{within}{meant}"
            ));
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::{Change, FieldPath, GroupVersionKind, Op, Operation};

    use super::*;
    use crate::owners::{AuditAnswer, Owner};

    fn key() -> ObjectKey {
        let gvk = GroupVersionKind::new("apps/v1", "Deployment");
        ObjectKey { gvk, namespace: Some("shop".to_owned()), name: "web".to_owned() }
    }

    fn change(field: &str, class: Class, manual: bool) -> FieldChange {
        let path = FieldPath::of(&["spec", field]);
        let change = Change { path, op: Op::Change, from: Some(json!(2)), to: Some(json!(1)) };
        let manager = if manual { "kubectl-edit" } else { "operator" }.to_owned();
        let subresource = String::new();
        let operation = Operation::Update;
        let users = AuditAnswer::default();
        let owner = Owner { manager, operation, subresource, time: None, manual, users };
        FieldChange::new(change, class).with_managers(vec![owner])
    }

    fn warnings(selection: &Selection, changes: &[FieldChange]) -> Vec<String> {
        let mut unmatched = Unmatched::of(selection);
        let manifest =
            json!({"spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "app", "image": "web:1"}]}}}});
        unmatched.compared(&key(), &manifest, changes);
        unmatched.warnings(|class| if class == Class::Unmanaged { "unmanaged" } else { "conflict" })
    }

    fn fields(texts: &[&str]) -> Selection {
        let fields = texts.iter().map(|text| FieldPattern::parse(text).unwrap()).collect();
        Selection { fields, ..Selection::default() }
    }

    #[test]
    fn a_field_that_nothing_has_is_named_with_the_one_that_is_meant() {
        let there = ["spec.replicas", "spec.template.spec.containers[name=app].image", "spec", "spec.*", "spec.paused"];
        assert_eq!(warnings(&fields(&there), &[change("paused", Class::Conflict, true)]), [""; 0]);
        let [replicas, other] = &warnings(&fields(&["replicas", "containers[name=web]"]), &[])[..] else { panic!() };
        assert!(
            replicas.contains("`--field replicas`") && replicas.ends_with("did you mean `spec.replicas`?"),
            "{replicas}"
        );
        assert!(other.contains("`--field containers[name=web]`") && !other.contains("mean"), "{other}");
    }

    #[test]
    fn managers_and_classes_without_a_difference_are_named() {
        let managers = ["kubectl-*", "nobody"].iter().map(|text| Glob::new(text)).collect();
        let selection = Selection { managers, classes: vec![Class::Conflict], ..Selection::default() };
        let said = warnings(&selection, &[change("replicas", Class::ChangedByOther, true)]);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("--class conflict") && said[1].contains("--manager nobody"), "{said:?}");

        let unmanaged = Selection { classes: vec![Class::Unmanaged], ..Selection::default() };
        assert_eq!(warnings(&unmanaged, &[change("paused", Class::Unmanaged, true)]), [""; 0]);
        let said = warnings(&unmanaged, &[change("paused", Class::Unmanaged, false)]);
        assert!(said[0].contains("added by hand"), "{said:?}");
    }

    #[test]
    fn a_field_whose_difference_is_of_another_class_is_named_with_the_flag_that_chooses_it() {
        let absent = change("replicas", Class::Absent, true);
        let [said] = &warnings(&fields(&["spec.replicas"]), std::slice::from_ref(&absent))[..] else { panic!() };
        assert!(
            said.contains("`--field spec.replicas`") && said.contains("--class changedByOther,conflict,absent"),
            "{said}"
        );
        let chosen = Selection { classes: vec![Class::Absent], ..fields(&["spec.replicas"]) };
        assert_eq!(warnings(&chosen, &[absent]), [""; 0]);
        let both = [change("replicas", Class::Conflict, true), change("paused", Class::Absent, true)];
        assert_eq!(warnings(&fields(&["spec"]), &both), [""; 0], "one of them is chosen");
        let of_controller = change("replicas", Class::Unmanaged, false);
        assert_eq!(warnings(&fields(&["spec.replicas"]), &[of_controller]), [""; 0], "no class chooses it");
    }

    #[test]
    fn nothing_is_said_where_an_object_could_not_be_compared() {
        let mut unmatched = Unmatched::of(&fields(&["replicas"]));
        unmatched.not_compared(&key());
        assert!(unmatched.warnings(|_| "conflict").is_empty());
    }
}
