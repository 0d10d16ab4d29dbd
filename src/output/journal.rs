//! `-o jsonl`: the events of a run, a line for each, as they happen.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::{Timestamp, Unit};
use reconcile_report::formats::jsonl::JsonlEvent;
use reconcile_report::{ObjectReport, View};

use crate::engine::event::{Event, Stage};
use crate::output::atomic_file::AtomicFile;
use crate::terminal::Terminal;

/// The destinations of the lines: standard output, and files, which get their names at the end.
pub(crate) struct Lines {
    terminal: Terminal,
    on_stdout: bool,
    files: Mutex<Vec<(String, AtomicFile)>>,
}

impl Lines {
    /// Lines on standard output or not, and in files.
    pub fn new(terminal: &Terminal, on_stdout: bool, files: Vec<(String, AtomicFile)>) -> Self {
        Self { terminal: terminal.clone(), on_stdout, files: Mutex::new(files) }
    }

    /// Writes one line, at once. A reader that went away changes nothing about the run, and a full file is reported at the
    /// end.
    fn write(&self, line: &str) {
        if self.on_stdout {
            let _ = self.terminal.data(line);
        }
        for (_, file) in self.files.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            file.append(line.as_bytes());
        }
    }

    /// Writes the last lines, and gives the files their names. Returns those that could not be written.
    pub fn end(&self, lines: &str) -> Vec<(String, std::io::Error)> {
        let files = std::mem::take(&mut *self.files.lock().unwrap_or_else(PoisonError::into_inner));
        let written = files.into_iter().map(|(name, file)| (name, file.write(lines.as_bytes())));
        let failed = written.filter_map(|(name, written)| written.err().map(|error| (name, error))).collect();
        if self.on_stdout {
            drop(self.terminal.data(lines));
        }
        failed
    }
}

/// Receives the events of a run, in one context or in one of several.
pub(crate) struct Journal {
    /// The destinations; `None` if no lines were asked for.
    pub lines: Option<Arc<Lines>>,
    /// The context, where there are several.
    pub context: Option<String>,
    /// The view of the objects.
    pub view: View,
}

impl Journal {
    /// Writes the line of an event, with the report of its object.
    pub fn receive(&self, event: Event<'_>, object: Option<&ObjectReport>) {
        let Some(lines) = &self.lines else { return };
        let about = |entry| object.map(|object| JsonlEvent::of(object, &self.view, entry));
        let entry = match event {
            Event::Began(stage, objects) => Some(JsonlEvent::Began { stage: name(stage), objects }),
            Event::Ended(stage) => Some(JsonlEvent::Ended { stage: name(stage) }),
            Event::Compared(..) | Event::HandedOver(..) | Event::Judged(..) | Event::WillBeSkipped(..) => {
                about(|object| JsonlEvent::Compared { object })
            }
            Event::Written(..) => about(|object| JsonlEvent::Written { object }),
            Event::Skipped(..) => about(|object| JsonlEvent::Skipped { object }),
            Event::Pruned(..) => about(|object| JsonlEvent::Pruned { object }),
            Event::Revised(..) => about(|object| JsonlEvent::Revised { object }),
            Event::ReadinessChanged(key, readiness) | Event::Ready(key, readiness) => {
                Some(JsonlEvent::Readiness { object: key.into(), readiness })
            }
            Event::TimedOut { unready, after } => {
                Some(JsonlEvent::TimedOut { unready, after_seconds: after.as_secs_f64() })
            }
            // The lines about its objects show how far a stage is.
            Event::Advanced(..) | Event::Deleting(..) => None,
        };
        if let Some(entry) = entry {
            lines.write(&entry.line(&now(), self.context.as_deref()));
        }
    }
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Compare => "compare",
        Stage::Apply => "apply",
        Stage::Wait => "wait",
        Stage::Prune => "prune",
    }
}

/// The time, in milliseconds (RFC 3339).
fn now() -> String {
    let now = Timestamp::now();
    now.round(Unit::Millisecond).unwrap_or(now).to_string()
}
