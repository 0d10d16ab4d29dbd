//! The whole comparison against the API server: conflicts, predictions, writes, and what is said without asking.

use kubectl_reconcile::engine::comparison::dry_run::drive;
use kubectl_reconcile::engine::write::{Replacements, Written};
use reconcile_core::compare::{
    Action, CompareContext, ComparisonMachine, Decision, EvidenceMode, ForceConflicts, Policy, Redactor,
};
use reconcile_core::live::{LiveState, Target};
use reconcile_core::manifest::DesiredObject;
use serde_json::Value;
use structured_merge::{FieldPath, PathElement, Scalar, TypeRef, changes, is_nothing, with_live_spelling};

use super::{OURS, Run};
use crate::control_plane::is_before;
use crate::generated::resource_of;

/// A field that older servers leave out of the object if it is empty, and still keep an owner for.
const EMPTY_BUNDLE: &str = ".clientConfig.caBundle";

/// Compares and writes as the program does, and holds every step against the server.
pub async fn check(run: &mut Run<'_>, manifest: &Value, live: &Value) {
    let ground = run.ground;
    let force = *run.rng.pick(&[ForceConflicts::Manual, ForceConflicts::Manual, ForceConflicts::All]);
    let policy = Policy { force, ..Policy::of(OURS) };
    let mut target = run.target.clone();
    target.desired = DesiredObject::exactly(manifest.clone(), target.desired.origin.clone());
    let kind = target.key.gvk.kind.clone();
    let of = ground.of(&target);
    let decision = ask(run, &target, &policy, live.clone()).await;
    let (Some(live), Some(prediction)) = (decision.live_object(), decision.prediction()) else { return };
    let before = &live.current.object;
    let diff = &decision.diff;
    let about = format!("{} {}, {force:?}\nmanifest {manifest}\nlive {before}", target.key.gvk.version, target.key);
    run.tally.count("engine", "compared");

    let body = with_live_spelling(live.sent(&target), before, of);
    let unforced = ground.apply(&target, &body, OURS, "&dryRun=All").await;
    let refused: Vec<String> = match unforced {
        Err(status) if status.code == 409 => {
            let mut fields: Vec<String> = status.causes.iter().map(|cause| cause.field.clone()).collect();
            // Nothing is lost or gained by it: the value is empty.
            if fields.iter().any(|field| field.ends_with(EMPTY_BUNDLE))
                && is_before(34, "an empty certificate bundle has a conflict")
            {
                fields.retain(|field| !field.ends_with(EMPTY_BUNDLE));
            }
            fields
        }
        _ => Vec::new(),
    };
    let owners = &live.current.owners;
    let taken: Vec<String> = owners.taken(&prediction.owners).iter().map(|(path, _)| server_text(path)).collect();
    let refused = sorted(refused);
    let taken = sorted(taken);
    let is_first = owners.others.is_empty() && owners.ours.is_none();
    // Where even force is refused, the answer is for an object whose manual managers have yielded.
    if refused != taken && !is_first && ground.apply(&target, &body, OURS, "&dryRun=All&force=true").await.is_ok() {
        run.tally.fail("other conflicts", format!("server {refused:?}, here {taken:?}: {about}"));
    }

    let status_is_apart = resource_of(&target).status;
    let here = CompareContext::new(&target, of, &policy).predict(manifest, &live.current);
    let guessed = compared_here(&target, &policy, of, before.clone()).diff;
    let is_right = guessed.action == diff.action;
    run.tally.count("local action", if is_right { "right" } else { "wrong" });
    if !is_right {
        let shown = |diff: &reconcile_core::compare::ObjectDiff| {
            diff.drift().map(|c| format!("{} {:?}", c.path, c.class)).collect::<Vec<_>>()
        };
        run.tally.example(
            "local action wrong",
            format!("{kind}: server {:?}, here {:?}: {about}", shown(diff), shown(&guessed)),
        );
    } else if !changes(&here.object, &prediction.object, of, status_is_apart).is_empty() {
        run.tally.count("local object", "differs");
    }

    let redactor = Redactor::default();
    let replacements = Replacements::default();
    let writes = ground.writes(&policy, &redactor, &replacements);
    let written = writes.write(&target, &decision, of).await;
    let now = ground.get(&target).await;
    match written {
        None if before["metadata"]["resourceVersion"] != now["metadata"]["resourceVersion"] => {
            return run.tally.count("moved meanwhile", &kind);
        }
        Some(Written::Updated | Written::Adopted) | None => {}
        Some(other) => {
            return run.tally.count("not written", &format!("{kind}: {other:?}").chars().take(150).collect::<String>());
        }
    }
    if !diff.conflicts.is_empty() {
        return run.tally.count("engine", "conflict");
    }
    let mut wrong = changes(&prediction.object, &now, of, status_is_apart);
    wrong.retain(|change| !is_empty(change.from.as_ref()) || !is_empty(change.to.as_ref()));
    if !wrong.is_empty() {
        let wrong: Vec<_> = wrong.iter().map(|c| format!("{} {:?} {:?} {:?}", c.path, c.op, c.from, c.to)).collect();
        run.tally
            .fail("predicted otherwise", format!("{wrong:?}: {about}\npredicted {}\nnow {now}", prediction.object));
    }
    let again = ask(run, &target, &policy, now.clone()).await;
    let second = again.diff;
    // The server makes null of a map or list that loses all that was applied, and only in the next apply what is empty.
    let mut drift = second.drift();
    let is_emptiness = drift.all(|change| is_empty(change.live.as_deref()) && is_empty(change.path.value_in(manifest)));
    if second.action == Action::Update && is_emptiness {
        return run.tally.count("engine", "null before an empty map");
    }
    // It also accepts some values once that it refuses ever after, such as an empty key of a list.
    let is_accepted = |kind| kind == "StatefulSet" && is_before(34, "Pods without an image are refused");
    if second.action == Action::Unknown || second.action == Action::Update && is_accepted(kind.as_str()) {
        return run.tally.count("engine", "refused after it was accepted");
    }
    if second.action != Action::None || second.is_ownership_only() {
        let changes: Vec<_> = second.changes.iter().map(|c| format!("{} {:?}", c.path, c.class)).collect();
        run.tally.fail("a second write", format!("{:?} {changes:?}: {about}\nnow {now}", second.action));
    }
}

/// Compares without the server.
pub fn compared_here(target: &Target, policy: &Policy, schema: TypeRef<'_>, live: Value) -> Decision {
    let policy = Policy { evidence: EvidenceMode::ReadOnly, ..policy.clone() };
    let mut machine = ComparisonMachine::new(target, LiveState::Present(live), schema, &policy);
    machine.start();
    machine.decide(None, &Redactor::default())
}

pub(super) async fn ask(run: &Run<'_>, target: &Target, policy: &Policy, live: Value) -> Decision {
    let ground = run.ground;
    let mut machine = ComparisonMachine::new(target, LiveState::Present(live), ground.of(target), policy);
    drive(&ground.cluster, resource_of(target), &mut machine).await;
    machine.decide(None, &Redactor::default())
}

pub fn is_empty(value: Option<&Value>) -> bool {
    value.is_none_or(is_nothing)
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts.dedup();
    texts
}

/// A path as structured-merge-diff prints it (`fieldpath/path.go`).
pub fn server_text(path: &FieldPath) -> String {
    let scalar = |value: &Scalar| value.to_json().to_string();
    let element = |element: &PathElement| match element {
        PathElement::Field(name) => format!(".{name}"),
        PathElement::Member(member) => format!("[={}]", scalar(member)),
        PathElement::Index(index) => format!("[{index}]"),
        PathElement::Key(keys) => {
            let keys: Vec<_> = keys.iter().map(|(name, value)| format!("{name}={}", scalar(value))).collect();
            format!("[{}]", keys.join(","))
        }
    };
    path.elements().iter().map(element).collect()
}
