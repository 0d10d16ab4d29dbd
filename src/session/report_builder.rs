//! Folds the events of a run into its report.

use std::cell::RefCell;
use std::collections::HashMap;

use structured_merge::ObjectKey;

use crate::engine::event::{Event, EventSink};
use crate::report::{Command, FailOn, ObjectReport, Report};

/// The objects of a run as its events tell of them, in the order in which they were compared.
#[derive(Default)]
pub(crate) struct ReportBuilder {
    objects: RefCell<Objects>,
}

#[derive(Default)]
struct Objects {
    reports: Vec<ObjectReport>,
    places: HashMap<ObjectKey, usize>,
}

impl ReportBuilder {
    /// The report as of now.
    pub fn report(&self, command: Command, gate: &FailOn) -> Report {
        Report::compared(command, self.objects.borrow().reports.clone(), gate)
    }

    /// The report at the end, which takes the objects along.
    pub fn last_report(&self, command: Command, gate: &FailOn) -> Report {
        Report::compared(command, self.objects.take().reports, gate)
    }
}

impl EventSink for ReportBuilder {
    fn receive(&self, event: Event<'_>) {
        let mut objects = self.objects.borrow_mut();
        match event {
            Event::Compared(object)
            | Event::Written(object)
            | Event::Skipped(object)
            | Event::Pruned(object)
            | Event::Revised(object) => objects.put(object),
            Event::Ready(key, readiness) => {
                if let Some(report) = objects.get(key) {
                    report.readiness = Some(readiness.clone());
                }
            }
            Event::Began(..)
            | Event::Advanced(..)
            | Event::Ended(_)
            | Event::ReadinessChanged(..)
            | Event::TimedOut { .. } => {}
        }
    }
}

impl Objects {
    fn get(&mut self, key: &ObjectKey) -> Option<&mut ObjectReport> {
        self.places.get(key).and_then(|place| self.reports.get_mut(*place))
    }

    fn put(&mut self, object: &ObjectReport) {
        if let Some(report) = self.get(&object.key) {
            *report = object.clone();
        } else {
            self.places.insert(object.key.clone(), self.reports.len());
            self.reports.push(object.clone());
        }
    }
}
