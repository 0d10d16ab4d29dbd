//! The reasons why a credential plugin gave no credentials.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use thiserror::Error;

use reconcile_core::request::RequestError;

use crate::program::LookupError;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::text::io_reason;

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
    #[error("the credential plugin `{command}` must not run by the kuberc `{}`: {reason}", file.display())]
    Refused {
        /// Its name or path.
        command: String,
        /// The file with the policy.
        file: PathBuf,
        /// The reason.
        reason: &'static str,
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
    /// Returns true if the user has to correct the kubeconfig or install something, rather than log in.
    fn is_configuration(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::NotAllowed { .. } | Self::NeedsTerminal { .. })
    }

    /// A hint that says what to do.
    pub(in crate::client) fn hint(&self) -> Option<String> {
        match self {
            Self::Missing { install_hint, .. } => {
                Some(install_hint.clone().unwrap_or_else(|| "the kubeconfig names it; it must be on PATH".to_owned()))
            }
            Self::NotAllowed { .. } => Some(
                "add the folder of the plugin to PATH, or its path to the kubeconfig, as an absolute path".to_owned(),
            ),
            Self::Refused { .. } => Some(
                "if you trust the plugin, add its `command` to `credentialPluginAllowlist` of that file; kubectl does not run it either".to_owned(),
            ),
            Self::Failed { .. } => Some("see its output above; logging in again often helps".to_owned()),
            Self::NeedsTerminal { .. } => Some("run it from a terminal, with the manifests in files".to_owned()),
            _ => None,
        }
    }
}

/// If the user has to log in, the cluster counts as unreachable, because there are no credentials for it.
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
