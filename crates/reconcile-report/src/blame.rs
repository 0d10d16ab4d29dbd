//! The report of `blame`: the fields of live objects with their managers, as YAML with the managers at the left, or as JSON.

mod layout;

use reconcile_core::blame::{BlamedField, InManifest};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::owners::{ObjectTimes, Owner, Reach};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use structured_merge::{ObjectKey, Ownership};

use crate::formats::json::document;
use crate::model::{Audited, AuditedItem, Verdict};
use crate::view::View;
use crate::words::styled::Styled;

/// A live object and the managers of its fields.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlamedObject {
    /// The context, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    api_version: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    name: String,
    /// The fields in the order of the YAML document; none if the object could not be read.
    fields: Vec<BlamedField>,
    /// The reason why the object could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<BlameError>,
    #[serde(skip)]
    key: ObjectKey,
    #[serde(skip)]
    times: ObjectTimes,
}

/// The reason why an object could not be read.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BlameError {
    /// The reason as one word, such as `NotFound`.
    reason: String,
    message: String,
}

impl BlamedObject {
    /// An object with its fields, or with the reason why they are not known.
    pub fn new(key: &ObjectKey, fields: Result<Vec<BlamedField>, &Diagnostic>) -> Self {
        let (fields, error) = match fields {
            Ok(fields) => (fields, None),
            Err(diagnostic) => {
                let reason = diagnostic.code.to_string();
                let message = diagnostic.message.clone();
                (Vec::new(), Some(BlameError { reason, message }))
            }
        };
        let api_version = key.gvk.api_version();
        let kind = key.gvk.kind.clone();
        let namespace = key.namespace.clone();
        let name = key.name.clone();
        let times = ObjectTimes::default();
        Self { context: None, api_version, kind, namespace, name, fields, error, key: key.clone(), times }
    }

    /// Sets the name of its context.
    pub fn of_context(self, context: &str) -> Self {
        Self { context: Some(context.to_owned()), ..self }
    }

    /// Adds the times that the live object has; `manager` is our own.
    pub fn with_times(mut self, live: &Value, manager: &str) -> Self {
        let ours = Ownership::of(live, manager).ours;
        self.times = ObjectTimes::of(live, ours.and_then(|ours| ours.time).as_deref());
        self
    }

    /// Keeps the fields of some owners alone.
    pub fn of_owners(mut self, mut is_wanted: impl FnMut(&Owner) -> bool) -> Self {
        self.fields.retain(|field| {
            // Each owner is asked about: the caller may note which of them it found.
            let mut wanted = false;
            for owner in &field.managers {
                wanted |= is_wanted(owner);
            }
            wanted
        });
        self
    }
}

/// The owners of all fields. A field of the manifest that another manager owns was ours at our last apply; any other may be older.
impl Audited for BlamedObject {
    fn visit(&mut self, visit: &mut dyn FnMut(AuditedItem<'_>)) {
        for field in &mut self.fields {
            let is_taken = field.manifest == Some(InManifest::Differs);
            let reach = if is_taken { Reach::LastApply } else { Reach::Creation };
            let BlamedField { managers, path, .. } = field;
            for owner in managers {
                visit(AuditedItem::Owner(owner, path, reach));
            }
        }
    }

    fn key(&self) -> &ObjectKey {
        &self.key
    }

    fn times(&self) -> ObjectTimes {
        self.times
    }
}

/// `-o json`: an array of the objects.
pub fn json(objects: &[BlamedObject]) -> String {
    document(&objects)
}

/// `-o text`: a YAML document for each object that could be read.
pub fn text(objects: &[BlamedObject], view: &View) -> Styled {
    let shown: Vec<&BlamedObject> = objects.iter().filter(|object| !object.fields.is_empty()).collect();
    let mut text = Styled::new();
    for (at, object) in shown.iter().enumerate() {
        if at > 0 {
            text.push(crate::words::styled::Role::Note, "---");
            text.line_end();
        }
        text.append(layout::lines(&object.fields, view));
    }
    text
}

/// The result: incomplete if an object could not be read.
pub fn verdict(objects: &[BlamedObject]) -> Verdict {
    if objects.iter().any(|object| object.error.is_some()) { Verdict::Incomplete } else { Verdict::InSync }
}

#[cfg(test)]
mod tests;
