//! Edited objects are tried on the server before their files are written. A pull must not leave a manifest that the server refuses.

use futures::StreamExt as _;
use reconcile_core::compare::{Class, Decision, Evidence, FieldChange, Policy, RemoveAdded};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::Target;
use reconcile_core::pull::{Obstacle, with_changes};
use reconcile_core::text::one_line;
use structured_merge::ObjectKey;

use crate::client::IN_FLIGHT;
use crate::engine::comparison::LiveSource as _;
use crate::engine::reconciliation::Reconciliation;
use crate::run::edits::proposed::Proposed;

/// Maximum length of a reason of the server.
const LONGEST_REASON: usize = 1000;

/// An object with its accepted changes.
struct Edited {
    target: Target,
    /// True if a field of the manifest that the live object lacks is left.
    leaves_removal: bool,
}

/// Compares the edited objects with the live ones, as far as the server was asked about them before and not all of their differences are
/// accepted: with all of them, a manifest is as the live object. What makes the server refuse a manifest gets its obstacle. `flag` chooses what
/// the cluster no longer has as well.
pub(crate) async fn try_on_server(changes: &mut [Proposed], flag: &str, pass: &Reconciliation<'_>) {
    let edited: Vec<Edited> =
        pass.decided().filter_map(|(target, decision)| edited_in_part(changes, target, decision)).collect();
    let comparison = pass.comparison();
    // What others added stays, whatever the run offers.
    let policy = Policy { remove_added: RemoveAdded::default(), ..comparison.policy.clone() };
    let refusal = async |edited: Edited| {
        let (_, decision) = comparison.compare_alone(&edited.target, &policy).await?;
        let error = decision.diff.notes.error.as_deref().filter(|error| is_refusal(error))?;
        let mut reason = reason_of(error);
        if edited.leaves_removal {
            reason = format!("{reason}; {flag} also takes what the cluster no longer has out of the manifest");
        }
        Some((edited.target.key, reason))
    };
    let found: Vec<Option<(ObjectKey, String)>> =
        futures::stream::iter(edited.into_iter().map(refusal)).buffered(IN_FLIGHT).collect().await;
    for (key, reason) in found.into_iter().flatten() {
        for one in changes.iter_mut().filter(|one| is_accepted(one, &key)) {
            one.proposal.edit = Err(Obstacle::Refused(reason.clone()));
        }
    }
}

fn is_accepted(one: &Proposed, key: &ObjectKey) -> bool {
    one.proposal.key == *key && one.proposal.edit.is_ok()
}

/// An object of which some differences are accepted and others are left.
fn edited_in_part(changes: &[Proposed], target: &Target, decision: &Decision) -> Option<Edited> {
    // What the server says to a secret object may quote its values.
    let is_secret = target.key.gvk.is_secret() || target.desired.origin.is_encrypted;
    if is_secret || decision.diff.evidence != Some(Evidence::Server) {
        return None;
    }
    let accepted: Vec<&Proposed> = changes.iter().filter(|one| is_accepted(one, &target.key)).collect();
    if accepted.is_empty() {
        return None;
    }
    let is_left = |change: &&FieldChange| !accepted.iter().any(|one| one.proposal.change.path == change.path);
    let left: Vec<&FieldChange> = decision.diff.drift().filter(is_left).collect();
    if left.is_empty() {
        return None;
    }
    let changes = accepted.iter().map(|one| (&one.proposal.change, one.live.as_deref()));
    let edited = with_changes(target.desired.object(), &target.key, changes)?;
    let leaves_removal = left.iter().any(|change| change.class == Class::Absent);
    Some(Edited { target: target.with_object(edited), leaves_removal })
}

/// Returns true if the server refuses an object for what is in it.
fn is_refusal(error: &Diagnostic) -> bool {
    matches!(error.code, Code::Invalid | Code::BadRequest | Code::Forbidden | Code::Conflict)
}

/// The reason of the server in one line.
fn reason_of(error: &Diagnostic) -> String {
    let details = error.details.iter().map(|detail| detail.message.as_str());
    let reason = if error.details.is_empty() { error.message.clone() } else { details.collect::<Vec<_>>().join("; ") };
    one_line(&reason, LONGEST_REASON)
}
