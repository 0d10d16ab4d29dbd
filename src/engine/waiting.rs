//! Waiting for readiness: after the pass of `apply --wait`, and for `status`.

use std::time::Duration;

use crate::client::Cluster;
use crate::engine::event::{Event, EventSink, Stage};
use crate::engine::interrupt::Interrupt;
use crate::engine::wait::{ObjectReadiness, WaitEnd, WaitOptions, Watched, observe};

/// The options of a wait for readiness.
pub(crate) struct Waiting<'a> {
    /// The connection.
    pub cluster: &'a Cluster,
    /// The longest wait; zero for one look.
    pub timeout: Duration,
    /// Ctrl-C ends the waiting.
    pub interrupt: &'a Interrupt,
    /// Receives each object's readiness.
    pub events: &'a dyn EventSink,
}

impl Waiting<'_> {
    /// Waits for these objects, unless the run was interrupted already.
    pub async fn after_pass(&self, watched: &[Watched]) {
        if !self.interrupt.is_set() {
            self.observe(watched).await;
        }
    }

    /// Waits for these objects, and returns their readiness in the same order.
    pub async fn observe(&self, watched: &[Watched]) -> Vec<ObjectReadiness> {
        let events = self.events;
        events.receive(Event::Began(Stage::Wait, watched.len()));
        let stopped = || self.interrupt.is_set();
        let until = WaitOptions { timeout: self.timeout, stopped: &stopped };
        let changed =
            |one: &Watched, readiness: &ObjectReadiness| events.receive(Event::ReadinessChanged(&one.key, readiness));
        let observation = observe(self.cluster, watched, &until, changed).await;
        events.receive(Event::Ended(Stage::Wait));
        if observation.ending == WaitEnd::TimedOut {
            let unready = observation.readiness.iter().filter(|readiness| !readiness.is_current()).count();
            events.receive(Event::TimedOut { unready, after: self.timeout });
        }
        for (one, readiness) in watched.iter().zip(&observation.readiness) {
            events.receive(Event::Ready(&one.key, readiness));
        }
        observation.readiness
    }
}
