//! A difference to decide about, and the ignore rules that cover it and nothing else.

use std::collections::BTreeSet;

use structured_merge::{FieldPath, ObjectKey};

use crate::compare::{Action, Class, FieldChange, Replacement};
use crate::diagnostic::Location;
use crate::owners::{MAX_MANAGER, Owner};
use crate::rules::{FieldPattern, Glob, IgnoreRule, MAX_FIELDS, MAX_PATTERN, ObjectPattern};

/// A difference of one object: of a field, or of the object as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The object.
    pub key: ObjectKey,
    /// The action that the object needs.
    pub action: Action,
    /// The permission to replace the object, if it has to be replaced.
    pub replacement: Option<Replacement>,
    /// The change. Its path is empty for an object that does not exist.
    pub change: FieldChange,
}

impl Difference {
    /// Returns true if the object as a whole differs: it does not exist.
    pub fn is_whole_object(&self) -> bool {
        self.change.path.elements().is_empty()
    }

    /// Returns true if a later comparison found the same difference; who made it and when does not matter.
    pub fn is_same(&self, change: &FieldChange) -> bool {
        let FieldChange { path, live, desired, .. } = &self.change;
        (path, live, desired) == (&change.path, &change.live, &change.desired)
    }

    /// The reason why an apply would not make the change; `None` if it would. `is_blocked` says that others own the field, and
    /// that the flags do not take it from them.
    pub fn refusal_to_apply(&self, is_blocked: bool) -> Option<String> {
        if is_blocked {
            let owners = self.change.managers.iter().map(|Owner { manager, .. }| format!("`{manager}`"));
            let owners = owners.collect::<Vec<_>>().join(", ");
            let owners = if owners.is_empty() { "another field manager".to_owned() } else { owners };
            return Some(format!("{owners} owns the field, and only `--force-conflicts` takes it"));
        }
        match (self.action, self.replacement) {
            (Action::Replace, Some(Replacement::Protected)) => {
                Some("an immutable field of the object differs, and it is protected from being replaced".to_owned())
            }
            (Action::Replace, Some(Replacement::NeedsFlag) | None) => Some(
                "an immutable field of the object differs, and only `--replace=immutable` deletes and recreates it"
                    .to_owned(),
            ),
            (Action::Create | Action::Update | Action::Replace, _) => None,
            (Action::None | Action::Delete | Action::Unknown, _) => Some("it is not an update".to_owned()),
        }
    }

    /// The reason why no ignore rule can cover the difference and nothing else; `None` if one can.
    pub fn refusal_to_ignore(&self) -> Option<String> {
        if self.is_whole_object() {
            return Some("rules ignore fields, and the object as a whole is missing".to_owned());
        }
        if self.change.class == Class::Reordered {
            return Some("a rule would hide the list, not only its order".to_owned());
        }
        if exact_target(&self.key).is_none() {
            return Some("a rule cannot name the object".to_owned());
        }
        if exact_field(&self.change.path, self.change.class).is_none() {
            return Some("a rule cannot name the field".to_owned());
        }
        exact_managers(&self.change.managers).err()
    }
}

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
