//! `--suggest-ignores`: a configuration with rules that hide exactly the drift of a report.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use reconcile_report::{ObjectReport, Report, why, why_without_fields};
use structured_merge::ObjectKey;

use super::Configuration;
use super::ignore::{MAX_MANAGER, MAX_REASON};
use super::written::{WrittenConfiguration, WrittenRule};
use reconcile_core::compare::{Action, Class, FieldChange, Owner};
use reconcile_core::diagnostic::Location;
use reconcile_core::rules::{
    FieldPattern, Glob, IgnoreRule, IgnoreRules, MAX_FIELDS, MAX_PATTERN, MAX_RULES, ObjectPattern,
};
use reconcile_core::text::{one_line, visible, yaml_in_order};

/// A whole configuration, ready to commit: the rules in force now, and a rule for each object and the managers of its drift.
/// Comments name the differences that no rule can hide.
pub(crate) fn suggestion(configuration: &Configuration, in_force: &IgnoreRules, report: &Report) -> String {
    let mut notes = Vec::new();
    let mut rules: Vec<WrittenRule> = in_force.iter().map(WrittenRule::of).collect();
    for object in report.objects.iter().filter(|object| object.diff.action != Action::None) {
        rules.extend(of_object(object, &mut notes).iter().map(WrittenRule::of));
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

fn of_object(object: &ObjectReport, notes: &mut Vec<String>) -> Vec<IgnoreRule> {
    let key = &object.key;
    if let Some(reason) = why_without_fields(object.diff.action) {
        notes.push(format!("{key}: {reason}"));
        return Vec::new();
    }
    let Some(target) = exactly(key) else {
        notes.push(format!("{key}: a rule cannot name it"));
        return Vec::new();
    };
    let mut groups: BTreeMap<(Vec<String>, String), Vec<FieldPattern>> = BTreeMap::new();
    for change in object.diff.changes.iter().filter(|change| change.class.is_drift()) {
        match field(change) {
            Some(field) => groups.entry((managers(&change.managers), reason(change))).or_default().push(field),
            None => notes.push(format!("{key}: {}: a rule cannot hide this", change.path)),
        }
    }
    let rule = |(managers, reason): &(Vec<String>, String), fields: &[FieldPattern]| IgnoreRule {
        target: target.clone(),
        fields: fields.to_vec(),
        managers: managers.iter().map(|manager| Glob::new(manager)).collect(),
        reason: Some(one_line(reason, MAX_REASON / 4)),
        expires: None,
        location: Location { file: "".into(), line: None, column: None },
    };
    groups.iter().flat_map(|(group, fields)| fields.chunks(MAX_FIELDS).map(move |fields| rule(group, fields))).collect()
}

/// The pattern that matches one object; none for a name that is not a plain glob.
fn exactly(key: &ObjectKey) -> Option<ObjectPattern> {
    let literal = |text: &str| Glob::of_names(text).ok().filter(Glob::is_literal);
    Some(ObjectPattern {
        group: Some(literal(&key.gvk.group)?),
        kind: Some(literal(&key.gvk.kind)?),
        namespace: key.namespace.as_deref().map(|namespace| literal(namespace).ok_or(())).transpose().ok()?,
        name: Some(literal(&key.name)?),
        labels: None,
    })
}

/// The pattern that matches one path, as it will be read; `None` if a rule cannot name the path, or would hide more than differs.
fn field(change: &FieldChange) -> Option<FieldPattern> {
    if change.class == Class::Reordered || change.path.elements().is_empty() {
        return None;
    }
    let text = FieldPattern::exactly(&change.path).to_string();
    if text.len() > MAX_PATTERN {
        return None;
    }
    FieldPattern::parse(&text).ok()
}

/// The managers that a rule is narrowed to, so that a change by another one is still reported. Not narrowed if a name is not
/// literal.
fn managers(owners: &[Owner]) -> Vec<String> {
    let is_plain = |name: &str| !name.is_empty() && name.len() <= MAX_MANAGER && !name.contains('*');
    let mut names: Vec<String> = owners.iter().map(|owner| owner.manager.clone()).collect();
    names.sort();
    names.dedup();
    if names.len() <= MAX_FIELDS && names.iter().all(|name| is_plain(name)) { names } else { Vec::new() }
}

fn reason(change: &FieldChange) -> String {
    let owner = |owner: &Owner| match owner.subresource.as_str() {
        "" => owner.manager.clone(),
        subresource => format!("{} ({subresource})", owner.manager),
    };
    let reason = why(change, |managers| managers.iter().map(owner).collect::<Vec<_>>().join(", "));
    if reason.is_empty() { "differs from the manifest".to_owned() } else { reason }
}
