//! Errors of requests, with advice on what to do.

use std::time::Duration;

use jiff::Timestamp;
use thiserror::Error;

use super::address::InvalidAddress;
use super::status::StatusError;
use crate::diagnostic::Diagnostic;
use crate::object::Permission;

/// A request that got no successful answer.
///
/// The text of a server may quote the request, including the values of a Secret. So `Display` shows only the code and the reason.
/// [`RequestError::in_full`] repeats the server's text.
#[derive(Debug, Error)]
pub enum RequestError {
    /// The server refused it.
    #[error("{0}")]
    Status(Box<StatusError>),
    /// The server does not accept the credentials (401).
    #[error("{}: {status}", unauthorized(server, *is_anonymous))]
    Unauthorized {
        /// The server's URL.
        server: String,
        /// True if no credentials were sent.
        is_anonymous: bool,
        /// Its answer.
        status: Box<StatusError>,
        /// The time of its clock, if it sent it.
        time: Option<Timestamp>,
        /// The reason why the credentials are not valid, read from the credentials themselves.
        why: Option<String>,
    },
    /// The credentials ran out and the plugin gave no new ones.
    #[error("{}", _0.message)]
    Credentials(Box<Diagnostic>),
    /// There is no connection to the server.
    #[error("cannot connect to {server}: {cause}")]
    Unreachable {
        /// The server's URL.
        server: String,
        /// The last cause, in words.
        cause: String,
        /// Advice on this cause.
        hint: Option<String>,
    },
    /// The connection broke before the answer was complete.
    #[error("the connection to {server} broke: {cause}")]
    Interrupted {
        /// The server's URL.
        server: String,
        /// The last cause, in words.
        cause: String,
    },
    /// There was no complete answer in time.
    #[error("no answer from {server} within {}", seconds(*after))]
    TimedOut {
        /// The server's URL.
        server: String,
        /// The deadline.
        after: Duration,
    },
    /// The answer began, and was not complete in time.
    #[error("the answer of {server} was not complete within {}", seconds(*after))]
    TooSlow {
        /// The server's URL.
        server: String,
        /// The deadline.
        after: Duration,
    },
    /// The answer is larger than anything that the API serves.
    #[error("the answer is larger than {} MiB", limit >> 20)]
    TooLarge {
        /// The bound, in bytes.
        limit: usize,
    },
    /// The answer is compressed so much that it may have no end.
    #[error("the answer of {server} is compressed more than {ratio} times")]
    TooDense {
        /// The server's URL.
        server: String,
        /// The bound.
        ratio: usize,
    },
    /// The answer is not what HTTP allows, or its compression is broken.
    #[error("the answer of {server} cannot be read: {cause}")]
    Unreadable {
        /// The server's URL.
        server: String,
        /// The last cause, in words.
        cause: String,
    },
    /// The answer is JSON, but not the requested document.
    #[error("the answer of {server} is not what was requested: {cause}")]
    Unexpected {
        /// The server's URL.
        server: String,
        /// The cause, in words of this program.
        cause: String,
    },
    /// The run was interrupted before it was sent, or before it was answered.
    #[error("the run was interrupted")]
    Stopped,
    /// The request itself is not valid HTTP.
    #[error("the request cannot be sent: {cause}")]
    Invalid {
        /// The cause.
        cause: String,
    },
}

impl From<InvalidAddress> for RequestError {
    fn from(error: InvalidAddress) -> Self {
        Self::Invalid { cause: error.to_string() }
    }
}

impl RequestError {
    /// The cause of a timeout and the advice on it, if the server never sent a complete answer.
    pub fn silence(&self) -> Option<(String, String)> {
        let (Self::TimedOut { after, .. } | Self::TooSlow { after, .. }) = self else { return None };
        let hint = "is the address in the kubeconfig right, and is a VPN or a proxy needed?";
        Some((format!("no answer within {}", seconds(*after)), hint.to_owned()))
    }

    /// Turns a timeout into one that happened while the answer was read.
    pub fn half_read(self) -> Self {
        match self {
            Self::TimedOut { server, after } => Self::TooSlow { server, after },
            other => other,
        }
    }

    /// Returns true if every other request would fail in the same way: there is no connection, the credentials do not hold, or nothing
    /// more is sent.
    pub fn is_whole_run(&self) -> bool {
        matches!(self, Self::Unauthorized { .. } | Self::Credentials(_) | Self::Unreachable { .. } | Self::Stopped)
    }

    /// Returns true if there was an answer that does not answer the request.
    pub fn is_bad_answer(&self) -> bool {
        matches!(
            self,
            Self::Unexpected { .. } | Self::Unreadable { .. } | Self::TooLarge { .. } | Self::TooDense { .. }
        )
    }

    /// The error with the text of the server, which must not be shown if it may be about a Secret.
    pub fn in_full(&self) -> String {
        match self {
            Self::Status(status) => status.in_full(),
            Self::Unauthorized { server, status, is_anonymous, .. } => {
                format!("{}: {}", unauthorized(server, *is_anonymous), status.in_full())
            }
            other => other.to_string(),
        }
    }

    /// The error of a request on which a whole run depends: the text of a refusal alone would not say where it comes from.
    pub fn of_run(&self, server: &str) -> String {
        let text = self.in_full();
        match self {
            Self::Status(status) if !text.starts_with("the server answered ") => {
                format!("{server} answered {} {}: {text}", status.code, status.known_reason())
            }
            _ => text,
        }
    }

    /// The server's refusal, if it is one.
    pub fn status(&self) -> Option<&StatusError> {
        match self {
            Self::Status(status) | Self::Unauthorized { status, .. } => Some(status),
            _ => None,
        }
    }

    /// The refusal of the request itself, as opposed to a refusal of the credentials.
    pub fn refusal(&self) -> Option<&StatusError> {
        match self {
            Self::Status(status) => Some(status),
            _ => None,
        }
    }

    /// Returns true if the API server says that the object does not exist.
    pub fn is_not_found(&self) -> bool {
        self.status().is_some_and(StatusError::is_not_found)
    }

    /// Returns true if the API server does not allow the request: 403.
    pub fn is_forbidden(&self) -> bool {
        self.status().is_some_and(|status| status.code == 403)
    }

    /// Returns true if the API server says that the request does not go with the object as it is: 409.
    pub fn is_conflict(&self) -> bool {
        self.status().is_some_and(|status| status.code == 409)
    }

    /// Advice on what to do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreachable { hint, .. } => hint.clone(),
            Self::Unauthorized { server, is_anonymous: true, .. } if server.starts_with("http://") => Some(
                "credentials are sent over TLS only: is the address of the server meant to be `https://`?".to_owned(),
            ),
            Self::Unauthorized { is_anonymous: true, .. } => {
                Some("choose credentials with `--context`, `--user` or `--token`".to_owned())
            }
            Self::Unauthorized { why, .. } => {
                let why = why.as_ref().map(|why| format!("{why}: ")).unwrap_or_default();
                Some(format!("{why}log in again, or choose other credentials with `--context`, `--user` or `--token`"))
            }
            Self::Status(status) if (300..400).contains(&status.code) => {
                Some("does the address in the kubeconfig lead to the API server, or to a login in front of it?".to_owned())
            }
            Self::Status(status) if status.is_to_nobody() => Some(
                "no credentials were sent, or they got lost on the way: a client certificate does not get through a proxy that terminates TLS"
                    .to_owned(),
            ),
            Self::Status(status) => status.missing.as_deref().map(Permission::advice),
            Self::TimedOut { .. } | Self::TooSlow { .. } => {
                Some("a slow server gets more time with `--request-timeout`".to_owned())
            }
            Self::Credentials(diagnostic) => diagnostic.hint.clone(),
            _ => None,
        }
    }
}

/// The beginning of the message about a 401.
fn unauthorized(server: &str, is_anonymous: bool) -> String {
    if is_anonymous {
        format!("{server} requires credentials, and none were sent")
    } else {
        format!("{server} refused the credentials")
    }
}

/// `after` in the words of `--request-timeout`.
fn seconds(after: Duration) -> String {
    if after.subsec_millis() == 0 { format!("{}s", after.as_secs()) } else { format!("{}ms", after.as_millis()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_that_ends_a_run_names_the_server_and_its_code() {
        let refused = |reason, message| RequestError::Status(Box::new(StatusError::refusal(503, reason, message)));
        let text = |error: RequestError| error.of_run("https://a:6443");
        assert_eq!(
            text(refused("ServiceUnavailable", "apiserver not ready")),
            "https://a:6443 answered 503 ServiceUnavailable: apiserver not ready"
        );
        // A page of a proxy and an empty message have their code already.
        for message in ["the server answered 503 Service Unavailable: upstream", ""] {
            let error = refused("ServiceUnavailable", message);
            assert_eq!(error.of_run("https://a:6443"), error.in_full());
        }
        assert_eq!(text(RequestError::Stopped), "the run was interrupted");
    }
}
