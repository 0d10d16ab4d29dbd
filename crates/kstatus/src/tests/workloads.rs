use super::*;

/// `{a: 1, b: 2}` with one field changed.
fn with(base: &Value, field: &str, value: Value) -> Value {
    let mut changed = base.clone();
    changed[field] = value;
    changed
}

fn deployment(spec: &Value, status: &Value) -> Readiness {
    readiness_of("apps/v1", "Deployment", &json!({"spec": spec, "status": status}))
}

fn rolled_out() -> Value {
    json!({"replicas": 3, "updatedReplicas": 3, "availableReplicas": 3, "readyReplicas": 3, "conditions": [
        condition("Progressing", "True", "NewReplicaSetAvailable", ""), condition("Available", "True", "", "")]})
}

#[test]
fn a_deployment_counts_its_replicas() {
    let spec = json!({"replicas": 3, "progressDeadlineSeconds": 600});
    let done = rolled_out();
    is(&deployment(&spec, &done), ReadinessState::Current, "all 3 replicas are ready");
    for (field, value, message) in [
        ("replicas", 2, "2 of 3 replicas are created"),
        ("updatedReplicas", 1, "1 of 3 replicas are updated"),
        ("replicas", 4, "1 old replica is still terminating"),
        ("replicas", 5, "2 old replicas are still terminating"),
        ("availableReplicas", 0, "0 of 3 replicas are available"),
        ("readyReplicas", 2, "2 of 3 replicas are ready"),
    ] {
        is(&deployment(&spec, &with(&done, field, json!(value))), ReadinessState::InProgress, message);
    }
    is(&deployment(&json!({}), &json!({"replicas": 0})), ReadinessState::InProgress, "0 of 1 replica is created");
    let none = json!({"conditions": done["conditions"]});
    is(&deployment(&json!({"replicas": 0}), &none), ReadinessState::Current, "it is scaled to 0 replicas");
}

#[test]
fn a_deployment_listens_to_its_conditions() {
    let spec = json!({"replicas": 3, "progressDeadlineSeconds": 600});
    let done = rolled_out();
    let conditions = |conditions: Value| with(&done, "conditions", conditions);
    let late = condition("Progressing", "False", "ProgressDeadlineExceeded", "it took too long");
    let failed = deployment(&spec, &conditions(json!([late])));
    is(&failed, ReadinessState::Failed, "it took too long (ProgressDeadlineExceeded)");
    assert_eq!(failed.outlook, Outlook::Open, "the rollout goes on");

    let available = condition("Available", "True", "", "");
    let progressing = condition("Progressing", "True", "ReplicaSetUpdated", "");
    let unfinished = "its new ReplicaSet is not complete yet";
    is(&deployment(&spec, &conditions(json!([progressing, available]))), ReadinessState::InProgress, unfinished);
    is(&deployment(&spec, &conditions(json!([available]))), ReadinessState::InProgress, unfinished);
    for spec in [json!({"replicas": 3}), json!({"replicas": 3, "progressDeadlineSeconds": 2_147_483_647})] {
        assert_eq!(deployment(&spec, &conditions(json!([available]))).state, ReadinessState::Current, "{spec}");
    }
    let complete = condition("Progressing", "True", "NewReplicaSetAvailable", "");
    is(&deployment(&spec, &conditions(json!([complete]))), ReadinessState::InProgress, "it is not available yet");
}

#[test]
fn a_deployment_says_why_it_has_no_pods() {
    let refused = condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota");
    let status = json!({"conditions": [refused]});
    let message = "0 of 3 replicas are created: exceeded quota (FailedCreate)";
    is(&deployment(&json!({"replicas": 3}), &status), ReadinessState::InProgress, message);
    let paused = deployment(&json!({"replicas": 3, "paused": true}), &json!({}));
    is(&paused, ReadinessState::InProgress, "0 of 3 replicas are created, and its rollout is paused");
    let done = json!({"replicas": 3, "updatedReplicas": 3, "availableReplicas": 3, "readyReplicas": 3, "conditions": [
        condition("Available", "True", "", ""), condition("Progressing", "Unknown", "DeploymentPaused", "")]});
    let spec = json!({"replicas": 3, "paused": true, "progressDeadlineSeconds": 600});
    is(&deployment(&spec, &done), ReadinessState::Current, "all 3 replicas are ready");
}

#[test]
fn a_replica_set_counts_its_replicas() {
    let set =
        |status: Value| readiness_of("apps/v1", "ReplicaSet", &json!({"spec": {"replicas": 2}, "status": status}));
    let done = json!({"replicas": 2, "fullyLabeledReplicas": 2, "availableReplicas": 2, "readyReplicas": 2});
    is(&set(done.clone()), ReadinessState::Current, "all 2 replicas are ready");
    for (field, value, message) in [
        ("fullyLabeledReplicas", 1, "1 of 2 replicas are labelled"),
        ("availableReplicas", 1, "1 of 2 replicas are available"),
        ("readyReplicas", 0, "0 of 2 replicas are ready"),
        ("replicas", 3, "1 extra replica is still terminating"),
    ] {
        is(&set(with(&done, field, json!(value))), ReadinessState::InProgress, message);
    }
    let failure = json!([condition("ReplicaFailure", "True", "FailedCreate", "no")]);
    is(&set(with(&done, "conditions", failure)), ReadinessState::InProgress, "no (FailedCreate)");
    let controller = readiness_of("v1", "ReplicationController", &json!({"status": {}}));
    is(&controller, ReadinessState::InProgress, "0 of 1 replica is labelled");
}

#[test]
fn a_stateful_set_counts_its_replicas_and_compares_its_revisions() {
    let set = |strategy: Value, status: &Value| {
        let spec = json!({"replicas": 3, "updateStrategy": strategy});
        readiness_of("apps/v1", "StatefulSet", &json!({"spec": spec, "status": status}))
    };
    let rolling = || json!({"type": "RollingUpdate"});
    let done = json!({"replicas": 3, "readyReplicas": 3, "currentReplicas": 3, "updatedReplicas": 3,
        "currentRevision": "b", "updateRevision": "b"});
    is(&set(rolling(), &done), ReadinessState::Current, "all 3 replicas are ready");
    for (field, value, message) in [
        ("replicas", json!(1), "1 of 3 replicas are created"),
        ("readyReplicas", json!(2), "2 of 3 replicas are ready"),
        ("replicas", json!(4), "1 extra replica is still terminating"),
        ("currentReplicas", json!(2), "2 of 3 replicas are current"),
        ("currentRevision", json!("a"), "its rollout is not complete yet"),
    ] {
        is(&set(rolling(), &with(&done, field, value)), ReadinessState::InProgress, message);
    }
    let partition = |from: u64| json!({"type": "RollingUpdate", "rollingUpdate": {"partition": from}});
    let partly =
        json!({"replicas": 3, "readyReplicas": 3, "updatedReplicas": 1, "currentRevision": "a", "updateRevision": "b"});
    assert_eq!(set(partition(2), &partly).state, ReadinessState::Current);
    is(&set(partition(1), &partly), ReadinessState::InProgress, "1 of 2 replicas are updated");
    is(&set(partition(0), &partly), ReadinessState::InProgress, "1 of 3 replicas are updated");
    is(&set(json!({"type": "OnDelete"}), &json!({})), ReadinessState::InProgress, "0 of 3 replicas are created");
    assert_eq!(
        set(json!({"type": "OnDelete"}), &with(&done, "currentRevision", json!("a"))).state,
        ReadinessState::Current
    );
}

#[test]
fn a_daemon_set_counts_its_nodes() {
    let set = |strategy: &str, status: &Value| {
        let spec = json!({"updateStrategy": {"type": strategy}});
        readiness_of("apps/v1", "DaemonSet", &json!({"metadata": {"generation": 1}, "spec": spec, "status": status}))
    };
    let rolling = "RollingUpdate";
    let done = json!({"observedGeneration": 1, "desiredNumberScheduled": 2, "currentNumberScheduled": 2,
        "updatedNumberScheduled": 2, "numberAvailable": 2, "numberReady": 2});
    is(&set(rolling, &done), ReadinessState::Current, "all 2 replicas are ready");
    for (field, value, message) in [
        ("observedGeneration", json!(null), "its controller has not seen it yet"),
        ("desiredNumberScheduled", json!(null), "the number of its nodes is not known yet"),
        ("currentNumberScheduled", json!(1), "1 of 2 replicas are scheduled"),
        ("updatedNumberScheduled", json!(1), "1 of 2 replicas are updated"),
        ("numberAvailable", json!(1), "1 of 2 replicas are available"),
        ("numberReady", json!(1), "1 of 2 replicas are ready"),
    ] {
        is(&set(rolling, &with(&done, field, value)), ReadinessState::InProgress, message);
    }
    is(&set(rolling, &with(&done, "desiredNumberScheduled", json!(0))), ReadinessState::Current, "no node runs it");
    assert_eq!(set("OnDelete", &with(&done, "updatedNumberScheduled", json!(0))).state, ReadinessState::Current);
    let unseen = readiness_of("apps/v1", "DaemonSet", &json!({"status": done}));
    is(&unseen, ReadinessState::InProgress, "its controller has not seen it yet");
}

#[test]
fn a_job_is_current_when_it_is_complete_and_in_progress_before() {
    let job = |spec: Value, status: Value| readiness_of("batch/v1", "Job", &json!({"spec": spec, "status": status}));
    let spec = || json!({"completions": 3});
    is(&job(spec(), json!({})), ReadinessState::InProgress, "it has not started yet");
    let active = json!({"startTime": NOW, "active": 2, "succeeded": 1});
    is(&job(spec(), active), ReadinessState::InProgress, "2 running, 1 of 3 succeeded");
    let troubled = json!({"startTime": NOW, "active": 1, "failed": 2});
    is(&job(json!({}), troubled), ReadinessState::InProgress, "1 running, 0 of 1 succeeded, 2 failed");
    let status = |condition: Value| json!({"startTime": NOW, "conditions": [condition]});
    is(&job(spec(), status(condition("Complete", "True", "", ""))), ReadinessState::Current, "it is complete");
    let failed = job(spec(), status(condition("Failed", "True", "BackoffLimitExceeded", "too often")));
    is(&failed, ReadinessState::Failed, "too often (BackoffLimitExceeded)");
    assert!(failed.is_final_failure());
    let suspended = || status(condition("Suspended", "True", "JobSuspended", ""));
    assert_eq!(job(json!({"suspend": true}), suspended()).state, ReadinessState::Current);
    assert_eq!(job(json!({"suspend": false}), suspended()).state, ReadinessState::InProgress, "it is about to go on");
    assert_eq!(job(json!({"parallelism": 0}), json!({"startTime": NOW})).state, ReadinessState::Current);
}

#[test]
fn versions_and_the_old_group_do_not_matter() {
    for api_version in ["apps/v1beta2", "extensions/v1beta1", "apps/v9"] {
        assert_eq!(
            readiness_of(api_version, "Deployment", &json!({})).state,
            ReadinessState::InProgress,
            "{api_version}"
        );
    }
    assert_eq!(
        readiness_of("example.com/v1", "Deployment", &json!({})).state,
        ReadinessState::Current,
        "somebody else's Deployment"
    );
}
