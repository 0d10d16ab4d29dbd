//! Ignore rules that are added to a configuration, with everything else of the file as it was.

use std::sync::Arc;

use clap::Command;
use manifest_edit::{Change, Edit, Step, edit};
use reconcile_core::diagnostic::Location;
use reconcile_core::manifest::yaml::{self, Validation};
use reconcile_core::rules::IgnoreRule;
use reconcile_core::text::yaml_in_order;
use serde_json::{Map, Value};

use super::ignore::{FIELDS, MANAGERS, REASON, TARGET};
use super::written::WrittenConfiguration;
use super::{Configuration, IGNORE};

/// The keys of a rule in the order in which people read them; each comes behind those before it.
const KEYS: [&str; 4] = [TARGET, FIELDS[0].key, MANAGERS[0], REASON];

/// A new configuration with these rules. The error is the reason why there is none.
pub(crate) fn new_with_rules(program: &Command, name: &Arc<str>, rules: &[IgnoreRule]) -> Result<Vec<u8>, String> {
    let configuration = Configuration::default();
    let new = yaml_in_order(&WrittenConfiguration::of(&configuration, rules.iter().collect())).into_bytes();
    means(program, name, &new, rules)?;
    Ok(new)
}

/// The text of a configuration with these rules at the end of its list. The error is the reason why there is none.
pub(crate) fn with_rules(
    program: &Command,
    name: &Arc<str>,
    text: &[u8],
    rules: &[IgnoreRule],
) -> Result<Vec<u8>, String> {
    let former =
        Configuration::parse(program, name, text.to_vec()).map_err(|_| "it cannot be read any more".to_owned())?;
    let new = edited(text, rules)?;
    means(program, name, &new, former.ignore.iter().chain(rules))?;
    Ok(new)
}

/// Checks that a text is a configuration with exactly these rules.
fn means<'r>(
    program: &Command,
    name: &Arc<str>,
    text: &[u8],
    rules: impl IntoIterator<Item = &'r IgnoreRule>,
) -> Result<(), String> {
    let read = Configuration::parse(program, name, text.to_vec()).map_err(|found| match found.first() {
        Some(diagnostic) => diagnostic.message.clone(),
        None => "it could not be read with the rules".to_owned(),
    })?;
    let nowhere = Location { file: Arc::clone(name), line: None, column: None };
    let meant = |rule: &IgnoreRule| IgnoreRule { location: nowhere.clone(), ..rule.clone() };
    if read.ignore.iter().map(meant).eq(rules.into_iter().map(meant)) {
        Ok(())
    } else {
        Err("the edited file would not be read back as the same rules".to_owned())
    }
}

/// Adds the rules key by key, so that each key comes behind those that are there.
fn edited(text: &[u8], rules: &[IgnoreRule]) -> Result<Vec<u8>, String> {
    let mut text = text.to_vec();
    let rules: Vec<Value> = rules.iter().map(|rule| serde_json::to_value(rule).unwrap_or_default()).collect();
    let present = present(&text);
    for key in KEYS {
        let mut edits = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            let Some(value) = rule.get(key) else { continue };
            let mut path =
                vec![Step::Key(IGNORE.to_owned()), Step::Index(present.unwrap_or_default().saturating_add(index))];
            let value = if key == TARGET {
                Value::Object(Map::from_iter([(key.to_owned(), value.clone())]))
            } else {
                path.push(Step::Key(key.to_owned()));
                value.clone()
            };
            edits.push(Edit { document: 1, path, change: Change::Set(value) });
        }
        // A list that does not exist is made as a whole.
        if key == TARGET && present.is_none() {
            let items = edits.into_iter().filter_map(|edit| match edit.change {
                Change::Set(value) => Some(value),
                Change::Insert { .. } | Change::Remove | Change::Reorder(_) => None,
            });
            let path = vec![Step::Key(IGNORE.to_owned())];
            let change = Change::Set(items.collect());
            edits = vec![Edit { document: 1, path, change }];
        }
        let result = edit(&text, &edits);
        if let Some(refused) = result.refused.first() {
            return Err(refused.refusal.to_string());
        }
        text = result.text;
    }
    Ok(text)
}

/// The number of rules in a text; `None` if there is no list of rules.
fn present(text: &[u8]) -> Option<usize> {
    let documents = yaml::read(text, Validation::Warn).documents;
    Some(documents.first()?.value.get(IGNORE)?.as_array()?.len())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use reconcile_core::compare::{Class, FieldChange};
    use reconcile_core::resolve::{exact_field, exact_rule, exact_target};
    use structured_merge::{FieldPath, GroupVersionKind, ObjectKey, Op};

    use super::*;
    use crate::commands::Cli;

    fn rule(name: &str, field: &str, managers: &[&str], reason: &str) -> IgnoreRule {
        let gvk = GroupVersionKind::new("apps/v1", "Deployment");
        let key = ObjectKey { gvk, namespace: Some("shop".to_owned()), name: name.to_owned() };
        let change = FieldChange {
            path: FieldPath::of(&["spec", field]),
            op: Op::Change,
            ..FieldChange { class: Class::ChangedByOther, ..FieldChange::missing(Value::Null) }
        };
        let managers: Vec<String> = managers.iter().map(|&name| name.to_owned()).collect();
        exact_rule(
            exact_target(&key).unwrap(),
            &[exact_field(&change.path, change.class).unwrap()],
            &managers,
            Some(reason.to_owned()),
        )
    }

    fn added(text: &str, rules: &[IgnoreRule]) -> String {
        String::from_utf8(with_rules(&Cli::command(), &"c.yaml".into(), text.as_bytes(), rules).unwrap()).unwrap()
    }

    const RULE: &str = "\
- target:
    group: apps
    kind: Deployment
    name: web
    namespace: shop
  fields:
  - spec.replicas
  managers:
  - hpa
  reason: scaled
";

    #[test]
    fn rules_are_added_behind_the_others() {
        let head = "# Ours\napiVersion: kubectl-reconcile/v1   # the only one\nkind: Config\n\n";
        let tail = "\n# The rest\nmanualManagers: [k9s]\n";
        let own = "ignore:\n# why not\n- target: {group: batch, kind: Job}   # all\n  fields: [spec.suspend]\n";
        let rules = [rule("web", "replicas", &["hpa"], "scaled")];
        assert_eq!(added(&format!("{head}{own}{tail}"), &rules), format!("{head}{own}{RULE}{tail}"));
        assert_eq!(added(head.trim_end(), &rules), format!("{}\nignore:\n{RULE}", head.trim_end()).trim_end());
        let two = [rule("web", "replicas", &["hpa"], "scaled"), rule("api", "paused", &[], "later: 'x' #y")];
        let text = added(&format!("{head}ignore: []{tail}"), &two);
        let read = Configuration::parse(&Cli::command(), &"c.yaml".into(), text.into_bytes()).unwrap();
        assert_eq!(read.ignore.len(), 2);
        assert_eq!(read.ignore[1].reason.as_deref(), Some("later: 'x' #y"));
    }

    #[test]
    fn a_new_configuration_is_read_as_it_is_meant() {
        let name: Arc<str> = "c.yaml".into();
        let rules = [rule("web", "replicas", &["hpa"], "scaled"), rule("web", "paused", &[], "- {x")];
        let read =
            Configuration::parse(&Cli::command(), &name, new_with_rules(&Cli::command(), &name, &rules).unwrap())
                .unwrap();
        assert_eq!(read.ignore.len(), 2);
        let many: Vec<IgnoreRule> = (0..501).map(|number| rule(&format!("web-{number}"), "a", &[], "x")).collect();
        assert!(new_with_rules(&Cli::command(), &name, &many).unwrap_err().contains("500"));
    }

    #[test]
    fn rules_that_cannot_be_added_are_refused() {
        let refused =
            |text: &str| with_rules(&Cli::command(), &"c.yaml".into(), text.as_bytes(), &[rule("web", "a", &[], "x")]);
        let head = "apiVersion: kubectl-reconcile/v1\nkind: Config\n";
        assert!(refused("{").is_err());
        assert!(refused(&format!("{head}ignore: {{}}\n")).is_err());
        let full = "- {target: {}, fields: [spec.a]}\n".repeat(500);
        assert!(refused(&format!("{head}ignore:\n{full}")).unwrap_err().contains("500"));
    }
}
