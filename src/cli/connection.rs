use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::client::RequestTimeout;

/// Flags that select the cluster, the same as kubectl's.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub struct ConnectionArgs {
    /// Path to the kubeconfig file
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// File with the preferences of kubectl; only its policy for credential plugins is used [default: ~/.kube/kuberc]
    #[arg(long, value_name = "FILE")]
    pub kuberc: Option<PathBuf>,
    /// Kubeconfig context to use; `diff`, `apply`, `status` and `blame` take several: `a,b`, `prod-*`
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// Kubeconfig cluster to use
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// Kubeconfig user to use
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Namespace for objects that do not set one; objects that set another are rejected
    #[arg(short, long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// URL of the API server
    #[arg(short, long, value_name = "URL")]
    pub server: Option<String>,
    /// Bearer token for the API server
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
    /// User to impersonate
    #[arg(long = "as", value_name = "USER")]
    pub as_user: Option<String>,
    /// Group to impersonate (repeatable)
    #[arg(long, value_name = "GROUP")]
    pub as_group: Vec<String>,
    /// UID to impersonate
    #[arg(long, value_name = "UID")]
    pub as_uid: Option<String>,
    /// Extra field of the user to impersonate (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub as_user_extra: Vec<String>,
    /// File with the certificate authority of the API server
    #[arg(long, value_name = "FILE")]
    pub certificate_authority: Option<PathBuf>,
    /// File with the client certificate
    #[arg(long, value_name = "FILE")]
    pub client_certificate: Option<PathBuf>,
    /// File with the client key
    #[arg(long, value_name = "FILE")]
    pub client_key: Option<PathBuf>,
    /// Do not verify the server's certificate, which makes the connection insecure
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub insecure_skip_tls_verify: Option<bool>,
    /// Server name to expect in the server's certificate
    #[arg(long, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// Request uncompressed responses
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub disable_compression: Option<bool>,
    /// Directory for cached types of custom resources [default: ~/.kube/cache]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub cache_dir: Option<PathBuf>,
    /// Time limit for one request, such as `30s` or `1m`; `0` limits only the time to connect and pauses in a response
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    pub request_timeout: RequestTimeout,
}
