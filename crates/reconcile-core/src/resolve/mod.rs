//! Decisions about differences, one by one: which are applied, which go into the manifests, which a rule ignores from now on, and which
//! stay as they are.
//!
//! ```text
//! Difference ─ Choice ─▶ Decisions ─┬─▶ rules for the configuration
//!                                   ├─▶ rules for the pass, under which everything stays that is not applied
//!                                   └─▶ Consent to each write
//! ```

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use structured_merge::{FieldPath, ObjectKey};

use super::compare::{Action, Class, FieldChange, ObjectDiff, Replacement, is_withheld_path};
use super::diagnostic::Location;
use super::owners::{MAX_MANAGER, Owner};
use super::rules::{FieldPattern, Glob, IgnoreRule, MAX_FIELDS, MAX_PATTERN, ObjectPattern};
use super::text::{coded, one_line};

/// Longest reason of a rule, in characters: four bytes each are the longest that a configuration may have.
const MAX_REASON: usize = 250;

/// The decision about a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The cluster gets the value of the manifest.
    Apply,
    /// The manifest gets the value of the cluster.
    Pull,
    /// A rule ignores it from now on, for this reason.
    Ignore(String),
    /// It stays as it is for now.
    Skip,
}

impl Choice {
    /// The decision to ignore a difference, with the reason as it was typed; `None` if none was.
    pub fn ignore(typed: &str) -> Option<Self> {
        let reason = one_line(typed.trim(), MAX_REASON);
        (!reason.is_empty()).then_some(Self::Ignore(reason))
    }
}

/// The consent to write an object as a later comparison found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Each of its differences is to be applied.
    Write,
    /// None of its differences is to be applied.
    LeaveAlone,
    /// It has differences about which nobody was asked.
    Changed,
    /// A write would also change what is to stay as it is.
    Inseparable,
    /// A saved plan has no such differences of it.
    NotPlanned,
    /// Its differences have values that the saved plan hides, and nothing tells whether they are still those of the plan.
    NotCovered,
}

/// The decisions, by object.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    by_object: BTreeMap<ObjectKey, Vec<(Difference, Choice)>>,
}

impl Decisions {
    /// Records a decision.
    pub fn decide(&mut self, difference: Difference, choice: Choice) {
        self.by_object.entry(difference.key.clone()).or_default().push((difference, choice));
    }

    /// The differences with this choice.
    pub fn with(&self, wanted: impl Fn(&Choice) -> bool) -> impl Iterator<Item = &Difference> {
        let all = self.by_object.values().flatten();
        all.filter(move |(_, choice)| wanted(choice)).map(|(difference, _)| difference)
    }

    /// The differences that are applied.
    pub fn applied(&self) -> impl Iterator<Item = &Difference> {
        self.with(|choice| *choice == Choice::Apply)
    }

    /// Returns true if at least one difference of an object is applied.
    pub fn applies(&self, key: &ObjectKey) -> bool {
        self.on(key).iter().any(|(_, choice)| *choice == Choice::Apply)
    }

    /// Returns true if a change is to be written into its manifest.
    pub fn pulls(&self, key: &ObjectKey, change: &FieldChange) -> bool {
        let is_it = |(difference, choice): &(Difference, Choice)| *choice == Choice::Pull && difference.is_same(change);
        self.on(key).iter().any(is_it)
    }

    /// Leaves an object as it is. Returns true if something of it was to be applied.
    pub fn withdraw(&mut self, key: &ObjectKey) -> bool {
        let mut is_withdrawn = false;
        for (_, choice) in self.by_object.get_mut(key).into_iter().flatten().filter(|(_, one)| *one == Choice::Apply) {
            *choice = Choice::Skip;
            is_withdrawn = true;
        }
        is_withdrawn
    }

    /// The rules for the configuration, each as narrow as the differences that it ignores.
    pub fn rules(&self) -> Vec<IgnoreRule> {
        let mut rules = Vec::new();
        for (key, decided) in &self.by_object {
            let Some(target) = exact_target(key) else { continue };
            let mut fields: BTreeMap<(Vec<String>, &str), Vec<FieldPattern>> = BTreeMap::new();
            for (Difference { change, .. }, choice) in decided {
                if let Choice::Ignore(reason) = choice
                    && let (Some(field), Ok(managers)) =
                        (exact_field(&change.path, change.class), exact_managers(&change.managers))
                {
                    fields.entry((managers, reason)).or_default().push(field);
                }
            }
            for ((managers, reason), fields) in &fields {
                let rule = |fields| exact_rule(target.clone(), fields, managers, Some((*reason).to_owned()));
                rules.extend(fields.chunks(MAX_FIELDS).map(rule));
            }
        }
        rules
    }

    /// The rules for the pass. In each object with a difference to apply, they ignore the others, whichever manager made them.
    pub fn rules_of_pass(&self) -> Vec<IgnoreRule> {
        let mut rules = Vec::new();
        for (key, decided) in self.by_object.iter().filter(|(key, _)| self.applies(key)) {
            let Some(target) = exact_target(key) else { continue };
            let stay = decided.iter().filter(|(_, choice)| *choice != Choice::Apply);
            let fields: Vec<FieldPattern> =
                stay.filter_map(|(one, _)| exact_field(&one.change.path, one.change.class)).collect();
            let rule = |fields| exact_rule(target.clone(), fields, &[], None);
            rules.extend(fields.chunks(MAX_FIELDS).map(rule));
        }
        rules
    }

    /// The consent to write an object, as a comparison under [`Decisions::rules_of_pass`] found it.
    pub fn consent(&self, key: &ObjectKey, diff: &ObjectDiff) -> Consent {
        if !self.applies(key) {
            return Consent::LeaveAlone;
        }
        let decided = self.on(key);
        // Of such a value, nothing is found under the rules of the pass.
        if tears(decided) {
            return Consent::Inseparable;
        }
        if diff.action == Action::None {
            return Consent::LeaveAlone;
        }
        let choice =
            |change: &FieldChange| decided.iter().find(|(one, _)| one.is_same(change)).map(|(_, choice)| choice);
        let stays = |choice: Option<&Choice>| choice.is_some_and(|choice| *choice != Choice::Apply);
        // A replacement makes all of the object as its manifest says.
        let replaces = diff.action == Action::Replace;
        let keeps_some = decided.iter().any(|(_, choice)| *choice != Choice::Apply);
        // An object under a new name is created with all that differs from the former one.
        let creates = |(one, _): &(Difference, Choice)| one.action == Action::Create && !one.is_whole_object();
        if diff.action == Action::Create && decided.iter().all(creates) {
            return if keeps_some { Consent::Inseparable } else { Consent::Write };
        }
        if diff.drift().any(|change| stays(choice(change))) || replaces && keeps_some {
            return Consent::Inseparable;
        }
        let is_new_replacement = replaces && decided.iter().any(|(one, _)| one.action != Action::Replace);
        if is_new_replacement || !diff.drift().all(|change| choice(change).is_some()) {
            return Consent::Changed;
        }
        Consent::Write
    }

    fn on(&self, key: &ObjectKey) -> &[(Difference, Choice)] {
        self.by_object.get(key).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Returns true if a value that an apply writes as a whole has differences that are applied, and others that are not.
fn tears(decided: &[(Difference, Choice)]) -> bool {
    let parts = decided.iter().filter_map(|(one, choice)| Some((one.change.part_of.as_deref()?, choice)));
    let (applied, others): (Vec<_>, Vec<_>) = parts.partition(|(_, choice)| **choice == Choice::Apply);
    let applied: BTreeSet<&FieldPath> = applied.into_iter().map(|(whole, _)| whole).collect();
    others.iter().any(|(whole, _)| applied.contains(whole))
}

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
        self.change.content() == change.content()
    }

    /// The reason why an apply would not make the change; `None` if it would. `is_blocked` says that others own the field, and
    /// that the flags do not take it from them.
    pub fn refusal_to_apply(&self, is_blocked: bool) -> Option<String> {
        if is_blocked {
            let owners = self.change.managers.iter().map(|Owner { manager, .. }| coded(manager));
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
    if class == Class::Reordered || path.elements().is_empty() || is_withheld_path(path) {
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
        return Err(format!("a rule cannot name the field manager {}", coded(name)));
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
