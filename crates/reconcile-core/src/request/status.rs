//! Refusals: the `Status` of the API server, or an answer that is none, read as one.

use std::fmt;
use std::time::Duration;

use http::header::{LOCATION, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;

use super::address::Address;
use crate::exact;
use crate::object::Permission;
use crate::text::{one_line, without_credentials};

/// The longest text that is taken from an answer that is no `Status`, in characters.
const FOREIGN_TEXT: usize = 200;
/// Number of causes of an answer that are read: each one may be searched for in a manifest.
const MOST_CAUSES: usize = 100;
/// The longest message that is shown on one line, in characters.
const SHOWN_MESSAGE: usize = 4000;

/// A header of every answer of the API server (apiserver `pkg/endpoints/filters/audit_init.go`), also of those that are no `Status`.
const AUDIT_ID: &str = "audit-id";

/// An answer outside 200–299.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusError {
    /// The HTTP status.
    pub code: u16,
    /// True if the API server itself answered: with a `Status`, or with an audit ID. Anything else may come from a proxy in front
    /// of it.
    pub from_server: bool,
    /// The machine-readable reason: `NotFound`, `Conflict`, `Invalid`; derived from the code when the server names none.
    pub reason: String,
    /// The server's message: untrusted text, possibly of several lines.
    pub message: String,
    /// The single complaints behind it, such as invalid fields.
    pub causes: Vec<Cause>,
    /// Number of further causes.
    pub more_causes: usize,
    /// The kind, or the resource, that the answer is about.
    pub details_kind: Option<String>,
    /// The name of the object that the answer is about.
    pub details_name: Option<String>,
    /// The time that the server asks to wait before a retry.
    pub retry_after: Option<Duration>,
    /// The missing permission, if the authorizer refused the request.
    pub missing: Option<Box<Permission>>,
}

impl StatusError {
    /// A refusal of the server with a message and nothing else.
    pub(crate) fn refusal(code: u16, reason: &str, message: &str) -> Self {
        Self {
            code,
            from_server: true,
            reason: reason.to_owned(),
            message: message.to_owned(),
            causes: Vec::new(),
            more_causes: 0,
            details_kind: None,
            details_name: None,
            retry_after: None,
            missing: None,
        }
    }
}

/// One complaint of a [`StatusError`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Cause {
    /// The machine-readable reason: `FieldValueInvalid`, `FieldManagerConflict`.
    pub reason: String,
    /// The complaint.
    pub message: String,
    /// The field in question, as the server writes it.
    pub field: String,
}

/// The field of a cause that is about no field.
pub const NO_FIELD: &str = "<nil>";

/// Shows the code and the reason. The message is not repeated: it may quote the request.
impl fmt::Display for StatusError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the server answered {} {}", self.code, self.known_reason())
    }
}

impl std::error::Error for StatusError {}

/// The fields of `metav1.Status` that are read.
#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct Status {
    kind: String,
    reason: String,
    message: String,
    details: Option<Details>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Details {
    kind: String,
    name: String,
    causes: Option<Vec<Cause>>,
    retry_after_seconds: u64,
}

/// The end of the cause that the server adds if it has not tried the rules of a definition. It is no complaint.
const NOT_TRIED: &str = "correct the existing errors to complete validation";

/// The complaints of a refusal, each at its field: those of `oneOf` and its like name it in the text alone (kube-openapi `pkg/validation/errors`),
/// and say nothing beside what is wrong in the value by each of the schemas.
fn placed(causes: &[Cause]) -> Vec<Cause> {
    let place = |cause: &Cause| {
        let (field, complaint) = cause.message.strip_prefix("Invalid value: \"\": \"")?.split_once("\" must ")?;
        let message = format!("Invalid value: must {complaint}");
        Some(Cause { field: field.to_owned(), message, reason: cause.reason.clone() })
    };
    let is_inside = |field: &str, outer: &str| {
        field.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let own = causes.iter().filter_map(|cause| match place(cause).filter(|_| cause.field == NO_FIELD) {
        Some(found) => {
            let is_known = causes.iter().any(|other| is_inside(&other.field, &found.field));
            (!is_known).then_some(found)
        }
        None => Some(cause.clone()),
    });
    own.collect()
}

/// The reasons of the API server (apimachinery `pkg/apis/meta/v1/types.go`, `StatusReason`). Any other reason is a webhook's.
const REASONS: [&str; 20] = [
    "AlreadyExists",
    "BadRequest",
    "Conflict",
    "Expired",
    "Forbidden",
    "Gone",
    "InternalError",
    "Invalid",
    "MethodNotAllowed",
    "NotAcceptable",
    "NotFound",
    "RequestEntityTooLarge",
    "ServerTimeout",
    "ServiceUnavailable",
    "StorageReadError",
    "Timeout",
    "TooManyRequests",
    "Unauthorized",
    "Unknown",
    "UnsupportedMediaType",
];

impl StatusError {
    /// All texts of the answer that a message may repeat, a line for each.
    pub fn texts(&self) -> String {
        let causes = self.causes.iter().flat_map(|cause| [&cause.reason, &cause.message, &cause.field]);
        let details = [&self.details_kind, &self.details_name].into_iter().flatten();
        let texts = [&self.message, &self.reason].into_iter().chain(causes).chain(details);
        texts.map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// The server's message, on one line.
    pub fn in_full(&self) -> String {
        if self.message.is_empty() { self.to_string() } else { one_line(&self.message, SHOWN_MESSAGE) }
    }

    /// The reason if it is one of the API server's own, else the one that belongs to the code: a webhook may give any text
    /// as its reason.
    pub fn known_reason(&self) -> String {
        if REASONS.contains(&self.reason.as_str()) {
            return self.reason.clone();
        }
        StatusCode::from_u16(self.code).map_or_else(|_| "Unknown".to_owned(), reason_of)
    }

    /// Returns true if the API server says that the object does not exist. A 404 page of a proxy does not.
    pub fn is_not_found(&self) -> bool {
        self.code == 404 && self.from_server
    }

    /// Returns true if the namespace of the object does not exist.
    pub fn is_without_namespace(&self) -> bool {
        self.code == 404 && self.details_kind.as_deref() == Some("namespaces")
    }

    /// Returns true if the server refused an anonymous request.
    pub fn is_to_nobody(&self) -> bool {
        self.code == 403 && self.message.contains(r#"User "system:anonymous" cannot"#)
    }

    /// Reads a refusal: a `Status` by its fields, anything else (a proxy's page, plain text) as one line of bounded length.
    pub fn parse(code: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let status = exact::from_slice::<Status>(body).ok().filter(|status| status.kind == "Status");
        let Some(status) = status else {
            let message = redirection(code, headers).unwrap_or_else(|| foreign_message(code, body));
            return Self {
                from_server: headers.contains_key(AUDIT_ID),
                retry_after: header_seconds(headers),
                ..Self::refusal(code.as_u16(), &reason_of(code), &message)
            };
        };
        let details = status.details.unwrap_or_default();
        let mut causes = details.causes.unwrap_or_default();
        causes.retain(|cause| !cause.message.ends_with(NOT_TRIED));
        let more_causes = causes.len().saturating_sub(MOST_CAUSES);
        causes.truncate(MOST_CAUSES);
        let causes = placed(&causes);
        let in_body = (details.retry_after_seconds > 0).then(|| Duration::from_secs(details.retry_after_seconds));
        Self {
            code: code.as_u16(),
            from_server: true,
            reason: if status.reason.is_empty() { reason_of(code) } else { status.reason },
            message: status.message,
            causes,
            more_causes,
            details_kind: non_empty(details.kind),
            details_name: non_empty(details.name),
            retry_after: header_seconds(headers).or(in_body),
            missing: None,
        }
    }

    /// The same with its texts as they may be shown.
    #[must_use]
    pub fn with_texts(mut self, shown: impl Fn(&str) -> String) -> Self {
        let causes = self.causes.iter_mut().flat_map(|cause| [&mut cause.reason, &mut cause.message, &mut cause.field]);
        let details = [&mut self.details_kind, &mut self.details_name].into_iter().flatten();
        for text in [&mut self.message, &mut self.reason].into_iter().chain(causes).chain(details) {
            *text = shown(text);
        }
        self
    }

    /// Sets the address of the request that it answers. A missing permission counts only if it is about the resource and the
    /// namespace of the address.
    pub fn answering(self, address: &Address) -> Self {
        let missing = Permission::refused_in(&self.message).filter(|missing| {
            let resource = missing.resource.split('/').next().unwrap_or_default();
            self.code == 403
                && address.has_segment(resource)
                && missing.namespace.iter().all(|namespace| address.has_segment(namespace))
        });
        Self { missing: missing.map(Box::new), ..self }
    }
}

fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// `Retry-After` in seconds. The form with a date is not used by the API server, and is ignored as client-go does.
fn header_seconds(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// The reason that the API server gives for a code (`apimachinery/pkg/api/errors`, `NewGenericServerResponse`): the name of the code,
/// but for these.
fn reason_of(code: StatusCode) -> String {
    match code.as_u16() {
        413 => "RequestEntityTooLarge".to_owned(),
        422 => "Invalid".to_owned(),
        500 => "InternalError".to_owned(),
        504 => "Timeout".to_owned(),
        _ => code.canonical_reason().map_or_else(|| "Unknown".to_owned(), |reason| reason.replace(' ', "")),
    }
}

/// The message for a redirection. It is not followed, because the credentials would go along; the API server does not redirect.
fn redirection(code: StatusCode, headers: &HeaderMap) -> Option<String> {
    let location = code.is_redirection().then(|| headers.get(LOCATION))??.to_str().ok()?;
    let location = one_line(&without_credentials(location), FOREIGN_TEXT);
    let reason = code.canonical_reason().unwrap_or_default();
    Some(format!("the server answered {} {reason}, which leads to `{location}` and is not followed", code.as_u16()))
}

/// A line for an answer that the API server did not write: the title of a page, or the start of a text.
fn foreign_message(code: StatusCode, body: &[u8]) -> String {
    let answered = match code.canonical_reason() {
        Some(reason) => format!("the server answered {} {reason}", code.as_u16()),
        None => format!("the server answered {}", code.as_u16()),
    };
    let text = String::from_utf8_lossy(body.get(..64 << 10).unwrap_or(body));
    let said = if text.trim_start().starts_with('<') { title(&text).unwrap_or_default() } else { text.as_ref() };
    let said = one_line(said, FOREIGN_TEXT);
    if said.is_empty() || Some(said.as_str()) == code.canonical_reason() {
        answered
    } else {
        format!("{answered}: {said}")
    }
}

/// The title of an HTML page.
fn title(page: &str) -> Option<&str> {
    let lower = page.to_ascii_lowercase();
    let (before, rest) = lower.split_once("<title>")?;
    let (title, _) = rest.split_once("</title>")?;
    page.get(before.len()..)?.get("<title>".len()..)?.get(..title.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(code: u16, headers: &[(&'static str, &str)], body: &str) -> StatusError {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        StatusError::parse(StatusCode::from_u16(code).unwrap(), &headers, body.as_bytes())
    }

    #[test]
    fn a_status_is_read_with_its_causes() {
        let error = parse(
            422,
            &[],
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
                "message":"Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1",
                "reason":"Invalid","code":422,
                "details":{"name":"web","group":"apps","kind":"Deployment",
                  "causes":[{"reason":"FieldValueInvalid","message":"Invalid value: -1","field":"spec.replicas"}]}}"#,
        );
        assert_eq!((error.code, error.reason.as_str()), (422, "Invalid"));
        assert_eq!(error.details_kind.as_deref(), Some("Deployment"));
        assert_eq!(error.details_name.as_deref(), Some("web"));
        let cause = Cause {
            reason: "FieldValueInvalid".into(),
            message: "Invalid value: -1".into(),
            field: "spec.replicas".into(),
        };
        assert_eq!(error.causes, [cause]);
        assert_eq!(error.in_full(), "Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1");
        assert_eq!(error.to_string(), "the server answered 422 Invalid");
    }

    #[test]
    fn null_details_and_missing_fields_are_tolerated() {
        let error = parse(404, &[], r#"{"kind":"Status","message":"gone","details":{"causes":null}}"#);
        assert_eq!((error.reason.as_str(), error.message.as_str()), ("NotFound", "gone"));
        let error = parse(409, &[], r#"{"kind":"Status","details":null}"#);
        assert_eq!(error.to_string(), "the server answered 409 Conflict");
    }

    #[test]
    fn the_page_of_a_proxy_becomes_its_title() {
        let page =
            "<!DOCTYPE html>\n<html><head><TITLE>502\n Bad\u{1b}[31m Gateway</TITLE></head><body>secret</body></html>";
        let error = parse(502, &[], page);
        assert_eq!(error.reason, "BadGateway");
        assert_eq!(error.in_full(), "the server answered 502 Bad Gateway: 502 Bad\\u{1b}[31m Gateway");
        assert_eq!(error.to_string(), "the server answered 502 BadGateway");
        assert_eq!(parse(503, &[], "<html>x</html>").in_full(), "the server answered 503 Service Unavailable");
    }

    #[test]
    fn only_the_server_says_that_something_does_not_exist() {
        let own = r#"{"kind":"Status","reason":"NotFound","code":404}"#;
        assert!(parse(404, &[], own).is_not_found());
        // A kind that is not served any more gets a plain text.
        assert!(parse(404, &[("audit-id", "1f0c4f6e")], "404 page not found\n").is_not_found());
        for page in ["404 page not found\n", "<html><title>404 Not Found</title></html>", "", "{}"] {
            assert!(!parse(404, &[], page).is_not_found(), "{page}");
        }
        assert!(!parse(403, &[], own).is_not_found());
    }

    #[test]
    fn a_text_is_cut_and_kept_on_one_line() {
        let error = parse(500, &[], &format!("boom\nbang {}", "x".repeat(10_000)));
        assert!(error.message.starts_with("the server answered 500 Internal Server Error: boom bang xxx"));
        assert!(error.message.chars().count() < 300, "{}", error.message);
        assert_eq!(
            parse(404, &[], "404 page not found\n").message,
            "the server answered 404 Not Found: 404 page not found"
        );
        assert_eq!(parse(599, &[], "").message, "the server answered 599");
    }

    #[test]
    fn the_header_says_when_to_ask_again_and_the_body_otherwise() {
        let body = r#"{"kind":"Status","details":{"retryAfterSeconds":7}}"#;
        assert_eq!(parse(429, &[], body).retry_after, Some(Duration::from_secs(7)));
        assert_eq!(parse(429, &[("retry-after", "2")], body).retry_after, Some(Duration::from_secs(2)));
        assert_eq!(parse(429, &[("retry-after", "Fri, 20 Nov 2026 10:00:00 GMT")], "").retry_after, None);
        assert_eq!(parse(503, &[("retry-after", "99999999999999999999999")], "").retry_after, None);
    }
}
