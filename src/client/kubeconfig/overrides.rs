//! The entries of the kubeconfig that the flags choose, and the values that the flags replace.

use std::collections::BTreeMap;
use std::path::PathBuf;

use secrecy::{ExposeSecret as _, SecretString};

use super::loader::Kubeconfig;
use super::model::{ClusterEntry, ContextEntry, UserEntry};
use crate::client::error::not_found;
use crate::client::options::ConnectOptions;
use reconcile_core::diagnostic::Diagnostic;

/// The entries of the kubeconfig that the flags and the current context choose.
pub struct Chosen {
    pub context_name: Option<String>,
    pub context: ContextEntry,
    pub cluster_name: Option<String>,
    pub cluster: ClusterEntry,
    pub user_name: Option<String>,
    pub user: UserEntry,
}

impl Chosen {
    /// Looks up the entries, and adds notes about anything unusual in them.
    pub fn from(
        options: &ConnectOptions,
        kubeconfig: &Kubeconfig,
        notes: &mut Vec<String>,
    ) -> Result<Self, Diagnostic> {
        let document = &kubeconfig.document;
        let not_found =
            |what, name: &str, existing: Vec<String>| not_found(what, name, &existing, &kubeconfig.looked_at);
        let context_name =
            given(options.context.as_deref()).map(str::to_owned).or_else(|| document.current_context.clone());
        let context = match &context_name {
            Some(name) => document
                .contexts
                .get(name)
                .cloned()
                .ok_or_else(|| not_found("context", name, document.contexts.keys().cloned().collect()))?,
            None => ContextEntry::default(),
        };

        let cluster_name = given(options.cluster.as_deref()).map(str::to_owned).or_else(|| context.cluster.clone());
        let cluster = match cluster_name.as_deref() {
            Some(name) => match document.clusters.get(name) {
                Some(cluster) => cluster.clone(),
                // With `--server`, the cluster that the context names need not exist.
                None if given(options.cluster.as_deref()).is_none() && given(options.server.as_deref()).is_some() => {
                    ClusterEntry::default()
                }
                None => return Err(not_found("cluster", name, document.clusters.keys().cloned().collect())),
            },
            None => ClusterEntry::default(),
        };

        let user_name = given(options.user.as_deref()).map(str::to_owned).or_else(|| context.user.clone());
        let user = match user_name.as_deref().map(|name| (name, document.users.get(name))) {
            Some((_, Some(user))) => user.clone(),
            Some((name, None)) if given(options.user.as_deref()).is_some() => {
                return Err(not_found("user", name, document.users.keys().cloned().collect()));
            }
            Some((name, None)) => {
                notes.push(format!(
                    "user `{name}` of the context does not exist in the kubeconfig: requests are anonymous"
                ));
                UserEntry::default()
            }
            None => UserEntry::default(),
        };
        Ok(Self { context_name, context, cluster_name, cluster, user_name, user })
    }
}

/// The value of a flag, unless it is empty.
pub fn given(flag: Option<&str>) -> Option<&str> {
    flag.filter(|value| !value.is_empty())
}

fn given_path(flag: Option<&PathBuf>) -> Option<&PathBuf> {
    flag.filter(|path| !path.as_os_str().is_empty())
}

/// The value of `--token`, unless it is empty.
fn given_token(options: &ConnectOptions) -> Option<&SecretString> {
    options.token.as_ref().filter(|token| !token.expose_secret().is_empty())
}

/// Replaces the values of the cluster that flags set.
pub fn override_cluster(cluster: &mut ClusterEntry, options: &ConnectOptions) {
    let server = given(options.server.as_deref());
    let authority = given_path(options.certificate_authority.as_ref());
    let insecure = options.insecure_skip_tls_verify == Some(true);
    let server_name = given(options.tls_server_name.as_deref());
    // Each of these flags replaces all trust settings of the kubeconfig.
    if insecure || authority.is_some() {
        cluster.insecure_skip_tls_verify = insecure;
        cluster.certificate_authority = authority.cloned();
        cluster.certificate_authority_data = None;
    }
    // The `tls-server-name` of the kubeconfig belongs to the server of the kubeconfig.
    if server.is_some() || server_name.is_some() {
        cluster.tls_server_name = server_name.map(str::to_owned);
    }
    if let Some(server) = server {
        cluster.server = Some(server.to_owned());
    }
    cluster.disable_compression |= options.disable_compression == Some(true);
}

/// Replaces the values of the user that flags set.
pub fn override_user(user: &mut UserEntry, options: &ConnectOptions) -> Result<(), Diagnostic> {
    if let Some(token) = given_token(options) {
        user.token = Some(token.clone());
        // kubectl lets the kubeconfig's token file win here, by accident. Here the flag wins.
        user.token_file = None;
    }
    if let Some(path) = given_path(options.client_certificate.as_ref()) {
        user.client_certificate = Some(path.clone());
        user.client_certificate_data = None;
    }
    if let Some(path) = given_path(options.client_key.as_ref()) {
        user.client_key = Some(path.clone());
        user.client_key_data = None;
    }
    if let Some(name) = given(options.as_user.as_deref()) {
        user.impersonate = Some(name.to_owned());
    }
    if let Some(uid) = given(options.as_uid.as_deref()) {
        user.impersonate_uid = Some(uid.to_owned());
    }
    if !options.as_group.is_empty() {
        user.impersonate_groups.clone_from(&options.as_group);
    }
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pair in &options.as_user_extra {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(Diagnostic::general(format!("`--as-user-extra={pair}` is not `key=value`")));
        };
        extra.entry(key.to_owned()).or_default().push(value.to_owned());
    }
    user.impersonate_user_extra.extend(extra);
    Ok(())
}
