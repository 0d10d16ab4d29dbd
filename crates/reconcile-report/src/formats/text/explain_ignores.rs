//! `--explain-ignores`: the differences that each rule hid.

use std::collections::BTreeMap;

use reconcile_core::rules::IgnoreRules;

use crate::words::number::grouped;
use crate::{Report, Role, Styled, View};

/// Most fields that are named of one rule.
const SHOWN: usize = 100;

/// The rules in force, in the order of the configuration, and the annotations of manifests: each with the fields that it hid.
pub fn explained(report: &Report, rules: &IgnoreRules, view: &View) -> Styled {
    let mut hidden: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for object in &report.objects {
        for ignored in &object.diff.ignored {
            let fields = ignored.paths.iter().map(|path| {
                let managers = ignored.managers.get(&path.to_string()).map(Vec::as_slice).unwrap_or_default();
                let by = match managers {
                    [] => String::new(),
                    managers => format!("  by {}", managers.join(", ")),
                };
                format!("{} {path}{by}", object.key)
            });
            hidden.entry(&ignored.rule).or_default().extend(fields);
        }
    }
    let mut text = Styled::new();
    for rule in rules.iter() {
        let location = rule.location.to_string();
        let fields = hidden.remove(location.as_str()).unwrap_or_default();
        one(&mut text, &location, rule.reason.as_deref(), (&fields, view));
    }
    for (annotation, fields) in &hidden {
        one(&mut text, annotation, None, (fields, view));
    }
    text
}

fn one(text: &mut Styled, rule: &str, reason: Option<&str>, (fields, view): (&[String], &View)) {
    let most = if view.full { usize::MAX } else { SHOWN };
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let hid = if fields.is_empty() { "hid nothing" } else { "hid:" };
    text.push(Role::Name, rule.to_owned());
    text.push(Role::Note, format!("{reason} {hid}"));
    text.line_end();
    for field in fields.iter().take(most) {
        text.push(Role::Plain, format!("    {field}"));
        text.line_end();
    }
    if let Some(more @ 1..) = fields.len().checked_sub(most) {
        text.push(Role::Note, format!("    … {} more fields: --full", grouped(more)));
        text.line_end();
    }
}
