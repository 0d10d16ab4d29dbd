//! What is proven is true: objects and manifests are changed at random, and each proof is compared with the API server's
//! own answer. `SOUNDNESS_MUTATIONS=50000 cargo test --test it soundness -- --nocapture` runs longer than the
//! few thousand mutations of an ordinary run; `SOUNDNESS_SEED` repeats one.

pub mod engine;
mod ignored;
pub mod live;
pub mod manifest;
mod tally;

use std::fmt;

use futures::StreamExt as _;
use kubectl_reconcile::client::StatusError;
use reconcile_core::compare::Policy;
use reconcile_core::live::Target;
use serde_json::Value;
use structured_merge::{LAST_APPLIED, ManagedObject, Proof, Unproven, managed_fields, prove};

use crate::control_plane::is_before;
use crate::generated::{AT_ONCE, Ground, Rng, on_the_ground};
use tally::Tally;

const OURS: &str = "kubectl-reconcile";
/// Manifests that are tried on one state of a live object.
const VARIANTS: usize = 6;

#[test]
fn what_is_proven_changes_nothing() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let mutations = number("SOUNDNESS_MUTATIONS").unwrap_or(2500);
    let seed = number("SOUNDNESS_SEED").unwrap_or(1);
    on_the_ground(async |ground| {
        let variants = if mutations > 10_000 { 6 } else { 2 };
        let targets = ground.generate(seed as u64, 20, variants).await;
        let each = mutations / targets.len() + 1;
        let runs = futures::stream::iter(targets.iter().enumerate()).map(async |(at, target)| {
            let mut run = Run { ground, target, rng: Rng::new((seed + at * 7919) as u64), tally: Tally::default() };
            run.go(each).await;
            run.tally
        });
        let tally = runs.buffer_unordered(AT_ONCE).fold(Tally::default(), async |sum, one| sum.plus(one)).await;
        tally.report(seed);
    });
}

/// The life of one object.
pub struct Run<'a> {
    ground: &'a Ground,
    target: &'a Target,
    rng: Rng,
    tally: Tally,
}

impl Run<'_> {
    async fn go(&mut self, mutations: usize) {
        let kind = self.target.key.gvk.kind.clone();
        let manifest = self.target.desired.object().clone();
        let Ok(mut live) = self.ground.apply(self.target, &manifest, OURS, "&force=true").await else {
            return self.tally.count("refused at first", &kind);
        };
        // Some kinds are written once more by the server itself, or by the next apply.
        if let Ok(again) = self.ground.apply(self.target, &manifest, OURS, "&force=true").await {
            live = again;
        }
        self.check(&manifest, &live, "untouched").await;
        let until = self.tally.mutations + mutations;
        while self.tally.mutations < until {
            let mut how = Vec::new();
            for _ in 0..self.rng.below(4) {
                how.push(live::change(self.ground, self.target, &live, &mut self.rng).await);
                self.tally.mutations += 1;
                live = self.ground.get(self.target).await;
            }
            for _ in 0..VARIANTS {
                let mut manifest = manifest.clone();
                let mut how = how.clone();
                for _ in 0..self.rng.below(4) {
                    how.push(manifest::change(self.ground, self.target, &mut manifest, &mut self.rng));
                    self.tally.mutations += 1;
                }
                self.check(&manifest, &live, &how.join(", ")).await;
            }
            if self.rng.chance(60) {
                let mut manifest = manifest.clone();
                for _ in 0..self.rng.below(3) {
                    manifest::change(self.ground, self.target, &mut manifest, &mut self.rng);
                    self.tally.mutations += 1;
                }
                engine::check(self, &manifest, &live).await;
                live = self.ground.get(self.target).await;
                for _ in 0..self.rng.below(3) {
                    manifest::change(self.ground, self.target, &mut manifest, &mut self.rng);
                }
                live::change(self.ground, self.target, &live, &mut self.rng).await;
                live = self.ground.get(self.target).await;
                ignored::check(self, &manifest, &live).await;
            }
            if self.rng.chance(60) {
                let _ = self.ground.apply(self.target, &manifest, OURS, "&force=true").await;
            }
            live = self.ground.get(self.target).await;
        }
    }

    /// Holds the proof, or its absence, against an unforced dry-run.
    async fn check(&mut self, manifest: &Value, live: &Value, how: &str) {
        let Some(kind) = self.target.kind() else { return };
        let managed = ManagedObject::new(live.clone(), OURS);
        let proof = prove(manifest, &managed, self.ground.of(self.target), &kind, &Policy::of(OURS));
        let answer = self.ground.apply(self.target, manifest, OURS, "&dryRun=All").await;
        if answer
            .as_ref()
            .is_ok_and(|answer| answer["metadata"]["resourceVersion"] != live["metadata"]["resourceVersion"])
        {
            return self.tally.count("moved meanwhile", &kind.gvk.kind);
        }
        let changes = effect(live, &answer);
        // The program leaves a status out of what it sends. Servers before 1.36 would make it ours: `GetResetFields` of
        // `pkg/registry/networking/servicecidr/strategy.go` names a group that does not exist.
        let owns_status = kind.gvk.kind == "ServiceCIDR" && manifest.get("status").is_some();
        if owns_status
            && matches!(changes, Some(Effect::Owners(_)))
            && is_before(36, "owners of the status of a ServiceCIDR")
        {
            return self.tally.count("the status is owned", &kind.gvk.kind);
        }
        let kind = format!("{}/{}", self.target.key.gvk.kind, self.target.key.gvk.version);
        self.tally.cases += 1;
        match (proof, changes) {
            (Proof::Proven, None) => self.tally.proven(how),
            (Proof::Proven, Some(effect)) => {
                self.tally
                    .fail("proven, and yet", format!("{kind} after {how}: {effect}\nmanifest {manifest}\nlive {live}"));
            }
            (Proof::Inconclusive(unproven), None) => self.tally.asked_in_vain(&kind, &unproven, how),
            (Proof::Inconclusive(Unproven::Differs(_)), Some(_)) => self.tally.rightly_different += 1,
            (Proof::Inconclusive(_), Some(_)) => {}
        }
    }
}

/// What the server would change.
#[derive(Debug)]
pub enum Effect {
    /// Nothing: it refuses the apply.
    Refused(u16, String),
    Values(Value),
    /// Only the record of who owns which fields.
    Owners(Value),
}

/// What the server's answer to an unforced dry run would change, or nothing.
pub fn effect(live: &Value, answer: &Result<Value, StatusError>) -> Option<Effect> {
    let after = match answer {
        Ok(after) => after,
        Err(status) => return Some(Effect::Refused(status.code, status.message.clone())),
    };
    let values = |object: &Value| {
        let mut object = object.clone();
        let metadata = object["metadata"].as_object_mut().expect("metadata");
        for name in ["managedFields", "resourceVersion", "generation"] {
            metadata.remove(name);
        }
        // The copy of client-side apply goes with its owner, and is no difference to speak of.
        if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
            annotations.remove(LAST_APPLIED);
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
        object
    };
    if values(live) != values(after) {
        return Some(Effect::Values(values(after)));
    }
    // Where nobody is recorded at all, the server invents an owner for those who came before.
    let is_unrecorded = managed_fields(live).is_empty();
    let owners = |object: &Value| {
        let mut owners: Vec<_> = managed_fields(object)
            .into_iter()
            .filter(|entry| !(is_unrecorded && entry.manager == "before-first-apply"))
            .map(|e| (e.manager, e.operation, e.subresource, e.api_version, e.fields.to_fields_v1().to_string()))
            .collect();
        owners.sort();
        owners
    };
    (owners(live) != owners(after)).then(|| Effect::Owners(after["metadata"]["managedFields"].clone()))
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effect::Refused(code, message) => write!(f, "refused with {code}: {message}"),
            Effect::Values(values) => write!(f, "values change to {values}"),
            Effect::Owners(owners) => write!(f, "owners change to {owners}"),
        }
    }
}
