//! Any JSON value that is written as YAML, in any style, is read back as itself.

use std::fmt::Write as _;

use kube_yaml::Validation;
use proptest::prelude::*;
use serde_json::Value;

/// Style in which collections and texts are written.
#[derive(Debug, Clone, Copy)]
enum Style {
    Block,
    Flow,
    Single,
    Literal,
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (i64::MAX.unsigned_abs()..).prop_map(Value::from),
        (-1.0e6_f64..1.0e6).prop_map(Value::from),
        text().prop_map(Value::from),
    ]
}

/// Texts that YAML could read as another type, and any printable ones.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,8}",
        "(yes|no|on|null|~|0644|1e3|0x1F|1_000|<<|- a|\\? b|: c|#d|&e|\\*f|!g|%h|@i|\\{j|\\[k|---|\\.\\.\\.)",
        "[ -~äß値😀\n\t]{0,24}"
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn style() -> impl Strategy<Value = Style> {
    prop_oneof![Just(Style::Block), Just(Style::Flow), Just(Style::Single), Just(Style::Literal)]
}

/// A text in double quotes; YAML has no surrogate pairs, but all other escapes of JSON.
fn quote(text: &str, style: Style) -> String {
    let printable = text.chars().all(|character| !character.is_control());
    match style {
        Style::Single if printable => format!("'{}'", text.replace('\'', "''")),
        _ => Value::from(text).to_string(),
    }
}

fn write(value: &Value, style: Style, indentation: usize, out: &mut String) {
    let blanks = " ".repeat(indentation);
    match value {
        Value::Object(map) if !map.is_empty() && !matches!(style, Style::Flow) => {
            for (key, value) in map {
                let _ = write!(out, "\n{blanks}{}:", quote(key, style));
                write(value, style, indentation + 2, out);
            }
        }
        Value::Array(items) if !items.is_empty() && !matches!(style, Style::Flow) => {
            for item in items {
                let _ = write!(out, "\n{blanks}-");
                write(item, style, indentation + 2, out);
            }
        }
        Value::String(text) if matches!(style, Style::Literal) && text.lines().any(|line| !line.trim().is_empty()) => {
            let chomp = if text.ends_with('\n') { "+" } else { "-" };
            let _ = write!(out, " |2{chomp}");
            for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
                let _ = write!(out, "\n{blanks}{line}");
            }
        }
        Value::String(text) => {
            let _ = write!(out, " {}", quote(text, style));
        }
        other => {
            let _ = write!(out, " {other}");
        }
    }
}

/// Converts whole floats to integers, as kubectl does.
fn as_kubectl(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "the floats above are small")]
            Some(float) if float.fract() == 0.0 => Value::from(float as i64),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(as_kubectl).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, as_kubectl(value))).collect(),
        other => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_value_is_read_back(value in value(), style in style()) {
        let mut text = String::from("root:");
        write(&value, style, 2, &mut text);
        text.push('\n');
        let stream = kube_yaml::read(text.as_bytes(), Validation::Strict);
        prop_assert_eq!(&stream.diagnostics, &Vec::new(), "{}", text);
        prop_assert_eq!(&stream.documents[0].value["root"], &as_kubectl(value), "{}", text);
    }

    #[test]
    fn json_is_read_back(value in value()) {
        let text = serde_json::json!({ "root": value }).to_string();
        let stream = kube_yaml::read(text.as_bytes(), Validation::Strict);
        prop_assert_eq!(&stream.diagnostics, &Vec::new(), "{}", text);
        prop_assert_eq!(&stream.documents[0].value["root"], &value, "{}", text);
    }
}
