use serde_json::json;
use structured_merge::{Operation, builtin, builtin_kind};

use super::*;

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "uid": "1", "labels": {"app": "web", "team": "a"}, "managedFields": [
            {"manager": "ci", "operation": "Apply", "apiVersion": "apps/v1", "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
             "fieldsV1": {"f:metadata": {"f:labels": {"f:app": {}, "f:team": {}}}, "f:spec": {"f:strategy": {},
                "f:template": {"f:spec": {"f:containers": {r#"k:{"name":"web"}"#: {".": {}, "f:name": {}, "f:image": {}, "f:args": {}}}}}}}},
            {"manager": "kubectl", "operation": "Update", "apiVersion": "apps/v1", "subresource": "scale", "fieldsType": "FieldsV1",
             "fieldsV1": {"f:spec": {"f:replicas": {}}}},
            {"manager": "labeller", "operation": "Update", "apiVersion": "apps/v1", "time": "2026-01-02T00:00:00Z",
             "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:labels": {"f:team": {}}}}},
        ]},
        "spec": {"replicas": 5, "strategy": {"type": "RollingUpdate"}, "template": {"spec": {"containers": [
            {"name": "web", "image": "shop/web:1", "args": ["-v", "-x"]}]}}},
        "status": {"replicas": 5},
    })
}

fn fields(live: &Value, manifest: Option<&Value>, with_status: bool) -> Vec<BlamedField> {
    let gvk = GroupVersionKind::of(live);
    let kind = builtin_kind(&gvk);
    let schema = builtin().object(&gvk).unwrap();
    Blame { gvk: &gvk, kind, live, schema, manifest, is_encrypted: false, with_status }.fields(&Redactor::default())
}

/// The owners of a field, as `MANAGER OPERATION/SUBRESOURCE`.
fn owners(fields: &[BlamedField], path: &str) -> Vec<String> {
    let field = fields.iter().find(|field| field.path.to_string() == path).unwrap_or_else(|| panic!("{path}"));
    field.managers.iter().map(|owner| format!("{} {}/{}", owner.manager, owner.operation, owner.subresource)).collect()
}

#[test]
fn each_field_has_its_owners_and_defaults_have_none() {
    let fields = fields(&deployment(), None, false);
    for (path, expected) in [
        ("spec.replicas", &["kubectl Update/scale"][..]),
        ("metadata.labels.app", &["ci Apply/"]),
        ("metadata.labels.team", &["labeller Update/", "ci Apply/"]),
        ("spec.template.spec.containers[name=web].image", &["ci Apply/"]),
        ("spec.template.spec.containers[name=web].args[1]", &["ci Apply/"]),
        ("spec.strategy.type", &[]),
        ("metadata.uid", &[]),
        ("kind", &[]),
    ] {
        assert_eq!(owners(&fields, path), expected, "{path}");
    }
    assert!(fields.iter().all(|field| field.manifest.is_none()));
    assert_eq!(fields[0].managers.len(), 0);
}

#[test]
fn the_status_is_shown_on_request_and_managed_fields_never() {
    let has = |fields: &[BlamedField], path: &str| fields.iter().any(|field| field.path.to_string().starts_with(path));
    for with_status in [false, true] {
        let fields = fields(&deployment(), None, with_status);
        assert!(!has(&fields, "metadata.managedFields"));
        assert_eq!(has(&fields, "status"), with_status);
    }
}

#[test]
fn fields_are_compared_with_the_manifest_by_what_they_mean() {
    let manifest = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {"replicas": 2, "template": {"spec": {"containers": [{"image": "shop/web:1", "name": "web", "args": ["-v", "-y"]}]}}},
    });
    let fields = fields(&deployment(), Some(&manifest), false);
    let sign = |path: &str| fields.iter().find(|field| field.path.to_string() == path).unwrap().manifest.unwrap();
    for (path, expected) in [
        ("apiVersion", InManifest::Same),
        ("metadata.name", InManifest::Same),
        ("metadata.labels.app", InManifest::Same),
        ("metadata.labels.team", InManifest::Absent),
        ("metadata.uid", InManifest::Absent),
        ("spec.replicas", InManifest::Differs),
        ("spec.strategy.type", InManifest::Absent),
        ("spec.template.spec.containers[name=web].image", InManifest::Same),
        ("spec.template.spec.containers[name=web].args[1]", InManifest::Differs),
    ] {
        assert_eq!(sign(path), expected, "{path}");
    }
}

#[test]
fn values_of_secrets_are_redacted_everywhere() {
    let entry = json!({"manager": "ci", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:stringData": {"f:password": {}}}});
    let live = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": {"password": "aHVudGVyMg=="},
        "metadata": {"name": "key", "managedFields": [entry],
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{\"data\":{\"password\":\"aHVudGVyMg==\"}}"}},
    });
    let manifest = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"}, "stringData": {"password": "hunter2"}});
    let fields = fields(&live, Some(&manifest), false);
    let text = serde_json::to_string(&fields).unwrap();
    assert!(!text.contains("aHVudGVyMg") && !text.contains("hunter2"), "{text}");
    let password = fields.iter().find(|field| field.path.to_string() == "data.password").unwrap();
    assert_eq!((&password.value, password.manifest), (&json!({"redacted": "#1"}), Some(InManifest::Same)));
    assert_eq!((password.managers[0].manager.as_str(), password.managers[0].operation), ("ci", Operation::Apply));
}

#[test]
fn what_managed_fields_say_of_other_shapes_is_no_owner() {
    let mut live = deployment();
    live["metadata"]["managedFields"] = json!([
        {"manager": "odd", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {"f:deeper": {}}, "i:3": {}}}},
        "text", {"manager": "broken", "operation": "Update", "fieldsV1": {"nonsense": 3}}, null,
    ]);
    let fields = fields(&live, None, false);
    assert!(fields.iter().any(|field| field.path.to_string() == "spec.replicas"));
    assert!(owners(&fields, "metadata.name").is_empty());
}
