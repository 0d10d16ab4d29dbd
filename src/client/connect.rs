//! From what was asked for to a connection.

use std::path::Path;

use super::auth::session::Sessions;
use super::cluster::Cluster;
use super::kubeconfig::loader::{Kubeconfig, KubeconfigError};
use super::kubeconfig::settings::Settings;
use super::options::{ConnectOptions, Environment};
use super::transport::connector::Connector;
use super::transport::endpoint::Endpoint;
use super::transport::proxy;
use crate::diagnostic::Diagnostic;

/// Prepares the connection that flags, kubeconfig and environment describe. Nothing is sent yet; a credential plugin runs, once.
pub async fn connect(options: &ConnectOptions, environment: &Environment) -> Result<Cluster, Diagnostic> {
    let kubeconfig = Kubeconfig::load(options.kubeconfig.as_deref(), environment)?;
    let settings = Settings::resolve(options, environment, &kubeconfig)?;
    let proxy = proxy::choose(settings.proxy_url.as_deref(), &settings.server, environment)?;
    for note in &settings.notes {
        options.log.note(note);
    }
    let connector = Connector::new(&settings, proxy.as_ref(), options.request_timeout)?;
    let Settings { context, server, namespace, client_certificate, credentials, .. } = settings;
    let sessions = Sessions::open(connector, client_certificate.as_ref(), credentials, options, environment).await?;
    let server = server.to_string().trim_end_matches('/').to_owned();
    let endpoint = Endpoint::new(server, proxy.as_ref().map(proxy::without_password));
    Ok(Cluster::new(context, namespace, endpoint, sessions, options))
}

/// The names that a kubeconfig offers, for completion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigNames {
    /// Values for `--context`.
    pub contexts: Vec<String>,
    /// Values for `--cluster`.
    pub clusters: Vec<String>,
    /// Values for `--user`.
    pub users: Vec<String>,
}

/// Reads the names from the kubeconfig that [`connect`] would use.
pub fn config_names(kubeconfig: Option<&Path>, environment: &Environment) -> Result<ConfigNames, KubeconfigError> {
    let Kubeconfig { document, .. } = Kubeconfig::load(kubeconfig, environment)?;
    Ok(ConfigNames {
        contexts: document.contexts.into_keys().collect(),
        clusters: document.clusters.into_keys().collect(),
        users: document.users.into_keys().collect(),
    })
}
