//! The rule for a Pod, and its failures.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::conditions::{condition, holds};
use super::fields::{count, counted, int, list, sentence, text};
use super::readiness::Readiness;

/// Time after which a Pod that fits on no node has failed, as in kstatus.
const SCHEDULING: SignedDuration = SignedDuration::from_secs(15);

/// A failure of a Pod, in increasing order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PodFailure {
    /// The Pod has failed as a whole, and another one may replace it.
    Ended,
    /// The Pod fits on no node; a node may be added.
    Unschedulable,
    /// A container exits again and again.
    Crashing,
    /// A container cannot be started: its image or its configuration is missing.
    Stuck,
}

/// A failure of a Pod.
pub(super) struct PodIssue {
    pub severity: PodFailure,
    /// Machine-readable reason, such as `ImagePullBackOff`.
    pub reason: String,
    /// Description with the container and the reason.
    pub description: String,
}

/// Beyond kstatus: a failed Pod has failed, and so has a Pod with a container that cannot be started.
pub(super) fn pod(pod: &Value, now: Timestamp) -> Readiness {
    let phase = text(pod, "/status/phase");
    let issue = issue(pod);
    match (phase, issue) {
        (Some("Succeeded"), _) => Readiness::current("it has succeeded"),
        (Some("Failed"), Some(issue)) => Readiness::failed(issue.description),
        (Some("Running"), _) if holds(pod, "Ready") => Readiness::current("it is ready"),
        (_, Some(issue)) if issue.severity == PodFailure::Unschedulable && is_young(pod, now) => {
            Readiness::in_progress(issue.description)
        }
        (_, Some(issue)) => Readiness::failing(issue.description),
        (Some("Running"), None) => Readiness::in_progress(unready(pod)),
        (Some("Pending"), None) => Readiness::in_progress("its containers are not started yet"),
        (Some("Unknown"), None) => Readiness::in_progress("its node does not report its status"),
        _ => Readiness::in_progress("it has no status yet"),
    }
}

fn is_young(pod: &Value, now: Timestamp) -> bool {
    let created = text(pod, "/metadata/creationTimestamp").and_then(|time| time.parse::<Timestamp>().ok());
    created.is_none_or(|created| now.duration_since(created) < SCHEDULING)
}

fn unready(pod: &Value) -> String {
    let containers = list(pod, "/status/containerStatuses").iter();
    let unready = containers.filter(|container| container.get("ready") != Some(&Value::Bool(true)));
    let names: Vec<String> = unready.filter_map(|container| Some(format!("`{}`", text(container, "/name")?))).collect();
    if names.is_empty() {
        return "it is not ready yet".to_owned();
    }
    format!("{} {} not ready yet", names.join(", "), if names.len() == 1 { "is" } else { "are" })
}

/// The states of the containers of a Pod, in the order in which they start.
fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    let pointers = ["/status/initContainerStatuses", "/status/containerStatuses"];
    pointers.into_iter().flat_map(|pointer| list(pod, pointer))
}

/// The most severe failure of a Pod.
pub(super) fn issue(pod: &Value) -> Option<PodIssue> {
    let phase = text(pod, "/status/phase");
    if phase == Some("Failed") {
        let reason = text(pod, "/status/reason").unwrap_or("Failed").to_owned();
        return Some(PodIssue { severity: PodFailure::Ended, description: why_failed(pod, &reason), reason });
    }
    if phase == Some("Succeeded") {
        return None;
    }
    containers(pod).filter_map(container_issue).max_by_key(|issue| issue.severity).or_else(|| {
        let scheduled = condition(pod, "PodScheduled")?;
        let stuck = scheduled.is_false() && scheduled.reason == "Unschedulable";
        stuck.then(|| PodIssue {
            severity: PodFailure::Unschedulable,
            reason: "Unschedulable".to_owned(),
            description: format!("no node is suitable: {}", scheduled.why()),
        })
    })
}

/// The failure that keeps a container waiting, if it is not just being started (kubelet `pkg/kubelet/images/types.go`,
/// `kuberuntime_manager.go`). The name of every such reason starts or ends like an error.
fn container_issue(container: &Value) -> Option<PodIssue> {
    let name = text(container, "/name").unwrap_or_default();
    let reason = text(container, "/state/waiting/reason")?;
    if reason == "CrashLoopBackOff" {
        let restarts = counted(usize::try_from(count(container, "/restartCount")).unwrap_or(0), "restart");
        let end = ended(container, "/lastState/terminated").map(|end| format!(" with {end}")).unwrap_or_default();
        let description = format!("container `{name}` keeps exiting{end} ({reason}, {restarts})");
        return Some(PodIssue { severity: PodFailure::Crashing, reason: reason.to_owned(), description });
    }
    let is_error = reason.starts_with("Err") || ["Error", "BackOff"].iter().any(|end| reason.ends_with(end));
    if !is_error && reason != "InvalidImageName" && reason != "RegistryUnavailable" {
        return None;
    }
    let message = text(container, "/state/waiting/message").map(sentence);
    let image = text(container, "/image").map(|image| format!(" from image `{image}`")).unwrap_or_default();
    let because = message.map(|message| format!(": {message}")).unwrap_or_default();
    let description = format!("container `{name}` cannot be started{image} ({reason}){because}");
    Some(PodIssue { severity: PodFailure::Stuck, reason: reason.to_owned(), description })
}

fn why_failed(pod: &Value, reason: &str) -> String {
    if let Some(message) = text(pod, "/status/message") {
        return format!("it failed: {} ({reason})", sentence(message));
    }
    let failed = containers(pod).find_map(|container| {
        let is_failure = count(container, "/state/terminated/exitCode") != 0;
        let end = ended(container, "/state/terminated").filter(|_| is_failure)?;
        Some(format!("container `{}` ended with {end}", text(container, "/name").unwrap_or_default()))
    });
    failed.unwrap_or_else(|| format!("it failed ({reason})"))
}

/// Describes the end of a container: `exit code 137 (OOMKilled)`.
fn ended(container: &Value, pointer: &str) -> Option<String> {
    let terminated = container.pointer(pointer)?;
    let code = int(terminated, "/exitCode")?;
    let reason = text(terminated, "/reason").filter(|reason| !matches!(*reason, "Error" | "Completed"));
    Some(reason.map_or_else(|| format!("exit code {code}"), |reason| format!("exit code {code} ({reason})")))
}
