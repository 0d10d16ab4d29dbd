//! What is known of one object once everything has been read and asked.

use serde_json::Value;
use structured_merge::Unproven;

use super::diff::Evidence;
use super::prediction::Prediction;
use super::refusal::Refusal;
use crate::diagnostic::Diagnostic;

/// What the comparison of one object found.
#[derive(Clone, Debug)]
pub enum Finding {
    /// The object does not exist and is to be created; the evidence says whether the server was asked.
    Missing(Evidence),
    /// The object exists, and an apply would change nothing; the live object is kept if it is to be shown.
    Proven(Option<Value>),
    /// The object exists, and an apply would change it into the prediction.
    Predicted {
        /// The object as it is.
        live: Value,
        /// The object as it would be.
        prediction: Prediction,
    },
    /// The server rejects the manifest.
    Refused {
        /// The object as it is, if it exists.
        live: Option<Value>,
        /// Why.
        refusal: Refusal,
    },
    /// The object could not be compared.
    Unknown(Diagnostic),
}

/// A finding, and what else the comparison brought to light.
#[derive(Clone, Debug)]
pub struct ComparisonResult {
    /// The finding.
    pub finding: Finding,
    /// Warnings of the server.
    pub warnings: Vec<String>,
    /// Why the object was not proven to be in sync, if that was tried.
    pub unproven: Option<Unproven>,
}

impl From<Finding> for ComparisonResult {
    fn from(finding: Finding) -> Self {
        Self { finding, warnings: Vec::new(), unproven: None }
    }
}
