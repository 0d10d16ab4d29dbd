//! The words about fields that pass to another manager: counts of a run, and the managers of each object.

use std::collections::BTreeMap;

use reconcile_core::owners::Transfer;
use structured_merge::FieldPath;

use super::describe::server_warnings;
use super::sentence::of_run;
use super::users::{listed_managers, of_owner, quoted};
use super::value::number::{counted, some};
use crate::model::{ObjectReport, Report};

/// The fields that pass between the same managers.
pub(crate) struct Passing<'r> {
    /// `kubectl → helm`, `helm, too` where nobody loses them, or `helm (Update → Apply)` where only the operation is another one.
    pub managers: String,
    /// The fields.
    pub paths: Vec<&'r FieldPath>,
}

/// The transfers of an object, by the managers between which fields pass: those that somebody loses first.
pub(crate) fn passing(transfers: &[Transfer]) -> Vec<Passing<'_>> {
    let mut groups: BTreeMap<(bool, String, &str), Vec<&FieldPath>> = BTreeMap::new();
    for transfer in transfers {
        let losers = losers(transfer);
        groups.entry((transfer.from.is_empty(), losers, &transfer.to)).or_default().push(&transfer.path);
    }
    let named = groups.into_iter().map(|((is_joined, losers, to), paths)| {
        let to = quoted(to);
        let managers = match losers {
            _ if is_joined => format!("{to}, too"),
            losers if losers == to => format!("{to} (Update → Apply)"),
            losers => format!("{losers} → {to}"),
        };
        Passing { managers, paths }
    });
    named.collect()
}

/// The managers that lose a field, and the users behind them, if an audit log names some: `kubectl (ops@example.com)`.
fn losers(transfer: &Transfer) -> String {
    if transfer.owners.is_empty() {
        return listed_managers(&transfer.from);
    }
    let mut named: Vec<String> = Vec::new();
    for owner in &transfer.owners {
        let manager = quoted(&owner.manager);
        let one = match of_owner(owner) {
            Some(users) => format!("{manager} ({users})"),
            None => manager.into_owned(),
        };
        if !named.contains(&one) {
            named.push(one);
        }
    }
    named.join(", ")
}

/// `1 field`, `12 fields`
pub(crate) fn fields(count: usize) -> String {
    counted(count, "field", "fields")
}

/// The result of a run in sentences, what was or would be given and what could not be, and the remarks about it.
pub(crate) fn result(report: &Report) -> (Vec<String>, Vec<String>) {
    let giving: Vec<&ObjectReport> = report.objects.iter().filter(|object| object.has_transfers()).collect();
    let has_begun = giving.iter().any(|object| object.run.outcome.is_some());
    let given: Vec<&&ObjectReport> = giving.iter().filter(|object| !has_begun || object.is_changed()).collect();
    let transfers = || given.iter().flat_map(|object| object.diff.transfers.iter().flatten());
    let to = transfers().next().map(|transfer| quoted(&transfer.to).into_owned()).unwrap_or_default();
    let count = transfers().count();
    let verb = match (has_begun, count) {
        (true, 1) => "now belongs to",
        (true, _) => "now belong to",
        (false, 1) => "goes to",
        (false, _) => "go to",
    };
    let sentence = match given.len() {
        0 if has_begun => "nothing was given".to_owned(),
        0 => "nothing to give".to_owned(),
        number => format!("{} of {} {verb} {to}", fields(count), counted(number, "object", "objects")),
    };
    let differing = report.objects.iter().flat_map(|object| &object.diff.changes).count();
    let left = report.objects.iter().filter(|object| object.is_incomplete()).count();
    let differing =
        some(differing, "field differs and stays with its owners", "fields differ and stay with their owners");
    let left = some(left, "object left as it was", "objects left as they were");
    let not_done: Vec<String> = differing.into_iter().chain(left).collect();
    let not_done = (!not_done.is_empty()).then(|| format!("not done: {}", not_done.join(", ")));
    let sentences = [Some(of_run(report, &sentence)), not_done].into_iter().flatten().collect();
    let configuration = report.configuration.as_ref().map(ToString::to_string);
    (sentences, server_warnings(&report.summary).into_iter().chain(configuration).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_that_only_applies_what_it_updated_is_named_once() {
        let transfer = |from: &[&str]| Transfer {
            path: FieldPath::root(),
            from: from.iter().map(ToString::to_string).collect(),
            to: "helm".to_owned(),
            owners: Vec::new(),
        };
        let words = |from: &[&str]| passing(&[transfer(from)]).remove(0).managers;
        assert_eq!(words(&["helm"]), "helm (Update → Apply)");
        assert_eq!(words(&["kubectl-edit"]), "kubectl-edit → helm");
        assert_eq!(words(&["helm", "kubectl-edit"]), "helm, kubectl-edit → helm");
        assert_eq!(words(&[]), "helm, too");
    }
}
