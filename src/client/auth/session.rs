//! Sessions: the client with its certificate, the `Authorization` header, and their renewal.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use http::HeaderValue;
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use tokio::sync::Mutex;

use super::error::ExecError;
use super::exec::Plugin;
use super::expiry::{Validity, why_refused};
use crate::client::error::unreadable;
use crate::client::kubeconfig::credentials::{ClientCertificate, Credentials};
use crate::client::kubeconfig::plugin::PluginConfig;
use crate::client::options::{ConnectOptions, Environment};
use crate::client::transport::connector::Connector;
use crate::client::transport::http::AuthorizedClient;
use reconcile_core::diagnostic::Diagnostic;

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
