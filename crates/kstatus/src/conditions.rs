//! Conditions (`metav1.Condition`), and the meaning of `Ready` for kinds without a rule of their own.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::fields::{int, list, sentence, text};
use super::readiness::Readiness;

/// Reasons of `Ready=False` with which controllers stop retrying until somebody changes something. Kubernetes has no
/// list of them: cert-manager, Gateway API, Cluster API, Crossplane, Flux and Argo write these when they give up.
const TERMINAL: [&str; 12] = [
    "Aborted",
    "Denied",
    "Failed",
    "Invalid",
    "InvalidConfig",
    "InvalidConfiguration",
    "InvalidSpec",
    "Rejected",
    "Stalled",
    "TerminalError",
    "Unrecoverable",
    "Unsupported",
];

/// Suffixes of such reasons, as in `ValidationFailed` or `ChartTerminalError`.
const TERMINAL_ENDS: [&str; 4] = ["TerminalError", "UnrecoverableError", "ValidationFailed", "ValidationError"];

/// One condition of an object.
pub(super) struct Condition<'v> {
    pub kind: &'v str,
    status: &'v str,
    pub reason: &'v str,
    message: &'v str,
    /// Severity in Cluster API: `Error` means that manual intervention is needed.
    severity: &'v str,
    observed_generation: Option<i64>,
    last_transition: &'v str,
}

impl Condition<'_> {
    pub fn is_true(&self) -> bool {
        self.status == "True"
    }

    pub fn is_false(&self) -> bool {
        self.status == "False"
    }

    /// The message and the reason, as far as they are set.
    pub fn why(&self) -> String {
        match (self.message, self.reason) {
            ("", "") => format!("condition {} is {}", self.kind, self.status),
            ("", reason) => format!("condition {} is {} ({reason})", self.kind, self.status),
            (message, "") => sentence(message),
            (message, reason) => format!("{} ({reason})", sentence(message)),
        }
    }

    /// Returns true if it was set for an older generation of the object, and so is outdated.
    pub fn is_old(&self, object: &Value) -> bool {
        self.observed_generation.zip(int(object, "/metadata/generation")).is_some_and(|(observed, now)| observed < now)
    }

    /// Time since the last change of its status, if known.
    pub fn age(&self, now: Timestamp) -> Option<SignedDuration> {
        self.last_transition.parse().ok().map(|since: Timestamp| now.duration_since(since))
    }

    fn is_terminal(&self) -> bool {
        self.severity == "Error"
            || TERMINAL.contains(&self.reason)
            || TERMINAL_ENDS.iter().any(|end| self.reason.ends_with(end))
    }
}

/// All conditions of an object, in order.
pub(super) fn conditions(object: &Value) -> impl Iterator<Item = Condition<'_>> {
    conditions_in(list(object, "/status/conditions"))
}

/// All conditions of a list, in order.
pub(super) fn conditions_in(list: &[Value]) -> impl Iterator<Item = Condition<'_>> {
    list.iter().map(|condition| {
        let field = |pointer| text(condition, pointer).unwrap_or_default();
        Condition {
            kind: field("/type"),
            status: field("/status"),
            reason: field("/reason"),
            message: field("/message"),
            severity: field("/severity"),
            observed_generation: int(condition, "/observedGeneration"),
            last_transition: field("/lastTransitionTime"),
        }
    })
}

/// The condition of a type.
pub(super) fn condition<'v>(object: &'v Value, kind: &str) -> Option<Condition<'v>> {
    conditions(object).find(|condition| condition.kind == kind)
}

/// Rule 5: the readiness from the condition `Ready`.
pub(super) fn ready(object: &Value) -> Option<Readiness> {
    let ready = condition(object, "Ready")?;
    Some(if ready.is_old(object) {
        Readiness::in_progress("its condition Ready is from an older generation")
    } else if ready.is_true() {
        Readiness::current(if ready.message.is_empty() { "it is ready".to_owned() } else { ready.why() })
    } else if ready.is_false() && ready.is_terminal() {
        Readiness::failing(ready.why())
    } else {
        Readiness::in_progress(ready.why())
    })
}

/// Returns true if a condition of this type is true.
pub(crate) fn holds(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|condition| condition.is_true())
}
