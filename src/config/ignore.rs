//! `ignore:`, the rules about fields.

use jiff::civil::Date;

use super::file::{ConfigNode, File, Mapping};
use reconcile_core::object::Selector;
use reconcile_core::owners::MAX_MANAGER;
use reconcile_core::rules::{
    FieldPattern, Glob, IgnoreRule, MAX_FIELDS, MAX_REASON, MAX_RULES, ObjectPattern, PatternError, jq_path,
    json_pointer,
};
use reconcile_core::text::one_line;

/// The key of the objects of a rule.
pub(super) const TARGET: &str = "target";

/// The keys of a target that are globs. Argo CD writes them into the rule itself.
pub(super) const GLOBS: [&str; 4] = ["group", "kind", "namespace", "name"];

/// The keys of JSON pointers: ours, which is that of Argo CD, and that of Flux.
pub(super) const POINTERS: [&str; 2] = ["jsonPointers", "paths"];

/// The ways to write the fields of a rule.
pub(super) const FIELDS: [Spelling; 4] = [
    Spelling { key: "fields", example: "[spec.replicas]", read: FieldPattern::parse },
    Spelling { key: POINTERS[0], example: "[/spec/replicas]", read: json_pointer },
    Spelling { key: POINTERS[1], example: "[/spec/replicas]", read: json_pointer },
    Spelling { key: "jqPathExpressions", example: "[.spec.replicas]", read: jq_path },
];

/// The keys of the field managers of a rule: ours, and that of Argo CD.
pub(super) const MANAGERS: [&str; 2] = ["managers", "managedFieldsManagers"];

/// The key of the reason of a rule.
pub(super) const REASON: &str = "reason";

/// One way to write fields.
pub(super) struct Spelling {
    /// The key of their list.
    pub key: &'static str,
    example: &'static str,
    read: fn(&str) -> Result<FieldPattern, PatternError>,
}

/// Reads the list of rules.
pub(super) fn rules(file: &mut File<'_>, node: &ConfigNode<'_>) -> Vec<IgnoreRule> {
    let example = "ignore: [{target: {kind: Deployment}, fields: [spec.replicas]}]";
    let items = file.items(node, MAX_RULES, example);
    items.iter().filter_map(|item| rule(file, item)).collect()
}

fn rule(file: &mut File<'_>, node: &ConfigNode<'_>) -> Option<IgnoreRule> {
    let mut keys = file.mapping(node, "an ignore rule")?;
    let target = target_of_rule(file, node, &mut keys);
    let fields = FIELDS.map(|spelling| keys.key(spelling.key).map(|list| fields(file, &list, &spelling)));
    let managers = MANAGERS.map(|key| keys.key(key).map(|list| managers(file, &list)));
    let reason = keys.key(REASON).and_then(|reason| reason_text(file, &reason));
    let expires = keys.key("expires").and_then(|expires| date(file, &expires));
    file.end(keys);
    if fields.iter().all(Option::is_none) && managers.iter().all(Option::is_none) {
        let hint = "name the fields, as in `fields: [spec.replicas]`, or the field managers whose fields to ignore";
        file.of_key(node, "an ignore rule must have `fields`, `managers` or both", hint);
    }
    let fields = fields.into_iter().flatten().flatten().collect();
    let managers = managers.into_iter().flatten().flatten().collect();
    Some(IgnoreRule { target, fields, managers, reason, expires, location: file.location(node) })
}

/// The objects of a rule: under `target`, or in the rule itself as Argo CD has it.
fn target_of_rule(file: &mut File<'_>, node: &ConfigNode<'_>, keys: &mut Mapping<'_>) -> ObjectPattern {
    let target = keys.key(TARGET);
    let of_argo = GLOBS.map(|key| keys.key(key));
    match (target, of_argo.iter().flatten().next()) {
        (Some(target), key) => {
            if let Some(key) = key {
                file.of_key(
                    key,
                    "the objects are named twice: here and under `target`",
                    "write all of it under `target`",
                );
            }
            object_pattern(file, &target)
        }
        (None, Some(_)) => globs(file, of_argo),
        (None, None) => {
            let hint =
                "write `target: {}` for all objects, or narrow it, as in `target: {kind: Deployment, name: web}`";
            file.of_key(node, "an ignore rule must have a `target`", hint);
            ObjectPattern::default()
        }
    }
}

/// Reads a target; also that of a readiness rule.
pub(super) fn object_pattern(file: &mut File<'_>, node: &ConfigNode<'_>) -> ObjectPattern {
    let Some(mut keys) = file.mapping(node, "a target") else { return ObjectPattern::default() };
    let globs = globs(file, GLOBS.map(|key| keys.key(key)));
    let labels = keys.key("labelSelector").and_then(|labels| selector(file, &labels));
    file.end(keys);
    ObjectPattern { labels, ..globs }
}

fn selector(file: &mut File<'_>, node: &ConfigNode<'_>) -> Option<Selector> {
    let text = file.text(node, &node.name(), "labelSelector: app=web,tier!=test")?;
    let hint = "selectors look like `app=web`, `tier in (a, b)`, `!legacy`";
    Selector::parse(&one_line(text, 1000)).map_err(|error| file.of_value(node, error, hint)).ok()
}

/// Reads the values of [`GLOBS`].
fn globs(file: &mut File<'_>, values: [Option<ConfigNode<'_>>; 4]) -> ObjectPattern {
    let [group, kind, namespace, name] = values.map(|value| glob(file, &value?));
    ObjectPattern { group, kind, namespace, name, labels: None }
}

fn glob(file: &mut File<'_>, node: &ConfigNode<'_>) -> Option<Glob> {
    let Some(text) = node.value.as_str() else {
        file.of_value(node, format!("{} must be a string", node.name()), "quote it");
        return None;
    };
    let hint = "write one name with `*` for any characters and `?` for one, and one rule for each alternative";
    Glob::of_names(text).map_err(|error| file.of_value(node, error, hint)).ok()
}

fn fields(file: &mut File<'_>, list: &ConfigNode<'_>, spelling: &Spelling) -> Vec<FieldPattern> {
    let Spelling { key, example, read } = spelling;
    let example = format!("{key}: {example}");
    let mut fields = Vec::new();
    for item in file.items(list, MAX_FIELDS, &example) {
        let Some(text) = file.text(&item, "a field", &example) else { continue };
        match read(text) {
            Ok(field) => fields.push(field),
            Err(error) => file.of_value(&item, error.message, error.hint),
        }
    }
    if list.is_empty_list() {
        file.of_value(list, format!("`{key}` is empty"), format!("write `{example}`, or leave `{key}` out"));
    }
    fields
}

fn managers(file: &mut File<'_>, list: &ConfigNode<'_>) -> Vec<Glob> {
    let items = file.items(list, MAX_FIELDS, "managers: [some-controller]");
    if list.is_empty_list() {
        let key = list.name();
        file.of_value(list, format!("{key} is empty"), format!("name a field manager, or leave {key} out"));
    }
    items.iter().filter_map(|item| manager(file, item)).map(Glob::new).collect()
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
    let text = file.text(node, &node.name(), "reason: scaled by the autoscaler")?;
    if text.len() > MAX_REASON {
        file.of_key(node, format!("`reason` is at most {MAX_REASON} bytes long"), "shorten it");
    }
    Some(text.to_owned())
}

fn date(file: &mut File<'_>, node: &ConfigNode<'_>) -> Option<Date> {
    let date = node.value.as_str().filter(|text| text.len() == 10).and_then(|text| text.parse::<Date>().ok());
    if date.is_none() {
        let hint = "write the last day of the rule in UTC, as in `expires: 2027-01-31`";
        file.of_value(node, "`expires` must be a date", hint);
    }
    date
}
