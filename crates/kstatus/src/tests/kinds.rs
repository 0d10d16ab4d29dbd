use super::*;

#[test]
fn what_only_has_to_exist_is_current() {
    for (api_version, kind) in [
        ("v1", "ConfigMap"),
        ("v1", "Secret"),
        ("batch/v1", "CronJob"),
        ("policy/v1", "PodDisruptionBudget"),
        ("v1", "Namespace"),
        ("rbac.authorization.k8s.io/v1", "Role"),
    ] {
        is(
            &readiness_of(api_version, kind, &json!({"metadata": {"generation": 1}})),
            ReadinessState::Current,
            "it exists, and nothing else is needed",
        );
    }
}

#[test]
fn a_load_balancer_needs_its_address() {
    let service = |spec: Value, status: Value| readiness_of("v1", "Service", &json!({"spec": spec, "status": status}));
    assert_eq!(service(json!({"type": "ClusterIP"}), json!({"loadBalancer": {}})).state, ReadinessState::Current);
    assert_eq!(service(json!({"type": "NodePort"}), json!({})).state, ReadinessState::Current);
    let balanced = |ip: &str| json!({"type": "LoadBalancer", "clusterIP": ip});
    is(&service(balanced(""), json!({})), ReadinessState::InProgress, "it has no cluster IP yet");
    let empty = json!({"loadBalancer": {}});
    is(&service(balanced("10.0.0.7"), empty), ReadinessState::InProgress, "its load balancer has no address yet");
    let ready = json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}});
    is(&service(balanced("10.0.0.7"), ready), ReadinessState::Current, "its load balancer has an address");
}

#[test]
fn an_ingress_needs_its_address() {
    for group in ["networking.k8s.io/v1", "extensions/v1beta1"] {
        let ingress =
            |status: Value| readiness_of(group, "Ingress", &json!({"metadata": {"generation": 1}, "status": status}));
        let message = "its controller has not given it an address yet";
        is(&ingress(json!({"loadBalancer": {}})), ReadinessState::InProgress, message);
        is(&ingress(json!({"loadBalancer": {"ingress": []}})), ReadinessState::InProgress, message);
        let ready = json!({"loadBalancer": {"ingress": [{"hostname": "edge.example.com"}]}});
        is(&ingress(ready), ReadinessState::Current, "it has an address");
    }
    assert_eq!(
        readiness_of("example.com/v1", "Ingress", &json!({})).state,
        ReadinessState::Current,
        "another kind of this name"
    );
}

#[test]
fn a_claim_needs_its_volume() {
    let claim = |phase: &str| readiness_of("v1", "PersistentVolumeClaim", &json!({"status": {"phase": phase}}));
    is(&claim("Pending"), ReadinessState::InProgress, "it is not bound to a volume yet");
    is(&claim("Bound"), ReadinessState::Current, "it is bound to its volume");
    assert!(claim("Lost").is_final_failure());
}

#[test]
fn a_definition_is_current_when_its_kind_is_served() {
    let definition = |conditions: Value| {
        let object = json!({"status": {"conditions": conditions}});
        readiness_of("apiextensions.k8s.io/v1", "CustomResourceDefinition", &object)
    };
    is(&definition(json!([])), ReadinessState::InProgress, "its kind is not served yet");
    let refused = condition("NamesAccepted", "False", "ListKindConflict", "taken");
    let established = condition("Established", "True", "InitialNamesAccepted", "");
    let accepted = condition("NamesAccepted", "True", "NoConflicts", "");
    assert!(definition(json!([established, refused])).is_final_failure());
    assert_eq!(
        definition(json!([accepted, condition("Established", "False", "Installing", "")])).state,
        ReadinessState::InProgress
    );
    assert!(definition(json!([accepted, condition("Established", "False", "NotAccepted", "")])).is_final_failure());
    is(&definition(json!([accepted, established])), ReadinessState::Current, "its kind is served");
}

#[test]
fn an_api_service_has_to_be_available() {
    let service = |conditions: Value| {
        readiness_of("apiregistration.k8s.io/v1", "APIService", &json!({"status": {"conditions": conditions}}))
    };
    assert_eq!(service(json!([])).state, ReadinessState::InProgress);
    let missing = condition("Available", "False", "ServiceNotFound", "no such service");
    is(&service(json!([missing])), ReadinessState::InProgress, "no such service (ServiceNotFound)");
    assert_eq!(service(json!([condition("Available", "True", "Passed", "")])).state, ReadinessState::Current);
}
