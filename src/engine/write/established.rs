use std::time::Duration;

use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectMeta as _};

use crate::client::{Cluster, RequestError};
use crate::diagnostic::{Code, Diagnostic};
use crate::live::{Discovery, LiveState, Resolution, Target, discover, fetch};

/// Between two looks at a CustomResourceDefinition; the server takes about as long to publish one.
const INTERVAL: Duration = Duration::from_millis(100);

/// Looks until the condition `Established` holds, at most this often: 30 seconds.
const LOOKS: usize = 300;

/// Waits until the server serves what a CustomResourceDefinition defines (`apiextensions.k8s.io/v1`, conditions
/// `NamesAccepted` and `Established`).
pub async fn wait_until_established(cluster: &Cluster, crd: &Target) -> Result<(), Diagnostic> {
    let Ok(resource) = &crd.resource else { return Ok(()) };
    for _ in 0..LOOKS {
        match fetch::get(cluster, crd, resource).await {
            LiveState::Present(object) if is(&object, "Established", "True") => return Ok(()),
            LiveState::Present(object) if is(&object, "NamesAccepted", "False") => {
                let message = format!("the names that {} defines are taken", crd.key);
                return Err(Diagnostic::new(Code::NamesNotAccepted, message));
            }
            LiveState::Unreadable(trouble) => return Err(trouble),
            LiveState::Present(_) | LiveState::Absent => cluster.pause(INTERVAL).await,
        }
    }
    Err(Diagnostic::new(Code::Timeout, format!("{} was not established within 30 seconds", crd.key)))
}

/// The catalog, once it names these kinds: discovery follows `Established` with a delay. What is still missing after the
/// same 30 seconds stays missing.
pub async fn wait_for_discovery(cluster: &Cluster, awaited: &[GroupVersionKind]) -> Result<Discovery, RequestError> {
    for _ in 0..LOOKS {
        let catalog = discover(cluster).await?;
        if awaited.iter().all(|gvk| matches!(catalog.resolve(gvk), Resolution::Known(_))) {
            return Ok(catalog);
        }
        cluster.pause(INTERVAL).await;
    }
    discover(cluster).await
}

fn is(crd: &Value, condition: &str, status: &str) -> bool {
    crd.conditions().iter().any(|found| {
        found.get("type").is_some_and(|name| name == condition) && found.get("status").is_some_and(|s| s == status)
    })
}
