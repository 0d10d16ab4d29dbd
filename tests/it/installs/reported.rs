//! Drift is found where it is and nowhere else, with the one who made it, and heals.

use serde_json::Value;

use super::drift::{Drift, MANUAL, Wanted, change};
use super::figures::{Figures, Id, objects};
use super::fresh::{check_each, in_sync, shown, writes_nothing};
use super::set::{flags, for_kubectl};
use crate::control_plane::{Run, Workspace};
use crate::generated::Rng;

/// Classes of what is reported without being drift.
const NO_DRIFT: [&str; 5] = ["overridden", "unmanaged", "ignored", "adopted", "released"];

/// Changes a leaf of each object by hand, and checks the diff, kubectl's opinion of it, and the apply.
pub fn drift_and_heal(ws: &Workspace, files: &[String], wanted: &[Wanted], rng: &mut Rng, figures: &mut Figures) {
    let api = ws.plane().api();
    let resources = api.resources();
    let drifts: Vec<Drift> = wanted.iter().filter_map(|wanted| change(api, &resources, wanted, rng)).collect();
    figures.drifted = drifts.len();

    let run = ws.reconcile(["diff", "-f", "."]);
    figures.check_exit(&run, 1);
    for object in objects(&run) {
        let id = Id::of(object);
        match drifts.iter().find(|drift| drift.object == id) {
            Some(drift) => check_found(drift, object, figures),
            None => figures.check(object["action"] == "none", || format!("{id} did not drift: {}", shown(object))),
        }
    }
    same_of_a_snapshot(ws, &run, figures);
    let found: Vec<Id> = objects(&run).iter().filter(|object| object["action"] != "none").map(Id::of).collect();
    ask_kubectl(ws, files, &drifts, &found, rng, figures);

    let run = ws.reconcile(["apply", "-f", "."]);
    figures.check_exit(&run, 0);
    let run = in_sync(ws, figures);
    let is_healed =
        |object: &&Value| object["action"] == "none" && drifts.iter().any(|drift| drift.object == Id::of(object));
    figures.healed = objects(&run).iter().filter(is_healed).count();
    check_each(&run, "action", "none", figures);
    writes_nothing(ws, figures);
}

/// A snapshot that is taken now is compared as the cluster is without dry runs, and its objects need the same as those of the cluster.
fn same_of_a_snapshot(ws: &Workspace, online: &Run, figures: &mut Figures) {
    let run = ws.reconcile(["snapshot", "-f", ".", "--include-secrets", "--file", "now.snapshot"]);
    figures.check_exit(&run, 0);
    let offline = ws.reconcile(["diff", "-f", ".", "--live", "now.snapshot"]);
    let untried = ws.reconcile(["diff", "-f", ".", "--evidence=read-only"]);
    for (what, other) in [("with dry runs", online), ("without dry runs", &untried)] {
        figures.check_exit(&offline, other.code);
        let count = objects(other).len();
        figures.check(objects(&offline).len() == count, || format!("the snapshot does not have the {count} objects"));
        for (of_snapshot, of_cluster) in objects(&offline).iter().zip(objects(other)) {
            let is_same = match what {
                "with dry runs" => of_snapshot["action"] == of_cluster["action"],
                _ => lasting(of_snapshot) == lasting(of_cluster),
            };
            figures.check(is_same, || {
                format!("a snapshot is compared as {of_snapshot}\nthe cluster {what} as {of_cluster}")
            });
        }
    }
}

/// What is reported of an object, without its version and the number of its Pods, which controllers change all the time.
fn lasting(object: &Value) -> Value {
    let mut object = object.clone();
    object.as_object_mut().unwrap().remove("resourceVersion");
    for effect in object.get_mut("effects").and_then(Value::as_array_mut).into_iter().flatten() {
        *effect = effect["kind"].take();
    }
    object
}

/// The change is reported at its path or at the item or list around it, with nothing else.
fn check_found(drift: &Drift, object: &Value, figures: &mut Figures) {
    let changes = object["changes"].as_array().unwrap();
    let mut exact = false;
    let mut around = false;
    for change in changes.iter().filter(|change| !NO_DRIFT.contains(&change["class"].as_str().unwrap_or_default())) {
        let path = change["path"].as_str().unwrap_or_default();
        let is_exact = path == drift.leaf.path;
        let is_around = !is_exact && drift.leaf.is_in(path);
        exact |= is_exact;
        around |= is_around;
        figures.check(is_exact || is_around, || format!("{path} beside {drift}: {}", shown(object)));
        // The API keeps no record of who removed a field; an item under another key is a removed one, too.
        let is_recorded = !drift.removed && !drift.leaf.is_key && (is_exact || is_around);
        let managers = change["managers"].as_array().map_or(&[][..], Vec::as_slice);
        let is_named = managers.iter().any(|manager| manager["manager"] == MANUAL && manager["operation"] == "Update");
        figures.check(!is_recorded || is_named, || format!("no owner of {drift}: {change}"));
    }
    figures.exact += usize::from(exact);
    figures.around += usize::from(around && !exact);
    figures.check(exact || around, || format!("{drift} is not found: {} {}", object["action"], shown(object)));
}

/// For some of the files: what kubectl finds is a part of what we find. It finds nothing where one port was renumbered, as the
/// server refuses its merge.
fn ask_kubectl(ws: &Workspace, files: &[String], drifts: &[Drift], found: &[Id], rng: &mut Rng, figures: &mut Figures) {
    let mut sample = for_kubectl(files);
    sample.retain(|_| rng.chance(40));
    if sample.is_empty() || drifts.iter().any(|drift| drift.leaf.is_port()) {
        return;
    }
    for file in kubectl_diff(ws, &sample, figures) {
        figures.shown_to_kubectl += 1;
        figures.check(found.iter().any(|id| id.kubectl_file() == file), || {
            format!("only kubectl finds a change of {file}")
        });
    }
}

/// The objects that `kubectl diff --server-side` finds changes of, in our name, by the names of the files that it compares.
pub fn kubectl_diff(ws: &Workspace, files: &[String], figures: &mut Figures) -> Vec<String> {
    let diff = ["diff", "--server-side", "--force-conflicts", "--field-manager=kubectl-reconcile"];
    let run = ws.kubectl([&diff[..], &flags(files)].concat());
    figures.check(run.code <= 1, || format!("kubectl diff fails: {run}"));
    let compared = run.stdout.lines().filter_map(|line| line.strip_prefix("+++ "));
    let path = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    compared.filter_map(|line| path(line).rsplit('/').next().map(ToOwned::to_owned)).collect()
}
