use std::path::PathBuf;

use clap::Args;

use crate::client::RequestTimeout;

/// Which cluster, by kubectl's own flags.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub struct ConnectionArgs {
    /// Path to the kubeconfig file
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig to use
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// Cluster of the kubeconfig to use
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// User of the kubeconfig to use
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Namespace of objects that name none; objects that name another are refused
    #[arg(short, long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// URL of the API server
    #[arg(short, long, value_name = "URL")]
    pub server: Option<String>,
    /// Bearer token
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
    /// Extra of the user to impersonate (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub as_user_extra: Vec<String>,
    /// Certificate authority of the API server
    #[arg(long, value_name = "FILE")]
    pub certificate_authority: Option<PathBuf>,
    /// Client certificate
    #[arg(long, value_name = "FILE")]
    pub client_certificate: Option<PathBuf>,
    /// Client key
    #[arg(long, value_name = "FILE")]
    pub client_key: Option<PathBuf>,
    /// Don't check the server's certificate: the connection is open to attack
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub insecure_skip_tls_verify: Option<bool>,
    /// Name that the server's certificate is checked for
    #[arg(long, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// Ask for uncompressed answers
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub disable_compression: Option<bool>,
    /// Where types of custom resources are kept between runs [default: ~/.kube/cache]
    #[arg(long, value_name = "DIR")]
    pub cache_dir: Option<PathBuf>,
    /// Longest wait for one request, such as `30s` or `1m`; `0` bounds only connecting and silence
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub request_timeout: RequestTimeout,
}
