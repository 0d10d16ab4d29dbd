//! Shows a run while it goes on: outcomes on stdout in the order of the plan, changes on stderr as they happen, and a live line.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use reconcile_report::ObjectReport;
use reconcile_report::formats::text::{outcomes, readiness};
use reconcile_report::{Role, Styled};
use structured_merge::ObjectKey;

use crate::engine::event::{Event, Stage};
use crate::engine::wait::{ObjectReadiness, ReadinessState};
use crate::output::{Output, now};
use crate::terminal::{Progress, in_words};

/// Most members that a line names while they are being deleted.
const NAMED: usize = 3;

/// Shows the events of a run.
pub(crate) struct Screen<'a> {
    output: &'a Output,
    /// True if changes of readiness are shown; false if readiness is checked only once.
    follows: bool,
    running: RefCell<Option<Running>>,
    outcomes: RefCell<Outcomes>,
    readiness: RefCell<ReadinessSeen>,
}

/// The stage on the live line.
struct Running {
    stage: Stage,
    progress: Progress,
    done: usize,
}

/// The lines about objects, held back until all earlier objects of the plan are done. Objects are the places of their reports.
#[derive(Default)]
struct Outcomes {
    planned: BTreeSet<usize>,
    open: VecDeque<usize>,
    done: HashMap<usize, Styled>,
}

/// The readiness of the objects that are waited for.
#[derive(Default)]
struct ReadinessSeen {
    ready: BTreeSet<ObjectKey>,
    /// The objects that are not ready, each with the reason.
    unready: BTreeMap<ObjectKey, String>,
    shown: BTreeMap<ObjectKey, ReadinessState>,
}

impl<'a> Screen<'a> {
    /// A screen before the first event. `follows` says whether changes of readiness are shown.
    pub fn new(output: &'a Output, follows: bool) -> Self {
        Self {
            output,
            follows,
            running: RefCell::default(),
            outcomes: RefCell::default(),
            readiness: RefCell::default(),
        }
    }

    /// Shows an event, with the place and the report of its object.
    pub fn receive(&self, event: Event<'_>, object: Option<(usize, &ObjectReport)>) {
        match event {
            Event::Began(stage, objects) => self.begin(stage, objects),
            Event::Advanced(stage, objects) => self.advance(stage, |_| objects),
            Event::Ended(stage) => self.end(stage),
            Event::Compared(..) | Event::HandedOver(_, _, Ok(_)) => {
                if let Some((place, _)) = object {
                    self.outcomes.borrow_mut().plan(place);
                }
            }
            Event::Written(..) | Event::Skipped(..) | Event::Pruned(..) => {
                if let Some((place, object)) = object {
                    self.done(place, object);
                }
            }
            // Only the report at the end shows it, and the lines of others do not wait for it.
            Event::Revised(..) => {
                if let Some((place, _)) = object {
                    let lines = self.outcomes.borrow_mut().leave_out(place);
                    self.show(&lines);
                }
            }
            Event::ReadinessChanged(key, readiness) => self.readiness_changed(key, readiness),
            Event::Deleting(members) => self.deleting(members),
            Event::TimedOut { unready, after } => self.timed_out(unready, after),
            // Only the report at the end shows these. An object that cannot be handed over has no turn, so that the lines of others do not
            // wait for it.
            Event::HandedOver(_, _, Err(_)) | Event::Judged(..) | Event::WillBeSkipped(..) | Event::Ready(..) => {}
        }
    }

    fn begin(&self, stage: Stage, objects: usize) {
        let what = match stage {
            Stage::Compare => "compared",
            Stage::Apply => "applied",
            Stage::Wait => "ready",
            Stage::Prune => "deleted",
        };
        // The line of the former stage ends before that of the next one begins.
        drop(self.running.take());
        let mut progress = self.output.terminal.progress(what, objects);
        if stage == Stage::Prune || stage == Stage::Wait && self.follows {
            progress = progress.with_heartbeat(&self.output.terminal);
        }
        self.running.replace(Some(Running { stage, progress, done: 0 }));
    }

    fn end(&self, stage: Stage) {
        let mut running = self.running.borrow_mut();
        if running.as_ref().is_some_and(|running| running.stage == stage) {
            *running = None;
        }
    }

    fn advance(&self, stage: Stage, to: impl FnOnce(usize) -> usize) {
        if let Some(running) = self.running.borrow_mut().as_mut().filter(|running| running.stage == stage) {
            running.done = to(running.done);
            running.progress.at(running.done);
        }
    }

    /// Returns true if stdout shows the outcome of each object, or a live line counts it: then stderr does not repeat it.
    fn shows_outcomes(&self) -> bool {
        self.output.terminal.is_live() || self.output.shows_text() && !self.output.view.summary
    }

    /// Shows that the turn of one object is over.
    fn done(&self, place: usize, object: &ObjectReport) {
        self.advance(Stage::Apply, |done| done + 1);
        self.advance(Stage::Prune, |done| done + 1);
        if !self.shows_outcomes()
            && let Some(text) = outcomes::progress(object, &now())
        {
            self.output.progress(&text);
        }
        let lines = self.outcomes.borrow_mut().next(place, object);
        self.show(&lines);
    }

    fn show(&self, lines: &[Styled]) {
        if self.output.view.summary {
            return;
        }
        // A reader that went away changes nothing about the run.
        for line in lines {
            drop(self.output.text(line));
        }
    }

    fn readiness_changed(&self, key: &ObjectKey, readiness: &ObjectReadiness) {
        let (ready, is_shown) = self.readiness.borrow_mut().change(key, readiness);
        self.advance(Stage::Wait, |_| ready);
        let slow = self.readiness.borrow().slow();
        if let Some(running) = self.running.borrow().as_ref().filter(|running| running.stage == Stage::Wait) {
            running.progress.slow(slow);
        }
        if is_shown
            && self.follows
            && let Some(text) = readiness::change(&key.to_string(), readiness, &now(), !self.output.shows_text())
        {
            self.output.progress(&text);
        }
    }

    fn deleting(&self, members: &[ObjectKey]) {
        if let Some(running) = self.running.borrow().as_ref().filter(|running| running.stage == Stage::Prune) {
            let names: Vec<String> = members.iter().take(NAMED).map(ToString::to_string).collect();
            let more = match members.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let slow = format!("the deletion of {}{more}", names.join(", "));
            running.progress.slow(Some(slow).filter(|_| !members.is_empty()));
        }
    }

    fn timed_out(&self, unready: usize, after: Duration) {
        let noun = if unready == 1 { "object is" } else { "objects are" };
        let line = format!("error: {unready} {noun} not ready after {}", in_words(after));
        let mut text = Styled::new().with(Role::Error, line);
        text.line_end();
        text.push(Role::Hint, "hint: wait longer with `--timeout`");
        text.line_end();
        self.output.progress(&text);
    }
}

impl Outcomes {
    /// Adds an object to the plan. Members of an apply set are not part of it: they are deleted after all other objects.
    fn plan(&mut self, place: usize) {
        if self.planned.insert(place) {
            self.open.push_back(place);
        }
    }

    /// The lines that can be shown now that this object is done.
    fn next(&mut self, place: usize, object: &ObjectReport) -> Vec<Styled> {
        if !self.planned.contains(&place) {
            return vec![outcomes::outcome(object)];
        }
        self.done.insert(place, outcomes::outcome(object));
        self.ready()
    }

    /// The lines that can be shown now that this object gets none: its result was clear before its turn.
    fn leave_out(&mut self, place: usize) -> Vec<Styled> {
        self.open.retain(|open| *open != place);
        self.ready()
    }

    /// The lines of objects that are done, up to the first that is not.
    fn ready(&mut self) -> Vec<Styled> {
        let mut lines = Vec::new();
        while let Some(line) = self.open.front().and_then(|place| self.done.remove(place)) {
            lines.push(line);
            self.open.pop_front();
        }
        lines
    }
}

impl ReadinessSeen {
    /// `Deployment shop/web: 1 of 2 replicas are updated, and 3 more objects`; nothing once all are ready.
    fn slow(&self) -> Option<String> {
        let (key, message) = self.unready.first_key_value()?;
        let more = match self.unready.len().saturating_sub(1) {
            0 => String::new(),
            1 => ", and 1 more object".to_owned(),
            more => format!(", and {more} more objects"),
        };
        Some(format!("{key}: {message}{more}"))
    }

    /// Records a change. Returns the number of ready objects, and true if the change is to be shown.
    fn change(&mut self, key: &ObjectKey, readiness: &ObjectReadiness) -> (usize, bool) {
        if readiness.is_current() {
            self.unready.remove(key);
            self.ready.insert(key.clone());
        } else {
            self.ready.remove(key);
            self.unready.insert(key.clone(), readiness.message.clone());
        }
        let last = self.shown.get(key).copied();
        // An object that is ready from the start is not shown, nor is one that fails again after another attempt.
        let is_shown = match readiness.state {
            ReadinessState::Current => last.is_some_and(|last| last != ReadinessState::Current),
            ReadinessState::Failed => last != Some(ReadinessState::Failed),
            _ => false,
        };
        if is_shown || last.is_none() {
            self.shown.insert(key.clone(), readiness.state);
        }
        (self.ready.len(), is_shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reconcile_core::compare::{Evidence, ObjectDiff};
    use reconcile_core::pass::Outcome;
    use reconcile_report::plain;
    use structured_merge::GroupVersionKind;

    fn key(name: &str) -> ObjectKey {
        let gvk = GroupVersionKind::new("v1", "ConfigMap");
        ObjectKey { gvk, namespace: Some("shop".to_owned()), name: name.to_owned() }
    }

    #[test]
    fn outcomes_come_in_the_order_of_the_plan() {
        let mut outcomes = Outcomes::default();
        for place in 0..3 {
            outcomes.plan(place);
        }
        // A second comparison does not change the order.
        outcomes.plan(0);
        let mut next = |place: usize, name: &str| -> Vec<String> {
            let mut object = ObjectReport::unwanted(&key(name), ObjectDiff::in_sync(Evidence::Proven));
            object.run.outcome = Some(Outcome::Created);
            let lines = outcomes.next(place, &object);
            lines.iter().map(|line| plain(line).trim_end().to_owned()).collect()
        };
        assert_eq!(next(2, "c"), [""; 0]);
        assert_eq!(next(3, "member"), ["created ConfigMap shop/member"]);
        assert_eq!(next(0, "a"), ["created ConfigMap shop/a"]);
        assert_eq!(next(1, "b"), ["created ConfigMap shop/b", "created ConfigMap shop/c"]);
    }

    #[test]
    fn nothing_waits_for_an_object_without_a_turn() {
        let mut outcomes = Outcomes::default();
        (0..3).for_each(|place| outcomes.plan(place));
        let object = ObjectReport::unwanted(&key("b"), ObjectDiff::in_sync(Evidence::Proven));
        assert!(outcomes.next(1, &object).is_empty());
        assert_eq!(outcomes.leave_out(0).len(), 1);
        assert_eq!(outcomes.next(2, &object).len(), 1);
    }
}
