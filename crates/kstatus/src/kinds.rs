//! Rules for kinds that run no Pods.

use jiff::Timestamp;
use serde_json::Value;

use super::conditions::{Condition, condition, holds};
use super::fields::{list, text};
use super::readiness::Readiness;

/// Objects of these kinds have no status to wait for.
pub(super) fn always(_: &Value, _: Timestamp) -> Readiness {
    Readiness::current("it is ready once it exists")
}

/// A load balancer needs its cluster IP and, beyond kstatus, its external address.
pub(super) fn service(service: &Value, _: Timestamp) -> Readiness {
    let is_balanced = text(service, "/spec/type") == Some("LoadBalancer");
    if !is_balanced {
        Readiness::current("it is ready once it exists")
    } else if text(service, "/spec/clusterIP").is_none() {
        Readiness::in_progress("it has no cluster IP yet")
    } else if list(service, "/status/loadBalancer/ingress").is_empty() {
        Readiness::in_progress("its load balancer has no address yet")
    } else {
        Readiness::current("its load balancer has an address")
    }
}

/// Beyond kstatus: an Ingress needs its address, which its controller writes once it serves it.
pub(super) fn ingress(ingress: &Value, _: Timestamp) -> Readiness {
    if list(ingress, "/status/loadBalancer/ingress").is_empty() {
        Readiness::in_progress("its controller has not given it an address yet")
    } else {
        Readiness::current("it has an address")
    }
}

pub(super) fn persistent_volume_claim(claim: &Value, _: Timestamp) -> Readiness {
    match text(claim, "/status/phase") {
        Some("Bound") => Readiness::current("it is bound to its volume"),
        Some("Lost") => Readiness::failed("the volume that it was bound to is gone"),
        _ => Readiness::in_progress("it is not bound to a volume yet"),
    }
}

pub(super) fn custom_resource_definition(definition: &Value, _: Timestamp) -> Readiness {
    if let Some(names) = condition(definition, "NamesAccepted").filter(Condition::is_false) {
        return Readiness::failed(names.why());
    }
    match condition(definition, "Established") {
        Some(established) if established.is_true() => Readiness::current("its kind is served"),
        Some(established) if established.is_false() && established.reason != "Installing" => {
            Readiness::failed(established.why())
        }
        _ => Readiness::in_progress("its kind is not served yet"),
    }
}

/// Beyond kstatus: the server behind it has to answer, as objects of its kinds cannot be read before.
pub(super) fn api_service(service: &Value, _: Timestamp) -> Readiness {
    if holds(service, "Available") {
        Readiness::current("the server behind it answers")
    } else {
        let why = condition(service, "Available").map(|available| available.why());
        Readiness::in_progress(why.unwrap_or_else(|| "it is not known yet whether the server behind it answers".into()))
    }
}
