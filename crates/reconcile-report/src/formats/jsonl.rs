//! `-o jsonl`: the events of a run, one JSON document per line as they happen; at the end, the result of the run.

#![expect(clippy::indexing_slicing, reason = "the value was made with `json!` here: it is an object")]

use std::borrow::Cow;

use reconcile_core::live::readiness::ObjectReadiness;
use reconcile_core::text::harmless_json;
use serde::Serialize;
use serde_json::{Value, json};

use super::json::shown_object;
use crate::model::identity::KeyFields;
use crate::model::{ObjectReport, Reports};
use crate::view::View;

/// An event.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum JsonlEvent<'e> {
    /// A stage of the run begins.
    Began {
        /// `compare`, `apply`, `wait` or `prune`.
        stage: &'static str,
        /// Number of objects in the stage.
        objects: usize,
    },
    /// A stage of the run is over.
    Ended {
        /// As above.
        stage: &'static str,
    },
    /// The result of the comparison of an object. A second one replaces the first, which was provisional.
    Compared {
        /// The object as in `objects` of the report.
        object: Cow<'e, ObjectReport>,
    },
    /// The turn of an object is over: it was written, could not be, or needed no write.
    Written {
        /// As above.
        object: Cow<'e, ObjectReport>,
    },
    /// The turn of an object is over: it was not tried.
    Skipped {
        /// As above.
        object: Cow<'e, ObjectReport>,
    },
    /// The turn of a member of the apply set is over that is no longer in the manifests.
    Pruned {
        /// As above.
        object: Cow<'e, ObjectReport>,
    },
    /// The facts about an object changed outside of its turn.
    Revised {
        /// As above.
        object: Cow<'e, ObjectReport>,
    },
    /// The readiness of an object is known, or has changed.
    Readiness {
        /// The object.
        object: KeyFields,
        /// Its readiness as in the report.
        readiness: &'e ObjectReadiness,
    },
    /// The wait timed out.
    TimedOut {
        /// Number of objects that are not ready.
        unready: usize,
        /// Duration of the wait.
        after_seconds: f64,
    },
}

impl<'e> JsonlEvent<'e> {
    /// An object as a line shows it, by one of the events above.
    pub fn of(object: &'e ObjectReport, view: &View, event: fn(Cow<'e, ObjectReport>) -> Self) -> Self {
        event(shown_object(object, view))
    }

    /// The line, with a line end.
    pub fn line(&self, time: &str, context: Option<&str>) -> String {
        let mut fields = serde_json::to_value(self).unwrap_or_default();
        fields["time"] = time.into();
        if let Some(context) = context {
            fields["context"] = context.into();
        }
        line(&fields)
    }
}

fn line(fields: &Value) -> String {
    format!("{}\n", harmless_json(&fields.to_string()))
}

/// The last lines: the report of each cluster without its objects, and that of all contexts if there are several.
pub fn render(reports: &Reports, _: &View) -> String {
    let mut lines = String::new();
    for one in &reports.contexts {
        let Some(context) = &one.context else { continue };
        let fields = json!({"event": "report", "context": context, "report": without(&one.report, "objects")});
        lines.push_str(&line(&fields));
    }
    let last = reports.only().map_or_else(|| without(reports, "contexts"), |report| without(report, "objects"));
    lines.push_str(&line(&json!({"event": "report", "report": last})));
    lines
}

/// A report as it is written, without the data of earlier lines.
fn without<T: Serialize>(report: &T, field: &str) -> Value {
    let mut fields = serde_json::to_value(report).unwrap_or_default();
    if let Value::Object(fields) = &mut fields {
        fields.remove(field);
    }
    fields
}

#[cfg(test)]
mod tests {
    use reconcile_core::live::readiness::ReadinessState;
    use structured_merge::{GroupVersionKind, ObjectKey};

    use super::*;

    #[test]
    fn the_event_about_the_readiness_of_an_object_has_its_documented_name() {
        let gvk = GroupVersionKind::new("v1", "Pod");
        let key = ObjectKey { gvk, namespace: Some("shop".to_owned()), name: "web".to_owned() };
        let readiness = ObjectReadiness::new(ReadinessState::Current, "it is ready");
        let line = JsonlEvent::Readiness { object: (&key).into(), readiness: &readiness }.line("now", None);
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&line["event"], &line["object"]["name"]), (&json!("readiness"), &json!("web")));
        assert_eq!(line["readiness"]["state"], "current");
    }
}
