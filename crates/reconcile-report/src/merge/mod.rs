//! `report merge`: joins the reports of the shards of one run, and puts those of several clusters side by side.

mod checked;
mod consistent;
mod input;
mod joined;
mod parsed;

use std::collections::BTreeSet;

use reconcile_core::diagnostic::Diagnostic;

use checked::checked;
pub use input::MergeInput;
use joined::joined;

use crate::{Command, ContextReport, Report, Reports};

/// Merges reports: joins the shards of one run over each cluster, and puts the clusters side by side.
pub fn merged(parts: Vec<MergeInput>) -> Result<Reports, Diagnostic> {
    let command = same_command(&parts)?;
    let mut clusters = by_cluster(parts)?;
    if clusters.len() == 1
        && let Some((name, parts)) = clusters.pop()
    {
        return Ok(one(parts, &name)?.into());
    }
    let mut contexts = Vec::new();
    for (context, parts) in clusters {
        let server = parts.iter().find_map(|part| part.cluster()?.1.map(ToOwned::to_owned));
        let report = one(parts, &context)?;
        contexts.push(ContextReport { context: Some(context), server, report });
    }
    Ok(Reports::of(command, contexts, Vec::new()))
}

fn same_command(parts: &[MergeInput]) -> Result<Command, Diagnostic> {
    let Some(first) = parts.first() else { return Err(Diagnostic::general("there is no report")) };
    let command = first.report.command;
    match parts.iter().find(|part| part.report.command != command) {
        None => Ok(command),
        Some(other) => {
            let message = format!("{} and {} are reports of different commands", first.file, other.file);
            Err(Diagnostic::general(message).with_hint("merge the reports of one command"))
        }
    }
}

/// The reports of each cluster, with its name, in the order in which the clusters are first named. The report of a run that did not
/// reach a cluster belongs to the only cluster of the others.
fn by_cluster(parts: Vec<MergeInput>) -> Result<Vec<(String, Vec<MergeInput>)>, Diagnostic> {
    let known: BTreeSet<_> = parts.iter().filter_map(MergeInput::cluster).map(owned).collect();
    let only = known.first().filter(|_| known.len() == 1).cloned();
    let mut clusters: Vec<(Option<Cluster>, String, Vec<MergeInput>)> = Vec::new();
    for part in parts {
        let cluster = part.cluster().map(owned);
        let is_part = part.report.shard.is_some();
        if cluster.is_none() && is_part && known.len() > 1 {
            let message = format!("{} does not say which cluster it is about", part.file);
            return Err(Diagnostic::general(message).with_hint("merge the shards of each cluster first"));
        }
        let cluster = cluster.or_else(|| only.clone().filter(|_| is_part));
        let is_same = |(other, ..): &(Option<Cluster>, String, Vec<MergeInput>)| {
            *other == cluster && (cluster.is_some() || is_part)
        };
        if let Some((.., parts)) = clusters.iter_mut().find(|one| is_same(one)) {
            parts.push(part);
            continue;
        }
        let name =
            cluster.clone().and_then(|(context, server)| context.or(server)).unwrap_or_else(|| part.file.clone());
        clusters.push((cluster, name, vec![part]));
    }
    Ok(clusters.into_iter().map(|(_, name, parts)| (name, parts)).collect())
}

/// A context and a server.
type Cluster = (Option<String>, Option<String>);

fn owned((context, server): (Option<&str>, Option<&str>)) -> Cluster {
    (context.map(ToOwned::to_owned), server.map(ToOwned::to_owned))
}

/// The report of one cluster.
fn one(mut parts: Vec<MergeInput>, cluster: &str) -> Result<Report, Diagnostic> {
    if parts.len() == 1
        && let Some(part) = parts.pop_if(|part| part.report.shard.is_none())
    {
        return Ok(part.report);
    }
    let missing = checked(&mut parts, cluster)?;
    Ok(joined(parts, &missing))
}

#[cfg(test)]
mod tests;
