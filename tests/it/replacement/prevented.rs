//! What keeps an object from being deleted in the first place.

use super::*;
use crate::control_plane::definition;

#[test]
fn nothing_is_deleted_for_a_bad_value_beside_an_immutable_one() {
    let ws = with_job();
    let before = uid(&ws, "Job", "migrate");
    ws.write(
        "job.yaml",
        &JOB.replaced("migrate:1", "migrate:2").replaced("spec: {template", "spec: {parallelism: -1, template"),
    );
    let apply = ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(4);
    assert_eq!(apply.object("Job", "migrate")["action"], "unknown", "{apply}");
    assert_eq!(uid(&ws, "Job", "migrate"), before);
}

#[test]
fn a_value_that_only_a_creation_would_refuse_stops_the_replacement_before_anything_is_deleted() {
    let ws = with_job();
    let before = uid(&ws, "Job", "migrate");
    // The server looks at the immutable template alone, and finds the image missing only in a new Job.
    ws.write("job.yaml", &JOB.replaced("image: 'shop/migrate:1'", "image: ''"));
    let apply = ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(4);
    assert_eq!(apply.object("Job", "migrate")["action"], "unknown", "{apply}");
    assert_eq!(uid(&ws, "Job", "migrate"), before);
}

#[test]
fn an_address_that_can_not_be_had_stops_the_replacement_before_anything_is_deleted() {
    let ws = Workspace::new();
    let service =
        "{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {selector: {a: b}, ports: [{port: 80}]}}";
    ws.write("it.yaml", service);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let before = uid(&ws, "Service", "it");
    ws.write("it.yaml", &service.replaced("spec: {", "spec: {clusterIP: 192.0.2.1, "));
    let apply = ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(4);
    assert!(apply.stdout.contains("the provided IP (192.0.2.1) is not in the valid range"), "{apply}");
    assert!(!apply.stdout.contains("the server refuses both together"), "{apply}");
    assert_eq!(uid(&ws, "Service", "it"), before, "{apply}");
}

#[test]
fn a_rule_of_a_custom_kind_is_recognised_by_a_trial_and_a_bad_value_is_not_taken_for_one() {
    let ws = Workspace::new();
    let ticket = "{apiVersion: $NS.example.com/v1, kind: Ticket, metadata: {name: one}, spec: {seat: A, row: 1}}";
    ws.write("crd.yaml", &definition("Ticket", TICKET));
    ws.write("ticket.yaml", ticket);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let before = uid(&ws, &ws.fill_in("Ticket.$NS.example.com"), "one");
    ws.write("ticket.yaml", &ticket.replaced("row: 1", "row: 0"));
    let diff = ws.reconcile(["diff", "-f", ".", "--replace=immutable"]).exits_with(4);
    assert_eq!(diff.object("Ticket", "one")["action"], "unknown");
    ws.write("ticket.yaml", &ticket.replaced("seat: A", "seat: B").replaced("row: 1", "row: 0"));
    ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(4);
    assert_eq!(uid(&ws, &ws.fill_in("Ticket.$NS.example.com"), "one"), before);
    ws.write("ticket.yaml", &ticket.replaced("seat: A", "seat: B"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let object = diff.object("Ticket", "one");
    assert_eq!(
        (&object["action"], &object["reason"]),
        (&json!("replace"), &json!("spec.seat cannot be changed: seats are not for trade"))
    );
    let apply = ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(0);
    assert_eq!(apply.object("Ticket", "one")["outcome"], "replaced");
    assert_ne!(uid(&ws, &ws.fill_in("Ticket.$NS.example.com"), "one"), before);
}

#[test]
fn a_claim_that_shrinks_and_a_kind_that_drops_a_version_are_left_alone() {
    let ws = Workspace::new();
    let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: a, accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}}";
    ws.write("claim.yaml", claim);
    ws.write("crd.yaml", &definition("Ticket", TICKET));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let before = uid(&ws, "PersistentVolumeClaim", "data");
    ws.write("claim.yaml", &claim.replaced("2Gi", "1Gi"));
    ws.write("crd.yaml", &definition("Ticket", TICKET).replaced("name: v1", "name: v2"));
    let apply = ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(4);
    for (kind, name) in [
        ("PersistentVolumeClaim", "data".to_owned()),
        ("CustomResourceDefinition", ws.fill_in("tickets.$NS.example.com")),
    ] {
        let outcome = &apply.object(kind, &name)["outcome"];
        assert!(outcome == "failed" || outcome == "skipped", "{apply}");
    }
    assert_eq!(uid(&ws, "PersistentVolumeClaim", "data"), before);
}

#[test]
fn a_policy_that_refuses_a_change_is_no_immutable_field() {
    let ws = Workspace::on(&ControlPlane::private());
    let policy = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NS-slow}
spec:
  failurePolicy: Fail
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [UPDATE], resources: [deployments]}]}
  validations: [{expression: 'object.spec.replicas <= oldObject.spec.replicas + 1', message: one at a time, reason: Invalid}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: $NS-slow}
spec: {policyName: $NS-slow, validationActions: [Deny]}
";
    ws.write("web.yaml", crate::manifests::WEB);
    ws.write("policy.yaml", policy);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let before = uid(&ws, "Deployment", "web");
    ws.write("web.yaml", &crate::manifests::WEB.replaced("replicas: 2", "replicas: 9"));
    let refused = (0..100).any(|_| {
        thread::sleep(Duration::from_millis(100));
        ws.reconcile(["diff", "-f", "web.yaml"]).code == 4
    });
    assert!(refused, "the policy takes effect");
    let apply = ws.reconcile(["apply", "-f", "web.yaml", "--replace=immutable"]).exits_with(4);
    assert_eq!(apply.object("Deployment", "web")["action"], "unknown", "{apply}");
    assert_eq!(uid(&ws, "Deployment", "web"), before);
}

#[test]
fn only_the_manifest_lifts_the_protection() {
    let ws = Workspace::new();
    let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: a, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}";
    ws.write("claim.yaml", claim);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let before = uid(&ws, "PersistentVolumeClaim", "data");
    ws.kubectl(["annotate", "pvc", "data", "kubectl-reconcile/replace=allow"]).exits_with(0);
    ws.write("claim.yaml", &claim.replaced("storageClassName: a", "storageClassName: b"));
    let flags = ["-f", ".", "--replace=immutable"];
    let diff = ws.reconcile([&["diff"], &flags[..]].concat()).exits_with(1);
    let hint = diff.object("PersistentVolumeClaim", "data")["hint"].as_str().unwrap();
    assert!(hint.contains("when its manifest has the annotation"), "{diff}");
    let apply = ws.reconcile([&["apply"], &flags[..]].concat()).exits_with(4);
    assert_eq!(apply.object("PersistentVolumeClaim", "data")["outcome"], "failed", "{apply}");
    let live = ws.get("PersistentVolumeClaim", "data");
    assert_eq!(live["metadata"]["uid"], before);
    assert_eq!(live["metadata"].get("deletionTimestamp"), None);
}

#[test]
fn an_absurd_timeout_is_refused_before_anything_is_deleted_and_the_longest_one_works() {
    let ws = with_job();
    let before = uid(&ws, "Job", "migrate");
    for timeout in ["18446744073709551615", "9999999999h", "87600h1s", "99999999999999999999999"] {
        let flags = ["apply", "-f", ".", "--replace=immutable", "--wait", "--timeout", timeout];
        let refused = ws.reconcile(flags).exits_with(2);
        assert!(refused.stderr.contains("the longest timeout is 10 years"), "{refused}");
        let refused = ws.reconcile(["apply", "-f", ".", "--request-timeout", timeout]).exits_with(2);
        assert!(refused.stderr.contains("the longest timeout is 10 years"), "{refused}");
    }
    assert_eq!(uid(&ws, "Job", "migrate"), before);
    // Nothing is ever ready here, so that the wait itself is cut short.
    let flags = ["apply", "-f", ".", "--replace=immutable", "--wait", "--timeout=87600h", "--request-timeout=87600h"];
    let apply = ws.as_user("admin").start_reconcile(flags);
    wait_until("the Job is replaced", || ws.find("Job", "migrate").is_some_and(|job| job["metadata"]["uid"] != before));
    thread::sleep(Duration::from_secs(1));
    apply.interrupt();
    let apply = apply.finish().exits_with(130);
    assert_eq!(apply.object("Job", "migrate")["outcome"], "replaced", "{apply}");
}
