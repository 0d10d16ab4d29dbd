//! From nothing to in sync, and nothing to do after it.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::drift::Wanted;
use super::figures::{Figures, Id, objects};
use super::set::{flags, for_kubectl};
use crate::control_plane::{Request, Run, Workspace};

/// Diff, apply, diff, apply; then kubectl's server-side apply in our name, which leaves the same. Gives what
/// the first diff was to create.
pub fn install(ws: &Workspace, files: &[String], figures: &mut Figures) -> Vec<Wanted> {
    let run = ws.reconcile(["diff", "-f", "."]);
    figures.check_exit(&run, 1);
    let wanted = objects(&run).iter().map(Wanted::of).collect();
    check_each(&run, "action", "create", figures);

    let run = ws.reconcile(["apply", "-f", "."]);
    figures.check_exit(&run, 0);
    check_each(&run, "outcome", "created", figures);
    figures.objects = objects(&run).len();
    wait_for_types(ws, objects(&run));

    let run = in_sync(ws, figures);
    figures.proven = objects(&run).iter().filter(|object| object["evidence"] == "proven").count();
    figures.asked = figures.objects - figures.proven;
    figures.note_all(run.stderr.lines().filter_map(|line| line.strip_prefix("not proven: ")));
    writes_nothing(ws, figures);

    let files = for_kubectl(files);
    let manager = ["apply", "--server-side", "--force-conflicts", "--field-manager=kubectl-reconcile"];
    let run = ws.kubectl([&manager[..], &flags(&files)].concat());
    figures.check_exit(&run, 0);
    in_sync(ws, figures);
    wanted
}

/// A diff that finds nothing, and says why it could not prove that.
pub fn in_sync(ws: &Workspace, figures: &mut Figures) -> Run {
    let run = ws.reconcile(["diff", "-f", ".", "-v", "6"]);
    figures.check_exit(&run, 0);
    check_each(&run, "action", "none", figures);
    run
}

/// An apply that has nothing to do, as the API server saw it.
pub fn writes_nothing(ws: &Workspace, figures: &mut Figures) {
    let (run, requests) = ws.requests_during(|| ws.reconcile(["apply", "-f", "."]));
    figures.check_exit(&run, 0);
    let ours = |request: &&Request| request.is_write() && request.user_agent.starts_with("kubectl-reconcile");
    let written: Vec<&Request> = requests.iter().filter(ours).collect();
    figures.check(written.is_empty(), || format!("a second apply writes: {written:#?}"));
}

pub fn check_each(run: &Run, field: &str, expected: &str, figures: &mut Figures) {
    for object in objects(run).iter().filter(|object| object[field] != expected) {
        figures.check(false, || {
            format!("{field} of {} is {} instead of {expected}, {}", Id::of(object), object[field], shown(object))
        });
    }
}

/// The changes of an object and its error, for messages.
pub fn shown(object: &Value) -> String {
    let changes = object["changes"].as_array().map_or(&[][..], Vec::as_slice);
    let change = |change: &Value| {
        let value = |field: &str| change[field].to_string().chars().take(80).collect::<String>();
        format!("{} {}: {} → {}", value("class"), value("path"), value("live"), value("desired"))
    };
    let changes: Vec<String> = changes.iter().map(change).collect();
    format!("{changes:#?} {} {} {}", object["error"], object["reason"], object["warnings"])
}

/// Waits until the server has published the types of all kinds that the set defined: it serves new kinds a moment earlier.
fn wait_for_types(ws: &Workspace, objects: &[Value]) {
    let ids: Vec<Id> = objects.iter().map(Id::of).collect();
    let groups: BTreeSet<String> = ids
        .iter()
        .filter(|id| id.kind == "CustomResourceDefinition")
        .filter_map(|id| id.name.split_once('.').map(|(_, group)| group.to_owned()))
        .collect();
    let kinds = ids.iter().filter(|id| groups.contains(&id.group));
    let kinds: BTreeSet<(String, &str)> =
        kinds.map(|id| (format!("apis/{}/{}", id.group, id.version), id.kind.as_str())).collect();
    let is_published = |(group_version, kind): &(String, &str)| {
        let index = ws.plane().api().find("/openapi/v3").unwrap_or_default();
        let url = index["paths"][group_version]["serverRelativeURL"].as_str().map(ToOwned::to_owned);
        let document = url.and_then(|url| ws.plane().api().find(&url)).unwrap_or_default();
        let schemas = document["components"]["schemas"].as_object().cloned().unwrap_or_default();
        schemas.values().any(|schema| schema["x-kubernetes-group-version-kind"][0]["kind"] == *kind)
    };
    let deadline = Instant::now() + Duration::from_mins(1);
    for kind in &kinds {
        while !is_published(kind) {
            assert!(Instant::now() < deadline, "{kind:?} is not published");
            thread::sleep(Duration::from_millis(100));
        }
    }
}
