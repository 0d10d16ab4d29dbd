//! Where a command runs: in the only context, or in one of several at the same time.

use std::cell::RefCell;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::cli::ConnectionArgs;
use crate::engine::interrupt::Interrupt;
use crate::report::{ClusterInfo, Report};
use crate::session::agreement::Agreement;
use crate::session::confirm::confirmed;
use crate::session::output::Output;

/// The connection of a run, and where its words go.
pub(crate) struct Site<'a> {
    /// How to connect.
    pub connection: &'a ConnectionArgs,
    /// Where reports and text go.
    pub output: &'a Output,
    /// The wish to stop.
    pub interrupt: Interrupt,
    among: Option<Among<'a>>,
}

/// The place of a run among several.
struct Among<'a> {
    at: usize,
    agreement: &'a Agreement,
    turns: &'a Semaphore,
    turn: RefCell<Option<SemaphorePermit<'a>>>,
}

impl<'a> Site<'a> {
    /// The only run.
    pub fn only(connection: &'a ConnectionArgs, output: &'a Output, interrupt: Interrupt) -> Self {
        Self { connection, output, interrupt, among: None }
    }

    /// The run at this place among several, once it is its turn.
    pub async fn among(
        (connection, output, interrupt): (&'a ConnectionArgs, &'a Output, Interrupt),
        at: usize,
        agreement: &'a Agreement,
        turns: &'a Semaphore,
    ) -> Self {
        let turn = RefCell::new(turns.acquire().await.ok());
        Self { connection, output, interrupt, among: Some(Among { at, agreement, turns, turn }) }
    }

    /// There is nothing to ask about here: the question does not wait for this context.
    pub fn asks_nothing(&self) {
        if let Some(Among { at, agreement, .. }) = &self.among {
            agreement.over(*at);
        }
    }

    /// Asks whether to do what would be done here. With several contexts, it is asked once, when all of them were compared.
    pub async fn confirmed(&self, report: &Report, cluster: &ClusterInfo) -> bool {
        let Some(Among { at, agreement, turns, turn }) = &self.among else {
            return confirmed(report, cluster, self.output, &self.interrupt).await;
        };
        // Others may need the turn before everything can be shown.
        turn.take();
        let answer = agreement.wait(*at, (report, &self.output.view), cluster).await;
        let next = turns.acquire().await.ok();
        turn.replace(next);
        answer
    }
}
