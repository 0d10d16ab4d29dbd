use std::collections::BTreeSet;
use std::fmt::Debug;

use serde_json::Value;
use structured_merge::{
    ManagedFieldsEntry, ManagedObject, Operation, Ownership, Proof, changes, field_set, is_current, managed_fields,
    predict, prove,
};

use super::fields::{at_or_above, drop_nulls, named, owner, owners, path_text, same, without_record};
use super::kinds::Kind;
use super::reference::{Outcome, Reference};
use super::tally::Tally;

/// One apply.
#[derive(Clone, Debug)]
pub struct Case {
    pub live: Option<Value>,
    pub manifest: Value,
    pub manager: String,
}

impl Case {
    /// Applies the manifest with the reference, first without force, and compares all results of the crate with it.
    /// Returns the object afterwards, or the difference.
    pub fn check(&self, kind: &Kind, reference: &mut Reference, tally: &mut Tally) -> Result<Option<Value>, String> {
        let live = self.live.as_ref();
        let mut apply = |force: bool| reference.apply(live, &self.manifest, &self.manager, force);
        let (conflicts, outcome) = match apply(false) {
            Outcome::Conflicts(conflicts) => (conflicts, apply(true)),
            outcome => (Vec::new(), outcome),
        };
        let mut after = match outcome {
            Outcome::Written(after) => after,
            Outcome::Conflicts(_) => return Err("an apply with force has conflicts".to_owned()),
            Outcome::Refused => {
                tally.count("refused");
                return Ok(None);
            }
        };
        // Go types have no nulls.
        drop_nulls(if kind.is_built_in { &mut after } else { &mut after["metadata"] });
        tally.count("applied");
        if kind.is_built_in {
            tally.count("built in");
        }
        self.check_claims(kind, &after)?;
        if let Some(live) = live {
            if !conflicts.is_empty() {
                tally.count("conflicts");
            }
            self.check_prediction(kind, live, &conflicts, &after)?;
            self.check_proof(kind, live, &conflicts, &after, tally)?;
        }
        Ok(Some(after))
    }

    /// Compares the fields that are ours afterwards.
    fn check_claims(&self, kind: &Kind, after: &Value) -> Result<(), String> {
        let claims = field_set(&self.manifest, kind.of(), Some(kind.info())).to_fields_v1();
        let ours = Ownership::of(after, &self.manager).our_fields().to_fields_v1();
        expect("our fields", &claims, &ours, same(&claims, &ours))
    }

    /// Compares the object, the fields of all others, and the conflicts.
    fn check_prediction(
        &self,
        kind: &Kind,
        live: &Value,
        conflicts: &[(String, String)],
        after: &Value,
    ) -> Result<(), String> {
        let before = ManagedObject::new(live.clone(), &self.manager);
        let prediction = predict(&self.manifest, &before, kind.of(), Some(kind.info()), self.manager.as_str());
        let object = without_record(&prediction.object);
        let expected = without_record(after);
        expect("the object", &object, &expected, same(&object, &expected))?;
        let others = managed_fields(after).into_iter().filter(|entry| !self.is_ours(entry));
        let predicted = owners(&prediction.owners.others);
        let others = owners(&others.collect::<Vec<_>>());
        expect("the fields of others", &predicted, &others, predicted == others)?;
        let before = before.owners;
        // There is no conflict with the owner that the server adds to an object without `managedFields`. If the form of
        // an entry has changed, the lost paths are not those in conflict.
        if is_unrecorded(live) || before.others.iter().any(|entry| !is_current(&entry.fields, kind.of())) {
            return Ok(());
        }
        let taken = before.taken(&prediction.owners).into_iter();
        let taken: BTreeSet<_> = taken.map(|(path, entry)| (owner(entry), path_text(&path))).collect();
        // An empty list claims nothing, so that it takes nothing; structured-merge-diff counts the list itself.
        let claimed = at_or_above(&field_set(&self.manifest, kind.of(), Some(kind.info())));
        let conflicts = named(conflicts).into_iter().filter(|(_, path)| claimed.contains(path)).collect();
        expect("the conflicts", &taken, &conflicts, taken == conflicts)
    }

    /// Checks that an apply that is proven to change nothing changes nothing.
    fn check_proof(
        &self,
        kind: &Kind,
        live: &Value,
        conflicts: &[(String, String)],
        after: &Value,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let entries = |object: &Value| owners(&managed_fields(object));
        let keeps_values = same(&without_record(live), &without_record(after));
        // A manifest without fields is in sync with any object, even if the server adds an owner of the live fields.
        let keeps_owners = entries(live) == entries(after) || is_unrecorded(live);
        let is_unchanged = keeps_values && keeps_owners && conflicts.is_empty();
        tally.count(if is_unchanged { "unchanged" } else { "changed" });
        let removed = changes(after, live, kind.of(), false).iter().any(|change| change.from.is_none());
        if removed {
            tally.count("pruned");
        }
        let live = ManagedObject::new(live.clone(), &self.manager);
        match prove(&self.manifest, &live, kind.of(), kind.info(), self.manager.as_str()) {
            Proof::Proven if is_unchanged => tally.count("proven"),
            Proof::Proven => return Err(format!("a proof, although it becomes {after}")),
            Proof::Inconclusive(_) => {}
        }
        Ok(())
    }

    fn is_ours(&self, entry: &ManagedFieldsEntry) -> bool {
        owner(entry) == (self.manager.clone(), Operation::Apply, String::new())
    }
}

fn is_unrecorded(live: &Value) -> bool {
    managed_fields(live).is_empty()
}

fn expect<T: Debug>(what: &str, ours: &T, theirs: &T, is_same: bool) -> Result<(), String> {
    if is_same { Ok(()) } else { Err(format!("{what}\n     is: {ours:?}\n should: {theirs:?}")) }
}
