//! Waits with a deadline.

use std::thread;
use std::time::{Duration, Instant};

/// Longest time for which a test waits.
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
