//! The locations of several objects: `kyverno.yaml:70, 92, 118 … 32 more`.

use reconcile_core::manifest::Source;

use super::number::grouped;
use crate::ObjectReport;

/// Names the locations of the first objects, at most this many, and counts the others. `place` is the name of a file, and the line if it
/// is known.
pub(crate) fn places(
    objects: &[&ObjectReport],
    most: usize,
    place: impl Fn(&Source) -> Option<(String, Option<u32>)>,
) -> String {
    let mut sources: Vec<&Source> = objects.iter().filter_map(|object| object.source.as_ref()).collect();
    sources.sort_by_key(|source| (&source.file, source.line));
    let mut all: Vec<(String, Option<u32>)> = sources.into_iter().filter_map(place).collect();
    // Several objects of a template have one location.
    all.dedup_by(|one, before| one == before && one.1.is_none());
    let mut text = String::new();
    let mut before = None;
    for (file, line) in all.iter().take(most) {
        let line = line.map(|line| line.to_string());
        let gap = if text.is_empty() { "" } else { ", " };
        let shown = match line {
            Some(line) if before == Some(file) => line,
            Some(line) => format!("{file}:{line}"),
            None => file.clone(),
        };
        text = format!("{text}{gap}{shown}");
        before = Some(file);
    }
    match all.len().checked_sub(most) {
        Some(more @ 1..) => format!("{text} … {} more", grouped(more)),
        _ => text,
    }
}
