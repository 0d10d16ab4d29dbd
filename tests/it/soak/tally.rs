//! What a soak saw: counts, failures, and whether the processes keep using the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Write as _, stdout};

use super::process::Ended;

/// Fewer calls than this in each part of the soak say nothing.
const ENOUGH: usize = 12;

/// What calls may leave that were killed while they wrote to the cache.
const SPARE_FILES: usize = 40;

#[derive(Default)]
pub struct Tally {
    counts: BTreeMap<String, usize>,
    /// What each call used, in the order of the calls, by their names.
    used: BTreeMap<String, Vec<Used>>,
    /// How many files the program kept after each cycle.
    kept: Vec<usize>,
    failures: Vec<String>,
}

#[derive(Clone, Copy)]
struct Used {
    memory: u64,
    handles: u64,
    millis: u64,
}

impl Tally {
    pub fn count(&mut self, what: &str) {
        self.add(what, 1);
    }

    pub fn add(&mut self, what: &str, number: usize) {
        *self.counts.entry(what.to_owned()).or_default() += number;
    }

    pub fn fail(&mut self, text: String) {
        // At once, for who watches a long soak.
        if self.failures.len() < 30 {
            let _ = writeln!(stdout(), "failure: {text}");
        }
        self.failures.push(text);
    }

    pub fn kept(&mut self, files: usize) {
        self.kept.push(files);
    }

    /// Takes note of what a call used that came to its end.
    pub fn used(&mut self, name: String, ended: &Ended) {
        let millis = u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX);
        self.used.entry(name).or_default().push(Used { memory: ended.memory, handles: ended.handles, millis });
    }

    /// Prints everything, and fails if something was wrong or grows.
    pub fn report(mut self, seed: u64) {
        let mut text = format!("seed {seed}\n");
        for (what, count) in &self.counts {
            let _ = writeln!(text, "  {count:7} {what}");
        }
        for (name, used) in &self.used {
            let quarter = used.len().div_ceil(4);
            let first = &used[..quarter];
            let last = &used[used.len() - quarter..];
            let of = |calls: &[Used], what: fn(&Used) -> u64| median(calls.iter().map(what).collect());
            let memory = (of(first, |used| used.memory), of(last, |used| used.memory));
            let handles = (of(first, |used| used.handles), of(last, |used| used.handles));
            let most = (used.iter().map(|used| used.memory).max(), used.iter().map(|used| used.handles).max());
            let _ = writeln!(
                text,
                "  {:7} × {name}: peak memory {} → {} KiB (most {}), open files {} → {} (most {}), {} → {} ms",
                used.len(),
                memory.0,
                memory.1,
                most.0.unwrap_or_default(),
                handles.0,
                handles.1,
                most.1.unwrap_or_default(),
                of(first, |used| used.millis),
                of(last, |used| used.millis),
            );
            if quarter >= ENOUGH && (memory.1 > memory.0 * 5 / 4 + 2048 || handles.1 > handles.0 + 4) {
                self.failures.push(format!("{name} grows: {memory:?} KiB, {handles:?} open files"));
            }
        }
        if let (Some(first), Some(last)) = (self.kept.first(), self.kept.last()) {
            let _ = writeln!(text, "  {first} → {last} files in the cache");
            if *last > first + SPARE_FILES {
                self.failures.push(format!("the cache grows from {first} to {last} files"));
            }
        }
        let _ = writeln!(text, "{} failures", self.failures.len());
        for failure in self.failures.iter().take(20) {
            let _ = writeln!(text, "  {failure}\n");
        }
        stdout().write_all(text.as_bytes()).expect("the report");
        assert!(self.failures.is_empty(), "seed {seed}: {} failures", self.failures.len());
    }
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}
