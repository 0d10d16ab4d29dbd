//! Ctrl-C: once finishes the writes under way and reports, twice stops at once, but for an object that is being replaced: it would
//! be lost.

use reconcile_report::{EXIT_INTERRUPTED, Role};
use structured_merge::ObjectKey;

use crate::engine::interrupt::Interrupt;
use crate::engine::write::GRACE;
use crate::output::external_diff;
use crate::terminal::Terminal;
use crate::terminal::signals::{Signal, Signals};

/// Listens from now on, also for the signals with which pipelines end a job and a closed terminal ends its processes.
pub(crate) fn listen(terminal: &Terminal) -> Interrupt {
    let interrupt = Interrupt::default();
    let to_set = interrupt.clone();
    let terminal = terminal.clone();
    let Ok(mut signals) = Signals::new() else { return interrupt };
    tokio::spawn(async move {
        while let Some(signal) = signals.next().await {
            // The kernel and the shell each send one when a terminal is closed.
            if signal == Signal::HangUp && to_set.is_set() {
                continue;
            }
            let is_repeated = to_set.set();
            let end = || {
                if is_repeated {
                    external_diff::stop();
                    std::process::exit(i32::from(EXIT_INTERRUPTED));
                }
            };
            let objects = to_set.replacements().end_if_none(end);
            if !objects.is_empty() {
                terminal.note(Role::Error, &waiting_for(&objects, is_repeated));
            }
        }
    });
    interrupt
}

fn waiting_for(objects: &[ObjectKey], is_repeated: bool) -> String {
    let names: Vec<String> = objects.iter().map(ToString::to_string).collect();
    let (verb, it) = if objects.len() == 1 { ("is", "it") } else { ("are", "they") };
    let names = names.join(", ");
    let sentence = format!("waiting for {names}: {it} {verb} being replaced, and would be lost if the run stopped now");
    if is_repeated {
        return sentence;
    }
    format!("{sentence}; finalizers get {} seconds more, or none after another Ctrl-C", GRACE.as_secs())
}
