//! Whole runs of the program side by side with kubectl and with the floor, as one table: `cargo bench --bench side_by_side`.
//!
//! The floor is a client that sends nothing but the requests that have to be sent, and parses the answers: the LISTs in parallel,
//! and a loop of the writes or dry runs. Words choose rows, as in `cargo bench --bench side_by_side -- 1000 loopback in-sync`; see
//! [`Selection`]. `BENCH_ROUNDS` bounds how often a command runs; the median counts. `BENCH_BASELINE` names another build of our program to run as well. The programs run in turns, and our program is
//! built as it is shipped (profile `bench`, which is `dist`). The figures are those of one machine; what holds elsewhere are the
//! ratios, the requests and the bytes.

mod bare;
mod contest;
mod meter;
mod objects;
mod scenarios;
mod selection;
mod spread;
mod table;

use selection::Selection;

/// What the table calls our program.
const OURS: &str = "reconcile";

fn main() {
    meter::serve();
    bare::serve();
    let selection = Selection::of(std::env::args().skip(1));
    table::begin();
    for objects in selection::SIZES {
        if selection.wants_size(objects) {
            scenarios::run(objects, &selection);
        }
    }
    spread::run(&selection);
}
