use super::diff::Evidence;
use super::live_object::LiveObject;
use super::prediction::Prediction;
use super::refusal::Refusal;
use crate::diagnostic::Diagnostic;

/// The result of the comparison of one object, once the server has answered all questions.
#[derive(Clone, Debug)]
pub enum ComparisonResult {
    /// The object does not exist and has to be created; the evidence shows if the server was asked.
    Missing(Evidence),
    /// The object exists, and an apply would change nothing; the live object is kept if a report shows it.
    Proven(Option<Box<LiveObject>>),
    /// The object exists, and an apply would turn it into the prediction.
    Predicted {
        /// The live object.
        live: Box<LiveObject>,
        /// The object after the apply.
        prediction: Box<Prediction>,
    },
    /// The server rejects the manifest.
    Refused {
        /// The live object, if it exists.
        live: Option<Box<LiveObject>>,
        /// The reason.
        refusal: Refusal,
    },
    /// The object could not be compared.
    Unknown(Diagnostic),
}
