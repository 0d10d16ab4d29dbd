//! A configuration as it is written: its keys in the order in which people read them. The JSON Schema is derived from these types.

use std::collections::BTreeMap;

use bounded_cel::Condition;
use clap::{Arg, ArgAction, Command};
use reconcile_core::diagnostic::Location;
use reconcile_core::owners::MAX_MANAGER;
use reconcile_core::rules::{
    Glob, IgnoreRule, MAX_FIELDS, MAX_PATTERN, MAX_READINESS_RULES, MAX_RULES, ObjectPattern, ReadinessRule,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::defaults::{is_list, settable};
use super::expect::{Expectation, Expected, MAX_ITEMS, MAX_TEXT};
use super::ignore::{ALIASES, FIELDS, GLOBS, MANAGERS, MAX_REASON};
use super::readiness::MAX_EXPRESSION;
use super::settable::Default;
use super::{API_VERSION, Configuration, KIND};

/// Longest name and characters of a name, as [`Glob::of_names`] reads it.
const MAX_NAME: usize = 253;
const NAME: &str = r"^[^\[\]{}()|^$+\\\s]*$";

/// `.kubectl-reconcile.yaml`, next to the manifests or above them in the same repository.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "Configuration of kubectl reconcile")]
pub(super) struct WrittenConfiguration {
    #[schemars(extend("const" = API_VERSION))]
    api_version: &'static str,
    #[schemars(extend("const" = KIND))]
    kind: &'static str,
    /// The places where the manifests belong: a run elsewhere is refused. Each key that is given has to match.
    #[serde(skip_serializing_if = "Option::is_none")]
    expect: Option<WrittenExpectation>,
    /// Field managers whose changes count as manual, in addition to those of kubectl.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_RULES), inner(length(min = 1, max = MAX_MANAGER)))]
    manual_managers: Option<Vec<String>>,
    /// Differences that are neither reported nor changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_RULES))]
    ignore: Option<Vec<WrittenRule>>,
    /// Rules that say when objects of a kind are ready, as CEL expressions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_READINESS_RULES))]
    readiness: Option<Vec<WrittenReadiness>>,
    /// Flags as if they were typed; what is typed wins.
    #[serde(skip_serializing_if = "Option::is_none")]
    defaults: Option<BTreeMap<String, Value>>,
}

/// The places where the manifests belong.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenExpectation {
    /// Contexts of the kubeconfig, with `*` for any characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_ITEMS), inner(length(min = 1, max = MAX_TEXT)))]
    contexts: Option<Vec<String>>,
    /// URLs of API servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_ITEMS), inner(length(min = 1, max = MAX_TEXT), regex(pattern = "^[hH][tT][tT][pP][sS]?://")))]
    servers: Option<Vec<String>>,
    /// Namespaces of the objects that live in one, with `*` for any characters and `?` for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_ITEMS), inner(length(min = 1, max = MAX_NAME), regex(pattern = NAME)))]
    namespaces: Option<Vec<String>>,
    /// The apply set that `apply` has to name with `--applyset`: `[RESOURCE[.GROUP]/]NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^([^/]+/)?[^/]+$"))]
    applyset: Option<String>,
}

/// An ignore rule.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = complete_rule)]
pub(super) struct WrittenRule {
    /// The objects of the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<WrittenTarget>,
    /// Paths as reports print them, such as `spec.containers[name=app].image` or `metadata.annotations[*]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_FIELDS), inner(length(min = 1, max = MAX_PATTERN), regex(pattern = "^[^/.]")))]
    fields: Option<Vec<String>>,
    /// Fields as JSON pointers: `jsonPointers` in Argo CD, `paths` in Flux.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_FIELDS), inner(length(min = 1, max = MAX_PATTERN), regex(pattern = "^/")))]
    json_pointers: Option<Vec<String>>,
    /// Fields as plain paths of jq, as in Argo CD.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_FIELDS), inner(length(min = 1, max = MAX_PATTERN), regex(pattern = r"^\.")))]
    jq_path_expressions: Option<Vec<String>>,
    /// Only fields that one of these field managers owns, with `*` for any characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_FIELDS), inner(length(min = 1, max = MAX_MANAGER)))]
    managers: Option<Vec<String>>,
    /// The reason why the differences are ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_REASON))]
    reason: Option<String>,
    /// The last day of the rule, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    expires: Option<String>,
    /// The location of the rule, which only `config view` writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    place: Option<String>,
}

/// The objects of a rule; a key that is left out matches all.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenTarget {
    /// API group, with `*` for any characters; empty for the core group.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_NAME), regex(pattern = NAME))]
    group: Option<String>,
    /// Kind, with `*` for any characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_NAME), regex(pattern = NAME))]
    kind: Option<String>,
    /// Namespace, with `*` for any characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_NAME), regex(pattern = NAME))]
    namespace: Option<String>,
    /// Name, with `*` for any characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_NAME), regex(pattern = NAME))]
    name: Option<String>,
    /// Labels of the manifest, such as `app=web,tier!=test`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    label_selector: Option<String>,
}

/// A readiness rule.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenReadiness {
    /// The objects of the rule, which have a kind.
    #[schemars(transform = require_kind)]
    target: WrittenTarget,
    /// True for an object that is ready.
    #[schemars(length(min = 1, max = MAX_EXPRESSION))]
    current: String,
    /// True for an object in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_EXPRESSION))]
    in_progress: Option<String>,
    /// True for an object that has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_EXPRESSION))]
    failed: Option<String>,
}

/// The JSON Schema of a configuration (draft 7, which editors know), indented, with a line end. `program` defines
/// the flags of `defaults`.
pub(crate) fn schema(program: &Command) -> String {
    let settings = SchemaSettings::draft07().for_serialize().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<WrittenConfiguration>();
    if let Some(defaults) = schema.pointer_mut("/properties/defaults").and_then(Value::as_object_mut) {
        defaults.extend(flags(program));
    }
    // Serialising can fail only for maps whose keys are not strings.
    let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    format!("{text}\n")
}

/// A list or a mapping, or none if it is empty.
fn unless_empty<T, C: FromIterator<T>>(items: impl IntoIterator<Item = T>) -> Option<C> {
    let mut items = items.into_iter().peekable();
    items.peek().is_some().then(|| items.collect())
}

impl WrittenConfiguration {
    /// A configuration with some of its rules, or with others.
    pub fn of(configuration: &Configuration, ignore: Vec<WrittenRule>) -> Self {
        let defaults = configuration.defaults.iter().map(|default| (default.flag.clone(), default.value.clone()));
        Self {
            api_version: API_VERSION,
            kind: KIND,
            expect: WrittenExpectation::of(&configuration.expect),
            manual_managers: unless_empty(configuration.manual_managers.iter().cloned()),
            ignore: unless_empty(ignore),
            readiness: unless_empty(configuration.readiness.iter().map(WrittenReadiness::of)),
            defaults: unless_empty(defaults),
        }
    }
}

impl WrittenExpectation {
    /// The expectations; `None` if there are none.
    fn of(expect: &Expectation) -> Option<Self> {
        if *expect == Expectation::default() {
            return None;
        }
        let Expectation { contexts, servers, namespaces, applyset } = expect;
        let globs = |globs: &Expected<Glob>| globs.allowed.iter().map(ToString::to_string).collect();
        Some(Self {
            contexts: contexts.as_ref().map(globs),
            servers: servers.as_ref().map(|servers| servers.allowed.clone()),
            namespaces: namespaces.as_ref().map(globs),
            applyset: applyset.as_ref().and_then(|set| set.allowed.first().cloned()),
        })
    }
}

impl WrittenRule {
    /// A rule with its fields in the spelling in which they were written.
    pub fn of(rule: &IgnoreRule) -> Self {
        let spelled = |is_it: fn(&str) -> bool| {
            unless_empty(rule.fields.iter().map(ToString::to_string).filter(|text| is_it(text)))
        };
        Self {
            target: Some(WrittenTarget::of(&rule.target)),
            fields: spelled(|text| !text.starts_with(['/', '.'])),
            json_pointers: spelled(|text| text.starts_with('/')),
            jq_path_expressions: spelled(|text| text.starts_with('.')),
            managers: unless_empty(rule.managers.iter().map(ToString::to_string)),
            reason: rule.reason.clone(),
            expires: rule.expires.map(|date| date.to_string()),
            place: None,
        }
    }

    /// Sets the location that it names.
    pub fn at(self, location: &Location) -> Self {
        Self { place: Some(location.to_string()), ..self }
    }
}

impl WrittenTarget {
    fn of(target: &ObjectPattern) -> Self {
        let text = |glob: &Option<Glob>| glob.as_ref().map(ToString::to_string);
        Self {
            group: text(&target.group),
            kind: text(&target.kind),
            namespace: text(&target.namespace),
            name: text(&target.name),
            label_selector: target.labels.as_ref().map(ToString::to_string),
        }
    }
}

impl WrittenReadiness {
    fn of(rule: &ReadinessRule) -> Self {
        let text = |expression: &Option<Condition>| expression.as_ref().map(|expression| expression.text().to_owned());
        Self {
            target: WrittenTarget::of(&rule.target),
            current: rule.current.text().to_owned(),
            in_progress: text(&rule.in_progress),
            failed: text(&rule.failed),
        }
    }
}

/// Completes an ignore rule: the spellings of Argo CD and Flux, which are read and never written, and which keys it needs.
fn complete_rule(rule: &mut Schema) {
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
fn require_kind(target: &mut Schema) {
    if let Some(kind) = target.pointer_mut("/properties/kind/type") {
        *kind = json!("string");
    }
    target.insert("required".to_owned(), json!(["kind"]));
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
