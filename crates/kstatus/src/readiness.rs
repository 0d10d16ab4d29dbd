use serde::{Deserialize, Serialize};

/// How far an object is, in the words of kstatus (cli-utils `pkg/kstatus/status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// Ready: the cluster is as the object says.
    Current,
    /// On its way.
    InProgress,
    /// It went wrong.
    Failed,
    /// It is being deleted.
    Terminating,
    /// It does not exist.
    NotFound,
    /// It could not be read.
    Unknown,
}

/// Whether a failure can pass without anybody changing the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// Somebody in the cluster still tries: an image is pulled again, a container is started again.
    Open,
    /// Nobody does.
    Final,
}

/// The readiness of one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Readiness {
    /// How far it is.
    pub state: State,
    /// Why, in one sentence.
    pub message: String,
    /// Of a failure: whether it can pass.
    #[serde(skip)]
    pub outlook: Outlook,
}

impl Readiness {
    /// In some state.
    #[must_use]
    pub fn new(state: State, message: impl Into<String>) -> Self {
        Self { state, message: message.into(), outlook: Outlook::Open }
    }

    /// Ready.
    #[must_use]
    pub fn current(message: impl Into<String>) -> Self {
        Self::new(State::Current, message)
    }

    /// On its way.
    #[must_use]
    pub fn in_progress(message: impl Into<String>) -> Self {
        Self::new(State::InProgress, message)
    }

    /// Failed, and still tried.
    #[must_use]
    pub fn failing(message: impl Into<String>) -> Self {
        Self::new(State::Failed, message)
    }

    /// Failed for good.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self { outlook: Outlook::Final, ..Self::new(State::Failed, message) }
    }

    /// Returns true if it is ready.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.state == State::Current
    }

    /// Returns true if it failed, and only a change of the object helps.
    #[must_use]
    pub fn is_final_failure(&self) -> bool {
        self.state == State::Failed && self.outlook == Outlook::Final
    }
}
