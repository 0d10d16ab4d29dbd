//! `report merge`: the reports of the parts of one run become one report, and those of several clusters stand side by side.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::parsed::{Parsed, parsed};
use super::{ClusterInfo, Command, ConfigurationInfo, ContextReport, Report, Reports};
use crate::compare::REDACTED;
use crate::diagnostic::{Code, Diagnostic, Place};
use crate::object::Shard;
use crate::text::listed;

/// Most shards that a message names.
const NAMED: usize = 10;

/// One report, and the file it is from.
#[derive(Debug)]
pub struct Part {
    file: String,
    parsed: Parsed,
}

/// What reports come to together.
#[derive(Debug)]
pub enum Merged {
    /// They are about one cluster.
    One(Box<Report>),
    /// They are about several.
    Several(Box<Reports>),
}

impl Part {
    /// The reports of a file. The error has its place.
    pub fn read(file: &str, text: &[u8]) -> Result<Vec<Self>, Diagnostic> {
        let problem = |error: serde_json::Error| {
            let number = |number: usize| u32::try_from(number).ok().filter(|number| *number > 0);
            let place = Place { file: file.into(), line: number(error.line()), column: number(error.column()) };
            // The error names its place at the end as well.
            let told = error.to_string();
            let at = format!(" at line {} column {}", error.line(), error.column());
            let told = told.strip_suffix(&at).unwrap_or(&told);
            let message = format!("not a report of `kubectl reconcile -o json`: {told}");
            Diagnostic { place: Some(place), ..Diagnostic::general(message) }
        };
        let reports = parsed(text).map_err(problem)?;
        Ok(reports.into_iter().map(|parsed| Self { file: file.to_owned(), parsed }).collect())
    }

    fn report(&self) -> &Report {
        &self.parsed.report
    }

    /// The cluster that it is about, as far as it says: its context and the server.
    fn cluster(&self) -> Option<(Option<&str>, Option<&str>)> {
        let cluster = self.report().cluster.as_ref();
        let context = self.parsed.context.as_deref().or(cluster.and_then(|cluster| cluster.context.as_deref()));
        let server = cluster.map(|cluster| cluster.server.as_str()).or(self.parsed.server.as_deref());
        (context.is_some() || server.is_some()).then_some((context, server))
    }
}

/// Puts reports together: the parts of one run over each cluster, and the clusters side by side.
pub fn merged(parts: Vec<Part>) -> Result<Merged, Diagnostic> {
    let command = same_command(&parts)?;
    let mut clusters = by_cluster(parts)?;
    if clusters.len() == 1
        && let Some((name, parts)) = clusters.pop()
    {
        return Ok(Merged::One(Box::new(one(parts, &name)?)));
    }
    let mut contexts = Vec::new();
    for (context, parts) in clusters {
        let server = parts.iter().find_map(|part| part.cluster()?.1.map(ToOwned::to_owned));
        let report = one(parts, &context)?;
        contexts.push(ContextReport { context, server, report });
    }
    Ok(Merged::Several(Box::new(Reports::of(command, contexts, Vec::new()))))
}

fn same_command(parts: &[Part]) -> Result<Command, Diagnostic> {
    let Some(first) = parts.first() else { return Err(Diagnostic::general("there is no report")) };
    let command = first.report().command;
    match parts.iter().find(|part| part.report().command != command) {
        None => Ok(command),
        Some(other) => {
            let message = format!("{} and {} are reports of different commands", first.file, other.file);
            Err(Diagnostic::general(message).with_hint("merge the reports of one command"))
        }
    }
}

/// The reports of each cluster, with its name, in the order in which the clusters are first named. A part of a run that got to know
/// no cluster belongs to the only one that there is.
fn by_cluster(parts: Vec<Part>) -> Result<Vec<(String, Vec<Part>)>, Diagnostic> {
    let known: BTreeSet<_> = parts.iter().filter_map(Part::cluster).map(owned).collect();
    let only = known.first().filter(|_| known.len() == 1).cloned();
    let mut clusters: Vec<(Option<Cluster>, String, Vec<Part>)> = Vec::new();
    for part in parts {
        let cluster = part.cluster().map(owned);
        let is_part = part.report().shard.is_some();
        if cluster.is_none() && is_part && known.len() > 1 {
            let message = format!("{} does not say which cluster it is about", part.file);
            return Err(Diagnostic::general(message).with_hint("merge the shards of each cluster first"));
        }
        let cluster = cluster.or_else(|| only.clone().filter(|_| is_part));
        let is_same =
            |(other, ..): &(Option<Cluster>, String, Vec<Part>)| *other == cluster && (cluster.is_some() || is_part);
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
fn one(mut parts: Vec<Part>, cluster: &str) -> Result<Report, Diagnostic> {
    if parts.len() == 1
        && parts.iter().all(|part| part.report().shard.is_none_or(|shard| shard.of == 1))
        && let Some(part) = parts.pop()
    {
        let mut report = part.parsed.report;
        report.shard = None;
        report.objects.iter_mut().for_each(|object| object.place = None);
        return Ok(report);
    }
    let missing = checked(&mut parts, cluster)?;
    Ok(joined(parts, &missing))
}

/// Sorts the parts, and returns the shards that have no report. What cannot be the parts of one run is an error.
fn checked(parts: &mut [Part], cluster: &str) -> Result<Vec<Shard>, Diagnostic> {
    let problem = |message: String, hint: &str| Err(Diagnostic::general(message).with_hint(hint));
    let without = parts.iter().find(|part| part.report().shard.is_none());
    if let (Some(without), Some(other)) =
        (without, parts.iter().find(|part| part.report().shard.is_some()).or(parts.last()))
    {
        let message =
            format!("{} and {} are both about {cluster}, and {} is no shard", other.file, without.file, without.file);
        return problem(message, "merge the reports of the shards of one run, or those of different clusters");
    }
    parts.sort_by_key(|part| part.report().shard);
    let Some(of) = parts.first().and_then(|part| part.report().shard).map(|shard| shard.of) else {
        return Ok(Vec::new());
    };
    let mut files: BTreeMap<Shard, &str> = BTreeMap::new();
    let mut places: BTreeMap<usize, &str> = BTreeMap::new();
    for part in parts.iter() {
        let (file, Some(shard)) = (part.file.as_str(), part.report().shard) else { continue };
        if shard.of != of {
            let message =
                format!("{file} is one of {} shards of {cluster}, and another report is one of {of}", shard.of);
            return problem(message, "merge the reports of one run");
        }
        if let Some(other) = files.insert(shard, file) {
            return problem(format!("shard {shard} is in both {other} and {file}"), "merge each report once");
        }
        for object in &part.report().objects {
            if object.source.is_some() && !shard.has(&object.key) {
                let message = format!("{} in {file} is not an object of shard {shard}", object.key);
                return problem(message, "merge reports as `kubectl reconcile -o json` wrote them");
            }
            let Some(place) = object.place else { continue };
            if let Some(other) = places.insert(place, file) {
                let message =
                    format!("{other} and {file} are about different inputs: both have an object in place {place}");
                return problem(message, "run all shards over the same manifests");
            }
        }
        if part.report().fail_on != parts.first().map(|part| part.report().fail_on.clone()).unwrap_or_default() {
            return problem(
                format!("the runs behind {file} and other reports failed on different classes"),
                "run all shards with the same flags",
            );
        }
    }
    Ok((0..of).map(|index| Shard { index, of }).filter(|shard| !files.contains_key(shard)).collect())
}

/// One report of the parts.
fn joined(parts: Vec<Part>, missing: &[Shard]) -> Report {
    let mut reports: Vec<Report> = parts.into_iter().map(|part| part.parsed.report).collect();
    reports.iter_mut().for_each(name_redacted);
    let worst = reports.iter().max_by_key(|report| (report.verdict, report.exit_code));
    let (verdict, exit_code) = worst.map_or((super::Verdict::InSync, 0), |worst| (worst.verdict, worst.exit_code));
    let command = reports.first().map_or(Command::Diff, |report| report.command);
    let mut whole = Report { exit_code, ..Report::stopped(command, verdict, Vec::new()) };
    whole.configuration = configuration(&reports);
    let unmatched = whole.configuration.as_mut().and_then(|configuration| configuration.unmatched.take());
    let mut warnings: Vec<String> = unmatched
        .filter(|_| missing.is_empty())
        .as_deref()
        .and_then(ConfigurationInfo::unmatched_warning)
        .into_iter()
        .collect();
    for report in reports {
        whole.cluster = better(whole.cluster, report.cluster);
        whole.fail_on = report.fail_on;
        whole.summary.add(&report.summary);
        whole.requests = whole.requests.plus(report.requests);
        whole.objects.extend(report.objects);
        whole.apply_set = match (whole.apply_set, report.apply_set) {
            (Some(known), Some(other)) if known.pruned_by.is_some() => Some(other),
            (known, other) => known.or(other),
        };
        if let Some(unmanaged) = report.unmanaged {
            whole.unmanaged.get_or_insert_default().extend(unmanaged);
        }
        let is_new = |warning: &String| !warnings.contains(warning);
        let new: Vec<String> = report.warnings.into_iter().filter(is_new).collect();
        warnings.extend(new);
        for error in report.errors {
            if !whole.errors.contains(&error) {
                whole.errors.push(error);
            }
        }
    }
    whole.warnings = warnings;
    whole.objects.sort_by_key(|object| object.place.unwrap_or(usize::MAX));
    whole.objects.iter_mut().for_each(|object| object.place = None);
    if let Some(unmanaged) = &mut whole.unmanaged {
        unmanaged.sort_by_key(super::UnmanagedObject::key);
    }
    with_missing(whole, missing)
}

/// A cluster of which the version is known, rather than one of which it is not.
fn better(one: Option<ClusterInfo>, other: Option<ClusterInfo>) -> Option<ClusterInfo> {
    match (one, other) {
        (Some(one), Some(other)) if one.version.is_none() => Some(other),
        (one, other) => one.or(other),
    }
}

/// Of what is not there, nothing is known: the report is incomplete.
fn with_missing(report: Report, missing: &[Shard]) -> Report {
    if missing.is_empty() {
        return report;
    }
    let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let names = listed(names.iter().map(String::as_str), NAMED);
    let message = match missing {
        [_] => format!("the report of shard {names} is missing"),
        several => format!("the reports of {} shards are missing: {names}", several.len()),
    };
    let (verdict, exit_code) = (report.verdict, report.exit_code);
    let problem = Diagnostic::new(Code::Unknown, message).with_hint("run the missing shards, and merge again");
    let with = report.with_errors(vec![problem]);
    // What is worse stays so.
    if verdict > with.verdict { Report { verdict, exit_code, ..with } } else { with }
}

/// The configuration of all parts, and the rules that match nothing in any of them.
fn configuration(reports: &[Report]) -> Option<ConfigurationInfo> {
    let all: Vec<&ConfigurationInfo> = reports.iter().filter_map(|report| report.configuration.as_ref()).collect();
    let first = *all.iter().find(|one| one.file.is_some()).or(all.first())?;
    let mut whole = ConfigurationInfo { annotated: all.iter().map(|one| one.annotated).sum(), ..first.clone() };
    let is_unmatched =
        |place: &String| all.iter().all(|one| one.unmatched.as_ref().is_some_and(|places| places.contains(place)));
    whole.unmatched.get_or_insert_default().retain(is_unmatched);
    Some(whole)
}

/// Numbers of redacted values say which of them are equal within one run. Those of another run count from 1 again, so that each gets
/// the name of its shard: `#1@2` is number 1 of shard 2, and says nothing about `#1@3`.
fn name_redacted(report: &mut Report) {
    let Some(Shard { index, .. }) = report.shard else { return };
    for change in report.objects.iter_mut().flat_map(|object| &mut object.changes) {
        for value in [&mut change.live, &mut change.desired].into_iter().flatten() {
            name_numbers(value, index);
        }
    }
}

fn name_numbers(value: &mut Value, shard: u32) {
    match value {
        Value::Object(map) => {
            let is_alone = map.len() == 1;
            match map.get_mut(REDACTED) {
                Some(Value::String(number)) if is_alone && is_number(number) => *number = format!("{number}@{shard}"),
                _ => map.values_mut().for_each(|value| name_numbers(value, shard)),
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| name_numbers(item, shard)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// `#1`
fn is_number(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
#[path = "tests/merge.rs"]
mod tests;
