//! The former objects of new ones with a hash of their content in the name, where no apply set deletes them: those to which live workloads
//! refer, and those that only the base has. They are read, so that the report shows both as one object, with the differences.

use futures::StreamExt as _;
use reconcile_core::compare::{ObjectVerdict, Redactor, Secrecy};
use reconcile_core::live::{LiveState, Resolution};
use reconcile_report::ObjectReport;
use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey};

use crate::client::IN_FLIGHT;
use crate::live::fetch;
use crate::output::report_builder::ReportBuilder;
use crate::run::invocation::Run;

/// Maximum number of objects that are read.
const MOST: usize = 200;

/// The report of a former object, as if it were to be deleted.
pub(crate) fn former(key: &ObjectKey, mut live: Value, redactor: &Redactor) -> ObjectReport {
    if let Some(Value::Object(metadata)) = live.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    let secrecy = Secrecy::of(&key.gvk, None, Some(&live));
    let live = redactor.value(&secrecy, &FieldPath::root(), &live);
    ObjectReport::unwanted(key, ObjectVerdict::Delete { live, reason: String::new() })
}

impl Run<'_> {
    /// Reads the former objects, and gives them to the report of the run. What cannot be read is left out: both are shown on their own.
    pub async fn read_formers(&self, builder: &ReportBuilder, redactor: &Redactor) {
        if self.interrupt.is_set() {
            return;
        }
        let keys = builder.former_objects(&self.keys_of_base_alone());
        let reads = keys.into_iter().take(MOST).map(|key| self.read_former(key));
        let found: Vec<_> = futures::stream::iter(reads).buffered(IN_FLIGHT).collect().await;
        builder.know_formers(found.into_iter().flatten().map(|(key, live)| former(&key, live, redactor)).collect());
    }

    async fn read_former(&self, key: ObjectKey) -> Option<(ObjectKey, Value)> {
        let Resolution::Known(resource) = self.server.discovery.resolve(&key.gvk) else { return None };
        match fetch::find(&self.server.cluster, resource, &key).await {
            LiveState::Present(live) => Some((key, live)),
            LiveState::Absent | LiveState::Unreadable(_) => None,
        }
    }
}
