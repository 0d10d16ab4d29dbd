//! What a run found.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Write as _, stdout};

use structured_merge::Unproven;

/// Counts, and every failure.
#[derive(Default)]
pub struct Tally {
    pub mutations: usize,
    pub cases: usize,
    /// Definite differences that the server sees, too.
    pub rightly_different: usize,
    noops: usize,
    noops_proven: usize,
    untouched: usize,
    untouched_proven: usize,
    wrongly_different: usize,
    counts: BTreeMap<String, usize>,
    failures: BTreeMap<&'static str, Vec<String>>,
    /// Worth a look, and no failure.
    examples: BTreeMap<&'static str, Vec<String>>,
}

impl Tally {
    pub fn proven(&mut self, how: &str) {
        self.noops += 1;
        self.noops_proven += 1;
        self.untouched += usize::from(how == "untouched");
        self.untouched_proven += usize::from(how == "untouched");
    }

    /// Nothing would change, and that was not proven.
    pub fn asked_in_vain(&mut self, kind: &str, unproven: &Unproven, how: &str) {
        self.noops += 1;
        self.wrongly_different += usize::from(matches!(unproven, Unproven::Differs(_)));
        if how == "untouched" {
            self.untouched += 1;
            self.count("untouched and asked", &format!("{kind}: {unproven}"));
        } else {
            let name = format!("{unproven:?}");
            let name = name.split('(').next().unwrap_or_default();
            self.count("asked in vain", name);
            if matches!(unproven, Unproven::Differs(_)) {
                self.count("wrongly different", &format!("{kind}: {unproven} after {how}"));
            }
        }
    }

    pub fn count(&mut self, what: &str, which: &str) {
        *self.counts.entry(format!("{what}: {which}")).or_default() += 1;
    }

    pub fn fail(&mut self, what: &'static str, text: String) {
        self.failures.entry(what).or_default().push(text);
    }

    pub fn example(&mut self, what: &'static str, text: String) {
        self.examples.entry(what).or_default().push(text);
    }

    pub fn plus(mut self, other: Tally) -> Tally {
        self.mutations += other.mutations;
        self.cases += other.cases;
        self.rightly_different += other.rightly_different;
        self.noops += other.noops;
        self.noops_proven += other.noops_proven;
        self.untouched += other.untouched;
        self.untouched_proven += other.untouched_proven;
        self.wrongly_different += other.wrongly_different;
        for (what, count) in other.counts {
            *self.counts.entry(what).or_default() += count;
        }
        for (what, mut failures) in other.failures {
            self.failures.entry(what).or_default().append(&mut failures);
        }
        for (what, mut examples) in other.examples {
            self.examples.entry(what).or_default().append(&mut examples);
        }
        self
    }

    /// Prints the counts, and fails where the bounds are broken.
    pub fn report(&self, seed: usize) {
        let different = self.wrongly_different + self.rightly_different;
        let mut text = format!(
            "seed {seed}: {} mutations, {} cases; {} of {} true no-ops proven, {} of {} untouched; {} of {different} differences are none\n",
            self.mutations,
            self.cases,
            self.noops_proven,
            self.noops,
            self.untouched_proven,
            self.untouched,
            self.wrongly_different,
        );
        for (what, count) in &self.counts {
            let _ = writeln!(text, "  {count:6} {what}");
        }
        for (what, failures) in self.failures.iter().chain(&self.examples) {
            let _ = writeln!(text, "{} × {what}", failures.len());
            for failure in failures.iter().take(12) {
                let _ = writeln!(text, "  {failure}");
            }
        }
        stdout().write_all(text.as_bytes()).expect("the report");
        assert!(self.failures.is_empty(), "seed {seed}: {:?}", self.failures.keys());
        assert!(self.untouched_proven * 100 >= self.untouched * 95, "too few of the untouched objects are proven");
        assert!(self.wrongly_different * 100 <= different.max(100), "too many differences are none");
    }
}
