//! `readiness:`, the readiness rules of some kinds.

use bounded_cel::{Condition, ParseError};

use super::file::{ConfigNode, File};
use super::ignore::{TARGET, object_pattern};
use reconcile_core::rules::{MAX_READINESS_RULES, ReadinessRule};
use reconcile_core::text::one_line;

/// Reads the list of rules.
pub(super) fn rules(file: &mut File<'_>, node: &ConfigNode<'_>) -> Vec<ReadinessRule> {
    let example = "readiness: [{target: {kind: Database}, current: 'status.phase == \"Ready\"'}]";
    let items = file.items(node, MAX_READINESS_RULES, example);
    items.iter().filter_map(|item| rule(file, item)).collect()
}

fn rule(file: &mut File<'_>, node: &ConfigNode<'_>) -> Option<ReadinessRule> {
    let mut keys = file.mapping(node, "a readiness rule")?;
    let target = keys.key(TARGET).map(|target| object_pattern(file, &target)).unwrap_or_default();
    if target.kind.is_none() {
        let hint = "readiness differs from kind to kind: write `target: {group: example.com, kind: Database}`";
        file.of_key(node, "a readiness rule must have a `target` with a `kind`", hint);
    }
    let mut expression = |key| keys.key(key).map(|node| condition(file, &node));
    let current = expression("current");
    let in_progress = expression("inProgress").flatten();
    let failed = expression("failed").flatten();
    file.end(keys);
    if current.is_none() {
        let hint = "write `current: 'status.phase == \"Ready\"'`";
        file.of_key(node, "a readiness rule has a `current`", hint);
    }
    Some(ReadinessRule { target, current: current??, in_progress, failed })
}

fn condition(file: &mut File<'_>, node: &ConfigNode<'_>) -> Option<Condition> {
    let text = file.text(node, &node.name(), "current: 'status.phase == \"Ready\"'")?;
    Condition::parse(text)
        .map_err(|error| file.of_value(node, format!("{}: {}", node.name(), described(&error)), error.hint))
        .ok()
}

/// The error in an expression, with its position.
fn described(ParseError { message, position, .. }: &ParseError) -> String {
    let message = one_line(message, 300);
    match position {
        Some((1, column)) => format!("{message} (at its character {column})"),
        Some((line, column)) => format!("{message} (at its line {line}, character {column})"),
        None => message,
    }
}
