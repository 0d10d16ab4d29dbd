//! `report merge`: checks that reports are those of the shards of one run, joins them, and puts those of several clusters side by side.

mod input;
mod joined;
mod parsed;
mod shared;

use std::collections::{BTreeMap, BTreeSet};

use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::object::Shard;

pub use input::MergeInput;
pub use shared::SharedObjects;

use crate::model::{Command, ContextReport, Report, Reports};
use input::Cluster;
use joined::joined;

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
        let server = parts.iter().find_map(|part| part.cluster()?.1);
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
    let known: BTreeSet<_> = parts.iter().filter_map(MergeInput::cluster).collect();
    let only = known.first().filter(|_| known.len() == 1).cloned();
    let mut clusters: Vec<(Option<Cluster>, String, Vec<MergeInput>)> = Vec::new();
    for part in parts {
        let cluster = part.cluster();
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

/// Sorts the reports, and returns the shards without a report. Reports that cannot be those of the shards of one run are an error.
fn checked(parts: &mut [MergeInput], cluster: &str) -> Result<Vec<Shard>, Diagnostic> {
    all_shards(parts, cluster)?;
    parts.sort_by_key(|part| part.report.shard);
    let shards = || parts.iter().filter_map(|part| Some((part, part.report.shard?)));
    let Some((first, Shard { count, .. })) = shards().next() else { return Ok(Vec::new()) };
    let mut files: BTreeMap<Shard, &str> = BTreeMap::new();
    let mut places: BTreeMap<usize, &str> = BTreeMap::new();
    for (part, shard) in shards() {
        let file = part.file.as_str();
        if shard.count != count {
            let message =
                format!("{file} is one of {} shards of {cluster}, and {} is one of {count}", shard.count, first.file);
            return refused(message, "merge the reports of one run");
        }
        if let Some(other) = files.insert(shard, file) {
            return refused(format!("shard {shard} is in both {other} and {file}"), "merge each report once");
        }
        if let Some(what) = other_flags(&part.report, &first.report) {
            let message = format!("the runs of {} and {file} {what}", first.file);
            return refused(message, "run all shards with the same flags");
        }
        objects(part, shard, &mut places)?;
    }
    Ok((0..count).map(|index| Shard { index, count }).filter(|shard| !files.contains_key(shard)).collect())
}

/// The first way in which the flags of two runs differ.
fn other_flags(one: &Report, other: &Report) -> Option<&'static str> {
    let flags = [
        (one.fail_on == other.fail_on, "fail on different classes"),
        (one.base == other.base, "compare with different bases (`--base`, `--since`)"),
        (one.only == other.only, "resolve different differences (`--only`)"),
        (one.remove_added == other.remove_added, "remove the additions of different managers (`--remove-added`)"),
    ];
    flags.into_iter().find(|(is_same, _)| !is_same).map(|(_, what)| what)
}

/// Checks that several reports of one cluster are those of shards.
fn all_shards(parts: &[MergeInput], cluster: &str) -> Result<(), Diagnostic> {
    let Some(without) = parts.iter().find(|part| part.report.shard.is_none()) else { return Ok(()) };
    let other = parts.iter().find(|part| part.report.shard.is_some()).or(parts.last()).unwrap_or(without);
    let message =
        format!("{} and {} are both about {cluster}, and {} is not a shard", other.file, without.file, without.file);
    refused(message, "merge the reports of the shards of one run, or those of different clusters")
}

/// Checks that the objects of a report are those of its shard, each at a position of its own.
fn objects<'p>(part: &'p MergeInput, shard: Shard, places: &mut BTreeMap<usize, &'p str>) -> Result<(), Diagnostic> {
    let file = part.file.as_str();
    for object in &part.report.objects {
        if object.source.is_some() && !shard.has(&object.key) {
            let message = format!("{} in {file} is not an object of shard {shard}", object.key);
            return refused(message, "merge reports as `kubectl reconcile -o json` wrote them");
        }
        let Some(place) = object.position else { continue };
        if let Some(other) = places.insert(place, file) {
            let message =
                format!("{other} and {file} are about different inputs: both have an object at position {place}");
            return refused(message, "run all shards over the same manifests");
        }
    }
    Ok(())
}

fn refused<T>(message: String, hint: &str) -> Result<T, Diagnostic> {
    Err(Diagnostic::general(message).with_hint(hint))
}

#[cfg(test)]
mod tests;
