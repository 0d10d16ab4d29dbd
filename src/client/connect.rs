//! Makes a connection from flags, kubeconfig and environment.

use std::path::{Path, PathBuf};

use http::Uri;

use super::auth::session::Sessions;
use super::cluster::Cluster;
use super::error::not_found;
use super::kubeconfig::credentials::Credentials;
use super::kubeconfig::kuberc::PluginPolicy;
use super::kubeconfig::loader::Kubeconfig;
use super::kubeconfig::settings::ConnectionSettings;
use super::options::{ConnectOptions, Environment};
use super::transport::connector::Connector;
use super::transport::endpoint::Endpoint;
use super::transport::proxy;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::without_credentials;

/// Prepares the connection that flags, kubeconfig and environment describe. Nothing is sent yet; a credential plugin runs, once.
pub async fn connect(options: &ConnectOptions, environment: &Environment) -> Result<Cluster, Diagnostic> {
    connect_if(options, environment, |_, _| Ok(())).await
}

/// Connects as [`connect`] does if the context, if one is used, and the URL of the server are allowed; otherwise no credential plugin runs.
pub async fn connect_if(
    options: &ConnectOptions,
    environment: &Environment,
    is_allowed: impl FnOnce(Option<&str>, &str) -> Result<(), Diagnostic>,
) -> Result<Cluster, Diagnostic> {
    let kubeconfig = Kubeconfig::load(options.kubeconfig.as_deref(), environment)?;
    let settings = ConnectionSettings::resolve(options, environment, &kubeconfig)?;
    let ConnectionSettings { context, config, proxy_url, client_certificate, mut credentials, notes } = settings;
    let policy = PluginPolicy::load(options.kuberc.as_deref(), environment, &options.log)?;
    if let Credentials::Plugin(plugin) = &mut credentials {
        plugin.policy = policy;
    }
    let server = url_of(&config.cluster_url);
    is_allowed(context.as_deref(), &server)?;
    let proxy = proxy::choose(proxy_url.as_deref(), &config.cluster_url, environment)?;
    for note in &notes {
        options.log.note(note);
    }
    let endpoint = Endpoint::new(server, proxy.as_ref().map(proxy::without_password));
    let namespace = config.default_namespace.clone();
    let connector = Connector::new(config, proxy, options.request_timeout);
    let sessions = Sessions::open(connector, client_certificate.as_ref(), credentials, options, environment).await?;
    Ok(Cluster::new(context, namespace, endpoint, sessions, options))
}

/// The context, if one is used, and the URL of the server that [`connect`] would connect to, without its credentials; `None` if nothing
/// describes a connection.
pub fn target_of(options: &ConnectOptions, environment: &Environment) -> Option<(Option<String>, String)> {
    let kubeconfig = Kubeconfig::load(options.kubeconfig.as_deref(), environment).ok()?;
    let settings = ConnectionSettings::resolve(options, environment, &kubeconfig).ok()?;
    Some((settings.context, url_of(&settings.config.cluster_url)))
}

fn url_of(server: &Uri) -> String {
    server.to_string().trim_end_matches('/').to_owned()
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

/// A context of the kubeconfig, with its server and namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Its name.
    pub name: String,
    /// The URL of its server, without a password; `None` if the kubeconfig has none.
    pub server: Option<String>,
    /// The proxy to the server, if the kubeconfig has one: behind another proxy, the same address may be another server.
    pub proxy: Option<String>,
    /// Its namespace.
    pub namespace: String,
}

/// The contexts of a kubeconfig, by name.
#[derive(Clone, Debug, Default)]
pub struct Contexts {
    contexts: Vec<Context>,
    looked_at: Vec<PathBuf>,
}

impl Contexts {
    /// Reads the contexts from the kubeconfig that [`connect`] would use.
    pub fn load(kubeconfig: Option<&Path>, environment: &Environment) -> Result<Self, Diagnostic> {
        let Kubeconfig { document, looked_at } = Kubeconfig::load(kubeconfig, environment)?;
        let contexts = document.contexts.iter().map(|(name, context)| {
            let cluster = context.cluster.as_ref().and_then(|name| document.clusters.get(name));
            let server = cluster.and_then(|cluster| cluster.server.as_deref());
            let proxy = cluster.and_then(|cluster| cluster.proxy_url.as_deref());
            Context {
                name: name.clone(),
                server: server.map(|url| without_credentials(url).trim_end_matches('/').to_owned()),
                proxy: proxy.map(without_credentials),
                namespace: context.namespace.clone().unwrap_or_else(|| "default".to_owned()),
            }
        });
        Ok(Self { contexts: contexts.collect(), looked_at })
    }

    /// All contexts.
    pub fn all(&self) -> &[Context] {
        &self.contexts
    }

    /// The context with this name; the error lists the existing ones.
    pub fn named(&self, name: &str) -> Result<&Context, Diagnostic> {
        let existing = || -> Vec<String> { self.contexts.iter().map(|context| context.name.clone()).collect() };
        let found = self.contexts.iter().find(|context| context.name == name);
        found.ok_or_else(|| not_found("context", name, &existing(), &self.looked_at))
    }
}

/// Reads the names from the kubeconfig that [`connect`] would use.
pub fn config_names(kubeconfig: Option<&Path>, environment: &Environment) -> Result<ConfigNames, Diagnostic> {
    let Kubeconfig { document, .. } = Kubeconfig::load(kubeconfig, environment)?;
    Ok(ConfigNames {
        contexts: document.contexts.into_keys().collect(),
        clusters: document.clusters.into_keys().collect(),
        users: document.users.into_keys().collect(),
    })
}
