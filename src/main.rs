//! `kubectl reconcile`: parse, run, exit code.

fn main() {}
