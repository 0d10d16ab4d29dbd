//! The questions of a comparison, and the answers.

use std::borrow::Cow;

use serde_json::Value;
use structured_merge::{as_sent, verbatim, with_node_ports, without_system_fields};

use super::accepted::takes_out;
use super::{ComparisonMachine, State};
use crate::compare::live_object::LiveObject;
use crate::compare::patch::replacement;
use crate::compare::prediction::CompareContext;
use crate::compare::replacement::probe_object;
use crate::live::LiveState;
use crate::request::RequestError;

/// A question about one object. It never writes anything.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// Dry-run a server-side apply of this body, with force.
    Apply(Value),
    /// Dry-run this JSON patch.
    Patch(Value),
    /// Dry-run the creation of this object, although it exists.
    Create(Value),
    /// Read the object again.
    Read,
}

/// The answer to a question.
#[derive(Debug)]
pub enum Answer {
    /// The object as the write would leave it.
    Object(Value),
    /// The live object.
    Live(LiveState),
    /// The server rejected the request, or did not answer.
    Refused(RequestError),
}

impl ComparisonMachine<'_> {
    /// The next question; `None` if the comparison is done or has not begun.
    pub fn question(&self) -> Option<Question> {
        let CompareContext { target, schema, policy, .. } = self.context;
        let patch = |live: &LiveObject, object: &Value| {
            Some(Question::Patch(replacement(&live.current.object, object, target.status_is_apart())))
        };
        let filled = |live: &LiveObject, sent: &Value, object: &Value| {
            let manifest = with_node_ports(Cow::Borrowed(sent), &live.current.object, schema);
            verbatim(&manifest, object, schema)
        };
        let update = |live: &LiveObject, sent: &Value, object: &Value| {
            // What the apply takes out is put back by the next one.
            let is_whole = !takes_out(sent, &live.current.object, object, target, schema);
            if is_whole { patch(live, &filled(live, sent, object)) } else { patch(live, object) }
        };
        match &self.state {
            State::Applying(Some(live)) => {
                Some(Question::Apply(as_sent(live.sent(target), &live.current.object, schema, policy).into_owned()))
            }
            State::Applying(None) => Some(Question::Apply(target.desired.to_tree())),
            State::Reading { .. } => Some(Question::Read),
            State::Pruning { live, prediction } => patch(live, &prediction.object),
            State::Filling { live, prediction, refused: None } => {
                patch(live, &filled(live, live.sent(target), &prediction.object))
            }
            State::Filling { live, prediction, refused: Some(_) } => {
                let filled = filled(live, live.sent(target), &prediction.object);
                let gvk = &target.key.gvk;
                probe_object(gvk, &without_system_fields(&filled), &live.current.object).map(Question::Create)
            }
            State::Transferring { live, trial } => {
                let sent = trial.attempt.sent.as_ref().unwrap_or_else(|| live.sent(target));
                update(live, sent, &trial.attempt.prediction.object)
            }
            State::Controlling { live, .. } => {
                let sent = live.sent(target);
                update(live, sent, &self.context.predict_without_transfer(sent, &live.current))
            }
            State::Probing { probes, .. } => probes.last().map(|probe| Question::Create(probe.object.clone())),
            State::Read(_) | State::Done(_) => None,
        }
    }
}
