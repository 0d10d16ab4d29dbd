//! The parts of the configuration's JSON Schema that its types do not describe: the spellings of other tools, and the flags.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, Command};
use schemars::{Schema, json_schema};
use serde_json::{Map, Value, json};

use super::defaults::{is_list, settable};
use super::ignore::{ALIASES, FIELDS, GLOBS, MANAGERS};
use super::settable::Default;

/// Completes an ignore rule: the spellings of Argo CD and Flux, which are read and never written, and which keys it needs.
pub(super) fn complete_rule(rule: &mut Schema) {
    let Some(properties) = rule.get_mut("properties").and_then(Value::as_object_mut) else { return };
    let target = properties.get("target").and_then(|target| target.get("properties")).cloned().unwrap_or_default();
    let of_target = GLOBS.iter().filter_map(|key| Some((*key, target.get(key)?.clone())));
    let aliases = ALIASES.iter().filter_map(|(alias, key)| Some((*alias, properties.get(*key)?.clone())));
    let more: Vec<_> = of_target.chain(aliases).map(|(key, schema)| (key.to_owned(), schema)).collect();
    properties.extend(more);
    let any = |keys: &[&str]| json!({"anyOf": keys.iter().map(|key| present(key)).collect::<Vec<_>>()});
    let objects = json!({"oneOf": [present("target"), any(&GLOBS)]});
    let selectors: Vec<&str> = FIELDS.iter().map(|spelling| spelling.key).chain(MANAGERS).collect();
    rule.insert("allOf".to_owned(), json!([any(&selectors), objects]));
}

/// A key with a value that is not null.
fn present(key: &str) -> Value {
    json!({"required": [key], "properties": {key: {"not": {"type": "null"}}}})
}

/// Narrows a target to those with a kind.
pub(super) fn require_kind(target: &mut Schema) {
    if let Some(kind) = target.pointer_mut("/properties/kind/type") {
        *kind = json!("string");
    }
    target.insert("required".to_owned(), json!(["kind"]));
}

/// The flags of `defaults`, from their definitions in clap.
pub(super) fn flags(program: &Command) -> Map<String, Value> {
    let flags = settable(program).into_iter().map(|(flag, default, arg)| (flag, flag_schema(default, &arg)));
    let flags: BTreeMap<&str, Schema> = flags.collect();
    Map::from_iter([
        ("type".to_owned(), json!(["object", "null"])),
        ("additionalProperties".to_owned(), json!(false)),
        ("properties".to_owned(), json!(flags)),
    ])
}

fn flag_schema(default: Default, arg: &Arg) -> Schema {
    let known: Vec<String> = match default {
        Default::Only(values, _) => values.iter().map(|value| (*value).to_owned()).collect(),
        _ => arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
    };
    let is_switch = matches!(arg.get_action(), ArgAction::SetTrue)
        || matches!(default, Default::Switch(_))
        || known.iter().any(|value| value == "true");
    let one = if is_switch {
        json_schema!({"type": "boolean"})
    } else if known.is_empty() {
        json_schema!({"type": ["string", "number"]})
    } else {
        json_schema!({"enum": known})
    };
    let mut schema = match default {
        Default::Including(needed, _) => {
            let list = json!({"type": "array", "items": one, "contains": {"const": needed}});
            json_schema!({"anyOf": [{"const": needed}, list]})
        }
        _ if is_list(arg) && !is_switch => json_schema!({"anyOf": [one, {"type": "array", "items": one}]}),
        _ => one,
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default().replace('\n', " ");
    schema.insert("description".to_owned(), help.into());
    schema
}
