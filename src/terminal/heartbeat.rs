use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between two lines.
pub(super) const INTERVAL: Duration = Duration::from_secs(10);

/// Regularly writes what the run waits for, until it is dropped: in a log, silence looks like a program that hangs.
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
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let waited = self.ended.wait_timeout_while(state, interval, |state| !state.is_over);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.is_over {
                return;
            }
            if let Some(what) = state.waits_for.clone() {
                drop(state);
                tell(&format!("waiting for {what}"));
                state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            }
        }
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_is_waited_for_is_reported_again_and_again_until_it_is_over() {
        let (sender, reported) = channel();
        let heartbeat = Heartbeat::new(Duration::from_millis(20), move |line| sender.send(line.to_owned()).unwrap());
        assert!(reported.recv_timeout(Duration::from_millis(60)).is_err(), "nothing is known yet");
        heartbeat.says(Some("Deployment shop/web: 1 of 2 replicas are updated".to_owned()));
        for _ in 0..2 {
            let line = reported.recv_timeout(Duration::from_secs(20)).unwrap();
            assert_eq!(line, "waiting for Deployment shop/web: 1 of 2 replicas are updated");
        }
        heartbeat.says(None);
        let start = Instant::now();
        drop(heartbeat);
        assert!(start.elapsed() < Duration::from_secs(5), "the end is not waited for");
        assert!(reported.iter().all(|line| line.starts_with("waiting")), "the thread is gone, and its sender with it");
    }
}
