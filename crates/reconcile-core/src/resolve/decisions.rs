//! The decisions of one run, as values.

use std::collections::BTreeMap;

use structured_merge::ObjectKey;

use super::difference::Difference;
use super::difference::{exact_field, exact_managers, exact_rule, exact_target};
use crate::compare::{Action, FieldChange, ObjectVerdict};
use crate::rules::{FieldPattern, IgnoreRule, MAX_FIELDS};
use crate::text::one_line;

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
    pub fn consent(&self, key: &ObjectKey, verdict: &ObjectVerdict) -> Consent {
        if !self.applies(key) || verdict.action() == Action::None {
            return Consent::LeaveAlone;
        }
        let decided = self.on(key);
        let choice =
            |change: &FieldChange| decided.iter().find(|(one, _)| one.is_same(change)).map(|(_, choice)| choice);
        let drift = drift(verdict);
        let stays = |choice: Option<&Choice>| choice.is_some_and(|choice| *choice != Choice::Apply);
        // A replacement makes all of the object as its manifest says.
        let replaces = verdict.action() == Action::Replace;
        let keeps_some = decided.iter().any(|(_, choice)| *choice != Choice::Apply);
        // An object under a new name is created with all that differs from the former one.
        let creates = |(one, _): &(Difference, Choice)| one.action == Action::Create && !one.is_whole_object();
        if verdict.action() == Action::Create && decided.iter().all(creates) {
            return if keeps_some { Consent::Inseparable } else { Consent::Write };
        }
        if drift.iter().any(|change| stays(choice(change))) || replaces && keeps_some {
            return Consent::Inseparable;
        }
        let is_new_replacement = replaces && decided.iter().any(|(one, _)| one.action != Action::Replace);
        if is_new_replacement || !drift.iter().all(|change| choice(change).is_some()) {
            return Consent::Changed;
        }
        Consent::Write
    }

    fn on(&self, key: &ObjectKey) -> &[(Difference, Choice)] {
        self.by_object.get(key).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The differences that a write would remove.
fn drift(verdict: &ObjectVerdict) -> Vec<FieldChange> {
    match verdict {
        ObjectVerdict::Create { desired, .. } => vec![FieldChange::missing(desired.to_tree())],
        ObjectVerdict::Delete { live, .. } => vec![FieldChange::pruned(live.clone())],
        _ => verdict.changes().iter().filter(|change| change.is_drift()).cloned().collect(),
    }
}
