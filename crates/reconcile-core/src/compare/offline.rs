//! The comparison with an object of a snapshot, without a server.

use serde_json::Value;
use structured_merge::{ObjectMeta as _, compile_definition};

use super::decision::{ComparisonResult, Decision};
use super::machine::{ComparisonMachine, is_convertible};
use super::policy::{EvidenceMode, Policy};
use super::prediction::CompareContext;
use super::rejection::refusal::{Refusal, refused_by_definition};
use super::rejection::{Patterns, RejectedObject};
use super::secrecy::redact::{Redactor, is_withheld};
use crate::diagnostic::{Code, Diagnostic};
use crate::live::{LiveState, is_builtin_group};

/// Decides about an object of a snapshot, without a server. `definition` is the CustomResourceDefinition of its kind, if there is one.
pub fn offline(
    context: CompareContext<'_>,
    live: LiveState,
    definition: Option<&Value>,
    patterns: &Patterns,
    redactor: &Redactor,
) -> Decision {
    let policy = Policy { evidence: EvidenceMode::ReadOnly, ..context.policy.clone() };
    let known = known_before(context, &live, definition, patterns);
    let mut machine = ComparisonMachine::new(context.target, live, context.schema, &policy);
    match known {
        Some(result) => machine.end(result),
        None => machine.start(),
    }
    machine.check_records(|gvk, live| {
        let types = definition.and_then(|definition| compile_definition(definition, gvk));
        types.as_ref().and_then(|types| types.object(gvk)).is_some_and(|schema| is_convertible(live, schema))
    });
    while machine.leave() {}
    machine.decide(context.coming_type, redactor)
}

/// The result of a comparison that no field decides.
fn known_before(
    context: CompareContext<'_>,
    live: &LiveState,
    definition: Option<&Value>,
    patterns: &Patterns,
) -> Option<ComparisonResult> {
    let target = context.target;
    Some(match live {
        _ if let (true, Err(diagnostic)) = (target.desired.is_refused(), &target.resource) => {
            ComparisonResult::Unknown(Diagnostic::clone(diagnostic))
        }
        // A custom resource may be new to the cluster, and its definition as well. The built-in kinds are all known.
        LiveState::Absent
            if let (true, Err(diagnostic)) = (is_builtin_group(&target.key.gvk.group), &target.resource) =>
        {
            ComparisonResult::Unknown(Diagnostic::clone(diagnostic))
        }
        // Values that are there may stay as they are, whatever a definition says of them.
        LiveState::Absent if definition.is_some() => {
            let subject = RejectedObject::of_manifest(target, None, context.schema);
            let refusal = Refusal::Typed(refused_by_definition(subject, definition, patterns)?);
            ComparisonResult::Refused { live: None, refusal }
        }
        LiveState::Present(live) if is_withheld(live) => {
            let message = "its values are not in the snapshot";
            let hint = "take the snapshot with `--include-secrets`";
            ComparisonResult::Unknown(Diagnostic::new(Code::ValuesWithheld, message).with_hint(hint))
        }
        LiveState::Present(live) if live.is_terminating() => {
            let diagnostic = Diagnostic::new(Code::Terminating, "it was being deleted");
            ComparisonResult::Unknown(diagnostic.with_hint("take a new snapshot"))
        }
        _ => return None,
    })
}
