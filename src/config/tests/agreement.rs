//! The schema and the reader agree on the examples of the documentation and on invalid configurations.

use std::collections::BTreeSet;

use clap::CommandFactory as _;
use serde_json::{Value, json};

use super::{parse, whole};
use crate::commands::Cli;
use crate::config::schema;
use reconcile_core::manifest::yaml::{self, Validation};

/// `UPDATE_SCHEMAS=1 cargo test --lib schema` rewrites the file.
#[test]
fn the_schema_in_the_repository_is_the_one_that_is_printed() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/config.json");
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&file, schema(&Cli::command())).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == schema(&Cli::command()),
        "schemas/config.json is out of date: run `UPDATE_SCHEMAS=1 cargo test --lib schema`"
    );
}

#[test]
fn the_schema_has_the_keys_that_the_reader_knows_and_no_others() {
    let schema: Value = serde_json::from_str(&schema(&Cli::command())).unwrap();
    let rule = "/properties/ignore/items";
    let readiness = "/properties/readiness/items";
    for (mapping, with_another) in [
        ("", "another-one: 1"),
        ("/properties/expect", "expect: {another-one: 1}"),
        (rule, "ignore: [{another-one: 1}]"),
        (&format!("{rule}/properties/target"), "ignore: [{target: {another-one: 1}}]"),
        (readiness, "readiness: [{another-one: 1}]"),
        (&format!("{readiness}/properties/target"), "readiness: [{target: {another-one: 1}}]"),
    ] {
        let errors = parse(&whole(with_another)).unwrap_err();
        let error = errors.iter().find(|error| error.contains("unknown key `another-one`")).unwrap();
        let known = error.split_once("the keys are: `").unwrap().1.trim_end_matches('`').split("`, `");
        let mapping = schema.pointer(mapping).unwrap();
        let keys: BTreeSet<&str> = mapping["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, known.collect());
        assert_eq!(mapping["additionalProperties"], false);
    }
}

fn read(text: &str) -> Value {
    yaml::read(text.as_bytes(), Validation::Strict)
        .documents
        .into_iter()
        .next()
        .map_or(Value::Null, |document| document.value)
}

#[track_caller]
fn agree(text: &str, is_good: bool) {
    let schema: Value = serde_json::from_str(&schema(&Cli::command())).unwrap();
    let violation = violation(&schema, &read(text)).err();
    assert_eq!(violation.is_none(), is_good, "the schema: {text}: {violation:?}");
    assert_eq!(parse(text).is_ok(), is_good, "the reader: {text}: {:?}", parse(text).err());
}

#[test]
fn the_examples_of_the_documentation_are_valid() {
    let mut examples = 0;
    for file in ["docs/ownership.md", "docs/configuration.md"] {
        let text = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        for block in text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            if block.contains("kind: Config\n") {
                examples += 1;
                agree(block, true);
            }
        }
    }
    assert!(examples >= 2, "{examples}");
}

#[test]
fn schema_and_reader_accept_and_refuse_the_same() {
    for good in [
        "",
        "manualManagers: [k9s]",
        "ignore: [{target: {}, fields: [spec.replicas]}]",
        "ignore: [{kind: Deployment, jsonPointers: [/spec/replicas]}]",
        "ignore: [{target: {group: '', kind: '*'}, managers: [a*], expires: 2027-01-31, reason: why}]",
        "ignore: [{target: null, kind: A, fields: [a]}]",
        "readiness: [{target: {kind: A}, current: 'true'}]",
        "readiness: [{target: {kind: A}, current: 'true', inProgress: null, failed: 'false'}]",
        "defaults: {show-unmanaged: true, force-conflicts: none, v: 1}",
        "defaults: {fail-on: drift, report-unmanaged: true, no-ignore-annotations: true}",
        "defaults: {fail-on: [drift, unmanagedObjects]}",
        "defaults: {disable-compression: true}",
        "expect: {servers: ['https://10.1.2.3:6443', 'HTTP://localhost', 'https://a.shop/k8s/c-1/']}",
    ] {
        agree(&whole(good), true);
    }
    for bad in [
        "expect: {servers: ['https://10.1.2.3:*']}",
        "expect: {servers: ['https://admin@10.1.2.3']}",
        "expect: {servers: ['https://10.1.2.3?x=y']}",
        "expect: {servers: ['https://10.1.2.3/#a']}",
        "expect: {servers: ['10.1.2.3']}",
        "manualManager: []",
        "manualManagers: {}",
        "manualManagers: [1]",
        "manualManagers: ['']",
        "ignore: {}",
        "ignore: [{}]",
        "ignore: [{target: {}}]",
        "ignore: [{fields: [a]}]",
        "ignore: [{target: {}, fields: []}]",
        "ignore: [{target: {}, fields: [/a]}]",
        "ignore: [{target: {}, fields: [1]}]",
        "ignore: [{target: {}, jsonPointers: [a]}]",
        "ignore: [{target: {}, kind: A, fields: [a]}]",
        "ignore: [{target: {nam: a}, fields: [a]}]",
        "ignore: [{target: {name: 'a|b'}, fields: [a]}]",
        "ignore: [{target: {}, fields: [a], expires: tomorrow}]",
        "ignore: [{target: {}, fields: [a], reson: b}]",
        "readiness: [{target: {kind: A}}]",
        "readiness: [{target: {kind: A}, failed: 'false'}]",
        "readiness: [{target: {kind: A}, current: null, failed: 'false'}]",
        "readiness: [{target: {}, current: a}]",
        "readiness: [{current: a}]",
        "readiness: [{target: {kind: A}, current: 1}]",
        "defaults: []",
        "defaults: {server: x}",
        "defaults: {force-conflicts: all}",
        "defaults: {evidence: x}",
        "defaults: {full: 1}",
        "defaults: {quiet: true}",
        "defaults: {summary: true}",
        "defaults: {output: json}",
        "defaults: {namespace: shop}",
        "defaults: {validate: warn}",
        "defaults: {fail-on: replace}",
        "defaults: {fail-on: [replace]}",
        "defaults: {fail-on: []}",
        "defaults: {report-unmanaged: kube-system}",
        "defaults: {report-unmanaged: [kube-system]}",
    ] {
        agree(&whole(bad), false);
    }
    agree("kind: Config", false);
    agree("apiVersion: kubectl-reconcile/v1\nkind: Confg", false);
}

/// As much of JSON Schema as the schema uses; a keyword that is not known here fails the test.
fn violation(schema: &Value, value: &Value) -> Result<(), String> {
    let Value::Object(keywords) = schema else { return Err(format!("{schema} is no schema")) };
    let no = |why: &str| Err(format!("{value}: {why}"));
    let length = || value.as_str().map_or(0, |text| text.chars().count() as u64);
    let items = || value.as_array().map_or(&[][..], Vec::as_slice);
    for (keyword, with) in keywords {
        let holds = match keyword.as_str() {
            "$schema" | "title" | "description" => true,
            "type" => match with {
                Value::Array(types) => types.iter().any(|one| is_of(value, one)),
                one => is_of(value, one),
            },
            "const" => value == with,
            "enum" => with.as_array().unwrap().contains(value),
            "required" => {
                !value.is_object()
                    || with.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some())
            }
            "additionalProperties" => {
                assert_eq!(with, false);
                let known = schema["properties"].as_object().unwrap();
                value.as_object().is_none_or(|map| map.keys().all(|key| known.contains_key(key)))
            }
            "properties" => {
                for (key, below) in with.as_object().unwrap() {
                    value.get(key).map_or(Ok(()), |value| violation(below, value))?;
                }
                true
            }
            "contains" => !value.is_array() || items().iter().any(|item| violation(with, item).is_ok()),
            "items" => {
                items().iter().try_for_each(|item| violation(with, item))?;
                true
            }
            "minItems" => !value.is_array() || items().len() as u64 >= with.as_u64().unwrap(),
            "maxItems" => items().len() as u64 <= with.as_u64().unwrap(),
            "minLength" => !value.is_string() || length() >= with.as_u64().unwrap(),
            "maxLength" => length() <= with.as_u64().unwrap(),
            "pattern" => value.as_str().is_none_or(|text| matches(with.as_str().unwrap(), text)),
            "anyOf" => with.as_array().unwrap().iter().any(|one| violation(one, value).is_ok()),
            "oneOf" => with.as_array().unwrap().iter().filter(|one| violation(one, value).is_ok()).count() == 1,
            "allOf" => {
                with.as_array().unwrap().iter().try_for_each(|one| violation(one, value))?;
                true
            }
            "not" => violation(with, value).is_err(),
            other => panic!("`{other}` is not known to the test"),
        };
        if !holds {
            return no(keyword);
        }
    }
    Ok(())
}

fn is_of(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    }
}

/// The patterns of the schema.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern {
        "^/" => text.starts_with('/'),
        r"^\." => text.starts_with('.'),
        "^[^/.]" => text.starts_with(|c| c != '/' && c != '.'),
        "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" => {
            text.len() == 10
                && text
                    .bytes()
                    .enumerate()
                    .all(|(at, c)| if at == 4 || at == 7 { c == b'-' } else { c.is_ascii_digit() })
        }
        r"^[^\[\]{}()|^$+\\\s]*$" => !text.contains(|c: char| "[]{}()|^$+\\".contains(c) || c.is_whitespace()),
        "^([^/]+/)?[^/]+$" => text.split('/').count() <= 2 && text.split('/').all(|part| !part.is_empty()),
        r"^[hH][tT][tT][pP][sS]?://[^/@?#*\s]+(/[^?#*\s]*)?$" => {
            text.split_once("://").is_some_and(|(scheme, rest)| {
                let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
                let is_plain = |text: &str| !text.contains(|c: char| "?#*".contains(c) || c.is_whitespace());
                ["http", "https"].contains(&scheme.to_lowercase().as_str())
                    && !authority.is_empty()
                    && !authority.contains('@')
                    && is_plain(authority)
                    && is_plain(path)
            })
        }
        other => panic!("`{other}` is not known to the test"),
    }
}

#[test]
fn the_schema_is_what_editors_expect() {
    let schema: Value = serde_json::from_str(&schema(&Cli::command())).unwrap();
    assert_eq!(schema["$schema"], json!("http://json-schema.org/draft-07/schema#"));
    assert_eq!(schema["properties"]["defaults"]["properties"]["show-unmanaged"]["type"], "boolean");
    assert!(schema["properties"]["defaults"]["properties"].get("token").is_none());
}
