//! Ignore rules that cover one difference and nothing else.

use std::collections::BTreeSet;

use structured_merge::{FieldPath, ObjectKey};

use crate::compare::Class;
use crate::diagnostic::Location;
use crate::owners::MAX_MANAGER;
use crate::owners::Owner;
use crate::rules::{FieldPattern, Glob, IgnoreRule, MAX_FIELDS, MAX_PATTERN, ObjectPattern};

/// The pattern that matches one object; none for a name that is not a plain glob.
pub fn exact_target(key: &ObjectKey) -> Option<ObjectPattern> {
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
pub fn exact_field(path: &FieldPath, class: Class) -> Option<FieldPattern> {
    if class == Class::Reordered || path.elements().is_empty() {
        return None;
    }
    let text = FieldPattern::exactly(path).to_string();
    if text.len() > MAX_PATTERN {
        return None;
    }
    FieldPattern::parse(&text).ok()
}

/// The managers that a rule is narrowed to, so that a change by another one is still reported; none for a field that nobody else
/// owns.
///
/// # Errors
///
/// The reason why a rule cannot be narrowed to them: without them, it would hide the changes of everybody.
pub fn exact_managers(owners: &[Owner]) -> Result<Vec<String>, String> {
    let is_literal = |name: &&String| !name.is_empty() && name.len() <= MAX_MANAGER && Glob::new(name).is_literal();
    let names: BTreeSet<String> = owners.iter().map(|owner| owner.manager.clone()).collect();
    if let Some(name) = names.iter().find(|name| !is_literal(name)) {
        return Err(format!("a rule cannot name the field manager `{name}`"));
    }
    if names.len() > MAX_FIELDS {
        return Err(format!("a rule cannot name its {} field managers", names.len()));
    }
    Ok(names.into_iter().collect())
}

/// A rule for some fields of one object, narrowed to these managers.
pub fn exact_rule(
    target: ObjectPattern,
    fields: &[FieldPattern],
    managers: &[String],
    reason: Option<String>,
) -> IgnoreRule {
    IgnoreRule {
        target,
        fields: fields.to_vec(),
        managers: managers.iter().map(|manager| Glob::new(manager)).collect(),
        reason,
        expires: None,
        location: Location { file: "".into(), line: None, column: None },
    }
}
