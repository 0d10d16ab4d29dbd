//! Credential plugins: programs that provide the credentials of the user
//! (`client-go/plugin/pkg/client/auth/exec/exec.go`, `client.authentication.k8s.io`).

#![expect(clippy::indexing_slicing, reason = "the value was made with `json!` here: it is an object")]

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use jiff::Timestamp;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::exact;
use reconcile_core::request::RequestError;
use reconcile_core::text::{io_reason, one_line};
use secrecy::{ExposeSecret as _, SecretSlice, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::sync::Mutex;

use crate::client::kubeconfig::credentials::{ClientCertificate, Interactive, PluginConfig};
use crate::client::kubeconfig::kuberc::PluginRefusal;
use crate::client::kubeconfig::loader::first_document;
use crate::client::options::Environment;
use crate::program;
use crate::program::LookupError;

/// The time that a plugin may take when standard input is no terminal.
const UNATTENDED: Duration = Duration::from_mins(2);
/// The time that a plugin may take when standard input is a terminal: a person may have to log in.
const ATTENDED: Duration = Duration::from_mins(5);
/// Held while a plugin may prompt a person: with several contexts, two plugins would prompt on the same terminal at the same time.
static ASKING: Mutex<()> = Mutex::const_new(());
/// The largest answer of a plugin, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;

/// The credentials in the answer of a plugin.
#[derive(Debug)]
pub struct PluginCredentials {
    pub token: Option<SecretString>,
    pub client_certificate: Option<ClientCertificate>,
    pub expires: Option<Timestamp>,
}

/// A plugin that can be run.
pub struct Plugin<'a>(pub &'a PluginConfig);

impl Plugin<'_> {
    /// Runs the plugin once. It inherits our standard input only if it may prompt, the input is a terminal, and no manifests are read
    /// from it. It always inherits our standard error, for its messages.
    pub async fn run(&self, stdin_is_free: bool, environment: &Environment) -> Result<PluginCredentials, ExecError> {
        let interactive = self.takes_stdin(stdin_is_free, environment.stdin_is_terminal)?;
        let _asking = if interactive { Some(ASKING.lock().await) } else { None };
        let bound = if environment.stdin_is_terminal { ATTENDED } else { UNATTENDED };
        let mut command = Command::new(self.program()?);
        command
            .args(&self.0.entry.args)
            .envs(self.0.entry.env.iter().map(|(name, value)| (name, value.expose_secret())))
            .env("KUBERNETES_EXEC_INFO", self.info(interactive).to_string())
            .stdin(if interactive { Stdio::inherit() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| self.not_started(error))?;
        let mut output = Vec::new();
        let ended = async {
            if let Some(stdout) = child.stdout.take() {
                stdout.take(MAX_OUTPUT + 1).read_to_end(&mut output).await?;
            }
            child.wait().await
        };
        let status = match tokio::time::timeout(bound, ended).await {
            Ok(status) => status.map_err(|source| ExecError::NotStarted { command: self.name(), source })?,
            Err(_) => return Err(ExecError::TimedOut { command: self.name(), after: bound }),
        };
        // A plugin that writes more fails, because nobody reads the rest.
        if output.len() as u64 > MAX_OUTPUT {
            return Err(self.unusable(format!("it is longer than {} KiB", MAX_OUTPUT >> 10)));
        }
        if !status.success() {
            return Err(ExecError::Failed { command: self.name(), status });
        }
        self.read(&output).map_err(|reason| self.unusable(reason))
    }

    /// Returns the error for an answer that cannot be used.
    pub fn unusable(&self, reason: String) -> ExecError {
        ExecError::Answer { command: self.name(), reason }
    }

    fn name(&self) -> String {
        one_line(&self.0.entry.command, 200)
    }

    /// Finds the program as kubectl does. A relative path in the kubeconfig was made absolute before, from the folder of the kubeconfig.
    fn program(&self) -> Result<PathBuf, ExecError> {
        let command = &self.0.entry.command;
        let found = program::find_first(OsStr::new(command));
        if let Some(policy) = &self.0.policy
            && let Some(reason) = policy.refusal(command, found.as_deref().ok())
        {
            return Err(ExecError::Refused { command: self.name(), file: policy.file.clone(), reason });
        }
        found.map_err(|error| match error {
            LookupError::Missing => self.not_started(io::ErrorKind::NotFound.into()),
            source => ExecError::NotAllowed { command: self.name(), source },
        })
    }

    fn not_started(&self, source: io::Error) -> ExecError {
        if source.kind() == io::ErrorKind::NotFound {
            let install_hint = self.0.entry.install_hint.as_deref().map(|hint| one_line(hint, 1000));
            return ExecError::Missing { command: self.name(), install_hint };
        }
        ExecError::NotStarted { command: self.name(), source }
    }

    fn takes_stdin(&self, free: bool, terminal: bool) -> Result<bool, ExecError> {
        let cannot = |reason| Err(ExecError::NeedsTerminal { command: self.name(), reason });
        match self.0.interactive {
            Interactive::Never => Ok(false),
            Interactive::IfAvailable => Ok(free && terminal),
            Interactive::Always if !terminal => cannot("standard input is not a terminal"),
            Interactive::Always if !free => cannot("the manifests are read from standard input"),
            Interactive::Always => Ok(true),
        }
    }

    /// The `ExecCredential` that the plugin gets in its environment.
    fn info(&self, interactive: bool) -> Value {
        let mut spec = json!({ "interactive": interactive });
        if let Some(cluster) = &self.0.cluster {
            spec["cluster"] = cluster.clone();
        }
        json!({ "kind": "ExecCredential", "apiVersion": self.0.entry.api_version, "spec": spec })
    }

    fn read(&self, output: &[u8]) -> Result<PluginCredentials, String> {
        let value = first_document(output).map_err(|_| "it is neither JSON nor YAML".to_owned())?;
        let credential: ExecCredential =
            exact::from_value(value).map_err(|_| "it is not an `ExecCredential`".to_owned())?;
        if credential.kind != "ExecCredential" {
            return Err("it is not an `ExecCredential`".to_owned());
        }
        if credential.api_version != self.0.entry.api_version {
            let wanted = &self.0.entry.api_version;
            let got = one_line(&credential.api_version, 100);
            return Err(format!("the kubeconfig asks for `{wanted}`, and it is `{got}`"));
        }
        let status = credential.status.ok_or("it has no `status`")?;
        let expires = match status.expiration_timestamp.as_deref() {
            None | Some("") => None,
            Some(time) => Some(time.parse().map_err(|_| "its `expirationTimestamp` is not a time".to_owned())?),
        };
        let certificate = match (status.client_certificate_data, status.client_key_data) {
            (Some(certificate), Some(key)) => Some(ClientCertificate {
                certificate: certificate.into_bytes(),
                key: SecretSlice::from(key.expose_secret().as_bytes().to_vec()),
                places: ["`clientCertificateData`", "`clientKeyData`"].map(ToOwned::to_owned),
            }),
            (None, None) => None,
            _ => return Err("it has a certificate or a key, but not both".to_owned()),
        };
        if status.token.is_none() && certificate.is_none() {
            return Err("it has neither a token nor a certificate with its key".to_owned());
        }
        Ok(PluginCredentials { token: status.token, client_certificate: certificate, expires })
    }
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct ExecCredential {
    kind: String,
    api_version: String,
    status: Option<ExecStatus>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ExecStatus {
    expiration_timestamp: Option<String>,
    #[serde(deserialize_with = "secret")]
    token: Option<SecretString>,
    #[serde(deserialize_with = "non_empty")]
    client_certificate_data: Option<String>,
    #[serde(deserialize_with = "secret")]
    client_key_data: Option<SecretString>,
}

fn non_empty<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty()))
}

fn secret<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    Ok(non_empty(deserializer)?.map(SecretString::from))
}

/// The reason why a plugin gave no credentials. Nothing that it printed to stdout is shown.
#[derive(Debug, Error)]
pub enum ExecError {
    /// The program does not exist.
    #[error("the credential plugin `{command}` is not installed")]
    Missing {
        /// Its name or path.
        command: String,
        /// The `installHint` of the kubeconfig.
        install_hint: Option<String>,
    },
    /// The program is in a folder from which no program is run.
    #[error("the credential plugin `{command}` cannot be started: {source}")]
    NotAllowed {
        /// Its name.
        command: String,
        /// The reason, with the folder.
        source: LookupError,
    },
    /// kubectl's preferences do not allow it.
    #[error("the kuberc `{}` does not allow the credential plugin `{command}`: {reason}", file.display())]
    Refused {
        /// Its name or path.
        command: String,
        /// The file with the policy.
        file: PathBuf,
        /// The reason.
        reason: PluginRefusal,
    },
    /// It cannot be started.
    #[error("the credential plugin `{command}` cannot be started: {}", io_reason(source))]
    NotStarted {
        /// Its name or path.
        command: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It has to prompt a person, and there is none.
    #[error("the credential plugin `{command}` has to prompt for input, but {reason}")]
    NeedsTerminal {
        /// Its name or path.
        command: String,
        /// The reason why it cannot prompt.
        reason: &'static str,
    },
    /// It ended with an error.
    #[error("the credential plugin `{command}` failed ({})", ended(*status))]
    Failed {
        /// Its name or path.
        command: String,
        /// Its exit status.
        status: ExitStatus,
    },
    /// It did not end in time.
    #[error("the credential plugin `{command}` did not answer within {}s", after.as_secs())]
    TimedOut {
        /// Its name or path.
        command: String,
        /// The time that was waited for.
        after: Duration,
    },
    /// Its answer cannot be used.
    #[error("the answer of the credential plugin `{command}` cannot be used: {reason}")]
    Answer {
        /// Its name or path.
        command: String,
        /// The reason.
        reason: String,
    },
}

fn ended(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => "killed by a signal".to_owned(),
    }
}

impl ExecError {
    /// Returns true if the user has to correct the kubeconfig or install something, rather than log in or allow the plugin.
    fn is_configuration(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::NotAllowed { .. } | Self::NeedsTerminal { .. })
    }

    /// A hint that says what to do.
    pub(in crate::client) fn hint(&self) -> Option<String> {
        match self {
            Self::Missing { install_hint: Some(hint), .. } => Some(hint.clone()),
            Self::Missing { command, .. } if program::is_path(OsStr::new(command)) => {
                Some("the kubeconfig names this path: install the plugin there, or correct its `command`".to_owned())
            }
            Self::Missing { .. } => Some("the kubeconfig names it; it must be on PATH".to_owned()),
            Self::NotAllowed { .. } => Some(
                "take that folder out of PATH, or write the absolute path of the plugin into the kubeconfig; kubectl does not run it either".to_owned(),
            ),
            Self::Refused { reason: PluginRefusal::DenyAll, .. } => Some(
                "if you trust the plugin, set `credentialPluginPolicy: Allowlist` in that file, and add its `command` to `credentialPluginAllowlist`; kubectl does not run it either".to_owned(),
            ),
            Self::Refused { reason: PluginRefusal::NotListed, .. } => Some(
                "if you trust the plugin, add its `command` to `credentialPluginAllowlist` of that file; kubectl does not run it either".to_owned(),
            ),
            Self::Failed { .. } => {
                Some("logging in again often helps; the messages of the plugin, if it has any, are above".to_owned())
            }
            Self::NeedsTerminal { .. } => Some("run it from a terminal, with the manifests in files".to_owned()),
            _ => None,
        }
    }
}

/// If the user has to log in or to allow the plugin, the cluster counts as unreachable, because there are no credentials for it.
impl From<ExecError> for Diagnostic {
    fn from(error: ExecError) -> Self {
        let code = if error.is_configuration() { Code::Invalid } else { Code::Unauthorized };
        Self { hint: error.hint(), ..Self::new(code, error.to_string()) }
    }
}

impl From<ExecError> for RequestError {
    fn from(error: ExecError) -> Self {
        Self::Credentials(Box::new(error.into()))
    }
}
