//! Asks the server what an apply would make of an object (`dryRun=All`): it runs the merge, the defaults and admission,
//! and writes nothing.
//!
//! What to ask next is decided by an [`Inquiry`], which knows nothing of connections; [`settle`] sends it.

use serde_json::Value;

use super::catalog::Resource;
use super::{LiveState, Target, fetch, parse};
use crate::cluster::{Cluster, Purpose, Request, RequestError, Retry};

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
    let path = resource.object_path(target.key.namespace.as_deref(), &target.key.name);
    while let Some(step) = inquiry.next() {
        let answer = match step {
            Step::Read => Answer::Live(fetch::get(cluster, target, resource).await),
            Step::Apply(body) => {
                let path = format!("{path}?dryRun=All&{}", apply_query(manager, true));
                object(cluster, Request::apply_patch(Purpose::DryRun, path, body.to_string())).await
            }
            Step::Create(body) => {
                let path = resource.collection_path(target.key.namespace.as_deref());
                let path = format!("{path}?dryRun=All&fieldValidation=Ignore&{}", manager_query(manager));
                let request = Request::new(Purpose::DryRun, http::Method::POST, path)
                    .with_body("application/json", body.to_string())
                    .with_retry(Retry::Safe);
                object(cluster, request).await
            }
            Step::Patch(operations) => {
                let request = Request::new(Purpose::DryRun, http::Method::PATCH, format!("{path}?dryRun=All"))
                    .with_body("application/json-patch+json", operations.to_string())
                    .with_retry(Retry::Safe);
                object(cluster, request).await
            }
        };
        inquiry.answered(answer);
    }
}

async fn object(cluster: &Cluster, request: Request) -> Answer {
    let reply = match cluster.send(request).await {
        Ok(reply) => reply,
        Err(error) => return Answer::Refused(error),
    };
    match parse(cluster, &reply.body) {
        Ok(object) => Answer::Object(object, reply.warnings),
        Err(error) => Answer::Refused(error),
    }
}

/// Who asks.
#[must_use]
pub fn manager_query(manager: &str) -> String {
    let manager: String = manager.bytes().map(super::catalog::escape).collect();
    format!("fieldManager={manager}")
}

/// The query of a server-side apply. Duplicate keys can't occur in a body that we wrote, and unknown fields are refused
/// whatever `fieldValidation` says, so the server is spared reading the body twice.
#[must_use]
pub fn apply_query(manager: &str, force: bool) -> String {
    format!("{}&fieldValidation=Ignore&force={force}", manager_query(manager))
}
