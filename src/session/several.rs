//! Runs a command in the contexts that are meant. In several of them at once: one reading of the input, one connection and one report for each, and everything
//! shown in the order of the contexts.
//!
//! Nothing but the manifests is shared: each context has its own kubeconfig entries, credentials, requests and comparison. One that
//! fails does not hold up the others.

use std::cell::{Cell, RefCell};

use futures::StreamExt as _;
use futures::stream::FuturesOrdered;
use tokio::sync::Semaphore;

use crate::cli::ConnectionArgs;
use crate::client::Context;
use crate::diagnostic::{Code, Diagnostic};
use crate::report::formats::text::matrix;
use crate::report::{ContextReport, Report, Reports, Verdict};
use crate::report::{Role, Styled};
use crate::session::agreement::Agreement;
use crate::session::contexts::{Choice, chosen, same_places};
use crate::session::failure::Failure;
use crate::session::output::{Output, tell};
use crate::session::reading::{Manifests, Reading};
use crate::session::signals::listen;
use crate::session::site::Site;
use crate::session::task::{Show, Task};

/// How many contexts are worked on at once.
const AT_ONCE: usize = 8;

impl Task<'_> {
    /// Does the `work` in each context that is meant, shows it, and writes the reports. Returns the exit code. A reader that went
    /// away ends the run quietly, with the verdict that was found.
    pub async fn run(&self, work: impl AsyncFn(Site<'_>, Manifests) -> Result<Report, Failure>, show: Show<'_>) -> u8 {
        match chosen(self.connection) {
            Ok(Choice::Several(contexts)) => Box::pin(self.in_several(&contexts, work, show)).await,
            Ok(Choice::One(connection)) => self.ended(Box::pin(self.once(&connection, work)).await, show),
            Err(failure) => self.output.failed(self.command, failure),
        }
    }

    /// Does the `work` in each context, shows it, and reports everything together. Returns the exit code.
    async fn in_several(
        &self,
        contexts: &[Context],
        work: impl AsyncFn(Site<'_>, Manifests) -> Result<Report, Failure>,
        show: Show<'_>,
    ) -> u8 {
        match self.reports(contexts, work, show).await {
            Ok(reports) => {
                drop(self.output.text(&matrix::together(&reports, &self.output.view)));
                self.output.finish_all(&reports)
            }
            Err(failure) => self.output.failed(self.command, failure),
        }
    }

    async fn reports(
        &self,
        contexts: &[Context],
        work: impl AsyncFn(Site<'_>, Manifests) -> Result<Report, Failure>,
        show: Show<'_>,
    ) -> Result<Reports, Failure> {
        let Self { command, connection, input, output, settings } = self;
        let reading = Reading::begin(input, &output.terminal).await?;
        let interrupt = listen(&output.terminal);
        let desired = reading.desired().await?;
        let mut warnings = settings.warnings().to_vec();
        warnings.extend(same_places(contexts, connection.namespace.as_deref()));
        for warning in &warnings {
            output.terminal.note(Role::Note, &format!("warning: {warning}"));
        }

        let connections: Vec<ConnectionArgs> = contexts
            .iter()
            .map(|context| ConnectionArgs { context: Some(context.name.clone()), ..ConnectionArgs::clone(connection) })
            .collect();
        let outputs: Vec<(&Context, Output)> =
            contexts.iter().map(|context| (context, output.of_context(&context.name))).collect();
        let (agreement, turns) = (Agreement::among(contexts.len()), Semaphore::new(AT_ONCE));
        let progress = RefCell::new(Some(output.terminal.progress("contexts", contexts.len())));
        let done = Cell::new(0_usize);

        let runs = connections.iter().zip(&outputs).enumerate().map(|(at, (connection, (_, own)))| {
            let (agreement, turns, work, show, desired) = (&agreement, &turns, &work, show, &desired);
            let (progress, done, interrupt) = (&progress, &done, interrupt.clone());
            async move {
                let site = Site::among((connection, own, interrupt), at, agreement, turns).await;
                // Contexts that waited for their turn are not begun any more.
                let result = if site.interrupt.is_set() {
                    Err(interrupted())
                } else {
                    work(site, Manifests::Read(desired.clone())).await
                };
                let report = match result {
                    Ok(report) => {
                        let report = settings.named_in(Report { shard: own.shard, ..report });
                        // What a context has to say is held back, so that no reader can be gone.
                        let _ = show(&report, own);
                        report
                    }
                    Err(Failure { verdict, problems }) => {
                        tell(&own.terminal, &problems);
                        Report { shard: own.shard, ..Report::stopped(*command, verdict, problems) }
                    }
                };
                agreement.over(at);
                done.set(done.get().saturating_add(1));
                if let Some(progress) = progress.borrow().as_ref() {
                    progress.at(done.get());
                }
                report
            }
        });
        let mut runs: FuturesOrdered<_> = runs.collect();
        let shown = async {
            let mut reports = Vec::new();
            for (context, own) in &outputs {
                let Some(report) = runs.next().await else { break };
                let server = report.cluster.as_ref().map(|cluster| cluster.server.clone()).or(context.server.clone());
                let one = ContextReport { context: context.name.clone(), server, report };
                // A reader that went away changes nothing about the run.
                let _ = output.text(&section(&one, own.take_text()));
                reports.push(one);
            }
            reports
        };
        let asked = agreement.ask(&outputs, output, &interrupt, || drop(progress.take()));
        let (reports, ()) = futures::join!(shown, asked);
        drop(progress.take());
        let unmatched = settings
            .unmatched(reports.iter().map(|one| &one.report))
            .filter(|_| input.selector.is_none() && output.shard.is_none());
        if let Some(unmatched) = unmatched {
            output.terminal.note(Role::Note, &format!("warning: {unmatched}"));
            warnings.push(unmatched);
        }
        Ok(Reports::of(*command, reports, warnings))
    }
}

fn interrupted() -> Failure {
    let problem = Diagnostic::new(Code::Interrupted, "the run was interrupted before this context was looked at");
    Failure { verdict: Verdict::Interrupted, problems: vec![problem] }
}

/// What is shown of one context.
fn section(one: &ContextReport, text: Styled) -> Styled {
    let mut section = matrix::heading(&one.context, one.server.as_deref());
    section.append(if text.is_empty() { matrix::stopped(one) } else { text });
    section.line_end();
    section
}
