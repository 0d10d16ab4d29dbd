use std::time::Duration;

use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectMeta as _};

use crate::client::{Cluster, RequestError};
use crate::live::{discover, fetch};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::{Discovery, LiveState, Resolution, Target};

/// The pause between two reads of a CustomResourceDefinition; the server takes about as long to publish one.
const INTERVAL: Duration = Duration::from_millis(100);

/// The number of reads after which a wait gives up: 30 seconds.
const LOOKS: usize = 300;

/// Waits until the server has accepted a CustomResourceDefinition (`apiextensions.k8s.io/v1`, conditions
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
            LiveState::Unreadable(diagnostic) => return Err(diagnostic),
            LiveState::Present(_) | LiveState::Absent => cluster.pause(INTERVAL).await,
        }
    }
    Err(Diagnostic::new(Code::Timeout, format!("{} was not established within 30 seconds", crd.key)))
}

/// Reads discovery until it has these kinds, because it follows `Established` with a delay. Kinds that are still missing after 30
/// seconds stay missing.
pub async fn wait_for_discovery(cluster: &Cluster, awaited: &[GroupVersionKind]) -> Result<Discovery, RequestError> {
    for _ in 0..LOOKS {
        let discovery = discover(cluster).await?;
        if awaited.iter().all(|gvk| matches!(discovery.resolve(gvk), Resolution::Known(_))) {
            return Ok(discovery);
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
