//! Compares whole runs of the program with kubectl and with the floor, in one table: `cargo bench --bench side_by_side`.
//!
//! The floor is a client that sends only the requests that cannot be avoided, and parses the answers: the LISTs in parallel,
//! and a loop of the writes or dry runs. Words choose rows, as in `cargo bench --bench side_by_side -- 1000 loopback in-sync`; see
//! [`Selection`]. `BENCH_ROUNDS` is the maximum number of runs of a command; the median counts. `BENCH_BASELINE` names another
//! build of our program to run as well. The programs run in turn, and our program is built as it is released (profile `bench`,
//! which is `dist`). Times are those of one machine; the ratios, requests and bytes are comparable on others.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::string_slice,
    reason = "a bench ends by a panic"
)]

mod bare;
mod busy;
mod contest;
mod costs;
mod large;
mod meter;
mod objects;
mod scenarios;
mod selection;
mod spread;
mod table;

use selection::Selection;

/// Name of our program in the table.
const OURS: &str = "reconcile";

fn main() {
    meter::serve();
    bare::serve();
    let selection = Selection::of(std::env::args().skip(1));
    if selection.wants_costs() {
        costs::run(&selection);
        return;
    }
    table::begin();
    for objects in selection::SIZES {
        if selection.wants_size(objects) {
            scenarios::run(objects, &selection);
        }
    }
    spread::run(&selection);
    busy::run(&selection);
    large::run(&selection);
}
