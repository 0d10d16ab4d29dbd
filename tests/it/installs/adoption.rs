//! What kubectl applied first, on the client side, passes to us without a change.

use super::figures::{Figures, Id, objects};
use super::fresh::{shown, writes_nothing};
use super::reported::kubectl_diff;
use super::set::{definitions, flags, for_kubectl};
use crate::control_plane::Workspace;

/// `kubectl apply`, then ours: no drift but what `kubectl diff --server-side` finds as well (nulls, which the first leaves out and
/// the second does not, and what a policy sets that came after the object), all else adopted; and nothing to do after that.
pub fn adopt(ws: &Workspace, files: &[String], figures: &mut Figures) {
    let kinds = definitions(files);
    if !kinds.is_empty() {
        figures.check_exit(&ws.kubectl([&["apply"], &flags(&kinds)[..]].concat()), 0);
        let wait = ["wait", "--for=condition=Established", "--timeout=60s"];
        figures.check_exit(&ws.kubectl([&wait, &flags(&kinds)[..]].concat()), 0);
    }
    figures.check_exit(&ws.kubectl(["apply", "-f", "."]), 0);

    let files = for_kubectl(files);
    let theirs = kubectl_diff(ws, &files, figures);
    let run = ws.reconcile(["diff", "-f", "."]);
    figures.check_exit(&run, i32::from(!theirs.is_empty()));
    figures.objects = objects(&run).len();
    for object in objects(&run) {
        let id = Id::of(object);
        let changes = theirs.contains(&id.kubectl_file());
        let expected = if changes { "update" } else { "none" };
        figures.check(object["action"] == expected, || format!("{id} is to be {expected}: {}", shown(object)));
        figures.shown_to_kubectl += usize::from(changes);
    }
    let run = ws.reconcile(["apply", "-f", "."]);
    figures.check_exit(&run, 0);
    for object in objects(&run) {
        let id = Id::of(object);
        let expected = match id.kind.as_str() {
            _ if theirs.contains(&id.kubectl_file()) => "updated",
            // Where the manifest has but a name, there is nothing to adopt.
            "Namespace" if object["outcome"] == "unchanged" => "unchanged",
            _ => "adopted",
        };
        figures.check(object["outcome"] == expected, || format!("{id} is not {expected}: {}", shown(object)));
        figures.adopted += usize::from(object["outcome"] == "adopted");
    }
    let run = ws.reconcile(["diff", "--strict-ownership", "-f", ".", "-v"]);
    figures.check_exit(&run, 0);
    figures.note_all(run.stderr.lines().filter_map(|line| line.strip_prefix("not proven: ")));
    figures.proven = objects(&run).iter().filter(|object| object["evidence"] == "proven").count();
    figures.asked = figures.objects - figures.proven;
    writes_nothing(ws, figures);
}
