//! The readiness of an object, as a report shows it.

pub use kstatus::{Outlook, ReadinessState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;

/// The readiness of one object, as a report shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectReadiness {
    /// The state.
    pub state: ReadinessState,
    /// The reason, in one sentence.
    pub message: String,
    /// Says of a failed object if it can still recover.
    #[serde(skip, default = "open")]
    pub outlook: Outlook,
    /// The reason for an unknown state, with a hint.
    #[serde(skip)]
    pub diagnostic: Option<Diagnostic>,
}

fn open() -> Outlook {
    Outlook::Open
}

impl ObjectReadiness {
    /// Makes a readiness that is open to change.
    pub fn new(state: ReadinessState, message: impl Into<String>) -> Self {
        Self { state, message: message.into(), outlook: Outlook::Open, diagnostic: None }
    }

    /// The readiness of an object that cannot be read.
    pub fn unknown(diagnostic: Diagnostic) -> Self {
        Self { diagnostic: Some(diagnostic.clone()), ..Self::new(ReadinessState::Unknown, diagnostic.message) }
    }

    /// The readiness of an object that is ready.
    pub fn current(message: impl Into<String>) -> Self {
        Self::new(ReadinessState::Current, message)
    }

    /// Returns true if it is ready.
    pub fn is_current(&self) -> bool {
        self.state == ReadinessState::Current
    }

    /// Returns true if it failed for good.
    pub fn is_final_failure(&self) -> bool {
        self.state == ReadinessState::Failed && self.outlook == Outlook::Final
    }

    /// Returns true if waiting may help and no failure has to pass first.
    pub fn is_under_way(&self) -> bool {
        matches!(self.state, ReadinessState::InProgress | ReadinessState::Terminating | ReadinessState::NotFound)
    }
}

impl From<kstatus::Readiness> for ObjectReadiness {
    fn from(kstatus::Readiness { state, message, outlook }: kstatus::Readiness) -> Self {
        Self { state, message, outlook, diagnostic: None }
    }
}
