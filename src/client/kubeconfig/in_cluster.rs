//! The configuration of a pod for the cluster that it runs in (`client-go/rest/config.go`, `InClusterConfig`).

use std::path::Path;

use super::model::{ClusterEntry, UserEntry};
use crate::client::options::Environment;

/// The pod that this process runs in.
pub struct Pod<'a> {
    server: String,
    service_account: &'a Path,
    namespace: Option<&'a str>,
}

impl<'a> Pod<'a> {
    /// The pod, if this process runs in one whose service account may talk to the API server.
    pub fn detect(environment: &'a Environment) -> Option<Self> {
        let (host, port) = (environment.service_host.as_deref()?, environment.service_port.as_deref()?);
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
