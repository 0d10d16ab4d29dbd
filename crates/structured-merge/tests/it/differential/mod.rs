//! Every apply has the result of structured-merge-diff: the merged object, the owners afterwards, the conflicts, and
//! the proof. Objects live a random life: several managers apply and update them, and each apply is predicted first.
//! `DIFFERENTIAL_CASES=200000 cargo test -p structured-merge --test it` runs longer than an ordinary run, and
//! `DIFFERENTIAL_SEED` gives it other cases.
//!
//! The reference is the field manager of `k8s.io/apimachinery`, without a server. New objects of built-in kinds are
//! those of their Go types; all other values stay as they are sent. So these are not covered: conversion between
//! versions, defaults, and the normalisation of built-in kinds by their Go types (an empty value, a null or another
//! spelling of a quantity, a time or base64 text is never stored as it was sent). The tests with a real server cover
//! them.

mod case;
mod fields;
mod kinds;
mod life;
mod reference;
mod shrink;
mod tally;
mod values;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use test_control_plane::Rng;

use kinds::Kind;
use life::Life;
pub use reference::Reference;
use tally::Tally;

/// Applies that share a kind and an object.
const ROUND: usize = 50;

#[test]
fn every_apply_ends_as_in_structured_merge_diff() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let cases: usize = number("DIFFERENTIAL_CASES").unwrap_or(5000);
    let seed = number("DIFFERENTIAL_SEED").unwrap_or(1);
    let program = test_control_plane::structured_merge();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut reference = Reference::start(&program);
        let mut tally = Tally::default();
        loop {
            let round = next.fetch_add(1, Ordering::Relaxed);
            if round * ROUND >= cases {
                return tally;
            }
            let mut rng = Rng::new((seed * 1_000_003 + round) as u64);
            let kind = Kind::any(&mut rng);
            reference.use_types(&kind);
            Life::new(&kind, &mut rng, &mut reference, &mut tally).applies(ROUND);
        }
    };
    let tally = thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        let tallies = workers.into_iter().map(thread::ScopedJoinHandle::join);
        tallies.fold(Tally::default(), |sum, one| match one {
            Ok(one) => sum.plus(one),
            Err(cause) => std::panic::resume_unwind(cause),
        })
    });
    tally.check(cases);
}
