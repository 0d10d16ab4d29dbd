//! `-o sarif`: SARIF 2.1.0, which GitHub code scanning and editors show on the lines of the manifests.

#![expect(clippy::indexing_slicing, reason = "the value was made with `json!` here: it is an object")]

use std::collections::HashMap;

use reconcile_core::text::visible;
use serde_json::{Value, json};

use super::json;
use crate::model::{ContextReport, Level, Reports, Verdict};
use crate::view::View;
use crate::words::findings::{Finding, FindingLocation, findings, rules};
use crate::words::sentence::location;
use crate::words::{describe, findings};

/// Most results of a run: GitHub shows 5,000, the most important first.
const RESULTS: usize = 5_000;

/// The document: a run for each context.
pub fn render(reports: &Reports, view: &View) -> String {
    let runs: Vec<Value> = reports.contexts.iter().map(|one| run(one, &reports.warnings, view)).collect();
    json::document(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": runs,
    }))
}

fn run(of_context: &ContextReport, general: &[String], view: &View) -> Value {
    let ContextReport { context, report, .. } = of_context;
    let mut found = findings(of_context);
    let notifications: Vec<Value> = found
        .iter()
        .filter(|one| one.object.is_none())
        .map(|one| notification(one, view))
        .chain(general.iter().map(|text| note(text)))
        .collect();
    found.retain(|one| one.object.is_some());
    let mut left_out = Vec::new();
    if let Some(more @ 1..) = found.len().checked_sub(RESULTS) {
        found.sort_by_key(|one| std::cmp::Reverse(one.level));
        found.truncate(RESULTS);
        left_out.push(note(&format!("{more} more results are left out: `-o json` has them all")));
    }
    let mut seen = HashMap::new();
    let results: Vec<Value> = found.iter().map(|one| result(one, view, &mut seen)).collect();
    let is_complete =
        !matches!(report.verdict, Verdict::Unreachable | Verdict::Incomplete | Verdict::Invalid | Verdict::Interrupted);
    let command = describe::command(report.command);
    let id = match context {
        Some(context) => format!("kubectl-reconcile/{command}/{}/", visible(context)),
        None => format!("kubectl-reconcile/{command}/"),
    };
    json!({
        "tool": {"driver": driver()},
        "automationDetails": {"id": id},
        "columnKind": "unicodeCodePoints",
        "invocations": [{
            "executionSuccessful": is_complete,
            "exitCode": report.exit_code,
            "toolExecutionNotifications": notifications.into_iter().chain(left_out).collect::<Vec<_>>(),
        }],
        "results": results,
    })
}

fn driver() -> Value {
    let rules: Vec<Value> = rules()
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": {"text": rule.help},
                "defaultConfiguration": {"level": level(rule.level)},
            })
        })
        .collect();
    json!({
        "name": "kubectl-reconcile",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    })
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

fn result(found: &Finding<'_>, view: &View, seen: &mut HashMap<String, usize>) -> Value {
    let subject = findings::subject(found).unwrap_or_default();
    let mut location = json!({"logicalLocations": [logical(found)]});
    if let Some(physical) = found.location.as_ref().and_then(|at| physical(at, view)) {
        location["physicalLocation"] = physical;
    }
    json!({
        "ruleId": found.rule.id,
        "ruleIndex": rules().position(|rule| rule == found.rule),
        "level": level(found.level),
        "message": {"text": format!("{subject}: {}", found.message)},
        "locations": [location],
        "partialFingerprints": {"kubectlReconcile/v1": findings::unique(found, seen)},
    })
}

/// The object and the field.
fn logical(found: &Finding<'_>) -> Value {
    let object = found.object.map(describe::name).unwrap_or_default();
    let path = describe::message(&found.path);
    let name = if path.is_empty() { object } else { format!("{object}: {path}") };
    json!({"fullyQualifiedName": name, "kind": if path.is_empty() { "object" } else { "member" }})
}

/// The file and the line; `None` for an object that was read from standard input.
fn physical(location: &FindingLocation<'_>, view: &View) -> Option<Value> {
    let path = location::path(location.file, view)?;
    let uri = location::uri(&path);
    let mut artifact = json!({"uri": uri});
    if !path.starts_with('/') && !location::is_url(&path) {
        artifact["uriBaseId"] = "%SRCROOT%".into();
    }
    let mut physical = json!({"artifactLocation": artifact});
    if let Some(line) = location.line {
        physical["region"] = json!({"startLine": line});
        if let Some(column) = location.column {
            physical["region"]["startColumn"] = column.into();
        }
    }
    Some(physical)
}

/// An error of the run as a whole.
fn notification(found: &Finding<'_>, view: &View) -> Value {
    let mut notification = json!({"level": level(found.level), "message": {"text": found.message}});
    if let Some(physical) = found.location.as_ref().and_then(|at| physical(at, view)) {
        notification["locations"] = json!([{"physicalLocation": physical}]);
    }
    notification
}

fn note(text: &str) -> Value {
    json!({"level": "note", "message": {"text": describe::message(text)}})
}
