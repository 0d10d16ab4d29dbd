//! The credentials of a user in the kubeconfig, and the configuration of credential plugins (`users[].user.exec`).

use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kube::config::AuthInfo;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::one_line;
use secrecy::{SecretSlice, SecretString};
use serde_json::{Value, json};

use super::kuberc::PluginPolicy;
use super::model::{ClusterEntry, ExecEntry, UserEntry};
use crate::client::error::read;

/// A client certificate and its key, in PEM.
#[derive(Clone, Debug)]
pub struct ClientCertificate {
    pub certificate: Vec<u8>,
    pub key: SecretSlice<u8>,
    /// The places where the certificate and the key were found, as messages name them.
    pub places: [String; 2],
}

/// The credentials of a user other than a client certificate.
#[derive(Debug)]
pub enum Credentials {
    /// None.
    None,
    /// A bearer token.
    Token(SecretString),
    /// A file with a bearer token that may change, and the token to use while it cannot be read.
    TokenFile { path: PathBuf, otherwise: Option<SecretString> },
    /// A program that provides them.
    Plugin(Box<PluginConfig>),
}

/// Reads the client certificate of a user, with its key.
pub(super) fn client_certificate(user: &UserEntry, name: &str) -> Result<Option<ClientCertificate>, Diagnostic> {
    if user.client_certificate.is_none() && user.client_certificate_data.is_none() {
        return Ok(None);
    }
    let twice = |what: &str| {
        Diagnostic::general(format!("`{what}` and `{what}-data` are both set for user `{name}`: remove one of them"))
    };
    let place = |path: Option<&PathBuf>, key: &str| match path {
        Some(path) => format!("`{}`", path.display()),
        None => format!("`{key}` of user `{name}`"),
    };
    let places = [
        place(user.client_certificate.as_ref(), "client-certificate-data"),
        place(user.client_key.as_ref(), "client-key-data"),
    ];
    let certificate = match (&user.client_certificate, &user.client_certificate_data) {
        (Some(_), Some(_)) => return Err(twice("client-certificate")),
        (Some(path), None) => read("client certificate", path)?,
        (None, data) => data.clone().unwrap_or_default(),
    };
    let key = match (&user.client_key, &user.client_key_data) {
        (Some(_), Some(_)) => return Err(twice("client-key")),
        (Some(path), None) => SecretSlice::from(read("client key", path)?),
        (None, Some(data)) => data.clone(),
        (None, None) => {
            let message = format!("user `{name}` has a client certificate without its key");
            return Err(
                Diagnostic::general(message).with_hint("set `client-key` or `client-key-data`, or give `--client-key`")
            );
        }
    };
    Ok(Some(ClientCertificate { certificate, key, places }))
}

/// Returns true if a user has credentials that would be sent over TLS.
pub(super) fn has_credentials(user: &UserEntry) -> bool {
    user.token.is_some()
        || user.token_file.is_some()
        || user.exec.is_some()
        || user.client_certificate.is_some()
        || user.client_certificate_data.is_some()
}

/// Determines the credentials of a user. Adds a note about each that is not used.
pub(super) fn credentials(
    user: UserEntry,
    name: &str,
    cluster: &ClusterEntry,
    notes: &mut Vec<String>,
) -> Result<Credentials, Diagnostic> {
    if user.basic {
        notes.push(format!(
            "the user name and password of user `{name}` are not used: the API server no longer accepts them"
        ));
    }
    let certified = user.client_certificate.is_some() || user.client_certificate_data.is_some();
    if let Some(path) = user.token_file {
        return Ok(Credentials::TokenFile { path, otherwise: user.token });
    }
    if let Some(token) = user.token {
        return Ok(Credentials::Token(token));
    }
    if let Some(provider) = user.auth_provider {
        let message = format!("user `{name}` logs in by the auth provider `{provider}`, which Kubernetes dropped");
        return Err(Diagnostic::general(message)
            .with_hint("use the credential plugin of your provider (`users[].user.exec` in the kubeconfig)"));
    }
    match user.exec {
        // As in kubectl: with a client certificate, the plugin is not run.
        Some(exec) if !certified => Ok(Credentials::Plugin(Box::new(PluginConfig::new(exec, name, cluster)?))),
        _ => Ok(Credentials::None),
    }
}

/// The part of kube's credentials that impersonates another user.
pub(super) fn impersonation(user: &UserEntry) -> Result<AuthInfo, Diagnostic> {
    let has_more = user.impersonate_uid.is_some()
        || !user.impersonate_groups.is_empty()
        || !user.impersonate_user_extra.is_empty();
    if user.impersonate.is_none() && has_more {
        let message = "a uid, groups or extra values are to be impersonated, but no user";
        return Err(
            Diagnostic::general(message).with_hint("`--as-uid`, `--as-group` and `--as-user-extra` need `--as`")
        );
    }
    Ok(AuthInfo {
        impersonate: user.impersonate.clone(),
        impersonate_uid: user.impersonate_uid.clone(),
        impersonate_groups: Some(user.impersonate_groups.clone()),
        impersonate_user_extra: Some(user.impersonate_user_extra.clone().into_iter().collect()),
        ..AuthInfo::default()
    })
}

/// The configuration of a plugin, checked.
#[derive(Debug)]
pub struct PluginConfig {
    pub entry: ExecEntry,
    pub interactive: Interactive,
    /// The cluster information for the plugin, if it asks for it with `provideClusterInfo`.
    pub cluster: Option<Value>,
    /// The policy for plugins in kubectl's preferences.
    pub policy: Option<PluginPolicy>,
}

/// The plugin's use of standard input (`interactiveMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interactive {
    Never,
    IfAvailable,
    Always,
}

impl PluginConfig {
    /// Checks the entry of a user in the kubeconfig.
    pub fn new(entry: ExecEntry, user: &str, cluster: &ClusterEntry) -> Result<Self, Diagnostic> {
        let wrong = |what: &str| Diagnostic::general(format!("the credential plugin of user `{user}` {what}"));
        if entry.command.is_empty() {
            return Err(wrong("has no `command`"));
        }
        if entry.env.iter().any(|(name, _)| name.is_empty()) {
            return Err(wrong("has an `env` entry without a name"));
        }
        let beta = match entry.api_version.as_str() {
            "client.authentication.k8s.io/v1" => false,
            "client.authentication.k8s.io/v1beta1" => true,
            "" => return Err(wrong("has no `apiVersion`")),
            other => {
                let other = one_line(other, 100);
                return Err(wrong(&format!(
                    "uses `{other}`; supported are `v1` and `v1beta1` of `client.authentication.k8s.io`"
                )));
            }
        };
        let interactive = match entry.interactive_mode.as_deref() {
            Some("Never") => Interactive::Never,
            Some("IfAvailable") => Interactive::IfAvailable,
            Some("Always") => Interactive::Always,
            None if beta => Interactive::IfAvailable,
            None => return Err(wrong("has no `interactiveMode`")),
            Some(_) => return Err(wrong("has an `interactiveMode` that is not `Never`, `IfAvailable` or `Always`")),
        };
        let cluster = if entry.provide_cluster_info { Some(cluster_info(cluster)?) } else { None };
        Ok(Self { entry, interactive, cluster, policy: None })
    }
}

/// The cluster information for plugins with `provideClusterInfo`.
#[expect(clippy::indexing_slicing, reason = "the value was made with `json!` here: it is an object")]
fn cluster_info(cluster: &ClusterEntry) -> Result<Value, Diagnostic> {
    let authority = match (&cluster.certificate_authority_data, &cluster.certificate_authority) {
        (Some(data), _) => Some(data.clone()),
        (None, Some(path)) => Some(read("certificate authority", path)?),
        (None, None) => None,
    };
    let mut info = json!({ "server": cluster.server, "config": cluster.exec_config });
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            info[name] = value;
        }
    };
    set("tls-server-name", cluster.tls_server_name.clone().map(Value::from));
    set("insecure-skip-tls-verify", cluster.insecure_skip_tls_verify.then_some(Value::Bool(true)));
    set("certificate-authority-data", authority.map(|data| BASE64_STANDARD.encode(data).into()));
    set("proxy-url", cluster.proxy_url.clone().map(Value::from));
    set("disable-compression", cluster.disable_compression.then_some(Value::Bool(true)));
    Ok(info)
}
