//! A configuration as it is written: its keys in the order in which people read them. The JSON Schema is derived from this type, and
//! from those of the values, which are the ones that are read.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Arg, ArgAction, Command};
use reconcile_core::owners::MAX_MANAGER;
use reconcile_core::rules::{IgnoreRule, MAX_READINESS_RULES, MAX_RULES, ReadinessRule};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::defaults::{is_list, settable};
use super::expect::Expectation;
use super::ignore::{FIELDS, GLOBS, MANAGERS, POINTERS, TARGET};
use super::settable::Settable;
use super::{API_VERSION, Configuration, KIND};

/// `.kubectl-reconcile.yaml`, next to the manifests or above them in the same repository.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "Configuration of kubectl reconcile")]
pub(super) struct WrittenConfiguration<'a, Rule> {
    #[schemars(extend("const" = API_VERSION))]
    api_version: &'static str,
    #[schemars(extend("const" = KIND))]
    kind: &'static str,
    /// The places where the manifests belong: a run elsewhere is refused. Each key that is given has to match.
    #[serde(skip_serializing_if = "Option::is_none")]
    expect: Option<&'a Expectation>,
    /// Field managers whose changes count as manual, in addition to those of kubectl.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    #[schemars(with = "Option<Vec<String>>", length(max = MAX_RULES), inner(length(min = 1, max = MAX_MANAGER)))]
    manual_managers: &'a BTreeSet<String>,
    /// Differences that are neither reported nor changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<Rule>>", length(max = MAX_RULES), transform = complete_rules)]
    ignore: Vec<Rule>,
    /// Rules that say when objects of a kind are ready, as CEL expressions.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schemars(with = "Option<Vec<ReadinessRule>>", length(max = MAX_READINESS_RULES), transform = require_kind)]
    readiness: &'a [ReadinessRule],
    /// Flags as if they were typed; what is typed wins.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Option<BTreeMap<String, Value>>")]
    defaults: BTreeMap<&'a str, &'a Value>,
}

impl<'a, Rule> WrittenConfiguration<'a, Rule> {
    /// A configuration with some of its rules, or with others.
    pub fn of(configuration: &'a Configuration, ignore: Vec<Rule>) -> Self {
        let Configuration { expect, manual_managers, readiness, defaults, .. } = configuration;
        Self {
            api_version: API_VERSION,
            kind: KIND,
            expect: (*expect != Expectation::default()).then_some(expect),
            manual_managers,
            ignore,
            readiness,
            defaults: defaults.iter().map(|default| (default.flag.as_str(), &default.value)).collect(),
        }
    }
}

/// The JSON Schema of a configuration (draft 7, which editors know), indented, with a line end. `program` defines
/// the flags of `defaults`.
pub(crate) fn schema(program: &Command) -> String {
    let settings = SchemaSettings::draft07().for_serialize().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<WrittenConfiguration<IgnoreRule>>();
    if let Some(defaults) = schema.pointer_mut("/properties/defaults").and_then(Value::as_object_mut) {
        defaults.extend(flags(program));
    }
    // Serialising can fail only for maps whose keys are not strings.
    let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    format!("{text}\n")
}

/// Completes the ignore rules: the spellings of Argo CD and Flux, which are read and never written, and which keys they need.
fn complete_rules(rules: &mut Schema) {
    let Some(rule) = rules.pointer_mut("/items").and_then(Value::as_object_mut) else { return };
    let Some(properties) = rule.get_mut("properties").and_then(Value::as_object_mut) else { return };
    let target = properties.get(TARGET).and_then(|target| target.get("properties")).cloned().unwrap_or_default();
    for key in GLOBS {
        properties.insert(key.to_owned(), target.get(key).cloned().unwrap_or_default());
    }
    for [ours, theirs] in [POINTERS, MANAGERS] {
        properties.insert(theirs.to_owned(), properties.get(ours).cloned().unwrap_or_default());
    }
    let any = |keys: &[&str]| json!({"anyOf": keys.iter().map(|key| present(key)).collect::<Vec<_>>()});
    let objects = json!({"oneOf": [present(TARGET), any(&GLOBS)]});
    let selectors: Vec<&str> = FIELDS.iter().map(|spelling| spelling.key).chain(MANAGERS).collect();
    rule.insert("allOf".to_owned(), json!([any(&selectors), objects]));
    rule.remove("required");
}

/// A key with a value that is not null.
fn present(key: &str) -> Value {
    json!({"required": [key], "properties": {key: {"not": {"type": "null"}}}})
}

/// Narrows the targets of readiness rules to those with a kind.
fn require_kind(rules: &mut Schema) {
    let [_, kind, ..] = GLOBS;
    let path = format!("/items/properties/{TARGET}");
    if let Some(types) = rules.pointer_mut(&format!("{path}/properties/{kind}/type")) {
        *types = json!("string");
    }
    if let Some(target) = rules.pointer_mut(&path).and_then(Value::as_object_mut) {
        target.insert("required".to_owned(), json!([kind]));
    }
}

/// The flags of `defaults`, from their definitions in clap.
fn flags(program: &Command) -> Map<String, Value> {
    let flags = settable(program).into_iter().map(|(flag, default, arg)| (flag, flag_schema(default, &arg)));
    let flags: BTreeMap<&str, Schema> = flags.collect();
    Map::from_iter([
        ("type".to_owned(), json!(["object", "null"])),
        ("additionalProperties".to_owned(), json!(false)),
        ("properties".to_owned(), json!(flags)),
    ])
}

fn flag_schema(default: Settable, arg: &Arg) -> Schema {
    let known: Vec<String> = match default {
        Settable::Only(values, _) => values.iter().map(|value| (*value).to_owned()).collect(),
        _ => arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
    };
    let is_switch = matches!(arg.get_action(), ArgAction::SetTrue)
        || matches!(default, Settable::Switch(_))
        || known.iter().any(|value| value == "true");
    let one = if is_switch {
        json_schema!({"type": "boolean"})
    } else if known.is_empty() {
        json_schema!({"type": ["string", "number"]})
    } else {
        json_schema!({"enum": known})
    };
    let mut schema = match default {
        Settable::Including(needed, _) => {
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
