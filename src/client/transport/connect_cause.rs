//! The root cause of a failed connection, in plain words.

use std::error::Error;
use std::io;

use hyper_util::client::legacy::Error as Connecting;
use jiff::Timestamp;
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError};

use reconcile_core::text::{listed, one_line};

use super::tls::trust::Unverifiable;

/// The longest text of a library's error that is shown, in characters.
const LIBRARY_TEXT: usize = 200;

/// The reason why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Cause {
    /// The kind, which decides about retries and exit codes.
    pub kind: CauseKind,
    /// The description.
    pub text: String,
    /// A hint that says what to do.
    pub hint: Option<&'static str>,
}

/// Kinds of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// There was no connection: refused, no such host, no route, or the TLS handshake failed.
    NoConnection,
    /// There was a connection, and it broke.
    Broken,
    /// The answer is not HTTP, or its body does not match its headers.
    Unreadable,
}

/// Finds the root cause in the chain of `error`, which a request got instead of an answer.
pub fn of(error: &(dyn Error + 'static)) -> Cause {
    let mut connecting = false;
    let mut best = None;
    let mut last = error.to_string();
    let mut next = Some(error);
    while let Some(error) = next {
        connecting |= error.downcast_ref::<Connecting>().is_some_and(Connecting::is_connect);
        if let Some(cause) = known(error, connecting) {
            best = Some(cause);
        }
        last = error.to_string();
        next = below(error);
    }
    best.unwrap_or_else(|| {
        // These error types of hyper-util are private, and that of SOCKS hides its source.
        if last == "SOCKS error: failed to create underlying connection" {
            return cause(CauseKind::NoConnection, "the proxy cannot be reached", None);
        }
        for (start, words) in
            [("tunnel error: ", "the proxy opens no tunnel"), ("SOCKS error: ", "the proxy opens no connection")]
        {
            if let Some(reason) = last.strip_prefix(start) {
                return cause(CauseKind::NoConnection, format!("{words}: {}", one_line(reason, LIBRARY_TEXT)), None);
            }
        }
        let kind = if connecting { CauseKind::NoConnection } else { CauseKind::Unreadable };
        Cause { kind, text: one_line(&last, LIBRARY_TEXT), hint: None }
    })
}

/// The source of `error`. An [`io::Error`] that wraps another error does not return it as its source.
fn below<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn known(error: &(dyn Error + 'static), connecting: bool) -> Option<Cause> {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(of_tls(error));
    }
    if let Some(error) = error.downcast_ref::<hyper::Error>() {
        return of_http(error);
    }
    let cause = of_io(error.downcast_ref::<io::Error>()?)?;
    // On an open connection, a timeout means that the connection was lost, not that no host has this address.
    let died = !connecting && cause.kind == CauseKind::NoConnection;
    Some(if died { Cause { kind: CauseKind::Broken, hint: None, ..cause } } else { cause })
}

fn cause(kind: CauseKind, text: impl Into<String>, hint: Option<&'static str>) -> Cause {
    Cause { kind, text: text.into(), hint }
}

fn of_http(error: &hyper::Error) -> Option<Cause> {
    if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
        return Some(cause(CauseKind::Broken, "it was closed before the answer was complete", None));
    }
    if error.is_parse() {
        // For clients, the library tells this kind by its text only.
        let is_too_large = error.to_string() == "message head is too large";
        let text = if is_too_large { "it has too many headers, or they are too long" } else { "it is not HTTP" };
        return Some(cause(CauseKind::Unreadable, text, None));
    }
    None
}

fn of_io(error: &io::Error) -> Option<Cause> {
    use io::ErrorKind as Kind;
    let (kind, text, hint) = match error.kind() {
        Kind::ConnectionRefused => {
            let hint = "is the API server running, and is the address in the kubeconfig right?";
            (CauseKind::NoConnection, "connection refused", Some(hint))
        }
        Kind::TimedOut => {
            let hint = "nothing answers at this address: is a VPN or a proxy needed?";
            (CauseKind::NoConnection, "connection timed out", Some(hint))
        }
        Kind::HostUnreachable => (CauseKind::NoConnection, "no route to host", None),
        Kind::NetworkUnreachable => (CauseKind::NoConnection, "network is unreachable", None),
        Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe => {
            (CauseKind::Broken, "connection reset by the server", None)
        }
        Kind::UnexpectedEof => (CauseKind::Broken, "it was closed in the middle", None),
        _ => return of_resolver(error),
    };
    Some(cause(kind, text, hint))
}

/// Recognises a failed name lookup, for which the standard library has no error kind.
fn of_resolver(error: &io::Error) -> Option<Cause> {
    let text = error.to_string();
    let reason = text.strip_prefix("failed to lookup address information: ")?;
    let hint = "is the host name in the kubeconfig right, and is this machine on the right network?";
    Some(cause(CauseKind::NoConnection, one_line(reason, LIBRARY_TEXT).to_lowercase(), Some(hint)))
}

/// Words for what the library has no error of its own for: a name of the source of it, as `UnsupportedCriticalExtension`.
fn other_words(error: &rustls::OtherError) -> String {
    let text = one_line(&error.to_string(), LIBRARY_TEXT);
    for (name, words) in [
        ("UnsupportedCriticalExtension", "it has a critical extension that is not known"),
        ("NameConstraintViolation", "its authority may not sign for this name"),
        ("PathLenConstraintViolated", "there are too many authorities between it and the trusted one"),
        ("UnsupportedSignatureAlgorithm", "it is signed with an algorithm that is not supported"),
    ] {
        if text.contains(name) {
            return words.to_owned();
        }
    }
    text
}

fn of_tls(error: &rustls::Error) -> Cause {
    use CertificateError as Bad;
    let (text, hint) = match error {
        rustls::Error::InvalidCertificate(bad) => match bad {
            // An authority of another cluster with the same name appears as a wrong signature.
            Bad::UnknownIssuer | Bad::BadSignature => (
                "certificate signed by unknown authority".to_owned(),
                Some(
                    "`certificate-authority` in the kubeconfig, or `--certificate-authority`, must name the authority of this cluster",
                ),
            ),
            Bad::ExpiredContext { time, not_after } => {
                (out_of_time("the server's certificate expired at", *not_after, *time), Some(CLOCK_OR_CERTIFICATE))
            }
            Bad::NotValidYetContext { time, not_before } => (
                out_of_time("the server's certificate is not valid before", *not_before, *time),
                Some(CLOCK_OR_CERTIFICATE),
            ),
            // The verifiers of some systems return these without times.
            Bad::Expired => ("the server's certificate has expired".to_owned(), Some(CLOCK_OR_CERTIFICATE)),
            Bad::NotValidYet => ("the server's certificate is not valid yet".to_owned(), Some(CLOCK_OR_CERTIFICATE)),
            Bad::NotValidForName | Bad::NotValidForNameContext { .. } => wrong_name(bad),
            Bad::InvalidPurpose | Bad::InvalidPurposeContext { .. } => {
                ("the server's certificate is not for servers".to_owned(), None)
            }
            Bad::BadEncoding => (
                "the server's certificate is malformed (for example, a serial number that is negative or longer than 20 bytes)"
                    .to_owned(),
                Some("renew the certificate of the server"),
            ),
            Bad::Other(other) => match other.0.downcast_ref::<Unverifiable>() {
                Some(reason) => (format!("the server's certificate cannot be verified: {reason}"), Some(VERIFIED)),
                None => (format!("the server's certificate is not accepted: {}", other_words(other)), None),
            },
            other => (one_line(&format!("the server's certificate is not accepted: {other}"), LIBRARY_TEXT), None),
        },
        rustls::Error::AlertReceived(alert) => {
            let hint = (*alert == AlertDescription::HandshakeFailure).then_some(COMMON);
            (format!("the server ended the TLS handshake: {}", alert_words(*alert)), hint)
        }
        rustls::Error::InvalidMessage(_) => {
            ("the server does not speak TLS".to_owned(), Some("is the address meant for plain `http://`?"))
        }
        other => (one_line(&format!("TLS: {other}"), LIBRARY_TEXT), None),
    };
    Cause { kind: CauseKind::NoConnection, text, hint }
}

const VERIFIED: &str = "use RSA keys of 2048 to 8192 bits or P-256, P-384 or Ed25519 keys for servers and authorities, and sign with \
                        SHA-256; kubectl takes some others";
const COMMON: &str = "the server needs a certificate with an RSA, P-256, P-384 or Ed25519 key, and ciphers of AES-GCM or ChaCha20-Poly1305 \
                      with a key exchange of X25519, P-256 or P-384";
const CLOCK_OR_CERTIFICATE: &str = "is the clock of this machine right? Then the server needs another certificate";

/// Formats both times, because either the certificate or the clock may be wrong.
fn out_of_time(statement: &str, bound: UnixTime, now: UnixTime) -> String {
    let shown = |time: UnixTime| {
        let time = i64::try_from(time.as_secs()).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
        time.map_or_else(|| "a time beyond all dates".to_owned(), |time| time.to_string())
    };
    format!("{statement} {}, and the clock of this machine shows {}", shown(bound), shown(now))
}

/// Names both sides of a mismatch, and says what to do. rustls returns the names of a certificate as `DnsName("api.example.com")` and
/// `IpAddress(10.0.0.1)`.
fn wrong_name(error: &CertificateError) -> (String, Option<&'static str>) {
    let hint = Some("`--tls-server-name` says which name the certificate carries");
    let CertificateError::NotValidForNameContext { expected, presented } = error else {
        return ("the server's certificate is for another name".to_owned(), hint);
    };
    let names = presented.iter().map(|name| name.split_once('(').map_or(name.as_str(), |(_, name)| name));
    let names: Vec<_> = names.map(|name| name.trim_matches([')', '"'])).collect();
    let expected = expected.to_str();
    if names.is_empty() {
        return (
            "the server's certificate has no subject alternative names, and its common name does not count".to_owned(),
            Some("issue it again with the names and addresses of the server as subject alternative names"),
        );
    }
    if names.contains(&expected.as_ref()) {
        return (
            format!("the server's certificate has `{expected}` as a DNS name, and not as an IP address"),
            Some("issue it again with an `IP` entry among its subject alternative names"),
        );
    }
    (format!("the server's certificate is for {}, not for `{expected}`", listed(names, 5)), hint)
}

fn alert_words(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::CertificateRequired => "it requires a client certificate",
        AlertDescription::BadCertificate | AlertDescription::CertificateUnknown => {
            "it does not accept our client certificate"
        }
        AlertDescription::CertificateExpired => "our client certificate has expired",
        AlertDescription::CertificateRevoked => "our client certificate was revoked",
        AlertDescription::UnknownCA => "it does not know the authority of our client certificate",
        AlertDescription::ProtocolVersion => "there is no common version of TLS",
        AlertDescription::UnrecognisedName => "it has no certificate for this name",
        AlertDescription::HandshakeFailure => "there is no common cipher or signature algorithm",
        _ => "it gives no usable reason",
    }
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::ServerName;

    use super::*;

    #[test]
    fn the_innermost_known_cause_counts() {
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        let cause = of(&io::Error::other(io::Error::other(reset)));
        assert_eq!((cause.kind, cause.text.as_str()), (CauseKind::Broken, "connection reset by the server"));
    }

    #[test]
    fn a_line_that_goes_dead_is_not_a_host_that_is_not_there() {
        let dead = io::Error::from(io::ErrorKind::TimedOut);
        assert_eq!(known(&dead, false).unwrap().kind, CauseKind::Broken);
        assert_eq!(known(&dead, true).unwrap().kind, CauseKind::NoConnection);
    }

    #[test]
    fn tls_errors_inside_io_errors_are_found() {
        let inner = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let cause = of(&io::Error::new(io::ErrorKind::InvalidData, inner));
        assert_eq!(cause.text, "certificate signed by unknown authority");
    }

    #[test]
    fn what_a_certificate_lacks_is_said_in_words() {
        let text =
            |error| of(&io::Error::new(io::ErrorKind::InvalidData, rustls::Error::InvalidCertificate(error))).text;
        assert_eq!(text(CertificateError::InvalidPurpose), "the server's certificate is not for servers");
        let name = rustls::OtherError(std::sync::Arc::new(io::Error::other("NameConstraintViolation")));
        assert!(text(CertificateError::Other(name)).ends_with("its authority may not sign for this name"));
    }

    #[test]
    fn names_that_do_not_count_are_told_from_other_names() {
        let cause = |presented: &[&str]| {
            let expected = ServerName::try_from("10.0.0.1").unwrap();
            let presented = presented.iter().map(|name| (*name).to_owned()).collect();
            wrong_name(&CertificateError::NotValidForNameContext { expected, presented })
        };
        let (text, hint) = cause(&[]);
        assert!(text.contains("no subject alternative names") && hint.unwrap().starts_with("issue it again"), "{text}");
        let (text, _) = cause(&["DnsName(\"10.0.0.1\")"]);
        assert_eq!(text, "the server's certificate has `10.0.0.1` as a DNS name, and not as an IP address");
        let (text, hint) = cause(&["IpAddress(10.0.0.2)"]);
        assert_eq!(text, "the server's certificate is for `10.0.0.2`, not for `10.0.0.1`");
        assert!(hint.unwrap().starts_with("`--tls-server-name`"));
    }

    #[test]
    fn a_failed_name_lookup_is_reported_without_the_prefix() {
        let cause = of(&io::Error::other("failed to lookup address information: Name or service not known"));
        assert_eq!(cause.text, "name or service not known");
    }

    #[test]
    fn an_unknown_cause_is_one_bounded_line() {
        let cause = of(&io::Error::other(format!("odd\n{}", "x".repeat(1000))));
        assert!(cause.text.starts_with("odd xxx") && cause.text.chars().count() < 250);
    }
}
