//! Typical expressions, with the results of Flux (`runtime/cel` of fluxcd/pkg).

use super::*;

fn object() -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Database", "metadata": {"name": "db", "generation": 3, "labels": {"a/b": "c"}},
        "spec": {"replicas": 2, "ratio": 0.5, "big": u64::MAX},
        "status": {
            "phase": "Ready", "readyReplicas": 2, "observedGeneration": 3, "done": true, "nothing": null,
            "conditions": [
                {"type": "Ready", "status": "True", "observedGeneration": 3}, {"type": "Synced", "status": "False"}]},
    })
}

#[test]
fn expressions_are_true_or_false_of_an_object() {
    for (text, expected) in [
        ("status.phase == 'Ready'", true),
        ("status.phase == \"Failed\"", false),
        ("status.phase in ['Ready', 'Running']", true),
        ("status.done", true),
        ("!status.done", false),
        ("true", true),
        ("metadata.generation == status.observedGeneration && spec.replicas == status.readyReplicas", true),
        ("status.readyReplicas >= spec.replicas", true),
        ("spec.ratio < 1", true),
        ("spec.replicas == 2.0", true),
        ("spec.big > 1", true),
        ("has(status.phase) && !has(status.error)", true),
        ("has(status.error) && status.error != ''", false),
        ("status.nothing == null", true),
        ("status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')", true),
        ("status.conditions.all(c, c.status == 'True')", false),
        ("status.conditions.exists_one(c, c.status == 'True')", true),
        ("status.conditions.filter(c, c.type == 'Ready').all(c, c.status == 'True')", true),
        ("size(status.conditions.filter(c, c.status == 'True')) == 1", true),
        ("status.conditions.map(c, c.type) == ['Ready', 'Synced']", true),
        ("'Synced' in status.conditions.map(c, c.status == 'False', c.type)", true),
        ("status.conditions[0].type == 'Ready'", true),
        ("metadata.labels['a/b'] == 'c'", true),
        ("'phase' in status", true),
        ("status.phase.startsWith('Re') && status.phase.endsWith('dy') && status.phase.contains('ead')", true),
        ("status.phase == 'Ready' ? status.done : false", true),
        ("int('3') + 1 == 4 && string(3) == '3' && double('1.5') == 1.5", true),
        ("status.?error.orValue('') == ''", true),
        ("status.?phase.orValue('') == 'Ready'", true),
        ("status.?error.hasValue()", false),
        ("metadata.?labels['a/b'].orValue('') == 'c'", true),
        ("optional.of(status.phase).value() == 'Ready'", true),
        ("{'a': spec.replicas}['a'] == 2", true),
        ("type(status.phase) == string", true),
        ("status\n  .phase // a comment (\n == 'Ready'", true),
    ] {
        assert_eq!(evaluate(text, &object()), Ok(expected), "{text}");
    }
}

#[test]
fn a_missing_field_is_an_error_unless_the_answer_does_not_depend_on_it() {
    let missing = |name: &str| Err(EvaluationError::Missing(Some(name.to_owned())));
    assert_eq!(evaluate("status.phase == 'Ready'", &json!({})), missing("status"));
    assert_eq!(evaluate("status.phase == 'Ready'", &json!({"status": {}})), missing("phase"));
    assert_eq!(evaluate("has(status.phase)", &json!({})), missing("status"), "as in Flux");
    assert_eq!(evaluate("has(status.phase)", &json!({"status": {}})), Ok(false));
    assert_eq!(evaluate("status.error == 'x' || true", &object()), Ok(true));
    assert_eq!(evaluate("status.error == 'x' && false", &object()), Ok(false));
    assert_eq!(evaluate("status.conditions.exists(c, c.reason == 'x')", &object()), missing("reason"));
    assert_eq!(
        evaluate("status.conditions.filter(c, c.type == 'Ready').all(c, c.status == 'True')", &json!({"status": {}})),
        missing("conditions")
    );
    let none = json!({"status": {"conditions": []}});
    assert_eq!(evaluate("status.conditions.all(c, c.status == 'True')", &none), Ok(true));
}

#[test]
fn an_error_tells_its_kind_and_no_value() {
    for (text, expected) in [
        ("status.phase", EvaluationError::NotBoolean),
        ("spec.replicas + 1", EvaluationError::NotBoolean),
        ("status.phase + 1 == 2", EvaluationError::Types),
        ("status.phase > 1", EvaluationError::Types),
        ("status.phase && true", EvaluationError::Types),
        ("status.phase.all(c, true)", EvaluationError::Types),
        ("int(status.phase) == 1", EvaluationError::Types),
        ("size(spec.replicas) == 1", EvaluationError::Types),
        ("status.conditions[7].type == 'Ready'", EvaluationError::Range),
        ("1 / 0 == 1", EvaluationError::Range),
        ("1 % 0 == 1", EvaluationError::Range),
        ("9223372036854775807 + spec.replicas > 0", EvaluationError::Range),
        ("metadata.labels[status.phase] == 'c'", EvaluationError::Missing(None)),
    ] {
        let error = evaluate(text, &object()).expect_err(text);
        assert_eq!(error, expected, "{text}");
        assert!(!error.to_string().contains("Ready"), "{error}");
    }
    assert_eq!(evaluate("true", &json!([])), Ok(true));
    assert_eq!(evaluate("a == 1", &json!("a")), Err(EvaluationError::Missing(Some("a".to_owned()))));
}
