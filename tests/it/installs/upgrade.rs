//! The next release over the one before.

use super::figures::{Figures, objects};
use super::fresh::{in_sync, writes_nothing};
use super::set::Set;
use crate::control_plane::Workspace;

/// Diff, apply, diff: 1, 0, 0, without a conflict.
pub fn upgrade(set: &Set, ws: &Workspace, figures: &mut Figures) {
    set.upgrade(ws);
    let run = ws.reconcile(["diff", "-f", "."]);
    figures.check_exit(&run, 1);
    let run = ws.reconcile(["apply", "-f", "."]);
    figures.check_exit(&run, 0);
    figures.upgraded = objects(&run).iter().filter(|object| object["outcome"] == "updated").count();
    let upgraded = figures.upgraded;
    figures.check(upgraded > 0, || "the second release changes nothing".to_owned());
    in_sync(ws, figures);
    writes_nothing(ws, figures);
}
