//! The inputs of a connection: flags, the environment, and the log.

use std::env::VarError;
use std::fmt;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueHint};
use secrecy::SecretString;
use thiserror::Error;

/// The folder in which a pod finds the credentials of its service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Flags that select the cluster, the same as kubectl's.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Cluster")]
pub struct ConnectOptions {
    /// Path to the kubeconfig file
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// File with the preferences of kubectl; only its policy for credential plugins is used [default: ~/.kube/kuberc]
    #[arg(long, value_name = "FILE")]
    pub kuberc: Option<PathBuf>,
    /// Kubeconfig context to use; `diff`, `apply`, `status`, `blame` and `own` take several: `a,b`, `prod-*`
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
    pub token: Option<SecretString>,
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
    // As with kubectl, `false` does not undo what the kubeconfig says.
    /// Do not verify the server's certificate, which makes the connection insecure
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub insecure_skip_tls_verify: Option<bool>,
    /// Server name to expect in the server's certificate
    #[arg(long, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    // As with kubectl, `false` does not undo what the kubeconfig says.
    /// Request uncompressed responses
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub disable_compression: Option<bool>,
    /// Directory for cached types of custom resources [default: ~/.kube/cache]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub cache_dir: Option<PathBuf>,
    /// Time limit for one request, such as `30s` or `1m`; `0` limits only the time to connect and pauses in a response
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    pub request_timeout: RequestTimeout,
    /// Number of `-v`: from 1 retries are logged, from 6 every request
    #[arg(skip)]
    pub verbose: u8,
    /// True if a credential plugin may use standard input, because no manifests are read from it
    #[arg(skip)]
    pub stdin_is_free: bool,
    /// The log for retries and warnings
    #[arg(skip)]
    pub log: Log,
}

/// Takes notes for the person at the terminal: single lines without a line end, such as retries and warnings. The caller passes the
/// function that prints them, because only the terminal module writes to stderr. By default, notes are dropped.
#[derive(Clone, Default)]
pub struct Log(Option<Arc<Sink>>);

type Sink = dyn Fn(&str) + Send + Sync;

impl Log {
    /// A log that passes each note to `sink`.
    pub fn to(sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(sink)))
    }

    /// Takes one note.
    pub(super) fn note(&self, line: &str) {
        if let Some(sink) = &self.0 {
            sink(line);
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "Log(sink)" } else { "Log(nowhere)" })
    }
}

/// The time that one request may take as a whole: connecting, the answer to its last byte, and all repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestTimeout {
    /// At most this long.
    Within(Duration),
    /// No limit as a whole: connecting may take 30 seconds, and then data must keep coming.
    Unbounded,
}

impl Default for RequestTimeout {
    fn default() -> Self {
        Self::Within(Duration::from_secs(30))
    }
}

/// The longest timeout that can be given: ten years, which can be added to the present time without overflow.
pub const MAX_TIMEOUT: Duration = Duration::from_hours(10 * 365 * 24);

/// A timeout that cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum InvalidTimeout {
    /// It is not a duration.
    #[error("`{0}` is not a timeout: give seconds (`30`), a duration with units (`1m30s`, `500ms`), or `0` for none")]
    NotADuration(String),
    /// It is longer than [`MAX_TIMEOUT`].
    #[error("`{0}` is too long: the longest timeout is 10 years (`87600h`)")]
    TooLong(String),
}

impl FromStr for RequestTimeout {
    type Err = InvalidTimeout;

    /// Reads what kubectl reads: a bare number of seconds, or a duration with units as Go writes them.
    fn from_str(text: &str) -> Result<Self, InvalidTimeout> {
        let whole = text.strip_prefix('+').unwrap_or(text);
        let is_number = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
        let seconds = if is_number { whole.parse().ok() } else { go_duration(whole) };
        let Some(seconds) = seconds else { return Err(InvalidTimeout::NotADuration(text.to_owned())) };
        match Duration::try_from_secs_f64(seconds) {
            Ok(Duration::ZERO) => Ok(Self::Unbounded),
            Ok(duration) if duration <= MAX_TIMEOUT => Ok(Self::Within(duration)),
            Ok(_) | Err(_) => Err(InvalidTimeout::TooLong(text.to_owned())),
        }
    }
}

/// A positive duration in seconds, as `time.ParseDuration` of Go reads it: decimal numbers, each with a unit.
fn go_duration(mut text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 8] =
        [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("μs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let mut seconds = 0.0;
    if text.is_empty() {
        return None;
    }
    while !text.is_empty() {
        let number_ends = text.find(|character: char| !character.is_ascii_digit() && character != '.')?;
        let (number, rest) = text.split_at(number_ends);
        let unit_ends =
            rest.find(|character: char| character.is_ascii_digit() || character == '.').unwrap_or(rest.len());
        let (unit, rest) = rest.split_at(unit_ends);
        let factor = UNITS.iter().find(|(name, _)| *name == unit)?.1;
        seconds += number.parse::<f64>().ok()? * factor;
        text = rest;
    }
    Some(seconds)
}

/// The environment of the process, as far as the connection depends on it. It is read once, so that tests can pass another one.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `KUBECONFIG`.
    pub kubeconfig: Option<std::ffi::OsString>,
    /// `KUBERC`: the file with kubectl's preferences, or `off`.
    pub kuberc: Option<std::ffi::OsString>,
    /// True if `KUBECTL_KUBERC=false` turns kubectl's preferences off.
    pub kuberc_is_disabled: bool,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// `KUBECACHEDIR`.
    pub cache: Option<PathBuf>,
    /// `HTTPS_PROXY` or `https_proxy`.
    pub https_proxy: Option<String>,
    /// `HTTP_PROXY` or `http_proxy`.
    pub http_proxy: Option<String>,
    /// `NO_PROXY` or `no_proxy`.
    pub no_proxy: Option<String>,
    /// `KUBERNETES_SERVICE_HOST`.
    pub service_host: Option<String>,
    /// `KUBERNETES_SERVICE_PORT`.
    pub service_port: Option<String>,
    /// `POD_NAMESPACE`.
    pub pod_namespace: Option<String>,
    /// The folder with the token, the authority and the namespace of a pod's service account.
    pub service_account: PathBuf,
    /// True if standard input is a terminal, so that a person can answer prompts.
    pub stdin_is_terminal: bool,
}

impl Environment {
    /// Reads the environment of this process. Empty variables count as unset, as they do for kubectl.
    pub fn from_process() -> Self {
        Self {
            kubeconfig: std::env::var_os("KUBECONFIG").filter(|value| !value.is_empty()),
            kuberc: std::env::var_os("KUBERC").filter(|value| !value.is_empty()),
            kuberc_is_disabled: std::env::var("KUBECTL_KUBERC").is_ok_and(|value| value.to_lowercase() == "false"),
            home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
            cache: std::env::var_os("KUBECACHEDIR").filter(|value| !value.is_empty()).map(PathBuf::from),
            https_proxy: variable(&["HTTPS_PROXY", "https_proxy"]),
            http_proxy: variable(&["HTTP_PROXY", "http_proxy"]),
            no_proxy: variable(&["NO_PROXY", "no_proxy"]),
            service_host: variable(&["KUBERNETES_SERVICE_HOST"]),
            service_port: variable(&["KUBERNETES_SERVICE_PORT"]),
            pod_namespace: variable(&["POD_NAMESPACE"]),
            service_account: Path::new(SERVICE_ACCOUNT).to_owned(),
            stdin_is_terminal: std::io::stdin().is_terminal(),
        }
    }

    /// The folder for what is kept between runs (`getDefaultCacheDir` in `cli-runtime/pkg/genericclioptions`).
    pub fn cache_folder(&self) -> Option<PathBuf> {
        self.cache.clone().or_else(|| Some(self.home.as_ref()?.join(".kube").join("cache")))
    }
}

/// The first of `names` that is set and not empty.
fn variable(names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match std::env::var(name) {
        Ok(value) => Some(value).filter(|value| !value.is_empty()),
        Err(VarError::NotPresent) => None,
        Err(VarError::NotUnicode(value)) => Some(value.to_string_lossy().into_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_kubectl_has_it() {
        let home = Environment { home: Some("/home/a".into()), ..Environment::default() };
        assert_eq!(home.cache_folder(), Some("/home/a/.kube/cache".into()));
        let moved = Environment { cache: Some("/tmp/cache".into()), ..home };
        assert_eq!(moved.cache_folder(), Some("/tmp/cache".into()));
        assert_eq!(Environment::default().cache_folder(), None);
    }

    #[test]
    fn timeouts_are_read_as_kubectl_reads_them() {
        let within = |millis| Ok(RequestTimeout::Within(Duration::from_millis(millis)));
        for (text, expected) in [
            ("30", within(30_000)),
            ("30s", within(30_000)),
            ("+5", within(5_000)),
            ("1m", within(60_000)),
            ("1h30m", within(5_400_000)),
            ("1.5s", within(1_500)),
            (".5s", within(500)),
            ("250ms", within(250)),
            ("1m1h", within(3_660_000)),
            ("1h1h", within(7_200_000)),
            ("1.5h30m", within(7_200_000)),
            ("0", Ok(RequestTimeout::Unbounded)),
            ("0s", Ok(RequestTimeout::Unbounded)),
        ] {
            assert_eq!(text.parse(), expected, "{text}");
        }
        for text in ["", "-5", "-5s", "5 s", "s", "5d", "1m30", "PT5S", "1h 30m", "abc", "1..5s", "NaNs"] {
            assert_eq!(text.parse::<RequestTimeout>(), Err(InvalidTimeout::NotADuration(text.to_owned())));
        }
    }

    #[test]
    fn a_timeout_ends_within_ten_years() {
        assert_eq!("87600h".parse(), Ok(RequestTimeout::Within(MAX_TIMEOUT)));
        let too_long = [
            "87600h1s",
            "315360001",
            "18446744073709551615",
            "+18446744073709551616",
            "99999999999999999999h",
            &"9".repeat(400),
            &format!("{}h", "9".repeat(400)),
        ];
        for text in too_long {
            assert_eq!(text.parse::<RequestTimeout>(), Err(InvalidTimeout::TooLong(text.to_owned())));
        }
    }

    #[test]
    fn a_token_does_not_show_in_debug_output() {
        let options = ConnectOptions { token: Some("hunter2".into()), ..ConnectOptions::default() };
        assert!(!format!("{options:?}").contains("hunter2"));
    }
}
