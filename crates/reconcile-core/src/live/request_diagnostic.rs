//! Diagnostics for failed requests.

use serde_json::Value;
use structured_merge::GroupVersionKind;

use super::discreet::{Discreet, refused_by_policy};
use super::resolve::Target;
use crate::diagnostic::{Code, Diagnostic};
use crate::object::{may_be_secret, may_quote_secret};
use crate::request::{RequestError, StatusError};

impl Diagnostic {
    /// Describes a failed request for an object, or a list of objects, of a kind. For a Secret, no foreign text is repeated
    /// ([`Discreet`]).
    pub fn about(gvk: &GroupVersionKind, error: &RequestError) -> Self {
        Self::about_object(gvk, &[], false, error)
    }

    /// Describes a failed request for an object with these versions. No foreign text is repeated if it quotes a Secret inside of
    /// them, or if their manifest is encrypted, either.
    pub fn about_object(gvk: &GroupVersionKind, objects: &[&Value], is_encrypted: bool, error: &RequestError) -> Self {
        let is_secret = |status: &StatusError| {
            is_encrypted || may_be_secret(gvk) || may_quote_secret(gvk, objects, &status.texts())
        };
        match error.status() {
            Some(status) if is_secret(status) => of_secret(status, objects, error),
            status => {
                let diagnostic = Self::from(error);
                match status.and_then(|status| refused_by_policy(&status.message)) {
                    Some(message) => Self { message, ..diagnostic },
                    None => diagnostic,
                }
            }
        }
    }
}

/// Describes a failed request for the object of a target, of which the server has this version.
pub fn failed_request(target: &Target, live: Option<&Value>, error: &RequestError) -> Diagnostic {
    let objects: Vec<&Value> = std::iter::once(target.desired.object()).chain(live).collect();
    Diagnostic::about_object(&target.key.gvk, &objects, target.desired.origin.is_encrypted, error)
}

fn of_secret(status: &StatusError, objects: &[&Value], error: &RequestError) -> Diagnostic {
    let refusal = Discreet::of(objects).diagnostic(status);
    Diagnostic { hint: error.hint().or(refusal.hint), ..refusal }
}

/// Describes a failed request of the run as a whole.
impl From<&RequestError> for Diagnostic {
    fn from(error: &RequestError) -> Self {
        Self { hint: error.hint(), ..Self::new(Code::from(error), error.in_full()) }
    }
}

/// The server's own reason for a refusal; without an answer, the code says what happened.
impl From<&RequestError> for Code {
    fn from(error: &RequestError) -> Self {
        match error {
            RequestError::Status(status) | RequestError::Unauthorized { status, .. } => status.as_ref().into(),
            RequestError::TimedOut { .. } | RequestError::TooSlow { .. } => Self::Timeout,
            RequestError::Stopped => Self::Interrupted,
            RequestError::Unreachable { .. } | RequestError::Interrupted { .. } => Self::ConnectionLost,
            _ => Self::Failed,
        }
    }
}

/// The reason if it is one of Kubernetes' own, else the one that belongs to the status code, as client-go decides
/// (apimachinery `pkg/api/errors`, `reasonAndCodeForError`): a webhook may give any text as its reason.
impl From<&StatusError> for Code {
    fn from(status: &StatusError) -> Self {
        Self::named(&status.known_reason())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reasons_of_the_server_are_codes() {
        let own = [
            Code::BadGateway,
            Code::ConnectionLost,
            Code::Encrypted,
            Code::Failed,
            Code::Interrupted,
            Code::NamesNotAccepted,
            Code::OtherVersion,
            Code::Protected,
            Code::Terminating,
            Code::UnknownKind,
            Code::UnreadableOwners,
            Code::ValuesWithheld,
        ];
        for code in Code::ALL {
            let expected = if own.contains(code) { Code::Unknown } else { *code };
            assert_eq!(Code::from(&StatusError::refusal(499, code.as_str(), "")), expected, "{code}");
        }
    }

    #[test]
    fn the_denial_of_a_policy_has_the_same_words_for_every_request() {
        let said = |kind: &str, resource: &str| {
            let denial = "ValidatingAdmissionPolicy 'v' with binding 'b' denied request: kept";
            let message = format!("{resource} \"c\" is forbidden: {denial}");
            let denied = RequestError::Status(Box::new(StatusError::refusal(422, "Invalid", &message)));
            Diagnostic::about(&GroupVersionKind::new("v1", kind), &denied).message
        };
        let policy = "ValidatingAdmissionPolicy `v` (binding `b`)";
        assert_eq!(said("ConfigMap", "configmaps"), format!("refused by {policy}: kept"));
        assert_eq!(said("Secret", "secrets"), format!("{policy} denied the request (422 Invalid)"));
    }

    #[test]
    fn a_reason_of_others_is_called_after_its_status_code() {
        for (code, expected) in
            [(403, Code::Forbidden), (422, Code::Invalid), (502, Code::BadGateway), (418, Code::Unknown)]
        {
            for reason in ["", "PolicySaysNo", "Protected"] {
                assert_eq!(Code::from(&StatusError::refusal(code, reason, "")), expected, "{code} {reason}");
            }
        }
    }
}
