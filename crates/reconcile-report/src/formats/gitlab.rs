//! `-o gitlab`: a Code Quality report, which GitLab shows on the lines of a merge request.

use std::collections::HashMap;

use serde::Serialize;

use super::json;
use crate::model::{Level, Reports};
use crate::view::View;
use crate::words::findings::{Finding, findings};
use crate::words::sentence::location;
use crate::words::{describe, findings};

/// The path of findings without a file: GitLab requires a path for each.
const NOWHERE: &str = "kubectl-reconcile";

/// One entry (GitLab, "Code Quality report format").
#[derive(Serialize)]
struct Issue {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: At,
}

#[derive(Serialize)]
struct At {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
}

/// The document: a list of issues.
pub fn render(reports: &Reports, view: &View) -> String {
    let mut seen = HashMap::new();
    let found: Vec<Finding<'_>> = reports.contexts.iter().flat_map(findings).collect();
    let issues: Vec<Issue> = found.iter().map(|one| issue(one, view, &mut seen)).collect();
    json::document(&issues)
}

fn issue(found: &Finding<'_>, view: &View, seen: &mut HashMap<String, usize>) -> Issue {
    let location = found.location.as_ref();
    let path = location.and_then(|at| location::path(at.file, view)).unwrap_or_else(|| NOWHERE.to_owned());
    Issue {
        description: findings::subject(found)
            .map_or_else(|| found.message.clone(), |subject| format!("{subject}: {}", found.message)),
        check_name: found.rule.id,
        fingerprint: findings::unique(found, seen),
        severity: match found.level {
            Level::Error => "critical",
            Level::Warning => "major",
            Level::Note => "info",
        },
        location: At {
            path: describe::message(&path),
            lines: Lines { begin: location.and_then(|at| at.line).unwrap_or(1) },
        },
    }
}
