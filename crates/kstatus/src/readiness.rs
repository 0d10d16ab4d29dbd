use serde::{Deserialize, Serialize};

/// State of an object, with the names of kstatus (cli-utils `pkg/kstatus/status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ReadinessState {
    /// Ready: the cluster has the state that the object asks for.
    Current,
    /// Being reconciled.
    InProgress,
    /// Reconciliation failed.
    Failed,
    /// Being deleted.
    Terminating,
    /// Not found.
    NotFound,
    /// Not readable.
    Unknown,
}

/// Outlook of a failure: may it pass without a change of the object?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// It may pass: the cluster keeps trying, as it does to pull an image or to start a container.
    Open,
    /// It cannot pass.
    Final,
}

/// The readiness of one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Readiness {
    /// State of the object.
    pub state: ReadinessState,
    /// Reason for the state, in one sentence.
    pub message: String,
    /// Outlook of a failure.
    #[serde(skip)]
    pub outlook: Outlook,
}

impl Readiness {
    /// Creates the readiness for a state.
    pub fn new(state: ReadinessState, message: impl Into<String>) -> Self {
        Self { state, message: message.into(), outlook: Outlook::Open }
    }

    /// Creates the readiness of a ready object.
    pub fn current(message: impl Into<String>) -> Self {
        Self::new(ReadinessState::Current, message)
    }

    /// Creates the readiness of an object that is being reconciled.
    pub fn in_progress(message: impl Into<String>) -> Self {
        Self::new(ReadinessState::InProgress, message)
    }

    /// Creates a failure that may pass.
    pub fn failing(message: impl Into<String>) -> Self {
        Self::new(ReadinessState::Failed, message)
    }

    /// Creates a final failure.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { outlook: Outlook::Final, ..Self::new(ReadinessState::Failed, message) }
    }

    /// Returns true if the object is ready.
    pub fn is_current(&self) -> bool {
        self.state == ReadinessState::Current
    }

    /// Returns true if the object failed, and only a change of it helps.
    pub fn is_final_failure(&self) -> bool {
        self.state == ReadinessState::Failed && self.outlook == Outlook::Final
    }
}
