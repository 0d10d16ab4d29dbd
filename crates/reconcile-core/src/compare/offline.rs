use serde_json::Value;
use structured_merge::ObjectMeta as _;

use super::decision::{ComparisonResult, Decision, decide};
use super::machine::ComparisonMachine;
use super::policy::{EvidenceMode, Policy};
use super::prediction::CompareContext;
use super::rejection::refusal::refused_by_definition;
use super::secrecy::redact::{Redactor, is_withheld};
use crate::diagnostic::{Code, Diagnostic};
use crate::live::{LiveState, is_builtin_group};

/// Decides about an object of a snapshot, without a server. `definition` is the CustomResourceDefinition of its kind, if there is one.
pub fn offline(
    context: CompareContext<'_>,
    live: LiveState,
    definition: Option<&Value>,
    redactor: &Redactor,
) -> Decision {
    let target = context.target;
    let finding = match live {
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
        LiveState::Absent
            if let Some(definition) = definition
                && let Some(mistakes) = refused_by_definition(target, context.schema, Some(definition)) =>
        {
            ComparisonResult::Unknown(mistakes)
        }
        LiveState::Present(live) if is_withheld(&live) => {
            let message = "its values are not in the snapshot";
            let hint = "take the snapshot with `--include-secrets`";
            ComparisonResult::Unknown(Diagnostic::new(Code::ValuesWithheld, message).with_hint(hint))
        }
        LiveState::Present(live) if live.is_terminating() => {
            let diagnostic = Diagnostic::new(Code::Terminating, "it was being deleted");
            ComparisonResult::Unknown(diagnostic.with_hint("take a new snapshot"))
        }
        live => {
            let policy = Policy { evidence: EvidenceMode::ReadOnly, ..context.policy.clone() };
            let mut machine = ComparisonMachine::new(target, live, context.schema, &policy);
            machine.start();
            while machine.leave() {}
            return machine.decide(context.types_will_change, redactor);
        }
    };
    decide(context, finding, redactor)
}
