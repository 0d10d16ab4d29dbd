//! Waiting for readiness: after the pass of `apply --wait`, and for `status`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::client::Cluster;
use crate::engine::interrupt::Interrupt;
use crate::engine::progress::now;
use crate::engine::wait::{Readiness, State, WaitEnd, WaitOptions, Watched, observe};
use crate::live::Target;
use crate::object::ObjectKey;
use crate::report::styled::{Role, Styled};
use crate::report::{ObjectReport, Outcome, readiness};
use crate::session::output::Output;

/// How long is waited, and who hears of it.
pub(crate) struct Waiting<'a> {
    /// The connection.
    pub cluster: &'a Cluster,
    /// At most this long; zero for one look.
    pub timeout: Duration,
    /// Ctrl-C ends the waiting.
    pub interrupt: &'a Interrupt,
    /// Where news go.
    pub output: &'a Output,
}

impl Waiting<'_> {
    /// Waits for what the pass left in the cluster as the manifests say, changed or not, and records its readiness. What could
    /// not be written isn't waited for: it isn't what was asked for.
    pub async fn after(&self, targets: impl Iterator<Item = &Target>, objects: &mut [ObjectReport]) {
        if self.interrupt.is_set() {
            return;
        }
        let exists = |object: &ObjectReport| {
            use Outcome::{Adopted, Conflict, Created, Replaced, Unchanged, Updated};
            matches!(object.outcome, Some(Created | Updated | Adopted | Replaced | Unchanged | Conflict))
        };
        let (watched, concerned): (Vec<Watched>, Vec<&mut ObjectReport>) = targets
            .zip(objects)
            .filter(|(_, object)| exists(object))
            .map(|(of, object)| (Watched::existing(of), object))
            .unzip();
        for (object, readiness) in concerned.into_iter().zip(self.observe(&watched).await) {
            object.readiness = Some(readiness);
        }
    }

    /// Waits, and tells on stderr who gets ready or fails meanwhile.
    pub async fn observe(&self, watched: &[Watched]) -> Vec<Readiness> {
        let progress = self.output.terminal.progress("ready", watched.len());
        let mut ready: BTreeSet<ObjectKey> = BTreeSet::new();
        let mut told: BTreeMap<ObjectKey, State> = BTreeMap::new();
        let stopped = || self.interrupt.is_set();
        let until = WaitOptions { timeout: self.timeout, stopped: &stopped };
        let observation = observe(self.cluster, watched, &until, |one, readiness| {
            if readiness.is_current() {
                ready.insert(one.key.clone())
            } else {
                ready.remove(&one.key)
            };
            progress.at(ready.len());
            let last = told.get(&one.key).copied();
            // What is ready from the start isn't news, nor is what fails again after another attempt.
            let is_news = match readiness.state {
                State::Current => last.is_some_and(|last| last != State::Current),
                State::Failed => last != Some(State::Failed),
                _ => false,
            };
            if is_news || last.is_none() {
                told.insert(one.key.clone(), readiness.state);
            }
            if is_news && !self.timeout.is_zero() {
                self.tell(&one.key, readiness);
            }
        });
        let observation = observation.await;
        drop(progress);
        if observation.ending == WaitEnd::TimedOut {
            let unready = observation.readiness.iter().filter(|readiness| !readiness.is_current()).count();
            let noun = if unready == 1 { "object is" } else { "objects are" };
            let line = format!("error: {unready} {noun} not ready after {}", in_words(self.timeout));
            let mut text = Styled::new().with(Role::Problem, line);
            text.line_end();
            text.push(Role::Hint, "hint: a longer wait is `--timeout`");
            text.line_end();
            self.output.news(&text);
        }
        observation.readiness
    }

    fn tell(&self, key: &ObjectKey, readiness: &Readiness) {
        if let Some(text) = readiness::news(&key.to_string(), readiness, &now()) {
            self.output.news(&text);
        }
    }
}

/// `1m30s`
fn in_words(duration: Duration) -> String {
    let (seconds, millis) = (duration.as_secs(), duration.subsec_millis());
    let (minutes, rest) = (seconds / 60, seconds % 60);
    match (minutes, rest, millis) {
        (0, 0, _) => format!("{millis}ms"),
        (0, _, _) => format!("{rest}s"),
        (_, 0, _) => format!("{minutes}m"),
        _ => format!("{minutes}m{rest}s"),
    }
}
