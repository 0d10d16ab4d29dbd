//! Waits until the kind of a new CustomResourceDefinition is served.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::{Discovery, LiveState, Resolution, Target};
use reconcile_core::text::one_line;
use structured_merge::{GroupVersionKind, ObjectMeta as _};

use crate::client::{Cluster, RequestError};
use crate::live::{discover, fetch};

/// Most characters of a reason of the server.
const MESSAGE: usize = 200;
/// The pause between two reads of a CustomResourceDefinition; the server takes about as long to publish one.
const INTERVAL: Duration = Duration::from_millis(100);
/// The time after which a wait for a new kind gives up.
const NEW_KIND: Duration = Duration::from_secs(30);

/// The reason why the kind of a written CustomResourceDefinition is not served.
pub enum NotEstablished {
    /// The definition waits for somebody else, as one with a placeholder for a CA bundle does. The server says why.
    Held(String),
    /// The definition is of no use.
    Failed(Diagnostic),
}

/// Waits until the server has accepted a CustomResourceDefinition (`apiextensions.k8s.io/v1`, conditions
/// `NamesAccepted` and `Established`). A run that is stopped waits no longer.
pub async fn wait_until_established(cluster: &Cluster, crd: &Target) -> Result<(), NotEstablished> {
    let Ok(resource) = &crd.resource else { return Ok(()) };
    let begun = Instant::now();
    while begun.elapsed() < NEW_KIND {
        match fetch::get(cluster, crd, resource).await {
            LiveState::Present(object) if object.has_condition("Established", "True") => return Ok(()),
            LiveState::Present(object) if object.has_condition("NamesAccepted", "False") => {
                let message = format!("the names that {} defines are taken", crd.key);
                return Err(NotEstablished::Failed(Diagnostic::new(Code::NamesNotAccepted, message)));
            }
            LiveState::Present(object) => {
                let readiness = kstatus::readiness(&crd.key.gvk, &object, Timestamp::now());
                if readiness.is_final_failure() {
                    return Err(NotEstablished::Held(one_line(&readiness.message, MESSAGE)));
                }
            }
            LiveState::Unreadable(diagnostic) if diagnostic.code == Code::Interrupted => return Ok(()),
            LiveState::Unreadable(diagnostic) => return Err(NotEstablished::Failed(diagnostic)),
            LiveState::Absent => {}
        }
        cluster.pause(INTERVAL).await;
    }
    let message = format!("{} was not established within {} seconds", crd.key, NEW_KIND.as_secs());
    Err(NotEstablished::Failed(Diagnostic::new(Code::Timeout, message)))
}

/// Reads discovery until it has these kinds, because it follows `Established` with a delay. Kinds that are still missing after 30
/// seconds stay missing.
pub async fn wait_for_discovery(cluster: &Cluster, awaited: &[GroupVersionKind]) -> Result<Discovery, RequestError> {
    let begun = Instant::now();
    loop {
        let discovery = discover(cluster).await?;
        let are_served = awaited.iter().all(|gvk| matches!(discovery.resolve(gvk), Resolution::Known(_)));
        if are_served || begun.elapsed() >= NEW_KIND {
            return Ok(discovery);
        }
        cluster.pause(INTERVAL).await;
    }
}
