use std::time::Duration;

/// The pauses between attempts: each is twice as long as the one before, up to a maximum.
pub(crate) struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Backoff {
    /// Starts with the pause `first`.
    pub fn new(first: Duration, longest: Duration) -> Self {
        Self { next: first, longest }
    }

    /// The next pause.
    pub fn pause(&mut self) -> Duration {
        let longer = self.next.saturating_mul(2).min(self.longest);
        std::mem::replace(&mut self.next, longer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(1));
        let pauses: Vec<u128> = (0..5).map(|_| backoff.pause().as_millis()).collect();
        assert_eq!(pauses, [200, 400, 800, 1000, 1000]);
    }
}
