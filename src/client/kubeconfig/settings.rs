//! The settings of a connection: the kubeconfig with the flags applied (`client-go/tools/clientcmd/client_config.go`), or the
//! configuration of a pod for the cluster that it runs in (`client-go/rest/config.go`, `InClusterConfig`).

use std::path::{Path, PathBuf};

use http::Uri;
use kube::Config;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::object::{DNS_LABEL, is_dns_label};
use reconcile_core::text::without_credentials;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::credentials::{
    ClientCertificate, Credentials, client_certificate, credentials, has_credentials, impersonation,
};
use super::loader::Kubeconfig;
use super::model::{ClusterEntry, UserEntry};
use super::overrides::{Chosen, given, override_cluster, override_user};
use crate::client::error::{context_without_cluster, files, no_cluster, no_current_context, no_token, read};
use crate::client::options::{ConnectOptions, Environment};

/// All settings of a connection.
#[derive(Debug)]
pub struct ConnectionSettings {
    pub context: Option<String>,
    /// The server, the checks of its certificate, and the user to impersonate; without credentials, proxy and timeouts.
    pub config: Config,
    /// `proxy-url` of the cluster.
    pub proxy_url: Option<String>,
    pub client_certificate: Option<ClientCertificate>,
    pub credentials: Credentials,
    /// Warnings for the user.
    pub notes: Vec<String>,
}

impl ConnectionSettings {
    /// Applies the flags to the kubeconfig, or to the configuration of the pod if neither kubeconfig nor flags name a server.
    pub fn resolve(
        options: &ConnectOptions,
        environment: &Environment,
        kubeconfig: &Kubeconfig,
    ) -> Result<Self, Diagnostic> {
        let mut notes = Vec::new();
        let chosen = Chosen::from(options, kubeconfig, &mut notes)?;
        let pod = Pod::detect(environment);
        let namespace = match namespace_flag(options.namespace.as_deref())? {
            Some(name) => name,
            None => default_namespace(&chosen, kubeconfig, pod.as_ref())?,
        };

        let mut cluster = chosen.cluster;
        let mut user = chosen.user;
        if given(options.server.as_deref()).is_none() && cluster.server.is_none() {
            match (chosen.cluster_name.as_deref(), &pod) {
                (Some(name), _) => return Err(missing_server(name, kubeconfig)),
                (None, Some(pod)) => (cluster, user) = (pod.cluster(), pod.user()),
                (None, None) if chosen.context_name.is_none() && !kubeconfig.document.contexts.is_empty() => {
                    let contexts: Vec<&str> = kubeconfig.document.contexts.keys().map(String::as_str).collect();
                    return Err(no_current_context(&contexts, &kubeconfig.looked_at));
                }
                (None, None) => return Err(missing_cluster(chosen.context_name.as_deref(), environment, kubeconfig)),
            }
        }
        override_cluster(&mut cluster, options);
        override_user(&mut user, options)?;

        let server = server_uri(cluster.server.as_deref().unwrap_or_default(), &mut notes)?;
        let secure = server.scheme_str() == Some("https");
        let name = chosen.user_name.as_deref().unwrap_or("");
        let mut config = config(server, namespace, &cluster)?;
        config.auth_info = impersonation(&user)?;
        // As in kubectl: credentials are sent over TLS only.
        let (client_certificate, credentials) = if secure {
            (client_certificate(&user, name)?, credentials(user, name, &cluster, &mut notes)?)
        } else {
            if has_credentials(&user) {
                notes.push("credentials are not sent, because the server's address is plain `http://`".to_owned());
            }
            (None, Credentials::None)
        };
        let context = chosen.context_name;
        Ok(Self { context, config, proxy_url: cluster.proxy_url, client_certificate, credentials, notes })
    }
}

/// The namespace of `--namespace`; `None` if it is empty, as in kubectl.
pub fn namespace_flag(flag: Option<&str>) -> Result<Option<String>, Diagnostic> {
    given(flag).map(|name| namespace(without_prefix(name), || "`--namespace`".to_owned())).transpose()
}

/// The namespace of the context, else that of the pod.
fn default_namespace(chosen: &Chosen, kubeconfig: &Kubeconfig, pod: Option<&Pod<'_>>) -> Result<String, Diagnostic> {
    if let Some(name) = &chosen.context.namespace {
        let context = chosen.context_name.as_deref().unwrap_or_default();
        return namespace(name, || format!("context `{context}` in {}", files(&kubeconfig.looked_at)));
    }
    match pod.and_then(Pod::namespace) {
        Some((name, place)) => namespace(&name, || place),
        None => Ok("default".to_owned()),
    }
}

/// Checks the name of a namespace: any other text would lead a request to another path.
fn namespace(name: &str, place: impl FnOnce() -> String) -> Result<String, Diagnostic> {
    if is_dns_label(name) {
        return Ok(name.to_owned());
    }
    let message = format!("{}: `{name}` cannot be a namespace", place());
    Err(Diagnostic::general(message).with_hint(DNS_LABEL))
}

/// Removes the prefix of `ns/shop`, as kubectl does.
fn without_prefix(namespace: &str) -> &str {
    ["namespaces/", "namespace/", "ns/"]
        .into_iter()
        .find_map(|prefix| {
            let (start, rest) = namespace.split_at_checked(prefix.len())?;
            (start.eq_ignore_ascii_case(prefix) && !rest.is_empty()).then_some(rest)
        })
        .unwrap_or(namespace)
}

/// The error if nothing names a cluster: the context does not, or there is no context.
fn missing_cluster(context: Option<&str>, environment: &Environment, kubeconfig: &Kubeconfig) -> Diagnostic {
    match (context, Pod::missing_token(environment)) {
        (Some(context), _) => context_without_cluster(context, &kubeconfig.looked_at),
        (None, Some(token)) => no_token(&token),
        (None, None) => no_cluster(&kubeconfig.looked_at),
    }
}

fn missing_server(cluster: &str, kubeconfig: &Kubeconfig) -> Diagnostic {
    let files: Vec<_> = kubeconfig.looked_at.iter().map(|path| path.display().to_string()).collect();
    let message = format!("cluster `{cluster}` has no `server` in the kubeconfig");
    Diagnostic::general(message).with_hint(format!("set it in {}, or give `--server`", files.join(", ")))
}

/// Reads the address of a server: a URL, or `host:port`, which means plain HTTP as in kubectl. A user name and password in it are
/// left out, because the API server no longer accepts them.
fn server_uri(address: &str, notes: &mut Vec<String>) -> Result<Uri, Diagnostic> {
    let invalid = || {
        let message = format!("`{}` is not the address of a server", without_credentials(address));
        Diagnostic::general(message).with_hint("it looks like `https://host:6443`")
    };
    let full = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    let full = full.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let uri: Uri = full.parse().map_err(|_| invalid())?;
    // The parser accepts a port that is no number.
    let named = uri.authority().is_some_and(|authority| {
        let place = authority.as_str().rsplit('@').next().unwrap_or_default();
        !authority.host().is_empty() && (place == authority.host() || authority.port().is_some())
    });
    if !matches!(uri.scheme_str(), Some("http" | "https")) || !named {
        return Err(invalid());
    }
    if !uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Ok(uri);
    }
    notes.push(
        "the user name and password in the address of the server are not used: the API server no longer accepts them"
            .to_owned(),
    );
    without_credentials(&uri.to_string()).trim_end_matches('/').parse().map_err(|_| invalid())
}

/// The configuration of kube's client for a cluster. kube's retries are turned off, because requests are repeated by our own rules.
fn config(server: Uri, namespace: String, cluster: &ClusterEntry) -> Result<Config, Diagnostic> {
    let mut config = Config::new(server);
    config.default_namespace = namespace;
    config.root_cert = trusted(cluster)?;
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify;
    config.tls_server_name.clone_from(&cluster.tls_server_name);
    config.disable_compression = cluster.disable_compression;
    config.default_retry = false;
    Ok(config)
}

/// The certificate authorities that may sign the server's certificate; `None` for those of the machine.
fn trusted(cluster: &ClusterEntry) -> Result<Option<Vec<Vec<u8>>>, Diagnostic> {
    let pem = match (&cluster.certificate_authority_data, &cluster.certificate_authority) {
        (Some(_), Some(_)) => {
            return Err(Diagnostic::general(
                "`certificate-authority` and `certificate-authority-data` are both set for the cluster: remove one of them",
            ));
        }
        (Some(data), None) => data.clone(),
        (None, Some(path)) => read("certificate authority", path)?,
        (None, None) => return Ok(None),
    };
    if cluster.insecure_skip_tls_verify {
        let message =
            "a certificate authority is given together with `insecure-skip-tls-verify`, which would ignore it";
        return Err(Diagnostic::general(message).with_hint("choose one of them"));
    }
    // As in Go (`AppendCertsFromPEM`), other blocks, broken ones and text between the certificates are passed over.
    let certificates = CertificateDer::pem_slice_iter(&pem).flatten().map(|certificate| certificate.to_vec());
    let certificates: Vec<_> = certificates.collect();
    if certificates.is_empty() {
        let message = match &cluster.certificate_authority {
            Some(path) => format!("the certificate authority `{}` holds no certificate in PEM form", path.display()),
            None => "`certificate-authority-data` of the cluster holds no certificate in PEM form".to_owned(),
        };
        return Err(Diagnostic::general(message));
    }
    Ok(Some(certificates))
}

/// The pod that this process runs in.
struct Pod<'a> {
    server: String,
    service_account: &'a Path,
    namespace: Option<&'a str>,
}

impl<'a> Pod<'a> {
    /// The pod, if this process runs in one whose service account may talk to the API server.
    pub fn detect(environment: &'a Environment) -> Option<Self> {
        let host = environment.service_host.as_deref()?;
        let port = environment.service_port.as_deref()?;
        let service_account = environment.service_account.as_path();
        if !service_account.join("token").is_file() {
            return None;
        }
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        Some(Self {
            server: format!("https://{host}:{port}"),
            service_account,
            namespace: environment.pod_namespace.as_deref(),
        })
    }

    /// The file with the token of the service account, if this process runs in a pod without one.
    pub fn missing_token(environment: &Environment) -> Option<PathBuf> {
        let is_in_pod = environment.service_host.is_some() && environment.service_port.is_some();
        let token = environment.service_account.join("token");
        (is_in_pod && !token.is_file()).then_some(token)
    }

    /// The pod's cluster, as a kubeconfig would describe it.
    pub fn cluster(&self) -> ClusterEntry {
        let authority = self.service_account.join("ca.crt");
        ClusterEntry {
            server: Some(self.server.clone()),
            certificate_authority: authority.is_file().then_some(authority),
            ..ClusterEntry::default()
        }
    }

    /// The pod's service account, as a kubeconfig would describe it.
    pub fn user(&self) -> UserEntry {
        UserEntry { token_file: Some(self.service_account.join("token")), ..UserEntry::default() }
    }

    /// The pod's namespace, with the name of its source.
    pub fn namespace(&self) -> Option<(String, String)> {
        let file = self.service_account.join("namespace");
        let (name, place) = match self.namespace {
            Some(name) => (name.to_owned(), "`POD_NAMESPACE`".to_owned()),
            None => (std::fs::read_to_string(&file).ok()?, file.display().to_string()),
        };
        Some((name.trim().to_owned(), place)).filter(|(name, _)| !name.is_empty())
    }
}
