#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::collections::BTreeSet;
use std::ops::Range;

use super::dependency::Dependency;

/// Hands out the objects of one stretch of a plan, each once what it needs of that stretch is done.
#[derive(Clone, Debug)]
pub struct ReadySet {
    start: usize,
    /// How many needs are open, by place behind the start.
    open: Vec<usize>,
    dependents: Vec<Vec<usize>>,
    ready: BTreeSet<usize>,
}

impl ReadySet {
    /// The objects at these places of the plan, with what each of them needs; what comes before them counts as done.
    #[must_use]
    pub fn of<'n>(needs: impl Fn(usize) -> &'n [Dependency], stretch: Range<usize>) -> Self {
        let start = stretch.start;
        let mut dependents = vec![Vec::new(); stretch.len()];
        let mut open = vec![0; stretch.len()];
        let mut ready = BTreeSet::new();
        for index in stretch {
            for need in needs(index).iter().filter(|need| need.on >= start) {
                dependents[need.on - start].push(index);
                open[index - start] += 1;
            }
            if open[index - start] == 0 {
                ready.insert(index);
            }
        }
        Self { start, open, dependents, ready }
    }

    /// The next object whose turn it is, in the order of the plan.
    pub fn take(&mut self) -> Option<usize> {
        self.ready.pop_first()
    }

    /// One object is done with, however that went.
    pub fn done(&mut self, index: usize) {
        for dependent in &self.dependents[index - self.start] {
            let open = &mut self.open[dependent - self.start];
            *open -= 1;
            if *open == 0 {
                self.ready.insert(*dependent);
            }
        }
    }
}
