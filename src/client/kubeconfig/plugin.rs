//! The configuration of credential plugins (`users[].user.exec`).

#![expect(clippy::indexing_slicing, reason = "the value was made with `json!` here: it is an object")]

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::files::read;
use super::kuberc::PluginPolicy;
use super::model::{ClusterEntry, ExecEntry};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::one_line;

/// The configuration of a plugin, checked.
#[derive(Debug)]
pub struct PluginConfig {
    pub entry: ExecEntry,
    pub interactive: Interactive,
    /// The cluster information for the plugin, if it asks for it with `provideClusterInfo`.
    pub cluster: Option<Value>,
    /// What kubectl's preferences say about plugins.
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
