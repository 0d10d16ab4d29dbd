//! Waiting for what happens a moment later, and never for ever.

use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take that a test waits for.
const DEADLINE: Duration = Duration::from_mins(1);

/// Waits until a condition holds, and panics if it does not within a minute. `what` completes "gave up waiting until …".
#[track_caller]
pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !condition() {
        assert!(Instant::now() < deadline, "gave up waiting until {what}");
        thread::sleep(Duration::from_millis(50));
    }
}
