//! Checks that reports are those of the shards of one run.

use std::collections::BTreeMap;

use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::object::Shard;

use super::input::MergeInput;

/// Sorts the reports, and returns the shards without a report. Reports that cannot be those of the shards of one run are an error.
pub(super) fn checked(parts: &mut [MergeInput], cluster: &str) -> Result<Vec<Shard>, Diagnostic> {
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
        if part.report.fail_on != first.report.fail_on {
            let message = format!("the runs of {} and {file} fail on different classes", first.file);
            return refused(message, "run all shards with the same flags");
        }
        objects(part, shard, &mut places)?;
    }
    Ok((0..count).map(|index| Shard { index, count }).filter(|shard| !files.contains_key(shard)).collect())
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
