mod composed;
pub(crate) mod disposition;
pub(crate) mod read_object;
pub(crate) mod renamed;
mod state;
mod withheld;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

use reconcile_core::compare::{ObjectDiff, Side};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::readiness::ObjectReadiness;
use reconcile_core::manifest::{ReleaseName, Source};
use reconcile_core::owners::ObjectTimes;
use reconcile_core::pass::Outcome;
use reconcile_core::rare::{MayBeEmpty, Rare, is_zero};
use reconcile_core::rules::RuleRef;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use structured_merge::{FieldPath, ObjectKey};

use crate::model::diagnostic::ObjectError;
use crate::model::identity::KeyFields;
use crate::model::{diagnostic, identity};
use disposition::Disposition;

/// One object of the report. Copies share their memory until one of them is changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ObjectReport(Arc<ObjectFields>);

/// The fields of an object of the report.
// Its JSON has the fields of all parts, in this order; `read_object` reads them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ObjectReport", description = "One object of the report.")]
pub struct ObjectFields {
    /// The object.
    #[serde(flatten, serialize_with = "identity::as_fields")]
    #[schemars(with = "KeyFields")]
    pub key: ObjectKey,
    /// The former name of an object whose name has a hash of its content; the former object is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// The release of Helm that has it, with `--from helm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<Box<ReleaseName>>,
    /// Its location; absent for a member of an apply set that is in no manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The `resourceVersion` of the live object, if it differs from the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    /// Its position in the order of all objects, with `--shard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// The result of its comparison.
    #[serde(flatten)]
    pub diff: ObjectDiff,
    /// The messages about it.
    #[serde(flatten)]
    #[schemars(with = "ObjectMessages")]
    pub messages: Rare<ObjectMessages>,
    /// The results of the run.
    #[serde(flatten)]
    pub run: ObjectRun,
    /// The facts that decide the output of some formats, and are not part of the JSON.
    #[serde(skip)]
    pub details: Rare<Details>,
}

/// The messages about one object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ObjectMessages {
    /// Warnings for the author of the manifest.
    pub warnings: Vec<String>,
    /// The number of these warnings that the server gave; absent if there are none.
    #[serde(default, rename = "serverWarnings", skip_serializing_if = "is_zero")]
    pub server_warnings: usize,
    /// The error for which it could not be compared or written.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "diagnostic::of_object")]
    #[schemars(with = "Option<ObjectError<'static>>")]
    pub error: Option<Box<Diagnostic>>,
    /// The reason why it is to be replaced or deleted, is kept, or was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The action to take about the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The results of the run for one object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectRun {
    /// The outcome of `apply`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Its readiness, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readiness: Option<Box<ObjectReadiness>>,
    /// True if it changed during the run, so that its differences are no longer those that were shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed_during_run: bool,
    /// True if it was not deleted because objects that were applied are not ready: a later run does it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub postponed: bool,
}

/// The facts about an object that are not part of its JSON: formats show some of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// The uid of the live object, if it differs from the manifest.
    pub uid: Option<String>,
    /// The times of the live object that bound the writes of others.
    pub times: ObjectTimes,
    /// The warnings that only the write returned.
    pub notes: Vec<String>,
    /// True if its manifest names fields to ignore.
    pub is_annotated: bool,
    /// The lines of the changed fields in the manifest.
    pub lines: BTreeMap<FieldPath, u32>,
    /// The counts of it, before known differences were left out.
    pub(crate) counted: Option<Counted>,
    /// True if its conflicts were left out, because they are shown with those of other objects.
    pub(crate) is_conflict_shown: bool,
    /// The ignore rules that cover a field of it, whether or not the field differs.
    pub rules: BTreeSet<RuleRef>,
}

impl MayBeEmpty for ObjectMessages {
    fn empty() -> &'static Self {
        static EMPTY: LazyLock<ObjectMessages> = LazyLock::new(ObjectMessages::default);
        &EMPTY
    }
}

impl MayBeEmpty for Details {
    fn empty() -> &'static Self {
        static EMPTY: LazyLock<Details> = LazyLock::new(Details::default);
        &EMPTY
    }
}

/// An object as summaries count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The part that it takes in a pass.
    pub disposition: Disposition,
    /// The side that changed.
    pub side: Option<Side>,
    /// True if an apply overwrites what changed in the cluster with what changed in the manifest.
    pub overwrites: bool,
}

/// The schema of its fields.
impl JsonSchema for ObjectReport {
    fn schema_name() -> Cow<'static, str> {
        ObjectFields::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        ObjectFields::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ObjectFields::json_schema(generator)
    }
}

impl From<ObjectFields> for ObjectReport {
    fn from(fields: ObjectFields) -> Self {
        Self(Arc::new(fields))
    }
}

impl Deref for ObjectReport {
    type Target = ObjectFields;

    fn deref(&self) -> &ObjectFields {
        &self.0
    }
}

impl DerefMut for ObjectReport {
    /// The fields to be changed, which are copied first if others share them.
    fn deref_mut(&mut self) -> &mut ObjectFields {
        Arc::make_mut(&mut self.0)
    }
}

impl ObjectReport {
    /// Its fields, which are copied if others share them.
    pub(crate) fn into_fields(self) -> ObjectFields {
        Arc::unwrap_or_clone(self.0)
    }

    /// The former object of one under a new name.
    pub(crate) fn former(&self) -> Option<ObjectKey> {
        Some(ObjectKey { name: self.renamed_from.clone()?, ..self.key.clone() })
    }

    /// The reason why no rule hides its differences; `None` if a rule may.
    pub fn why_no_rule_hides(&self) -> Option<&'static str> {
        let reason = "each change gives the object another name, under which a rule hides nothing";
        self.renamed_from.as_ref().map(|_| reason)
    }

    /// The line of a changed field in the manifest, or of the nearest parent that is written there, if it is known.
    pub fn line_of(&self, path: &FieldPath) -> Option<u32> {
        self.details.lines.get(path).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There may be a hundred thousand of them.
    #[test]
    fn the_report_of_an_object_is_small() {
        assert!(size_of::<ObjectFields>() <= 440, "{} bytes", size_of::<ObjectFields>());
    }
}
