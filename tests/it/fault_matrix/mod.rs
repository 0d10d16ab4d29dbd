//! Every kind of request under every fault, once and always: the run succeeds, or reports truthfully what it could not do. It
//! never hangs, panics, calls anything in sync that is not, or loses or doubles a write; and the next run finishes the work.

mod catalog;
mod credentials;
mod each_object;
mod each_run;
mod machine;
mod oracle;
mod own;
mod passes;
mod restart;
mod restored;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub use machine::in_shell;

/// Does the work for each of the items, several at once: most of it is waiting.
fn side_by_side<T: Sync>(threads: usize, items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let worker = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(item);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

/// How often everything is done, with more and other numbers of faults each time (`FAULT_ROUNDS`).
fn rounds() -> usize {
    std::env::var("FAULT_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

/// How often a fault happens in this round.
fn times(round: usize) -> [usize; 2] {
    [[1, 99], [2, 3], [4, 5]][round % 3]
}
