use super::diff::Evidence;
use super::live_object::LiveObject;
use super::prediction::Prediction;
use super::refusal::Refusal;
use crate::diagnostic::Diagnostic;

/// What the comparison of one object found, once everything has been read and asked.
#[derive(Clone, Debug)]
pub enum Finding {
    /// The object does not exist and is to be created; the evidence says whether the server was asked.
    Missing(Evidence),
    /// The object exists, and an apply would change nothing; the live object is kept if it is to be shown.
    Proven(Option<Box<LiveObject>>),
    /// The object exists, and an apply would change it into the prediction.
    Predicted {
        /// The object as it is.
        live: Box<LiveObject>,
        /// The object as it would be.
        prediction: Box<Prediction>,
    },
    /// The server rejects the manifest.
    Refused {
        /// The object as it is, if it exists.
        live: Option<Box<LiveObject>>,
        /// Why.
        refusal: Refusal,
    },
    /// The object could not be compared.
    Unknown(Diagnostic),
}
