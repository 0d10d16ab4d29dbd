//! Drives a comparison: sends its questions as dry runs (`dryRun=All`), for which the server merges, sets defaults and runs
//! admission, and writes nothing.

use crate::client::{Cluster, DryRun, Warnings, WriteRequest};
use crate::live::answer::Asked;
use crate::live::fetch;
use reconcile_core::compare::{Answer, ComparisonMachine, Question};
use reconcile_core::live::Resource;

/// Begins a comparison, unless it has begun already, and sends its questions until it has no more.
pub async fn drive(cluster: &Cluster, resource: &Resource, machine: &mut ComparisonMachine<'_>) {
    let target = machine.target();
    let manager = machine.policy().manager.as_str();
    let path = || resource.object_path(target.key.namespace.as_deref(), &target.key.name);
    let asked = Asked::key(&target.key);
    machine.start();
    while let Some(question) = machine.question() {
        let warnings = Warnings::default();
        let object = async |change, asked: &Asked<'_>| object(cluster, change, asked, &warnings).await;
        let answer = match question {
            Question::Read => Answer::Live(fetch::get(cluster, target, resource).await),
            Question::Apply(body) => {
                let change = WriteRequest::apply(path(), manager, true, &body).dry_run();
                object(change, &asked.sent(&body)).await
            }
            Question::Create(body) => {
                let path = resource.collection_path(target.key.namespace.as_deref());
                object(WriteRequest::create(path, manager, &body).dry_run(), &asked.created(&body)).await
            }
            Question::Patch(operations) => {
                object(WriteRequest::json_patch(path(), manager, &operations).dry_run(), &asked).await
            }
        };
        machine.answer(answer, warnings.take());
    }
}

/// Drives a comparison to its end: again without the differences that the pass leaves, if it leaves some. The base has to be known.
pub async fn drive_to_end(cluster: &Cluster, resource: &Resource, machine: &mut ComparisonMachine<'_>) {
    drive(cluster, resource, machine).await;
    while machine.leave() {
        drive(cluster, resource, machine).await;
    }
}

async fn object(cluster: &Cluster, change: DryRun, asked: &Asked<'_>, warnings: &Warnings) -> Answer {
    let reply = cluster.change(change, warnings).await;
    match reply.and_then(|reply| asked.read(cluster, reply.body())) {
        Ok(object) => Answer::Object(object),
        Err(error) => Answer::Refused(error),
    }
}
