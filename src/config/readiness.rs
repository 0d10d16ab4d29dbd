//! `readiness:`, when objects of some kinds are ready.

use super::file::{File, Node, has_any};
use super::ignore::object_pattern;
use crate::diagnostic::Place;
use crate::rules::{MAX_RULES, ObjectPattern};

/// The keys of a readiness rule.
pub(super) const RULE: [&str; 4] = ["target", "current", "inProgress", "failed"];

/// Longest expression, in bytes.
pub(super) const MAX_EXPRESSION: usize = 10_000;

/// When the objects of a target are ready, as expressions of CEL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadinessRule {
    /// The objects.
    pub target: ObjectPattern,
    /// True of an object that is ready.
    pub current: Option<Expression>,
    /// True of an object on its way.
    pub in_progress: Option<Expression>,
    /// True of an object that has failed.
    pub failed: Option<Expression>,
}

/// An expression, and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expression {
    /// Its text.
    pub text: String,
    /// Where it begins.
    pub place: Place,
}

/// Reads the list of rules.
pub(super) fn rules(file: &mut File<'_>, node: &Node<'_>) -> Vec<ReadinessRule> {
    let example = "readiness: [{target: {kind: Database}, current: 'status.phase == \"Ready\"'}]";
    let items = file.items(node, "`readiness`", MAX_RULES, example);
    items.iter().filter_map(|item| rule(file, item)).collect()
}

fn rule(file: &mut File<'_>, node: &Node<'_>) -> Option<ReadinessRule> {
    if !file.is_mapping(node, "a readiness rule", &RULE) {
        return None;
    }
    let target = match node.key("target") {
        Some(target) => object_pattern(file, &target),
        None => ObjectPattern::default(),
    };
    if target.kind.is_none() {
        let hint = "readiness differs from kind to kind: write `target: {group: example.com, kind: Database}`";
        file.of_key(node, "a readiness rule has a `target` with a `kind`", hint);
    }
    if !has_any(node.value, &RULE[1..]) {
        let hint = "write `current: 'status.phase == \"Ready\"'`";
        file.of_key(node, "a readiness rule has `current`, `inProgress` or `failed`", hint);
    }
    let mut expression = |key: &str| {
        let node = node.key(key)?;
        let text = file.text(&node, &format!("`{key}`"), "current: 'status.phase == \"Ready\"'")?;
        if text.len() > MAX_EXPRESSION {
            file.of_key(&node, format!("`{key}` is at most {MAX_EXPRESSION} bytes long"), "shorten it");
        }
        Some(Expression { text: text.to_owned(), place: file.place(&node) })
    };
    Some(ReadinessRule {
        target,
        current: expression("current"),
        in_progress: expression("inProgress"),
        failed: expression("failed"),
    })
}
