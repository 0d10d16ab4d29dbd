//! `--suggest-ignores`: a configuration with rules that hide exactly the drift of a report. A difference that a rule would not hide
//! alone is named in a comment instead.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use reconcile_report::{ObjectReport, Report, why, why_without_fields};

use super::Configuration;
use super::written::WrittenConfiguration;
use reconcile_core::compare::{Action, FieldChange};
use reconcile_core::owners::Owner;
use reconcile_core::resolve::{exact_field, exact_managers, exact_rule, exact_target};
use reconcile_core::rules::{FieldPattern, IgnoreRule, IgnoreRules, MAX_FIELDS, MAX_REASON, MAX_RULES};
use reconcile_core::text::{one_line, visible, yaml_in_order};

/// A whole configuration, ready to commit: the rules in force now, and a rule for each object and the managers of its drift.
/// Comments name the differences that no rule can hide.
pub(crate) fn suggestion(configuration: &Configuration, in_force: &IgnoreRules, report: &Report) -> String {
    let mut notes = Vec::new();
    let mut rules: Vec<IgnoreRule> = in_force.rules.clone();
    let renamed = report.objects.iter().filter(|object| object.renamed_from.is_some());
    let renamed: BTreeSet<String> = renamed.map(|object| object.key.to_string()).collect();
    for object in report.objects.iter().filter(|object| object.diff.action != Action::None) {
        rules.extend(of_object(object, &renamed, &mut notes));
    }
    if let Some(more @ 1..) = rules.len().checked_sub(MAX_RULES) {
        notes.push(format!("{more} more rules would be needed than a configuration may have"));
        rules.truncate(MAX_RULES);
    }
    let mut text = String::new();
    for note in notes {
        let _ = writeln!(text, "# Not covered: {}", visible(&one_line(&note, 300)));
    }
    text + &yaml_in_order(&WrittenConfiguration::of(configuration, rules))
}

/// The rules for one object. Of a reference to one of `renamed`, a rule would hide that the former object is no longer the one that is used.
fn of_object(object: &ObjectReport, renamed: &BTreeSet<String>, notes: &mut Vec<String>) -> Vec<IgnoreRule> {
    let key = &object.key;
    if let Some(reason) = why_without_fields(object.diff.action).or_else(|| object.why_no_rule_hides()) {
        notes.push(format!("{key}: {reason}"));
        return Vec::new();
    }
    let Some(target) = exact_target(key) else {
        notes.push(format!("{key}: a rule cannot name it"));
        return Vec::new();
    };
    let mut groups: BTreeMap<(Vec<String>, String), Vec<FieldPattern>> = BTreeMap::new();
    for change in object.diff.changes.iter().filter(|change| change.is_drift()) {
        let path = &change.path;
        if let Some(followed) = change.follows.iter().find(|followed| renamed.contains(*followed)) {
            notes.push(format!("{key}: {path}: it follows {followed}, which gets a new name"));
            continue;
        }
        match (exact_field(&change.path, change.class), exact_managers(&change.managers)) {
            (Some(field), Ok(managers)) => groups.entry((managers, reason(change))).or_default().push(field),
            (None, _) => notes.push(format!("{key}: {path}: a rule cannot hide this")),
            (_, Err(reason)) => notes.push(format!("{key}: {path}: {reason}")),
        }
    }
    let rule = |(managers, reason): &(Vec<String>, String), fields: &[FieldPattern]| {
        exact_rule(target.clone(), fields, managers, Some(one_line(reason, MAX_REASON / 4)))
    };
    groups.iter().flat_map(|(group, fields)| fields.chunks(MAX_FIELDS).map(move |fields| rule(group, fields))).collect()
}

fn reason(change: &FieldChange) -> String {
    let owner = |owner: &Owner| match owner.subresource.as_str() {
        "" => owner.manager.clone(),
        subresource => format!("{} ({subresource})", owner.manager),
    };
    let reason = why(change, |managers| managers.iter().map(owner).collect::<Vec<_>>().join(", "));
    if reason.is_empty() { "differs from the manifest".to_owned() } else { reason }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use proptest::prelude::*;
    use reconcile_core::compare::{Class, Evidence, ObjectDiff};
    use reconcile_core::owners::AuditAnswer;
    use reconcile_core::rules::{Autoscalers, CoveredObject};
    use reconcile_report::{Command, FailOn};
    use serde_json::{Value, json};
    use structured_merge::{Change, FieldPath, GroupVersionKind, ManagedObject, ObjectKey, Op, Operation, builtin};

    use super::*;
    use crate::commands::Cli;

    /// The field of a ConfigMap, and the managers that changed it.
    fn report(key: &ObjectKey, path: &FieldPath, managers: &[String]) -> Report {
        let owner = |manager: &String| Owner {
            manager: manager.clone(),
            operation: Operation::Update,
            subresource: String::new(),
            time: None,
            manual: false,
            users: AuditAnswer::default(),
        };
        let change = FieldChange::new(
            Change { path: path.clone(), op: Op::Change, from: Some(json!("theirs")), to: Some(json!("ours")) },
            Class::ChangedByOther,
        )
        .with_managers(managers.iter().map(owner).collect());
        let fields = ObjectDiff { changes: vec![change], ..ObjectDiff::in_sync(Evidence::Server) };
        let object = ObjectReport::unwanted(key, fields.by_drift());
        Report::compared(Command::Diff, vec![object], &FailOn::default())
    }

    /// An object in which a manager owns both fields.
    fn live(path: &FieldPath, other: &FieldPath, manager: &str) -> Value {
        let names = [path, other].map(|path| match path.elements() {
            [_, structured_merge::PathElement::Field(name)] => name.clone(),
            elements => panic!("{elements:?}"),
        });
        let mut data = serde_json::Map::new();
        let mut fields = serde_json::Map::new();
        for name in names {
            fields.insert(format!("f:{name}"), json!({}));
            data.insert(name, json!("theirs"));
        }
        let entry = json!({"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": fields}});
        json!({"metadata": {"managedFields": [entry]}, "data": data})
    }

    fn map(name: &str) -> ObjectKey {
        let gvk = GroupVersionKind::new("v1", "ConfigMap");
        ObjectKey { gvk, namespace: Some("shop".to_owned()), name: name.to_owned() }
    }

    /// The paths that the rules cover in an object.
    fn covered(rules: &IgnoreRules, key: &ObjectKey, live: &Value) -> Vec<FieldPath> {
        let live = ManagedObject::new(live.clone(), "us");
        let schema = builtin().object(&key.gvk).unwrap();
        let subject = CoveredObject {
            key,
            manifest: None,
            live: Some(&live),
            schema,
            manual: &std::collections::BTreeSet::new(),
        };
        rules.coverage(subject, &[], &Autoscalers::default()).fields.into_keys().collect()
    }

    const HOSTILE: &str = r#"[a*b?\[\]{}"'#:, .=/\\ü-]{1,6}"#;

    proptest! {
        #[test]
        fn a_rule_hides_its_difference_and_no_other_field_manager_or_object(
            name in HOSTILE,
            other in HOSTILE,
            managers in prop::collection::btree_set(HOSTILE, 1..4),
            stranger in HOSTILE,
        ) {
            prop_assume!(name != other && !managers.contains(&stranger));
            let managers: Vec<String> = managers.into_iter().collect();
            let [path, other] = [&name, &other].map(|name| FieldPath::of(&["data", name]));
            let text = suggestion(
                &Configuration::default(), &IgnoreRules::default(), &report(&map("web"), &path, &managers),
            );
            let read = Configuration::parse(&Cli::command(), &"c.yaml".into(), text.clone().into_bytes()).expect(&text);
            let (rules, _) = IgnoreRules::in_force(read.ignore, jiff::Timestamp::UNIX_EPOCH);
            if managers.iter().any(|manager| manager.contains('*')) {
                prop_assert!(rules.rules.is_empty(), "{text}");
                prop_assert!(text.starts_with("# Not covered: ConfigMap shop/web: data"), "{text}");
                return Ok(());
            }
            for manager in &managers {
                let live = live(&path, &other, manager);
                prop_assert_eq!(covered(&rules, &map("web"), &live), [path.clone()], "{}", text);
                prop_assert!(covered(&rules, &map("api"), &live).is_empty(), "{text}");
            }
            prop_assert!(covered(&rules, &map("web"), &live(&path, &other, &stranger)).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_manager_whose_name_is_a_glob_is_named_in_a_comment() {
        let path = FieldPath::of(&["data", "a"]);
        let report = report(&map("web"), &path, &["*".to_owned()]);
        let text = suggestion(&Configuration::default(), &IgnoreRules::default(), &report);
        assert_eq!(
            text,
            "# Not covered: ConfigMap shop/web: data.a: a rule cannot name the field manager `*`\n\
             apiVersion: kubectl-reconcile/v1\nkind: Config\n"
        );
    }
}
