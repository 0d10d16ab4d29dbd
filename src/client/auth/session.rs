//! Sessions: the client with its certificate, the `Authorization` header, and their renewal.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::HeaderValue;
use jiff::{SignedDuration, Timestamp};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::exact;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use tokio::sync::Mutex;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::time::Time;

use super::exec::{ExecError, Plugin};
use crate::client::error::unreadable;
use crate::client::kubeconfig::credentials::{ClientCertificate, Credentials, PluginConfig};
use crate::client::options::{ConnectOptions, Environment};
use crate::client::transport::connector::{AuthorizedClient, Connector};

/// The age at which a token file is read again, as in client-go.
const TOKEN_FILE_AGE: Duration = Duration::from_mins(1);

/// The least time for which new credentials are used, even if they have expired already: a clock may be wrong, and a plugin must
/// not run for every request.
const LEAST_AGE: Duration = Duration::from_secs(1);

/// The credentials at one moment. Requests in flight keep theirs when they are renewed.
pub struct Session {
    pub client: AuthorizedClient,
    /// The validity of the client certificate, if there is one.
    certificate: Option<Validity>,
    expires: Expires,
    /// True if it replaced a session that the server refused.
    renewed_after_refusal: bool,
    /// True once the server has accepted it.
    accepted: AtomicBool,
}

enum Expires {
    Never,
    At(Timestamp),
    AfterReading(Instant),
}

impl Session {
    /// Records that the server accepted these credentials.
    pub fn was_accepted(&self) {
        self.accepted.store(true, Ordering::Relaxed);
    }

    /// Returns the reason why a server refused these credentials, if they have expired or are not valid yet at this time of the
    /// server. If its time is not known, the local clock counts.
    pub fn why_refused(&self, time: Option<Timestamp>) -> Option<String> {
        let time = time.unwrap_or_else(Timestamp::now);
        why_refused(self.client.authorization.as_ref(), self.certificate, time)
    }

    fn is_over(&self) -> bool {
        match &self.expires {
            Expires::Never => false,
            Expires::At(time) => Timestamp::now() >= *time,
            Expires::AfterReading(when) => when.elapsed() >= TOKEN_FILE_AGE,
        }
    }
}

/// The current session, and everything that is needed to renew it.
pub struct Sessions {
    connector: Connector,
    credentials: Credentials,
    stdin_is_free: bool,
    environment: Environment,
    current: RwLock<Arc<Session>>,
    /// Held during a renewal: a plugin may prompt the user.
    renewing: Mutex<()>,
}

impl Sessions {
    /// Gets the first credentials, for which a plugin runs once, and makes a client with them.
    pub async fn open(
        connector: Connector,
        certificate: Option<&ClientCertificate>,
        credentials: Credentials,
        options: &ConnectOptions,
        environment: &Environment,
    ) -> Result<Self, Diagnostic> {
        let client = |authorization| -> Result<AuthorizedClient, Diagnostic> {
            Ok(AuthorizedClient { http: connector.client(certificate)?, authorization })
        };
        let shown = certificate.and_then(Validity::of);
        let (client, certificate, expires) = match &credentials {
            Credentials::None => (client(None)?, shown, Expires::Never),
            Credentials::Token(token) => {
                let header =
                    bearer(token.expose_secret()).ok_or_else(|| Diagnostic::general("the token is not text"))?;
                (client(Some(header))?, shown, Expires::Never)
            }
            Credentials::TokenFile { path, otherwise } => {
                let otherwise = otherwise.as_ref().and_then(|token| bearer(token.expose_secret()));
                let header = match (read_token(path), otherwise) {
                    (Ok(header), _) | (Err(_), Some(header)) => header,
                    (Err(source), None) => {
                        return Err(unreadable("token file", path, &source));
                    }
                };
                (client(Some(header))?, shown, Expires::AfterReading(Instant::now()))
            }
            Credentials::Plugin(plugin) => ask(plugin, &connector, options.stdin_is_free, environment).await?,
        };
        let session =
            Session { client, certificate, expires, renewed_after_refusal: false, accepted: AtomicBool::new(false) };
        Ok(Self {
            connector,
            credentials,
            stdin_is_free: options.stdin_is_free,
            environment: environment.clone(),
            current: RwLock::new(Arc::new(session)),
            renewing: Mutex::new(()),
        })
    }

    /// Opens connections before requests need them.
    pub fn open_ahead(&self, connections: usize) {
        (self.get().client.http.open_ahead)(connections);
    }

    fn get(&self) -> Arc<Session> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The session for a new request. It is renewed if it has expired.
    pub async fn current(&self) -> Result<Arc<Session>, ExecError> {
        let session = self.get();
        if session.is_over() { self.renew(&session, false).await } else { Ok(session) }
    }

    /// Returns another session than `refused`, to which the server answered 401. Returns `None` if there is no other: the credentials
    /// cannot change, or the server never accepted the last answer of the plugin either.
    pub async fn after_refusal(&self, refused: &Arc<Session>) -> Result<Option<Arc<Session>>, ExecError> {
        let hopeless = match self.credentials {
            Credentials::None | Credentials::Token(_) => true,
            Credentials::TokenFile { .. } => false,
            Credentials::Plugin(_) => refused.renewed_after_refusal && !refused.accepted.load(Ordering::Relaxed),
        };
        if hopeless {
            return Ok(None);
        }
        let session = self.renew(refused, true).await?;
        let same_file = matches!(self.credentials, Credentials::TokenFile { .. })
            && session.client.authorization == refused.client.authorization;
        Ok((!same_file).then_some(session))
    }

    async fn renew(&self, old: &Arc<Session>, after_refusal: bool) -> Result<Arc<Session>, ExecError> {
        let _one_at_a_time = self.renewing.lock().await;
        let current = self.get();
        if !Arc::ptr_eq(&current, old) {
            return Ok(current);
        }
        let (client, certificate, expires) = match &self.credentials {
            Credentials::None | Credentials::Token(_) => return Ok(current),
            // If the file cannot be read any more, the token that was read last is kept.
            Credentials::TokenFile { path, .. } => {
                let authorization = read_token(path).ok().or_else(|| old.client.authorization.clone());
                let client = AuthorizedClient { http: old.client.http.clone(), authorization };
                (client, old.certificate, Expires::AfterReading(Instant::now()))
            }
            Credentials::Plugin(plugin) => ask(plugin, &self.connector, self.stdin_is_free, &self.environment).await?,
        };
        let session = Arc::new(Session {
            client,
            certificate,
            expires,
            renewed_after_refusal: after_refusal,
            accepted: AtomicBool::new(false),
        });
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&session);
        Ok(session)
    }
}

/// Runs the plugin and makes a client with its credentials.
async fn ask(
    plugin: &PluginConfig,
    connector: &Connector,
    stdin_is_free: bool,
    environment: &Environment,
) -> Result<(AuthorizedClient, Option<Validity>, Expires), ExecError> {
    let plugin = Plugin(plugin);
    let answer = plugin.run(stdin_is_free, environment).await?;
    let unusable = |reason: String| plugin.unusable(reason);
    let http = connector.client(answer.client_certificate.as_ref()).map_err(|error| unusable(error.to_string()))?;
    let authorization = match answer.token {
        Some(token) => Some(bearer(token.expose_secret()).ok_or_else(|| unusable("its token is not text".to_owned()))?),
        None => None,
    };
    let earliest = Timestamp::now().checked_add(LEAST_AGE).unwrap_or(Timestamp::MAX);
    let expires = answer.expires.map_or(Expires::Never, |time| Expires::At(time.max(earliest)));
    let certificate = answer.client_certificate.as_ref().and_then(Validity::of);
    Ok((AuthorizedClient { http, authorization }, certificate, expires))
}

fn read_token(path: &Path) -> std::io::Result<HeaderValue> {
    let token = std::fs::read_to_string(path)?;
    bearer(token.trim()).ok_or_else(|| std::io::Error::other("it holds no token"))
}

fn bearer(token: &str) -> Option<HeaderValue> {
    if token.is_empty() {
        return None;
    }
    let mut header = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// The longest token that is parsed, in bytes.
const LONGEST_TOKEN: usize = 64 << 10;

/// The period in which a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Validity {
    begins: Timestamp,
    ends: Timestamp,
}

impl Validity {
    /// Reads the validity of the first certificate in a PEM file.
    pub fn of(certificate: &ClientCertificate) -> Option<Self> {
        let certificate = CertificateDer::pem_slice_iter(&certificate.certificate).next()?.ok()?;
        Self::of_der(&certificate)
    }

    fn of_der(der: &[u8]) -> Option<Self> {
        let certificate = Certificate::from_der(der).ok()?;
        let validity = certificate.tbs_certificate().validity();
        Some(Self { begins: timestamp(validity.not_before), ends: timestamp(validity.not_after) })
    }

    /// Returns the reason why the certificate is not valid at this time, if it is not.
    fn broken_at(self, now: Timestamp) -> Option<String> {
        if now > self.ends {
            Some(format!("the client certificate expired at {}", self.ends))
        } else if now < self.begins {
            Some(format!("the client certificate is not valid before {}", self.begins))
        } else {
            None
        }
    }
}

/// Returns the reason why a server whose clock shows `now` refused these credentials, if they have expired or are not valid yet.
fn why_refused(authorization: Option<&HeaderValue>, certificate: Option<Validity>, now: Timestamp) -> Option<String> {
    let Some(authorization) = authorization else { return certificate?.broken_at(now) };
    let ends = end_of_token(authorization.as_bytes())?;
    (now > ends).then(|| format!("the token expired at {ends}"))
}

/// The `exp` claim of a JSON Web Token (RFC 7519, section 4.1.4). The signature is not checked: that is the server's task.
fn end_of_token(authorization: &[u8]) -> Option<Timestamp> {
    #[derive(Deserialize)]
    struct Claims {
        exp: f64,
    }
    let token = authorization.strip_prefix(b"Bearer ").filter(|token| token.len() <= LONGEST_TOKEN)?;
    let claims = token.split(|byte| *byte == b'.').nth(1)?;
    let claims: Claims = exact::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    Timestamp::from_duration(SignedDuration::try_from_secs_f64(claims.exp).ok()?).ok()
}

/// Converts a time, and clamps it: the last representable day stands for "no end", and is later than any `Timestamp`.
fn timestamp(time: Time) -> Timestamp {
    let seconds = i64::try_from(time.to_unix_duration().as_secs()).ok();
    seconds.and_then(|seconds| Timestamp::from_second(seconds).ok()).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_times_are_read() {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::default();
        for (begins, ends, expected) in [
            ((1975, 1, 1), (2049, 12, 31), ["1975-01-01T00:00:00Z", "2049-12-31T00:00:00Z"]),
            ((2050, 1, 1), (9999, 12, 31), ["2050-01-01T00:00:00Z", "9999-12-30T22:00:00.999999999Z"]),
        ] {
            params.not_before = rcgen::date_time_ymd(begins.0, begins.1, begins.2);
            params.not_after = rcgen::date_time_ymd(ends.0, ends.1, ends.2);
            let certificate = params.clone().self_signed(&key).unwrap();
            let validity = Validity::of_der(certificate.der()).unwrap();
            assert_eq!([validity.begins, validity.ends].map(|time| time.to_string()), expected);
        }
    }

    #[test]
    fn what_is_no_certificate_has_no_validity() {
        let key = rcgen::KeyPair::generate().unwrap();
        let whole = rcgen::CertificateParams::default().self_signed(&key).unwrap().der().to_vec();
        assert!(Validity::of_der(&whole).is_some());
        for length in 0..whole.len() {
            assert_eq!(Validity::of_der(&whole[..length]), None);
        }
        // Any single byte may be anything.
        for at in 0..whole.len() {
            for byte in [0, 1, 0x7f, 0x80, 0x84, 0x85, 0xff] {
                let mut other = whole.clone();
                other[at] = byte;
                let _ = Validity::of_der(&other);
            }
        }
        assert_eq!(Validity::of_der(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
