//! Invalid expressions are rejected when they are parsed.

use super::*;

#[test]
fn a_syntax_error_has_a_position() {
    for (text, message, position) in [
        ("status.", "not a valid CEL expression: no viable alternative at input '.'", Some((1, 8))),
        ("status.phase = 'Ready'", "not a valid CEL expression: token recognition error at: '= '", Some((1, 14))),
        ("status.phase ==\n  == 1", "not a valid CEL expression: extraneous input '=='", Some((2, 3))),
        ("'open", "not a valid CEL expression: token recognition error at: ''open'", Some((1, 1))),
        ("has(status)", "not a valid CEL expression: invalid argument to has() macro", Some((1, 5))),
    ] {
        let error = refused(text);
        assert!(error.message.starts_with(message), "{text}: {}", error.message);
        assert_eq!(error.position, position, "{text}");
        assert!(error.message.len() < 200, "{}", error.message);
    }
}

#[test]
fn an_unknown_function_is_an_error() {
    for (text, message) in [
        ("status.phase.matches('R.*')", "there is no function `matches`"),
        ("timestamp(status.at) < timestamp('2026-01-01T00:00:00Z')", "there is no function `timestamp`"),
        ("status.phase.lowerAscii() == 'ready'", "there is no function `lowerAscii`"),
        ("status.a.optMap(a, a == 1).orValue(false)", "there is no function `optMap`"),
        ("all(status.conditions, true)", "`all` is not called as it has to be"),
        ("status.conditions.exists(c)", "`exists` is not called as it has to be"),
        ("google.protobuf.Empty{} == 1", "message types are not supported"),
        (" \n", "the expression is empty"),
    ] {
        let error = refused(text);
        assert_eq!(error.message, message, "{text}");
        assert!(!error.hint.is_empty());
    }
}

#[test]
fn whatever_is_written_is_read_or_refused() {
    const SIGNS: [&str; 34] = [
        "a", "status", ".", ".?", "[", "]", "[?", "(", ")", "{", "}", ":", ",", "?", "!", "-", "+", "*", "/", "%",
        "==", "<", "&&", "||", "in", "'", "\"", "r'x'", "1", "1u", "1.5e3", ".all(a, ", ".map(a, ", "`",
    ];
    let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = |bound: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % u64::try_from(bound).unwrap()).unwrap()
    };
    let object = json!({"a": [1, "x", {"a": null}], "status": {"a": -1}});
    for _ in 0..400 {
        let length = 1 + next(14);
        let text: String = (0..length).map(|_| SIGNS[next(SIGNS.len())]).collect::<Vec<_>>().join(" ");
        if let Ok(condition) = Condition::parse(&text) {
            assert_ne!(condition.holds(&object), Err(EvaluationError::Internal), "{text}");
        }
    }
}
