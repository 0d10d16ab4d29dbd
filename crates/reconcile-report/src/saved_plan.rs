//! A saved plan: what a `diff` showed, for an `apply` that does exactly that.
//!
//! The plan only narrows. What is written follows from the manifests, the flags and a new comparison; an object whose result is not the
//! one of the plan is left alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use reconcile_core::compare::{Action, Class, FieldChange};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::exact;
use reconcile_core::object::Shard;
use reconcile_core::plan::deletion::DeletionKind;
use reconcile_core::rare::is_zero;
use reconcile_core::resolve::Consent;
use reconcile_core::text::listed;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use structured_merge::{FieldPath, ObjectKey};

use crate::baseline::{is_hidden, is_same};
use crate::model::identity::{KeyFields, StartTime, ToolInfo, key};
use crate::model::report::{Fixed, api_version, exactly};
use crate::model::{ClusterInfo, ObjectReport, Report};
use crate::words::value::number::counted;
use reconcile_core::bounded_value::begin_document;

/// Most objects that an error names.
const NAMED: usize = 5;

/// The document of `diff --save-plan`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SavedPlan {
    /// Always `kubectl-reconcile/v1`.
    #[serde(deserialize_with = "api_version")]
    #[schemars(extend("const" = "kubectl-reconcile/v1"))]
    api_version: Fixed,
    /// Always `Plan`.
    #[serde(deserialize_with = "kind")]
    #[schemars(extend("const" = "Plan"))]
    kind: Fixed,
    /// The program that made the plan.
    tool: ToolInfo,
    /// The time at which its run began.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<StartTime>,
    /// The cluster that it is for.
    cluster: ClusterInfo,
    /// The flags that decide what is done.
    flags: PlanFlags,
    /// Tells if the digests cover the values of Secrets.
    secrets: SecretCoverage,
    /// All objects of the manifests.
    manifests: Vec<ManifestDigest>,
    /// The objects that differ.
    objects: Vec<PlannedObject>,
    /// Number of these objects of which a value to write is hidden and not covered: an apply leaves them alone.
    #[serde(default, skip_serializing_if = "is_zero")]
    uncovered: usize,
    /// Their places in this list, once it is read.
    #[serde(skip)]
    places: HashMap<ObjectKey, usize>,
}

/// The flags that decide what an apply does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanFlags {
    /// `--field-manager`
    pub field_manager: String,
    /// `--force-conflicts`
    pub force_conflicts: String,
    /// `--replace`
    pub replace: String,
    /// `--adopt`
    pub adopt: Vec<String>,
    /// `--only`
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub only: BTreeSet<String>,
    /// `--remove-added`: the managers that it names, none for those of manual changes
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove_added: Option<BTreeSet<String>>,
    /// `--applyset`, with `--prune`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applyset: Option<String>,
    /// `--prune-allow`: what the plan allows, its apply may do.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub prune_allow: BTreeSet<DeletionKind>,
    /// `--applyset-recover`
    pub applyset_recover: bool,
    /// `--leave-applyset`
    pub leave_applyset: bool,
    /// `--create-namespace`
    pub create_namespace: bool,
    /// `--shard`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The base: the side of a difference, and with it what is done, may depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<PlanBase>,
}

/// The base of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanBase {
    /// As it was given.
    pub from: String,
    /// The digest of its objects; absent if they are read from the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl PlanBase {
    /// Returns true if both have the same objects, whatever they are called, or the same name if these are not known before.
    fn is_same(&self, other: &Self) -> bool {
        if self.digest.is_some() { self.digest == other.digest } else { self == other }
    }
}

/// The values that the digests of a plan cover: those of Secrets only with a key, as they could be guessed from a digest without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SecretCoverage {
    /// HMAC-SHA-256 with the key in `KUBECTL_RECONCILE_PLAN_KEY`, over all values.
    Covered,
    /// SHA-256, over everything but the values of Secrets.
    NotCovered,
}

/// The digest of one object of the manifests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManifestDigest {
    /// API version of the object.
    api_version: String,
    /// Kind of the object.
    kind: String,
    /// Its namespace; absent for a cluster-scoped object.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    /// Its name.
    name: String,
    /// In hexadecimal digits.
    digest: String,
}

/// An object that differs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlannedObject {
    /// The uid of the live object, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
    /// The object, as in the report.
    object: ObjectReport,
}

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Fixed, D::Error> {
    exactly(deserializer, "Plan")
}

impl ManifestDigest {
    /// The digest of an object.
    pub fn new(key: &ObjectKey, digest: String) -> Self {
        let KeyFields { api_version, kind, namespace, name } = key.into();
        Self { api_version, kind, namespace, name, digest }
    }

    fn key(&self) -> ObjectKey {
        key(&self.api_version, &self.kind, self.namespace.clone(), self.name.clone())
    }
}

impl SavedPlan {
    /// The plan of a run: what its report shows.
    pub fn of(
        report: &Report,
        cluster: ClusterInfo,
        flags: PlanFlags,
        secrets: SecretCoverage,
        manifests: Vec<ManifestDigest>,
    ) -> Self {
        let differs = |object: &&ObjectReport| {
            object.diff.action != Action::Unknown && (object.differs() || object.is_ownership_only())
        };
        let planned = |object: &ObjectReport| PlannedObject { uid: object.details.uid.clone(), object: object.clone() };
        let objects: Vec<PlannedObject> = report.objects.iter().filter(differs).map(planned).collect();
        let is_uncovered = |one: &&PlannedObject| writes_hidden(&one.object) && secrets == SecretCoverage::NotCovered;
        let uncovered = objects.iter().filter(is_uncovered).count();
        Self {
            api_version: "kubectl-reconcile/v1",
            kind: "Plan",
            tool: ToolInfo::own(),
            time: report.time,
            cluster,
            flags,
            secrets,
            manifests,
            objects,
            uncovered,
            places: HashMap::new(),
        }
    }

    /// Reads a plan. The error says why the text is none, or why this program cannot follow it.
    pub fn read(file: &str, text: &[u8]) -> Result<Self, Diagnostic> {
        begin_document();
        let mut plan: Self = exact::from_slice(text).map_err(|error| {
            Diagnostic::of_file(file, format!("not a plan of `kubectl reconcile diff --save-plan`: {error}"))
        })?;
        let major = |version: &str| version.split('.').next().map(ToOwned::to_owned);
        let own = ToolInfo::own();
        if major(&plan.tool.version) != major(&own.version) {
            let message = format!("the plan was made by version {}, and this is {}", plan.tool.version, own.version);
            return Err(Diagnostic::of_file(file, message).with_hint("make the plan again with this version"));
        }
        plan.places = plan.objects.iter().enumerate().map(|(place, one)| (one.object.key.clone(), place)).collect();
        Ok(plan)
    }

    /// The deletions that the plan allows.
    pub fn prune_allow(&self) -> &BTreeSet<DeletionKind> {
        &self.flags.prune_allow
    }

    /// Tells if its digests cover the values of Secrets.
    pub fn secrets(&self) -> SecretCoverage {
        self.secrets
    }

    /// The warning about objects whose hidden values no digest covers.
    pub fn caveat(&self) -> Option<String> {
        let objects = counted(self.uncovered, "object", "objects");
        (self.uncovered > 0).then(|| {
            format!(
                "the plan does not cover the hidden values of {objects}, which `apply --plan` leaves alone: set `KUBECTL_RECONCILE_PLAN_KEY` in both runs"
            )
        })
    }

    /// Checks that a run is the one that was planned: of this cluster, these flags and these manifests.
    pub fn check(
        &self,
        file: &str,
        cluster: &ClusterInfo,
        flags: &PlanFlags,
        manifests: &[ManifestDigest],
    ) -> Result<(), Diagnostic> {
        let error = if self.cluster.is_same(cluster) {
            self.flags.difference(flags).or_else(|| self.flags.other_base(flags)).or_else(|| self.changed(manifests))
        } else {
            Some(format!("the plan is for `{}`, and this run is for `{}`", self.cluster.server, cluster.server))
        };
        error.map_or(Ok(()), |message| {
            Err(Diagnostic::of_file(file, message)
                .with_hint("make the plan again, or run with the manifests, flags and cluster that it was made for"))
        })
    }

    /// The objects whose manifests are not those of the plan.
    fn changed(&self, manifests: &[ManifestDigest]) -> Option<String> {
        let digests = |all: &[ManifestDigest]| -> BTreeMap<ObjectKey, String> {
            all.iter().map(|one| (one.key(), one.digest.clone())).collect()
        };
        let planned = digests(&self.manifests);
        let now = digests(manifests);
        let all = planned.keys().chain(now.keys().filter(|key| !planned.contains_key(key)));
        let changed: Vec<String> =
            all.filter(|key| planned.get(key) != now.get(key)).map(ToString::to_string).collect();
        if changed.is_empty() {
            return None;
        }
        let names = listed(changed.iter().map(String::as_str), NAMED);
        // With another key, all digests are others.
        let may_be_key = self.secrets == SecretCoverage::Covered && changed.len() == planned.len();
        let or_key = if may_be_key { ", or the key is another one" } else { "" };
        Some(format!("the manifests are not those of the plan{or_key}: {names}"))
    }

    /// The consent of the plan to this result of a comparison, of the live object with this uid. What is not in it may not be done.
    pub fn consent(&self, now: &ObjectReport) -> Consent {
        let planned = self.places.get(&now.key).and_then(|place| self.objects.get(*place));
        let Some(PlannedObject { uid, object: planned }) = planned else { return Consent::NotPlanned };
        let is_untouched = *uid == now.details.uid && planned.resource_version == now.resource_version;
        if now.key.gvk.is_secret() && !is_untouched {
            return Consent::NotPlanned;
        }
        // Somebody has done what was planned, and only the record of owners is left.
        if now.is_ownership_only() {
            return Consent::Write;
        }
        let conflicts = |object: &ObjectReport| -> Vec<FieldPath> {
            object.diff.conflicts.iter().map(|conflict| conflict.path.clone()).collect()
        };
        // A number hides whether the value is the planned one; only a digest of the manifest with a key can tell.
        let is_covered = self.secrets == SecretCoverage::Covered;
        let known = differences(planned);
        let new = differences(now);
        let mut both = known.iter().zip(&new);
        let is_planned = planned.diff.action == now.diff.action
            && conflicts(planned) == conflicts(now)
            && known.len() == new.len()
            && both.all(|(known, new)| {
                let may_be_same = !is_covered && new.desired.as_deref().is_some_and(is_hidden);
                (&known.path, known.op) == (&new.path, new.op)
                    && is_same(known.live.as_deref(), new.live.as_deref(), is_untouched)
                    && (may_be_same || is_same(known.desired.as_deref(), new.desired.as_deref(), is_covered))
            });
        match is_planned {
            true if !is_covered && writes_hidden(now) => Consent::NotCovered,
            true => Consent::Write,
            false => Consent::NotPlanned,
        }
    }
}

/// The differences that an apply would write.
fn differences(object: &ObjectReport) -> Vec<&FieldChange> {
    let is_write =
        |change: &&FieldChange| change.is_drift() || matches!(change.class, Class::Adopted | Class::Released);
    object.diff.changes.iter().filter(is_write).collect()
}

/// Returns true if an apply would write a value that the report hides.
fn writes_hidden(object: &ObjectReport) -> bool {
    differences(object).iter().any(|change| change.desired.as_deref().is_some_and(is_hidden))
}

impl PlanFlags {
    /// The first flag that differs.
    fn difference(&self, now: &Self) -> Option<String> {
        let Self {
            field_manager,
            force_conflicts,
            replace,
            adopt,
            only,
            remove_added,
            applyset,
            // The plan and its apply may both allow deletions.
            prune_allow: _,
            applyset_recover,
            leave_applyset,
            create_namespace,
            shard,
            base: _,
        } = self;
        let pairs = [
            ("field-manager", *field_manager == now.field_manager),
            ("force-conflicts", *force_conflicts == now.force_conflicts),
            ("replace", *replace == now.replace),
            ("adopt", *adopt == now.adopt),
            ("only", *only == now.only),
            ("remove-added", *remove_added == now.remove_added),
            ("applyset", *applyset == now.applyset),
            ("applyset-recover", *applyset_recover == now.applyset_recover),
            ("leave-applyset", *leave_applyset == now.leave_applyset),
            ("create-namespace", *create_namespace == now.create_namespace),
            ("shard", *shard == now.shard),
        ];
        let different = pairs.iter().find(|(_, is_same)| !is_same);
        different.map(|(flag, ..)| format!("the plan was made with another `--{flag}`"))
    }

    /// The difference between the bases.
    fn other_base(&self, now: &Self) -> Option<String> {
        match (&self.base, &now.base) {
            (Some(planned), Some(now)) if planned.is_same(now) => None,
            (Some(planned), Some(now)) if planned.from == now.from => {
                Some(format!("the base `{}` is no longer that of the plan", planned.from))
            }
            (Some(planned), Some(now)) => {
                Some(format!("the plan was made with the base `{}`, and this run has `{}`", planned.from, now.from))
            }
            (Some(planned), None) => {
                Some(format!("the plan was made with the base `{}`, and this run has none", planned.from))
            }
            (None, Some(_)) => Some("the plan was made without a base, and this run has one".to_owned()),
            (None, None) => None,
        }
    }
}
