//! `--confirm`: one question for all contexts, when they were compared.

use std::cell::RefCell;

use reconcile_report::Styled;
use reconcile_report::formats::text;
use reconcile_report::formats::text::matrix::heading;
use reconcile_report::{ClusterInfo, Report, View};
use tokio::sync::{Semaphore, SemaphorePermit, watch};

use crate::engine::interrupt::Interrupt;
use crate::output::Output;
use crate::run::contexts::Member;
use crate::run::question::target_of;
use crate::run::question::yes;

/// The question that all contexts have in common, and its answer.
pub(crate) struct Agreement {
    contexts: RefCell<Vec<AgreementState>>,
    /// The number of contexts that neither compare any more nor wait for a turn.
    settled: watch::Sender<usize>,
    answer: watch::Sender<Option<bool>>,
}

/// A context, while it is its turn.
pub(crate) struct Participant<'a> {
    at: usize,
    agreement: &'a Agreement,
    turns: &'a Semaphore,
    turn: RefCell<Option<SemaphorePermit<'a>>>,
}

impl<'a> Participant<'a> {
    /// Waits for the turn of the context at this position.
    pub async fn new(at: usize, agreement: &'a Agreement, turns: &'a Semaphore) -> Self {
        let turn = RefCell::new(turns.acquire().await.ok());
        Self { at, agreement, turns, turn }
    }

    /// Lets the question go on without this context.
    pub fn asks_nothing(&self) {
        self.agreement.over(self.at);
    }

    /// Waits for the answer to the common question.
    pub async fn confirmed(&self, report: &Report, view: &View, cluster: &ClusterInfo) -> bool {
        // Others may need the turn before everything can be shown.
        self.turn.take();
        let answer = self.agreement.wait(self.at, report, view, cluster).await;
        let next = self.turns.acquire().await.ok();
        self.turn.replace(next);
        answer
    }
}

/// The state of one context.
enum AgreementState {
    /// It is being compared.
    Comparing,
    /// It waits for an answer. `target` is its context and server.
    Waiting { differences: Styled, plan: Styled, target: String },
    /// It is over, or has its answer.
    Over,
}

impl Agreement {
    /// Among this many contexts.
    pub fn among(contexts: usize) -> Self {
        let contexts = RefCell::new((0..contexts).map(|_| AgreementState::Comparing).collect());
        Self { contexts, settled: watch::Sender::new(0), answer: watch::Sender::new(None) }
    }

    /// Waits for the answer.
    async fn wait(&self, at: usize, report: &Report, view: &View, cluster: &ClusterInfo) -> bool {
        let differences = text::differences(report, view);
        let plan = text::plan(report, view);
        self.settle(at, AgreementState::Waiting { differences, plan, target: target_of(report, cluster) });
        let mut answer = self.answer.subscribe();
        let answered = answer.wait_for(Option::is_some).await;
        answered.is_ok_and(|answer| *answer == Some(true))
    }

    /// Ends a context: the question does not wait for it any more.
    pub fn over(&self, at: usize) {
        self.settle(at, AgreementState::Over);
    }

    fn settle(&self, at: usize, state: AgreementState) {
        let mut contexts = self.contexts.borrow_mut();
        let Some(slot) = contexts.get_mut(at) else { return };
        let is_new = matches!(slot, AgreementState::Comparing);
        *slot = state;
        if is_new {
            self.settled.send_modify(|settled| *settled += 1);
        }
    }

    /// Asks when all contexts were compared, if any of them waits: shows what would be done in each, and takes one answer for all.
    pub async fn ask(&self, members: &[Member<'_>], output: &Output, interrupt: &Interrupt, before: impl FnOnce()) {
        let all = self.contexts.borrow().len();
        let mut settled = self.settled.subscribe();
        if settled.wait_for(|settled| *settled == all).await.is_err() {
            return;
        }
        let targets = {
            let contexts = self.contexts.borrow();
            let mut targets = Vec::new();
            let waiting = contexts.iter().zip(members).filter_map(|(state, member)| match state {
                AgreementState::Waiting { differences, plan, target } => Some((member, differences, plan, target)),
                AgreementState::Comparing | AgreementState::Over => None,
            });
            let mut before = Some(before);
            for (Member { context, output: own, .. }, differences, plan, target) in waiting {
                if let Some(before) = before.take() {
                    before();
                }
                if !own.shows_text() {
                    own.terminal.message(differences);
                } else if let Some(context) = context {
                    // The text of one of several contexts is held back. A reader that went away changes nothing about the run.
                    let mut section = heading(&context.name, context.server.as_deref());
                    section.append(own.take_text());
                    section.line_end();
                    let _ = output.text(&section);
                }
                own.terminal.message(plan);
                targets.push(target.clone());
            }
            targets
        };
        if targets.is_empty() {
            return;
        }
        let question = match targets.as_slice() {
            [only] => format!("Apply this to {only}? [y/N] "),
            several => format!("Apply this to {} contexts: {}? [y/N] ", several.len(), several.join(", ")),
        };
        let answer = yes(question, output, interrupt).await;
        self.answer.send_replace(Some(answer));
    }
}
