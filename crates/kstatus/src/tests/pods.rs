use super::*;

fn waiting(name: &str, reason: &str, message: &str) -> Value {
    json!({"name": name, "image": "shop/web:9", "restartCount": 3, "ready": false,
        "state": {"waiting": {"reason": reason, "message": message}},
        "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}})
}

/// A Pod in this phase with these containers, created this many seconds ago.
fn pod(phase: &str, containers: &[Value], conditions: &[Value], seconds: i64) -> Value {
    let created = now() - jiff::SignedDuration::from_secs(seconds);
    json!({"metadata": {"name": "web-1", "creationTimestamp": created.to_string()},
        "status": {"phase": phase, "containerStatuses": containers, "conditions": conditions}})
}

fn of_pod(phase: &str, containers: &[Value], conditions: &[Value], seconds: i64) -> Readiness {
    readiness_of("v1", "Pod", &pod(phase, containers, conditions, seconds))
}

#[test]
fn a_pod_is_current_when_it_is_ready_or_has_succeeded() {
    let ready = [condition("Ready", "True", "", "")];
    is(&of_pod("Running", &[], &ready, 60), ReadinessState::Current, "it is ready");
    is(&of_pod("Succeeded", &[], &[], 60), ReadinessState::Current, "it has succeeded");
    let unready = json!({"name": "web", "ready": false, "state": {"running": {}}});
    let ready = json!({"name": "sidecar", "ready": true, "state": {"running": {}}});
    is(&of_pod("Running", &[unready.clone(), ready], &[], 60), ReadinessState::InProgress, "`web` is not ready yet");
    is(
        &of_pod("Running", &[unready.clone(), unready], &[], 60),
        ReadinessState::InProgress,
        "`web`, `web` are not ready yet",
    );
    is(&of_pod("Running", &[], &[], 60), ReadinessState::InProgress, "it is not ready yet");
    is(&of_pod("Pending", &[], &[], 60), ReadinessState::InProgress, "its containers are not started yet");
    is(&of_pod("", &[], &[], 60), ReadinessState::InProgress, "it has no status yet");
    is(&of_pod("Unknown", &[], &[], 60), ReadinessState::InProgress, "its node does not report its status");
}

#[test]
fn a_failed_pod_has_failed_for_good() {
    let ended = json!({"name": "web", "state": {"terminated": {"exitCode": 3, "reason": "Error"}}});
    let fine = json!({"name": "first", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}});
    let failed = of_pod("Failed", &[fine, ended], &[], 60);
    is(&failed, ReadinessState::Failed, "container `web` ended with exit code 3");
    assert!(failed.is_final_failure());
    let mut evicted = pod("Failed", &[], &[], 60);
    evicted["status"]["reason"] = json!("Evicted");
    is(&readiness_of("v1", "Pod", &evicted), ReadinessState::Failed, "it failed (Evicted)");
    evicted["status"]["message"] = json!("The node was low on memory.");
    is(&readiness_of("v1", "Pod", &evicted), ReadinessState::Failed, "it failed: The node was low on memory (Evicted)");
}

#[test]
fn a_container_that_crashes_or_cannot_start_fails_its_pod_and_may_recover() {
    let crash = of_pod("Running", &[waiting("web", "CrashLoopBackOff", "back-off")], &[], 5);
    let message = "container `web` keeps exiting with exit code 137 (OOMKilled) (CrashLoopBackOff, 3 restarts)";
    is(&crash, ReadinessState::Failed, message);
    assert_eq!(crash.outlook, Outlook::Open);
    for reason in ["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError"] {
        let stuck = of_pod("Pending", &[waiting("web", reason, "no such thing.")], &[], 5);
        let message = format!("container `web` cannot be started from image `shop/web:9` ({reason}): no such thing");
        is(&stuck, ReadinessState::Failed, &message);
    }
    for reason in ["ContainerCreating", "PodInitializing"] {
        assert_eq!(
            of_pod("Pending", &[waiting("web", reason, "")], &[], 5).state,
            ReadinessState::InProgress,
            "{reason}"
        );
    }
    let mut init = pod("Pending", &[waiting("web", "PodInitializing", "")], &[], 5);
    init["status"]["initContainerStatuses"] = json!([waiting("migrate", "CrashLoopBackOff", "")]);
    assert!(readiness_of("v1", "Pod", &init).message.starts_with("container `migrate` keeps exiting"));
}

#[test]
fn a_pod_without_a_node_has_failed_after_fifteen_seconds() {
    let unschedulable = [condition("PodScheduled", "False", "Unschedulable", "0/1 nodes are available.")];
    let message = "no node is suitable: 0/1 nodes are available (Unschedulable)";
    is(&of_pod("Pending", &[], &unschedulable, 14), ReadinessState::InProgress, message);
    let failed = of_pod("Pending", &[], &unschedulable, 15);
    is(&failed, ReadinessState::Failed, message);
    assert_eq!(failed.outlook, Outlook::Open, "a node may come");
}

/// A Pod of the owner with this uid, which fails for this reason.
fn owned(name: &str, owner: &str, labels: &Value, reason: &str) -> Value {
    let phase = if reason == "Failed" { "Failed" } else { "Pending" };
    let container = if reason == "Failed" {
        json!({"name": "web", "state": {"terminated": {"exitCode": 1}}})
    } else {
        waiting("web", reason, "")
    };
    json!({"metadata": {"name": name, "labels": labels, "ownerReferences": [{"uid": owner, "controller": true}]},
        "status": {"phase": phase, "containerStatuses": [container]}})
}

fn explained(api_version: &str, kind: &str, object: &Value, pods: &[Value], sets: &[Value]) -> Readiness {
    let mut owned = Owned::default();
    for pod in pods {
        owned.add_pod(pod);
    }
    for set in sets {
        owned.add_replica_set(set);
    }
    readiness_with_pods(&GroupVersionKind::new(api_version, kind), object, &owned, now())
}

fn replica_set(uid: &str, revision: &str) -> Value {
    json!({"metadata": {"uid": uid, "ownerReferences": [{"uid": "web", "controller": true}],
        "annotations": {"deployment.kubernetes.io/revision": revision}}})
}

fn deployment() -> Value {
    json!({"metadata": {"uid": "web", "annotations": {"deployment.kubernetes.io/revision": "2"}},
        "spec": {"replicas": 3}, "status": {"replicas": 3}})
}

#[test]
fn a_deployment_fails_early_with_the_pods_of_its_new_replica_set_only() {
    let sets = [replica_set("old", "1"), replica_set("new", "2")];
    let readiness = |pods: &[Value]| explained("apps/v1", "Deployment", &deployment(), pods, &sets);
    let old = owned("web-a", "old", &json!({}), "CrashLoopBackOff");
    is(&readiness(std::slice::from_ref(&old)), ReadinessState::InProgress, "0 of 3 replicas are updated");
    let pods = [
        old,
        owned("web-c", "new", &json!({}), "ImagePullBackOff"),
        owned("web-b", "new", &json!({}), "ImagePullBackOff"),
        owned("web-d", "new", &json!({}), "CrashLoopBackOff"),
        owned("web-e", "somebody", &json!({}), "InvalidImageName"),
    ];
    let failed = readiness(&pods);
    let message = "0 of 3 replicas are updated: Pod `web-b`: container `web` cannot be started from image `shop/web:9` \
        (ImagePullBackOff); the same for 1 more Pod";
    is(&failed, ReadinessState::Failed, message);
    assert_eq!(failed.outlook, Outlook::Open);
}

#[test]
fn pods_say_nothing_about_a_ready_workload_or_one_that_is_not_observed_yet() {
    let sets = [replica_set("new", "2")];
    let pods = [owned("web-a", "new", &json!({}), "CrashLoopBackOff")];
    let mut late = deployment();
    late["metadata"]["generation"] = json!(2);
    late["status"]["observedGeneration"] = json!(1);
    assert_eq!(explained("apps/v1", "Deployment", &late, &pods, &sets).state, ReadinessState::InProgress);
    let mut idle = deployment();
    idle["spec"] = json!({"replicas": 0});
    idle["status"] = json!({"conditions": [condition("Available", "True", "", "")]});
    is(&explained("apps/v1", "Deployment", &idle, &pods, &sets), ReadinessState::Current, "it is scaled to 0 replicas");
    let leaving = {
        let mut pod = pods[0].clone();
        pod["metadata"]["deletionTimestamp"] = json!(NOW);
        [pod]
    };
    assert_eq!(explained("apps/v1", "Deployment", &deployment(), &leaving, &sets).state, ReadinessState::InProgress);
}

#[test]
fn a_deployment_that_took_too_long_says_what_its_pods_lack() {
    let mut late = deployment();
    late["status"]["conditions"] = json!([condition("Progressing", "False", "ProgressDeadlineExceeded", "too long")]);
    let pods = [owned("web-a", "new", &json!({}), "ErrImagePull")];
    let failed = explained("apps/v1", "Deployment", &late, &pods, &[replica_set("new", "2")]);
    assert!(failed.message.starts_with("too long (ProgressDeadlineExceeded): Pod `web-a`"), "{failed:?}");
    assert_eq!(failed.state, ReadinessState::Failed);
}

#[test]
fn stateful_sets_and_daemon_sets_tell_revisions_by_labels() {
    let set = json!({"metadata": {"uid": "db"}, "spec": {"replicas": 1}, "status": {"updateRevision": "db-2"}});
    let pod =
        |revision: &str| [owned("db-0", "db", &json!({"controller-revision-hash": revision}), "CrashLoopBackOff")];
    assert_eq!(explained("apps/v1", "StatefulSet", &set, &pod("db-1"), &[]).state, ReadinessState::InProgress);
    assert_eq!(explained("apps/v1", "StatefulSet", &set, &pod("db-2"), &[]).state, ReadinessState::Failed);

    let set = json!({"metadata": {"uid": "log", "generation": 1,
            "annotations": {"deprecated.daemonset.template.generation": "2"}},
        "status": {"observedGeneration": 1, "desiredNumberScheduled": 1}});
    let pod =
        |generation: &str| [owned("log-x", "log", &json!({"pod-template-generation": generation}), "ErrImagePull")];
    assert_eq!(explained("apps/v1", "DaemonSet", &set, &pod("1"), &[]).state, ReadinessState::InProgress);
    assert_eq!(explained("apps/v1", "DaemonSet", &set, &pod("2"), &[]).state, ReadinessState::Failed);
}

#[test]
fn a_replica_set_fails_with_its_pods_but_not_with_those_that_were_replaced() {
    let set = json!({"metadata": {"uid": "set"}, "spec": {"replicas": 1}, "status": {}});
    let readiness =
        |reason| explained("apps/v1", "ReplicaSet", &set, &[owned("set-a", "set", &json!({}), reason)], &[]);
    assert_eq!(readiness("CrashLoopBackOff").state, ReadinessState::Failed);
    is(
        &readiness("Failed"),
        ReadinessState::InProgress,
        "0 of 1 replica is labelled: Pod `set-a`: container `web` ended with exit code 1",
    );
}

#[test]
fn a_job_may_crash_as_often_as_it_allows_but_needs_its_image() {
    let job = json!({"metadata": {"uid": "job"}, "status": {"startTime": NOW, "active": 1}});
    let readiness =
        |job: &Value, reason| explained("batch/v1", "Job", job, &[owned("job-a", "job", &json!({}), reason)], &[]);
    assert_eq!(readiness(&job, "CrashLoopBackOff").state, ReadinessState::InProgress);
    assert_eq!(readiness(&job, "ErrImagePull").state, ReadinessState::Failed);
    let mut failed = job;
    failed["status"]["conditions"] = json!([condition("Failed", "True", "BackoffLimitExceeded", "too often")]);
    let failed = readiness(&failed, "Failed");
    let message = "too often (BackoffLimitExceeded): Pod `job-a`: container `web` ended with exit code 1";
    is(&failed, ReadinessState::Failed, message);
    assert!(failed.is_final_failure());
}

#[test]
fn selectors_are_written_as_queries() {
    let selector =
        |api_version, kind, spec: Value| selector_of(&GroupVersionKind::new(api_version, kind), &json!({"spec": spec}));
    let labels = json!({"selector": {"matchLabels": {"app": "web", "tier": ""}, "matchExpressions": [
        {"key": "a", "operator": "In", "values": ["x", "y"]}, {"key": "b", "operator": "NotIn", "values": ["z"]},
        {"key": "c", "operator": "Exists"}, {"key": "d", "operator": "DoesNotExist"}]}});
    assert_eq!(selector("apps/v1", "Deployment", labels).as_deref(), Some("app=web,tier=,a in (x,y),b notin (z),c,!d"));
    assert_eq!(
        selector("v1", "ReplicationController", json!({"selector": {"app": "web"}})).as_deref(),
        Some("app=web")
    );
    let strange = json!({"selector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}});
    assert_eq!(selector("apps/v1", "Deployment", strange), None);
    assert_eq!(selector("batch/v1", "Job", json!({})), None);
}
