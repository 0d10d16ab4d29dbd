//! The tasks with objects of ten kinds in one namespace.

use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};
use test_control_plane::{ControlPlane, Workspace, program, wait_until};

use super::bare;
use super::contest::{Contest, Entrant, Network, Ready};
use super::objects::{self, Object, manifests};
use super::selection::{PROGRAMS, Selection};
use super::table::thousands;

const PRUNE: [&str; 3] = ["--prune", "--applyset", "bench"];
const DIFF_OF_KUBECTL: [&str; 4] = ["diff", "--server-side", "--force-conflicts", "--field-manager=kubectl-reconcile"];

/// An API server that knows the kinds.
pub fn server() -> Arc<ControlPlane> {
    let plane = ControlPlane::private();
    for definition in objects::definitions() {
        plane.api().create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition);
    }
    let document = format!("/openapi/v3/apis/{}/v1", objects::GROUP);
    wait_until("the types of the custom resources are published", || {
        plane.api().find(&document).is_some_and(|types| types.to_string().contains("Gadget"))
    });
    plane
}

/// Prints all rows with this number of objects.
pub fn run(objects: usize, selection: &Selection) {
    let stage = Stage { plane: server(), objects, selection };
    stage.creation();
    if ["in-sync", "no-op-apply", "1%-drifted", "all-drifted"].into_iter().any(|what| selection.wants(what)) {
        stage.standing();
    }
    stage.pruning();
}

/// Prepares one program's run of a task.
pub type Way<'a> = Box<dyn Fn() -> Ready + 'a>;

struct Stage<'a> {
    plane: Arc<ControlPlane>,
    objects: usize,
    selection: &'a Selection,
}

impl Stage<'_> {
    fn creation(&self) {
        self.contests("all-new", false, || {
            let kubectl = || kubectl(&self.workspace(), &["apply", "--server-side", "-f", "all.yaml"]);
            let ours = || ours(&self.workspace(), &["apply", "-f", "all.yaml"]);
            let floor = || {
                let ws = self.workspace();
                let writes: Vec<Value> = self.read(&ws).iter().map(|of| bare::apply(&of.path, &of.manifest)).collect();
                floor(&ws, &writes)
            };
            [Box::new(kubectl), Box::new(ours), Box::new(floor)]
        });
    }

    /// The tasks that only read, and those that find nothing to write.
    fn standing(&self) {
        let ws = self.workspace();
        prepare(ours(&ws, &["apply", "-q", "-f", "all.yaml"]));
        let lists: Vec<Value> = objects::collections(Some(ws.namespace())).map(|(_, path)| bare::list(&path)).collect();
        let lists = &lists;
        let ws = &ws;
        let diffs = |what: &str, asked: &[Value]| {
            let requests: Vec<Value> = lists.iter().chain(asked).cloned().collect();
            let requests = &requests;
            self.contests(what, true, || {
                [
                    Box::new(|| kubectl(ws, &[&DIFF_OF_KUBECTL[..], &["-f", "all.yaml"]].concat())),
                    Box::new(|| ours(ws, &["diff", "-f", "all.yaml"])),
                    Box::new(|| floor(ws, requests)),
                ]
            });
        };
        diffs("in-sync", &[]);
        self.contests("no-op-apply", true, || {
            let apply = ["apply", "--server-side", "--field-manager=kubectl-reconcile", "-f", "all.yaml"];
            [
                Box::new(move || kubectl(ws, &apply)),
                Box::new(|| ours(ws, &["apply", "-f", "all.yaml"])),
                Box::new(|| floor(ws, lists)),
            ]
        });
        for (what, is_drifted) in [("1%-drifted", one_percent as fn(usize) -> bool), ("all-drifted", |_| true)] {
            if self.selection.wants(what) {
                let drifted: Vec<Object> = self
                    .read(ws)
                    .into_iter()
                    .enumerate()
                    .filter(|(index, _)| is_drifted(*index))
                    .map(|(_, of)| of)
                    .collect();
                let patch = json!({"metadata": {"labels": {"bench": "no"}}});
                let edits: Vec<Value> = drifted.iter().map(|of| bare::edit(&of.path, &patch)).collect();
                prepare(floor(ws, &edits));
                let asked: Vec<Value> = drifted.iter().map(|of| bare::dry_run(&of.path, &of.manifest)).collect();
                diffs(what, &asked);
            }
        }
    }

    fn pruning(&self) {
        if !self.selection.wants("prune-10%") {
            return;
        }
        let ours_with = |ws: &Rc<Workspace>, file: &str| ours(ws, &[&["apply", "-q", "-f", file], &PRUNE[..]].concat());
        let kubectl_with = |ws: &Rc<Workspace>, file: &str| {
            let mut ready =
                kubectl(ws, &[&["apply", "--server-side", "-f", file, "-n", ws.namespace()], &PRUNE[..]].concat());
            ready.command.env("KUBECTL_APPLYSET", "true");
            ready
        };
        let (mine, theirs) = (self.workspace(), self.workspace());
        let deletions: Vec<Value> = objects::collections(Some(mine.namespace()))
            .map(|(_, path)| bare::list(&path))
            .chain(
                self.read(&mine)
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| is_pruned(*index))
                    .map(|(_, of)| bare::delete(&of.path)),
            )
            .collect();
        let deletions = &deletions;
        let (mine, theirs) = (&mine, &theirs);
        self.contests("prune-10%", false, || {
            [
                Box::new(move || {
                    prepare(kubectl_with(theirs, "all.yaml"));
                    kubectl_with(theirs, "most.yaml")
                }),
                Box::new(move || {
                    prepare(ours_with(mine, "all.yaml"));
                    ours_with(mine, "most.yaml")
                }),
                Box::new(move || {
                    prepare(ours_with(mine, "all.yaml"));
                    floor(mine, deletions)
                }),
            ]
        });
    }

    /// A namespace with nothing in it, and the manifests.
    fn workspace(&self) -> Rc<Workspace> {
        let ws = Workspace::on(&self.plane);
        ws.write("all.yaml", &manifests(0..self.objects, "$NS"));
        ws.write("most.yaml", &manifests((0..self.objects).filter(|index| !is_pruned(*index)), "$NS"));
        Rc::new(ws)
    }

    fn read(&self, ws: &Workspace) -> Vec<Object> {
        objects::objects(&manifests(0..self.objects, ws.namespace()))
    }

    /// Prints the rows of a task, with every network. `ways` has one for each of [`PROGRAMS`].
    fn contests<'a>(&self, what: &str, is_repeatable: bool, ways: impl Fn() -> [Way<'a>; 3]) {
        if !self.selection.wants(what) {
            return;
        }
        for network in self.selection.networks() {
            let shown = thousands(self.objects as u64);
            let contest = Contest { plane: &self.plane, objects: &shown, network, what };
            contest.run(&entrants(self.selection, self.objects, network, is_repeatable, ways()));
        }
    }
}

/// The programs with their ways to do the task.
pub fn entrants<'a>(
    selection: &Selection,
    objects: usize,
    network: Network,
    is_repeatable: bool,
    ways: [Way<'a>; 3],
) -> Vec<Entrant<'a>> {
    let entrant = |(by, ready)| Entrant { by, rounds: selection.rounds(by, objects, network, is_repeatable), ready };
    PROGRAMS.into_iter().zip(ways).map(entrant).collect()
}

/// kubectl with these arguments.
pub fn kubectl(ws: &Rc<Workspace>, arguments: &[&str]) -> Ready {
    let mut command = Command::new(ws.plane().kubectl());
    command.args(arguments);
    Ready { workspace: Rc::clone(ws), command, may_differ: arguments.first() == Some(&"diff") }
}

/// Our program with these arguments.
pub fn ours(ws: &Rc<Workspace>, arguments: &[&str]) -> Ready {
    let mut command = Command::new(program("kubectl-reconcile"));
    command.args(arguments);
    Ready { workspace: Rc::clone(ws), command, may_differ: arguments.first() == Some(&"diff") }
}

/// The floor with these requests.
pub fn floor(ws: &Rc<Workspace>, requests: &[Value]) -> Ready {
    Ready { workspace: Rc::clone(ws), command: bare::client(requests, &ws.home().join("requests")), may_differ: false }
}

/// Runs a command that prepares the task.
pub fn prepare(ready: Ready) {
    let url = ready.workspace.plane().url().to_owned();
    ready.run(&url);
}

/// Returns true for one object of ten, with as many of each kind.
fn is_pruned(index: usize) -> bool {
    index / 10 % 10 == 9
}

/// Returns true for about one object of a hundred, of each kind in turn.
fn one_percent(index: usize) -> bool {
    index % 101 == 4
}
