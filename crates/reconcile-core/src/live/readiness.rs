//! How far an object is on its way to being ready: what a report shows of it.

pub use kstatus::{Outlook, State};
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;

/// The readiness of one object: what a report shows of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Readiness {
    /// How far it is.
    pub state: State,
    /// Why, in one sentence.
    pub message: String,
    /// Of a failure: whether it can pass.
    #[serde(skip, default = "open")]
    pub outlook: Outlook,
    /// Why it is unknown, with what to do about it.
    #[serde(skip)]
    pub diagnostic: Option<Diagnostic>,
}

fn open() -> Outlook {
    Outlook::Open
}

impl Readiness {
    /// In some state.
    #[must_use]
    pub fn new(state: State, message: impl Into<String>) -> Self {
        Self { state, message: message.into(), outlook: Outlook::Open, diagnostic: None }
    }

    /// Not readable.
    #[must_use]
    pub fn unknown(diagnostic: Diagnostic) -> Self {
        Self { diagnostic: Some(diagnostic.clone()), ..Self::new(State::Unknown, diagnostic.message) }
    }

    /// Ready.
    #[must_use]
    pub fn current(message: impl Into<String>) -> Self {
        Self::new(State::Current, message)
    }

    /// Returns true if it is ready.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.state == State::Current
    }

    /// Returns true if it failed for good.
    #[must_use]
    pub fn is_final_failure(&self) -> bool {
        self.state == State::Failed && self.outlook == Outlook::Final
    }

    /// Returns true if waiting may still help without any failure passing.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        matches!(self.state, State::InProgress | State::Terminating | State::NotFound)
    }
}

impl From<kstatus::Readiness> for Readiness {
    fn from(kstatus::Readiness { state, message, outlook }: kstatus::Readiness) -> Self {
        Self { state, message, outlook, diagnostic: None }
    }
}
