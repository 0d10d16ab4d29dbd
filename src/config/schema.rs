//! The JSON Schema of a configuration, for editors: made of the same tables as the reader, so that the two agree.

#![expect(clippy::indexing_slicing, reason = "the value was made with `json!` here: it is an object")]

use clap::{Arg, ArgAction};
use serde_json::{Map, Value, json};

use super::defaults::{Default, is_list, settable};
use super::ignore::MAX_REASON;
use super::readiness::MAX_EXPRESSION;
use super::{API_VERSION, KIND};
use crate::rules::{MAX_FIELDS, MAX_PATTERN, MAX_READINESS_RULES, MAX_RULES};

/// The schema (draft 7, which editors know), indented, with a line end.
#[must_use]
pub(crate) fn schema() -> String {
    // Serialising can fail only for maps whose keys aren't strings.
    let text = serde_json::to_string_pretty(&document()).unwrap_or_default();
    format!("{text}\n")
}

fn document() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Configuration of kubectl reconcile",
        "description": "`.kubectl-reconcile.yaml`, next to the manifests or above them in the same repository",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "additionalProperties": false,
        "properties": {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": KIND},
            "manualManagers": {
                "description": "Field managers whose changes count as manual, in addition to those of kubectl",
                "type": ["array", "null"], "maxItems": MAX_RULES, "items": manager(),
            },
            "ignore": {
                "description": "Differences that are neither reported nor changed",
                "type": ["array", "null"], "maxItems": MAX_RULES, "items": rule(),
            },
            "readiness": {
                "description": "When objects of a kind are ready, as expressions of CEL",
                "type": ["array", "null"], "maxItems": MAX_READINESS_RULES, "items": readiness(),
            },
            "defaults": {
                "description": "Flags as if they were typed; what is typed wins",
                "type": ["object", "null"], "additionalProperties": false, "properties": flags(),
            },
        },
    })
}

fn manager() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": 128})
}

fn names(description: &str) -> Value {
    json!({"description": description, "type": ["string", "null"], "maxLength": 253, "pattern": r"^[^?\[\]{}()|^$+\\\s]*$"})
}

fn target_properties() -> Value {
    json!({
        "group": names("API group, with `*` for any characters; empty for the core group"),
        "kind": names("Kind, with `*` for any characters"),
        "namespace": names("Namespace, with `*` for any characters"),
        "name": names("Name, with `*` for any characters"),
    })
}

fn target() -> Value {
    let mut properties = target_properties();
    properties["labelSelector"] = json!({"description": "Labels of the manifest, such as `app=web,tier!=test`", "type": ["string", "null"], "minLength": 1});
    json!({"type": ["object", "null"], "additionalProperties": false, "properties": properties})
}

fn rule() -> Value {
    let texts = |description: &str, pattern: &str| {
        json!({
            "description": description, "type": ["array", "null"], "minItems": 1, "maxItems": MAX_FIELDS,
            "items": {"type": "string", "minLength": 1, "maxLength": MAX_PATTERN, "pattern": pattern},
        })
    };
    let mut properties = json!({
        "target": target(),
        "fields": texts("Paths as reports print them, such as `spec.containers[name=app].image` or `metadata.annotations[*]`", "^[^/.]"),
        "managers": {
            "description": "Only fields that one of these field managers owns, with `*` for any characters",
            "type": ["array", "null"], "minItems": 1, "maxItems": MAX_FIELDS, "items": manager(),
        },
        "reason": {"description": "Why", "type": ["string", "null"], "minLength": 1, "maxLength": MAX_REASON},
        "expires": {
            "description": "The last day of the rule, in UTC", "type": ["string", "null"], "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        },
        "jsonPointers": texts("Fields as JSON pointers, as in Argo CD", "^/"),
        "paths": texts("Fields as JSON pointers, as in Flux", "^/"),
        "jqPathExpressions": texts("Fields as plain paths of jq, as in Argo CD", r"^\."),
    });
    properties["managedFieldsManagers"] = properties["managers"].clone();
    let of_argo = target_properties();
    let keys: Vec<String> = of_argo.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect();
    for key in &keys {
        properties[key] = of_argo[key].clone();
    }
    let any = |keys: &[&str]| keys.iter().map(|key| present(key)).collect::<Vec<_>>();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let objects: Vec<Value> = std::iter::once(present("target")).chain(any(&keys)).collect();
    json!({
        "type": "object", "additionalProperties": false, "properties": properties,
        "allOf": [
            {"anyOf": any(&["fields", "managers", "jsonPointers", "paths", "jqPathExpressions", "managedFieldsManagers"])},
            {"anyOf": objects},
            {"not": {"allOf": [present("target"), {"anyOf": any(&keys)}]}},
        ],
    })
}

/// A key with a value that is not null.
fn present(key: &str) -> Value {
    json!({"required": [key], "properties": {key: {"not": {"type": "null"}}}})
}

fn readiness() -> Value {
    let expression = |description: &str| json!({"description": description, "type": ["string", "null"], "minLength": 1, "maxLength": MAX_EXPRESSION});
    let mut current = expression("True of an object that is ready");
    current["type"] = json!("string");
    let mut target = target();
    target["required"] = json!(["kind"]);
    target["type"] = json!("object");
    target["properties"]["kind"]["type"] = json!("string");
    json!({
        "type": "object", "additionalProperties": false, "required": ["target", "current"],
        "properties": {
            "target": target,
            "current": current,
            "inProgress": expression("True of an object on its way"),
            "failed": expression("True of an object that has failed"),
        },
    })
}

fn flags() -> Value {
    let flags = settable().into_iter().map(|(flag, default, arg)| (flag.to_owned(), flag_schema(default, &arg)));
    Value::Object(flags.collect::<Map<_, _>>())
}

fn flag_schema(default: Default, arg: &Arg) -> Value {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default().replace('\n', " ");
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return json!({"description": help, "type": "boolean"});
    }
    let known: Vec<String> = match default {
        Default::Only(values, _) => values.iter().map(|value| (*value).to_owned()).collect(),
        _ => arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
    };
    let is_switch = known.iter().any(|value| value == "true");
    let one = if is_switch {
        json!({"type": "boolean"})
    } else if known.is_empty() {
        json!({"type": ["string", "number"]})
    } else {
        json!({"enum": known})
    };
    let mut schema = if is_list(arg) { json!({"anyOf": [one, {"type": "array", "items": one}]}) } else { one };
    schema["description"] = help.into();
    schema
}
