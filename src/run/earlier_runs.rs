//! `diff --save-plan` and `apply --plan`: the file, its key, and the digests of the manifests.

use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use clap::ValueEnum;
use reconcile_core::compare::{Redactor, Secrecy};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::Target;
use reconcile_core::manifest::{Manifest, Origin};
use reconcile_core::text::{hex, io_reason};
use reconcile_report::formats::json;
use reconcile_report::{
    Baseline, ClusterInfo, Failure, ManifestDigest, PlanBase, PlanFlags, Report, SavedPlan, SecretCoverage,
};
use ring::{digest, hmac};
use serde_json::Value;
use structured_merge::{FieldPath, GroupVersionKind};

use crate::bounded::read_at_most;
use crate::cli::{CompareArgs, PruneArgs, ShardArgs};
use crate::engine::namespaces::bare_namespace;
use crate::output::atomic_file::AtomicFile;
use crate::output::direct_file::Readers;
use crate::output::unwritable;
use crate::run::base::Base;
use crate::run::contexts::ChosenContexts;

/// The variable with the key that covers the values of Secrets.
const KEY: &str = "KUBECTL_RECONCILE_PLAN_KEY";

/// The file for a plan: opened before anything is compared.
pub(crate) struct PlanFile {
    path: PathBuf,
    file: Mutex<Option<AtomicFile>>,
}

/// A plan to follow, and its file.
pub(crate) struct PlanToFollow {
    pub plan: SavedPlan,
    file: String,
}

impl PlanFile {
    /// Opens the file.
    pub fn open(path: &Path, contexts: &ChosenContexts) -> Result<Self, Failure> {
        contexts.only("--save-plan")?;
        check_key()?;
        if path == Path::new("-") {
            let hint = "name a file, as in `--save-plan=plan.json`";
            return Err(Failure::refused("a plan is not written to standard output", hint));
        }
        let file = AtomicFile::open(path, Readers::Usual)
            .map_err(|error| Failure::invalid(unwritable(&path.to_string_lossy(), &error)))?;
        Ok(Self { path: path.to_owned(), file: Mutex::new(Some(file)) })
    }

    /// Writes the plan of a run. Returns the warning about what it does not cover.
    pub fn write(
        &self,
        report: &Report,
        cluster: ClusterInfo,
        flags: PlanFlags,
        manifests: Vec<ManifestDigest>,
    ) -> Result<Option<String>, Failure> {
        let plan = SavedPlan::of(report, cluster, flags, coverage(), manifests);
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner).take();
        let written = file.map_or(Ok(()), |file| file.write(json::document(&plan).as_bytes()));
        match written {
            Ok(()) => Ok(plan.caveat()),
            Err(error) => Err(Failure::invalid(unwritable(&self.path.to_string_lossy(), &error))),
        }
    }
}

impl PlanToFollow {
    /// Reads the plan of a file.
    pub fn read(path: &Path, contexts: &ChosenContexts) -> Result<Self, Failure> {
        contexts.only("--plan")?;
        check_key()?;
        let file = path.to_string_lossy().into_owned();
        let invalid = |message: String| Failure::invalid(Diagnostic::of_file(&file, message));
        let text = content(path, LARGEST).map_err(invalid)?;
        let plan = SavedPlan::read(&file, &text).map_err(Failure::invalid)?;
        match (plan.secrets(), coverage()) {
            (SecretCoverage::Covered, SecretCoverage::NotCovered) => {
                Err(Failure::refused("the plan was made with a key", format!("set {KEY} to the same key")))
            }
            (SecretCoverage::NotCovered, SecretCoverage::Covered) => {
                let hint = format!("set {KEY} when the plan is made as well, or leave it out");
                Err(Failure::refused("the plan was made without a key", hint))
            }
            _ => Ok(Self { plan, file }),
        }
    }

    /// Checks that the run is the one that was planned.
    pub fn check(&self, cluster: &ClusterInfo, flags: &PlanFlags, manifests: &[ManifestDigest]) -> Result<(), Failure> {
        self.plan.check(&self.file, cluster, flags, manifests).map_err(Failure::invalid)
    }
}

/// The flags that decide what is done, as a plan records them.
pub(crate) fn flags(
    compare: &CompareArgs,
    prune: &PruneArgs,
    ShardArgs { shard }: ShardArgs,
    base: Option<&Base>,
) -> PlanFlags {
    PlanFlags {
        field_manager: compare.evidence.field_manager.clone(),
        force_conflicts: typed(&compare.writing.force_conflicts),
        replace: typed(&compare.writing.replace),
        adopt: compare.adopt.clone(),
        only: compare.chosen().into_iter().map(ToOwned::to_owned).collect(),
        remove_added: compare.removed_managers(),
        applyset: prune.applyset.clone().filter(|_| prune.prune),
        prune_allow: prune.allowed(),
        applyset_recover: prune.applyset_recover,
        leave_applyset: compare.leave_applyset,
        create_namespace: compare.writing.create_namespace,
        shard,
        base: base.map(base_of_plan),
    }
}

/// The value of a flag as it is typed.
fn typed(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// A base as a plan records it. The order of its files does not count.
fn base_of_plan(base: &Base) -> PlanBase {
    let key = key();
    let digest = base.manifests().map(|manifests| {
        let of = |manifest: &Manifest| digest_of(manifest.gvk(), manifest.object(), manifest.origin(), key.as_ref());
        let mut digests: Vec<String> = manifests.iter().map(of).collect();
        digests.sort();
        hex(digest::digest(&digest::SHA256, digests.join("\n").as_bytes()).as_ref())
    });
    PlanBase { from: base.info.from.clone(), digest }
}

/// The digests of what is sent for each object. A Namespace that `--create-namespace` adds is in no manifest, and is added only as long as
/// it does not exist.
pub(crate) fn digests<'t>(flags: &PlanFlags, targets: impl Iterator<Item = &'t Target>) -> Vec<ManifestDigest> {
    let key = key();
    let targets = targets.filter(|target| !(flags.create_namespace && is_bare_namespace(target)));
    let digest =
        |target: &Target| digest_of(&target.key.gvk, target.desired.object(), &target.desired.origin, key.as_ref());
    targets.map(|target| ManifestDigest::new(&target.key, digest(target))).collect()
}

/// Returns true for a Namespace with nothing but its name.
fn is_bare_namespace(Target { key, desired, .. }: &Target) -> bool {
    key.gvk.is_namespace() && *desired.object() == bare_namespace(&key.name)
}

/// With a key, the digest covers all values; without one, everything but those of Secrets.
fn digest_of(gvk: &GroupVersionKind, object: &Value, origin: &Origin, key: Option<&hmac::Key>) -> String {
    if let Some(key) = key {
        return hex(hmac::sign(key, object.to_string().as_bytes()).as_ref());
    }
    let secrecy = Secrecy::of(gvk, Some(object), None).of_encrypted(origin.is_encrypted);
    let shown = Redactor::default().value(&secrecy, &FieldPath::root(), object);
    hex(digest::digest(&digest::SHA256, shown.to_string().as_bytes()).as_ref())
}

/// Refuses a key that is set and empty: a secret of a pipeline that is missing would silently be no key.
fn check_key() -> Result<(), Failure> {
    if env::var_os(KEY).is_some_and(|key| key.is_empty()) {
        let hint = "set it to a key in both runs, or unset it: then the plan covers no hidden values";
        return Err(Failure::refused(format!("the variable `{KEY}` is set and empty"), hint));
    }
    Ok(())
}

fn coverage() -> SecretCoverage {
    if key().is_some() { SecretCoverage::Covered } else { SecretCoverage::NotCovered }
}

fn key() -> Option<hmac::Key> {
    let key = env::var_os(KEY).filter(|key| !key.is_empty())?;
    Some(hmac::Key::new(hmac::HMAC_SHA256, key.as_encoded_bytes()))
}

/// The largest report that is read, in bytes.
pub(crate) const LARGEST: u64 = 256 << 20;

/// Reads the report that `--baseline` names.
pub(crate) fn baseline(path: &Path) -> Result<Baseline, Failure> {
    let file = path.to_string_lossy();
    let text = content(path, LARGEST).map_err(|message| Failure::invalid(Diagnostic::of_file(&file, message)))?;
    Baseline::read(&file, &text).map_err(Failure::invalid)
}

/// Reads a file of at most `most` bytes.
pub(crate) fn content(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let content = File::open(path).and_then(|file| read_at_most(file, most));
    let content = content.map_err(|error| format!("cannot be read: {}", io_reason(&error)))?;
    content.ok_or_else(|| format!("larger than {} MiB, the most that is read", most >> 20))
}
