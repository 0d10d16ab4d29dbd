//! `ignore:`, the rules about fields.

use jiff::civil::Date;

use super::file::{ConfigNode, File, has_any};
use reconcile_core::object::Selector;
use reconcile_core::owners::MAX_MANAGER;
use reconcile_core::rules::{
    FieldPattern, Glob, IgnoreRule, MAX_FIELDS, MAX_RULES, ObjectPattern, PatternError, jq_path, json_pointer,
};
use reconcile_core::text::one_line;

/// The keys of a rule. The second half is spelled as in Argo CD and Flux.
pub(super) const RULE: [&str; 13] = [
    "target",
    "fields",
    "managers",
    "reason",
    "expires",
    "group",
    "kind",
    "namespace",
    "name",
    "jsonPointers",
    "jqPathExpressions",
    "paths",
    "managedFieldsManagers",
];

/// The keys of a target.
pub(super) const TARGET: [&str; 5] = ["group", "kind", "namespace", "name", "labelSelector"];

/// The keys of a target that Argo CD writes into the rule itself.
pub(super) const OF_ARGO: [&str; 4] = ["group", "kind", "namespace", "name"];

/// The keys of a rule that select fields, of which it needs one.
pub(super) const SELECTORS: [&str; 6] =
    ["fields", "managers", "jsonPointers", "jqPathExpressions", "paths", "managedFieldsManagers"];

/// Keys of a rule in other tools, with the keys that mean the same.
pub(super) const ALIASES: [(&str, &str); 2] = [("paths", "jsonPointers"), ("managedFieldsManagers", "managers")];

/// Longest reason, in bytes.
pub(super) const MAX_REASON: usize = 1000;

/// Reads the list of rules.
pub(super) fn rules(file: &mut File<'_>, node: &ConfigNode<'_>) -> Vec<IgnoreRule> {
    let example = "ignore: [{target: {kind: Deployment}, fields: [spec.replicas]}]";
    let items = file.items(node, "`ignore`", MAX_RULES, example);
    items.iter().filter_map(|item| rule(file, item)).collect()
}

fn rule(file: &mut File<'_>, node: &ConfigNode<'_>) -> Option<IgnoreRule> {
    if !file.is_mapping(node, "an ignore rule", &RULE) {
        return None;
    }
    let rule = IgnoreRule {
        target: target_of_rule(file, node),
        fields: fields(file, node),
        managers: managers(file, node),
        reason: node.key("reason").and_then(|reason| reason_text(file, &reason)),
        expires: node.key("expires").and_then(|expires| date(file, &expires)),
        location: file.location(node),
    };
    if !has_any(node.value, &SELECTORS) {
        let hint = "name the fields, as in `fields: [spec.replicas]`, or the field managers whose fields to ignore";
        file.of_key(node, "an ignore rule must have `fields`, `managers` or both", hint);
    }
    Some(rule)
}

/// The objects of a rule: under `target`, or in the rule itself as Argo CD has it.
fn target_of_rule(file: &mut File<'_>, node: &ConfigNode<'_>) -> ObjectPattern {
    match node.key("target") {
        Some(target) => {
            if let Some(key) = OF_ARGO.iter().find_map(|key| node.key(key)) {
                file.of_key(
                    &key,
                    "the objects are named twice: here and under `target`",
                    "write all of it under `target`",
                );
            }
            object_pattern(file, &target)
        }
        None if has_any(node.value, &OF_ARGO) => globs(file, node),
        None => {
            let hint =
                "write `target: {}` for all objects, or narrow it, as in `target: {kind: Deployment, name: web}`";
            file.of_key(node, "an ignore rule must have a `target`", hint);
            ObjectPattern::default()
        }
    }
}

/// Reads a target; also that of a readiness rule.
pub(super) fn object_pattern(file: &mut File<'_>, node: &ConfigNode<'_>) -> ObjectPattern {
    if !file.is_mapping(node, "a target", &TARGET) {
        return ObjectPattern::default();
    }
    let labels = node.key("labelSelector").and_then(|labels| selector(file, &labels));
    ObjectPattern { labels, ..globs(file, node) }
}

fn selector(file: &mut File<'_>, node: &ConfigNode<'_>) -> Option<Selector> {
    let text = file.text(node, "`labelSelector`", "labelSelector: app=web,tier!=test")?;
    match Selector::parse(&one_line(text, 1000)) {
        Ok(selector) => Some(selector),
        Err(error) => {
            file.of_value(node, error.to_string(), "selectors look like `app=web`, `tier in (a, b)`, `!legacy`");
            None
        }
    }
}

fn globs(file: &mut File<'_>, node: &ConfigNode<'_>) -> ObjectPattern {
    let mut glob = |key: &str| {
        let value = node.key(key)?;
        let Some(text) = value.value.as_str() else {
            file.of_value(&value, format!("`{key}` must be a string"), "quote it");
            return None;
        };
        let hint = "write one name with `*` for any characters and `?` for one, and one rule for each alternative";
        Glob::of_names(text).map_err(|error| file.of_value(&value, error.to_string(), hint)).ok()
    };
    ObjectPattern {
        group: glob("group"),
        kind: glob("kind"),
        namespace: glob("namespace"),
        name: glob("name"),
        labels: None,
    }
}

fn fields(file: &mut File<'_>, node: &ConfigNode<'_>) -> Vec<FieldPattern> {
    type Read = fn(&str) -> Result<FieldPattern, PatternError>;
    let spellings: [(&str, Read, &str); 4] = [
        ("fields", FieldPattern::parse, "fields: [spec.replicas]"),
        ("jsonPointers", json_pointer, "jsonPointers: [/spec/replicas]"),
        ("paths", json_pointer, "paths: [/spec/replicas]"),
        ("jqPathExpressions", jq_path, "jqPathExpressions: [.spec.replicas]"),
    ];
    let mut fields = Vec::new();
    for (key, read, example) in spellings {
        let Some(list) = node.key(key) else { continue };
        for item in file.items(&list, &format!("`{key}`"), MAX_FIELDS, example) {
            let Some(text) = file.text(&item, "a field", example) else { continue };
            match read(text) {
                Ok(field) => fields.push(field),
                Err(error) => file.of_value(&item, error.message, error.hint),
            }
        }
        if list.value.as_array().is_some_and(Vec::is_empty) {
            file.of_value(&list, format!("`{key}` is empty"), format!("write `{example}`, or leave `{key}` out"));
        }
    }
    fields
}

fn managers(file: &mut File<'_>, node: &ConfigNode<'_>) -> Vec<Glob> {
    let mut managers = Vec::new();
    for key in ["managers", "managedFieldsManagers"] {
        let Some(list) = node.key(key) else { continue };
        for item in file.items(&list, &format!("`{key}`"), MAX_FIELDS, "managers: [some-controller]") {
            if let Some(name) = manager(file, &item) {
                managers.push(Glob::new(name));
            }
        }
        if list.value.as_array().is_some_and(Vec::is_empty) {
            file.of_value(&list, format!("`{key}` is empty"), format!("name a field manager, or leave `{key}` out"));
        }
    }
    managers
}

/// The name of a field manager, as `managedFields` has it.
pub(super) fn manager<'n>(file: &mut File<'_>, node: &ConfigNode<'n>) -> Option<&'n str> {
    let hint = "write it as in `managedFields`, such as `k9s`";
    let name = node.value.as_str().filter(|name| !name.is_empty() && name.len() <= MAX_MANAGER);
    if name.is_none() {
        file.of_value(node, "expected the name of a field manager", hint);
    }
    name
}

fn reason_text(file: &mut File<'_>, node: &ConfigNode<'_>) -> Option<String> {
    let text = file.text(node, "`reason`", "reason: scaled by the autoscaler")?;
    if text.len() > MAX_REASON {
        file.of_key(node, format!("`reason` is at most {MAX_REASON} bytes long"), "shorten it");
    }
    Some(text.to_owned())
}

fn date(file: &mut File<'_>, node: &ConfigNode<'_>) -> Option<Date> {
    let date = node.value.as_str().filter(|text| text.len() == 10).and_then(|text| text.parse::<Date>().ok());
    if date.is_none() {
        file.of_value(
            node,
            "`expires` must be a date",
            "write the last day of the rule in UTC, as in `expires: 2027-01-31`",
        );
    }
    date
}
