//! Observed generation of an object.

use serde_json::Value;

use super::fields::int;
use super::readiness::Readiness;

/// Rule 2: the status is for another generation of the object.
pub(crate) fn not_observed(object: &Value) -> Option<Readiness> {
    let generation = int(object, "/metadata/generation")?;
    let observed = int(object, "/status/observedGeneration")?;
    (generation != observed).then(|| {
        let message = format!("its controller has not seen generation {generation} yet, only {observed}");
        Readiness::in_progress(message)
    })
}
