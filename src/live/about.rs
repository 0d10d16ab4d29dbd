use super::discreet::Discreet;
use crate::client::RequestError;
use crate::desired::InputProblem;
use crate::object::GroupVersionKind;

/// Why an object could not be read, compared or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// A short name in the API's style: `Forbidden`, `Invalid`, `UnknownKind`, `Terminating`.
    pub reason: String,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What is wrong in the manifest, each at its place.
    pub mistakes: Vec<InputProblem>,
}

impl Trouble {
    /// Trouble without advice.
    #[must_use]
    pub fn new(reason: &str, message: impl Into<String>) -> Self {
        Self { reason: reason.to_owned(), message: message.into(), hint: None, mistakes: Vec::new() }
    }

    /// What a failed request means for an object, or a list of objects, of a kind: the only way from an error to text about
    /// objects. The reason of a refusal is the server's; what never got an answer is named after what happened. Of a Secret,
    /// nothing is repeated that others wrote.
    #[must_use]
    pub fn about(gvk: &GroupVersionKind, error: &RequestError) -> Self {
        if let Some(status) = error.status()
            && gvk.may_be_secret()
        {
            let trouble = Discreet::of(&[]).trouble(status);
            return if let Some(hint) = error.hint() { trouble.with_hint(hint) } else { trouble };
        }
        let reason = match error {
            RequestError::Status(status) | RequestError::Unauthorized { status, .. } => status.reason.clone(),
            RequestError::TimedOut { .. } => "Timeout".to_owned(),
            RequestError::Stopped => "Interrupted".to_owned(),
            RequestError::Unreachable { .. } | RequestError::Interrupted { .. } => "ConnectionLost".to_owned(),
            _ => "Failed".to_owned(),
        };
        Self { hint: error.hint(), ..Self::new(&reason, error.in_full()) }
    }

    /// The same, with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
