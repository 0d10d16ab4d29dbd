//! Asks the server what an apply would make of an object (`dryRun=All`): it runs the merge, the defaults and admission,
//! and writes nothing.
//!
//! What to ask next is decided by an [`Inquiry`], which knows nothing of connections; [`settle`] sends it.

use serde_json::Value;

use super::answer::Asked;
use super::discovery::Resource;
use super::{LiveState, Target, fetch};
use crate::client::{Change, Cluster, DryRun, RequestError};

/// The next thing to ask.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Dry-run a server-side apply of this body, conflicts overruled.
    Apply(Value),
    /// Dry-run this JSON patch.
    Patch(Value),
    /// Dry-run the creation of this object, which has another name.
    Create(Value),
    /// Read the object again.
    Read,
}

/// What came back.
#[derive(Debug)]
pub enum Answer {
    /// The object as the write would leave it, with the server's warnings.
    Object(Value, Vec<String>),
    /// The object as it is.
    Live(LiveState),
    /// No answer, or a refusal.
    Refused(RequestError),
}

/// Questions about one object, each depending on the answer to the one before.
pub trait Inquiry {
    /// The next question, or nothing when all is known.
    fn next(&mut self) -> Option<Step>;
    /// Takes the answer to the last question.
    fn answered(&mut self, answer: Answer);
}

/// Sends an inquiry's questions until it has none.
pub async fn settle(
    cluster: &Cluster,
    target: &Target,
    resource: &Resource,
    manager: &str,
    inquiry: &mut impl Inquiry,
) {
    let path = || resource.object_path(target.key.namespace.as_deref(), &target.key.name);
    let asked = Asked::key(&target.key);
    while let Some(step) = inquiry.next() {
        let answer = match step {
            Step::Read => Answer::Live(fetch::get(cluster, target, resource).await),
            Step::Apply(body) => {
                let change = Change::apply(path(), manager, true, &body).dry_run();
                object(cluster, change, &asked.sent(&body)).await
            }
            Step::Create(body) => {
                let path = resource.collection_path(target.key.namespace.as_deref());
                object(cluster, Change::create(path, manager, &body).dry_run(), &asked.created(&body)).await
            }
            Step::Patch(operations) => {
                object(cluster, Change::json_patch(path(), manager, &operations).dry_run(), &asked).await
            }
        };
        inquiry.answered(answer);
    }
}

async fn object(cluster: &Cluster, request: DryRun, asked: &Asked<'_>) -> Answer {
    let reply = match cluster.send(request).await {
        Ok(reply) => reply,
        Err(error) => return Answer::Refused(error),
    };
    match asked.read(cluster, &reply.body) {
        Ok(object) => Answer::Object(object, reply.warnings),
        Err(error) => Answer::Refused(error),
    }
}
