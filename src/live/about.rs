use super::discreet::Discreet;
use crate::client::RequestError;
use crate::diagnostic::Diagnostic;
use crate::object::{GroupVersionKind, may_be_secret};

impl Diagnostic {
    /// What a failed request means for an object, or a list of objects, of a kind: the only way from an error to text about
    /// objects. The reason of a refusal is the server's; what never got an answer is named after what happened. Of a Secret,
    /// nothing is repeated that others wrote.
    #[must_use]
    pub fn about(gvk: &GroupVersionKind, error: &RequestError) -> Self {
        if let Some(status) = error.status()
            && may_be_secret(gvk)
        {
            let refusal = Discreet::of(&[]).trouble(status);
            return if let Some(hint) = error.hint() { refusal.with_hint(hint) } else { refusal };
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
}
