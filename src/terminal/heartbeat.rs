//! The signs that a run goes on: a live line on a terminal, and regular lines in a log.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use reconcile_core::text::visible;

/// Time between two lines.
pub(super) const INTERVAL: Duration = Duration::from_secs(10);

/// Number of times that an unchanged line is left out before the elapsed time is printed.
const SAME: u32 = 2;

/// Regularly writes what the run waits for, until it is dropped: in a log, silence looks like a program that hangs. What was written
/// already is not repeated: now and then, a short line says how long the wait has been.
#[derive(Debug)]
pub(super) struct Heartbeat {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<HeartbeatState>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct HeartbeatState {
    waits_for: Option<String>,
    is_over: bool,
}

impl Heartbeat {
    /// Starts the thread that writes.
    pub fn new(interval: Duration, tell: impl Fn(&str) + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let beating = Arc::clone(&shared);
        // Without a thread, nothing is written.
        let thread = std::thread::Builder::new().spawn(move || beating.beat(interval, tell)).ok();
        Self { shared, thread }
    }

    /// Sets what the run waits for.
    pub fn says(&self, what: Option<String>) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).waits_for = what;
    }
}

impl Shared {
    fn beat(&self, interval: Duration, tell: impl Fn(&str)) {
        let start = Instant::now();
        let mut told = None;
        let mut same = 0_u32;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let waited = self.ended.wait_timeout_while(state, interval, |state| !state.is_over);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.is_over {
                return;
            }
            let Some(what) = state.waits_for.clone() else { continue };
            drop(state);
            if told.as_ref() != Some(&what) {
                tell(&format!("waiting for {what}"));
                told = Some(what);
                same = 0;
            } else if same < SAME {
                same = same.saturating_add(1);
            } else {
                tell(&format!("still waiting, for {} so far", in_words(start.elapsed())));
                same = 0;
            }
            state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A duration as people read it: `1m30s`; less than a second in milliseconds.
pub fn in_words(duration: Duration) -> String {
    match (duration.as_secs() / 60, duration.as_secs() % 60) {
        (0, 0) => format!("{}ms", duration.subsec_millis()),
        (0, seconds) => format!("{seconds}s"),
        (minutes, 0) => format!("{minutes}m"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.shared.ended.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Interval at which the live line is drawn. A step that ends before is never shown.
const TICK: Duration = Duration::from_millis(200);

/// The line at the bottom of a terminal that shows the progress of a run.
#[derive(Clone, Debug)]
pub(super) struct Live(ProgressBar);

impl Live {
    /// A line on standard error, not drawn yet.
    pub fn new() -> Self {
        Self(ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()))
    }

    /// Starts to show progress of this many steps.
    pub fn begin(&self, what: &str, steps: usize) {
        let template = if steps == 0 {
            "{spinner} {prefix} {elapsed}"
        } else {
            "{spinner} {prefix} {pos}/{len} {elapsed} {wide_msg}"
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        // Each of these calls may draw, so the style comes first.
        self.0.set_style(style);
        self.0.set_prefix(what.to_owned());
        self.0.set_message("");
        self.0.set_length(u64::try_from(steps).unwrap_or(u64::MAX));
        self.0.reset();
        self.0.enable_steady_tick(TICK);
    }

    /// Shows the number of finished steps.
    pub fn at(&self, step: usize) {
        self.0.set_position(u64::try_from(step).unwrap_or(u64::MAX));
    }

    /// Shows what the run waits for, as far as it fits.
    pub fn says(&self, what: &str) {
        self.0.set_message(visible(what).into_owned());
    }

    /// Removes the line.
    pub fn end(&self) {
        self.0.disable_steady_tick();
        self.0.finish_and_clear();
    }

    /// Removes the line while something else is written.
    pub fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.0.suspend(write)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_is_waited_for_is_reported_once_and_then_how_long_until_it_is_over() {
        let (sender, reported) = channel();
        let heartbeat = Heartbeat::new(Duration::from_millis(20), move |line| sender.send(line.to_owned()).unwrap());
        assert!(reported.recv_timeout(Duration::from_millis(60)).is_err(), "nothing is known yet");
        let next = || reported.recv_timeout(Duration::from_secs(20)).unwrap();
        for what in
            ["Deployment shop/web: 1 of 2 replicas are updated", "Deployment shop/web: 0 of 2 replicas are ready"]
        {
            heartbeat.says(Some(what.to_owned()));
            // A busy machine may have left time for more lines about what was waited for before.
            let is_still = |line: &String| line.starts_with("still waiting, for ") && line.ends_with(" so far");
            let first = std::iter::repeat_with(next).find(|line| !is_still(line));
            assert_eq!(first, Some(format!("waiting for {what}")));
            let lines = [next(), next()];
            assert!(lines.iter().all(is_still), "{lines:?}");
        }
        heartbeat.says(None);
        assert_eq!(in_words(Duration::from_secs(130)), "2m10s");
        let start = Instant::now();
        drop(heartbeat);
        assert!(start.elapsed() < Duration::from_secs(5), "the end is not waited for");
        assert!(reported.iter().all(|line| line.contains("waiting")), "the thread is gone, and its sender with it");
    }
}
