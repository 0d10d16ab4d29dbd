//! Requests for one object each: one pass over many objects, each with a fault of its own.

use std::fs;
use std::sync::Arc;

use serde_json::Value;

use super::catalog::{Mishap, of_requests};
use super::oracle::{Wanted, ended_well, held, is_truthful, wrote_once};
use super::{rounds, side_by_side, times};
use crate::control_plane::{Fault, Proxy, Request, Run, Workspace};

/// Which request the faults happen to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Get,
    DryRun,
    Create,
    Update,
    Prune,
    Delete,
    Recreate,
    /// The apply is refused after manual claims have passed to us: they go back.
    GiveBack,
}

impl Stage {
    const ALL: [Stage; 8] = [
        Stage::Get,
        Stage::DryRun,
        Stage::Create,
        Stage::Update,
        Stage::Prune,
        Stage::Delete,
        Stage::Recreate,
        Stage::GiveBack,
    ];

    /// Method and pattern of the request for an object.
    fn request(self, name: &str) -> (&'static str, String) {
        match self {
            Stage::Get => ("GET", format!("configmaps/{name}")),
            Stage::DryRun => ("PATCH", format!("configmaps/{name}? dryRun")),
            Stage::Create | Stage::Update => ("PATCH", format!("configmaps/{name}? !dryRun")),
            Stage::Prune | Stage::Delete => ("DELETE", format!("configmaps/{name} !dryRun")),
            // A creation does not say in its address of what: whichever object comes next has the fault.
            Stage::Recreate => ("POST", "configmaps? !dryRun".to_owned()),
            Stage::GiveBack => ("PATCH", format!("configmaps/{name}? !dryRun !force")),
        }
    }

    fn arguments(self) -> Vec<&'static str> {
        // Long enough for all repetitions on a busy machine; what stalls takes as long.
        let mut arguments = match self {
            Stage::Get => vec!["diff"],
            Stage::DryRun => vec!["diff", "--evidence=server"],
            Stage::Create | Stage::Update | Stage::GiveBack => vec!["apply"],
            Stage::Prune => vec!["apply", "--prune", "--applyset=set", "--prune-allow=most"],
            Stage::Delete | Stage::Recreate => vec!["apply", "--replace=immutable"],
        };
        arguments.extend(["-f", ".", "--request-timeout=15s"]);
        arguments
    }

    fn replaces(self) -> bool {
        matches!(self, Stage::Delete | Stage::Recreate)
    }
}

/// An object, and what happens to its request.
struct Case {
    name: String,
    mishap: Mishap,
    times: usize,
}

fn cases(round: usize) -> Vec<Case> {
    let all = of_requests().into_iter().flat_map(|mishap| times(round).map(|times| (mishap.clone(), times)));
    all.enumerate().map(|(number, (mishap, times))| Case { name: format!("m-{number:03}"), mishap, times }).collect()
}

fn write(ws: &Workspace, name: &str, value: &str, is_fixed: bool) {
    let text = format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, immutable: {is_fixed}, data: {{v: {value}}}}}"
    );
    ws.write(format!("{name}.yaml"), &text);
}

/// Brings the cluster to where the pass starts from, and the manifests to where it is to lead.
fn prepare(ws: &Workspace, stage: Stage, cases: &[Case]) -> Wanted {
    for (number, case) in cases.iter().enumerate() {
        if stage != Stage::Create && (stage != Stage::Get || number % 4 != 0) {
            write(ws, &case.name, "old", stage.replaces());
        }
    }
    write(ws, "quiet", "old", false);
    let prepared: Vec<&str> =
        stage.arguments().into_iter().map(|argument| if argument == "diff" { "apply" } else { argument }).collect();
    if stage == Stage::GiveBack {
        ws.kubectl(["create", "-f", "."]).exits_with(0);
    } else {
        ws.reconcile(prepared.into_iter().filter(|argument| !argument.starts_with("--evidence"))).exits_with(0);
    }
    let mut wanted = Wanted::new();
    for (number, case) in cases.iter().enumerate() {
        let value = match stage {
            // Some of them are in sync.
            Stage::Get | Stage::DryRun if number % 4 < 2 => "old",
            _ => "new",
        };
        if stage == Stage::Prune {
            fs::remove_file(ws.folder().join(format!("{}.yaml", case.name))).expect("a manifest");
            wanted.insert(case.name.clone(), None);
        } else {
            write(ws, &case.name, value, stage.replaces());
            wanted.insert(case.name.clone(), Some(value.to_owned()));
        }
    }
    write(ws, "quiet", "new", false);
    wanted.insert("quiet".to_owned(), Some("new".to_owned()));
    wanted
}

fn pass(stage: Stage, round: usize) {
    let ws = Workspace::new();
    let cases = cases(round);
    let wanted = prepare(&ws, stage, &cases);
    let proxy = Proxy::new(&ws);
    let refusal =
        r#"{"kind": "Status", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "not you"}"#;
    let refused = Fault::Answer(403, Vec::new(), refusal.to_owned());
    if stage == Stage::Get {
        proxy.inject(99, "GET", "configmaps? limit", refused.clone());
    }
    for case in &cases {
        let (method, pattern) = stage.request(&case.name);
        if stage == Stage::GiveBack {
            // The claims pass, and the apply is refused.
            proxy.inject(1, method, &pattern, Fault::After(Arc::new(|| {})));
            proxy.inject(99, method, &format!("configmaps/{}? !dryRun force", case.name), refused.clone());
        }
        let times = if stage == Stage::Recreate { 1 } else { case.times };
        proxy.inject(times, method, &pattern, case.mishap.fault.clone());
    }
    let (run, requests) = ws.requests_during(|| ws.through(&proxy.url()).reconcile(stage.arguments()));
    let what = format!("{stage:?}");
    let held = held(&ws);
    ended_well(&what, &run);
    is_truthful(&what, &run, &wanted, &held);
    if stage == Stage::GiveBack {
        notes_what_is_not_given_back(&ws, &run, &cases);
    } else {
        wrote_once(&what, &run, &requests);
    }
    assert_eq!(proxy.clear(), Vec::<String>::new(), "{what}: faults that did not happen: {run}");
    let is_refused = [Stage::Recreate, Stage::GiveBack].contains(&stage);
    for case in cases.iter().filter(|case| case.mishap.is_passing && case.times == 1 && !is_refused) {
        let is_known = |object: &&Value| object["name"] == case.name.as_str() && object["error"].is_null();
        assert!(run.objects().iter().any(|object| is_known(&object)), "{what}: {} once: {run}", case.mishap.name);
    }
    let asked =
        |name: &str| proxy.requests().iter().filter(|request| request.contains(&format!("configmaps/{name}"))).count();
    for case in &cases {
        // Reads, trials and writes of one object, each repeated as often as anything may be.
        assert!(asked(&case.name) <= 30, "{what}: {} leads to {} requests", case.mishap.name, asked(&case.name));
    }
    finishes(&ws, stage, &wanted);
}

/// Whose fields are ours by the server's record although the apply was refused has a note, and nobody else.
fn notes_what_is_not_given_back(ws: &Workspace, run: &Run, cases: &[Case]) {
    let mut count = 0;
    for case in cases {
        let report = run.object("ConfigMap", &case.name);
        let notes = report["warnings"].as_array().expect("warnings").iter().filter_map(Value::as_str);
        let has_note = notes.into_iter().any(|note| {
            note.contains("fields of `kubectl-create` now belong to `kubectl-reconcile`, and could not be given back")
        });
        let object = ws.get("ConfigMap", &case.name);
        let entries = object["metadata"]["managedFields"].as_array().expect("entries");
        let is_given_back = entries
            .iter()
            .any(|entry| entry["manager"] == "kubectl-create" && entry["fieldsV1"]["f:data"].get("f:v").is_some());
        assert_eq!(has_note, !is_given_back, "{}, {} times: {report}", case.mishap.name, case.times);
        if case.mishap.is_passing && case.times == 1 {
            assert!(is_given_back, "{}: {report}", case.mishap.name);
        }
        count += usize::from(has_note);
    }
    assert!(count > 0 && count < cases.len(), "{count} of {}", cases.len());
}

/// Without the faults, the next pass does what is left, and the one after it nothing.
fn finishes(ws: &Workspace, stage: Stage, wanted: &Wanted) {
    let mut arguments = stage.arguments();
    arguments[0] = "apply";
    arguments.retain(|argument| !argument.starts_with("--evidence"));
    let second = ws.reconcile(&arguments).exits_with(0);
    let held = held(ws);
    is_truthful("second pass", &second, wanted, &held);
    let (third, requests) = ws.requests_during(|| ws.reconcile(&arguments).exits_with(0));
    assert_eq!(third.writes(), 0, "{stage:?}: {third}");
    assert!(!requests.iter().any(Request::is_write), "{stage:?}: {requests:#?}");
}

#[test]
fn each_object_has_its_own_trouble() {
    let passes: Vec<(Stage, usize)> = (0..rounds()).flat_map(|round| Stage::ALL.map(|stage| (stage, round))).collect();
    side_by_side(Stage::ALL.len(), &passes, |(stage, round)| pass(*stage, *round));
}
