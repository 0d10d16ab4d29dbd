//! Runs a command in several contexts at once: the input is read once, each context has its own connection and report, and everything is
//! shown in the order of the contexts.
//!
//! Only the manifests are shared: each context has its own kubeconfig entries, credentials, requests and comparison. A failure in
//! one of them does not stop the others.

use std::cell::{Cell, RefCell};

use futures::StreamExt as _;
use futures::stream::FuturesOrdered;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::manifest::DesiredSet;
use reconcile_report::formats::text::matrix;
use reconcile_report::{Command, ContextReport, Failure, Report, Reports, Role, Styled};
use tokio::sync::Semaphore;

use crate::cli::ConnectionArgs;
use crate::client::Context;
use crate::config::Expectation;
use crate::engine::interrupt::Interrupt;
use crate::live::early::{Early, EarlySubject};
use crate::output::{Output, print_diagnostics};
use crate::run::agreement::{Agreement, Participant};
use crate::run::contexts::{Choice, chosen, same_targets};
use crate::run::interrupt::listen;
use crate::run::invocation::{Invocation, Run};
use crate::run::reading::Reading;
use crate::terminal::{Closed, Progress};

/// The most contexts that are worked on at the same time.
pub(crate) const AT_ONCE: usize = 8;

/// Refuses the run if one of its contexts is not expected, before anything is sent to any of them.
pub(crate) fn all_expected(contexts: &[Context], expect: &Expectation) -> Result<(), Vec<Diagnostic>> {
    let refused = |context: &Context| expect.allows_cluster(Some(&context.name), context.server.as_deref()).err();
    let refused: Vec<Diagnostic> = contexts.iter().filter_map(refused).collect();
    if refused.is_empty() { Ok(()) } else { Err(refused) }
}

/// A command in several contexts.
struct InSeveral<'a, C> {
    command: &'a C,
    invocation: &'a Invocation<'a>,
    /// The manifests, unless each context has its own.
    desired: Option<DesiredSet>,
    interrupt: Interrupt,
    /// The contexts, each with its own output.
    outputs: &'a [(&'a Context, Output)],
    agreement: Agreement,
    turns: Semaphore,
    progress: RefCell<Option<Progress>>,
    done: Cell<usize>,
}

/// Runs a command in each of these contexts, shows it, and reports everything together. Returns the exit code.
pub(super) async fn in_several<C: ContextCommand>(
    command: &C,
    invocation: &Invocation<'_>,
    contexts: &[Context],
) -> Result<u8, Failure> {
    let Invocation { connection, input, output, settings } = invocation;
    all_expected(contexts, &settings.configuration.expect)?;
    let interrupt = listen(&output.terminal);
    let desired = invocation.desired().await?;
    let mut warnings = settings.warnings().to_vec();
    warnings.extend(same_targets(contexts, connection.namespace.as_deref()));
    for warning in &warnings {
        warn(output, warning);
    }

    let outputs: Vec<_> = contexts.iter().map(|context| (context, output.of_context(&context.name))).collect();
    let progress = RefCell::new(Some(output.terminal.progress("contexts", contexts.len())));
    let (agreement, turns) = (Agreement::among(contexts.len()), Semaphore::new(AT_ONCE));
    let outputs = outputs.as_slice();
    let done = Cell::new(0);
    let all = InSeveral { command, invocation, desired, interrupt, outputs, agreement, turns, progress, done };
    let asked = all.agreement.ask(outputs, output, &all.interrupt, || all.end_progress());
    let (reports, ()) = futures::join!(all.reports(), asked);
    all.end_progress();

    let unmatched = settings
        .unmatched(reports.iter().map(|one| &one.report))
        .filter(|_| input.selector.is_none() && output.shard.is_none());
    if let Some(unmatched) = unmatched {
        warn(output, &unmatched);
        warnings.push(unmatched);
    }
    let reports = Reports::of(C::NAME, reports, warnings);
    drop(output.text(&matrix::together(&reports, &output.view)));
    Ok(output.finish_all(&reports))
}

impl<C: ContextCommand> InSeveral<'_, C> {
    /// The reports of all contexts, each shown as soon as it and those before it are there.
    async fn reports(&self) -> Vec<ContextReport> {
        let numbered = self.outputs.iter().enumerate();
        let mut runs: FuturesOrdered<_> = numbered.map(|(at, (context, own))| self.report(at, context, own)).collect();
        let mut reports = Vec::new();
        for (context, own) in self.outputs {
            let Some(report) = runs.next().await else { break };
            let server = report.cluster.as_ref().map(|cluster| cluster.server.clone()).or(context.server.clone());
            let one = ContextReport { context: context.name.clone(), server, report };
            // A reader that went away changes nothing about the run.
            let _ = self.invocation.output.text(&section(&one, own.take_text()));
            reports.push(one);
        }
        reports
    }

    /// The report of one context, which is shown on its output.
    async fn report(&self, at: usize, context: &Context, own: &Output) -> Report {
        let report = match self.run(at, context, own).await {
            Ok(report) => {
                let report = self.invocation.settings.named_in(own.identified(report));
                // The text of a context is held back, so that no reader can be gone.
                let _ = self.command.show(&report, own);
                report
            }
            Err(Failure { verdict, diagnostics }) => {
                print_diagnostics(&own.terminal, &diagnostics);
                own.identified(Report::stopped(C::NAME, verdict, diagnostics))
            }
        };
        self.agreement.over(at);
        self.done.set(self.done.get().saturating_add(1));
        if let Some(progress) = self.progress.borrow().as_ref() {
            progress.at(self.done.get());
        }
        report
    }

    /// Does the work in one context, once it is its turn.
    async fn run(&self, at: usize, context: &Context, own: &Output) -> Result<Report, Failure> {
        let participant = Participant::new(at, &self.agreement, &self.turns).await;
        // Contexts that waited for their turn are not begun any more.
        if self.interrupt.is_set() {
            return Err(Failure::interrupted("the run was interrupted before this context was started"));
        }
        let Invocation { connection, .. } = self.invocation;
        let connection = ConnectionArgs { context: Some(context.name.clone()), ..ConnectionArgs::clone(connection) };
        let allows_namespace = |namespace: &str| self.invocation.allows_namespace(namespace);
        let early = Early::new(self.command.early_reads(), &allows_namespace);
        let connecting = self.invocation.join(&connection, own, self.interrupt.clone(), Some(participant), &early);
        let reading = async {
            if let Some(desired) = &self.desired {
                early.begin(desired).await;
            }
        };
        let (run, ()) = Box::pin(async { futures::join!(connecting, reading) }).await;
        let run = run?;
        let desired = Box::pin(self.desired(&run, own)).await?;
        run.complete(&early, &desired);
        let hooks = desired.hooks_left_out();
        let report = Box::pin(self.command.pass(&run, desired)).await?;
        Ok(run.concluded(report, hooks))
    }

    /// The manifests of one context: those that were read before, or those that its cluster keeps.
    async fn desired(&self, run: &Run<'_>, own: &Output) -> Result<DesiredSet, Failure> {
        if let Some(desired) = &self.desired {
            return Ok(desired.clone());
        }
        let reading = Reading::stored(self.invocation.input, &run.server, &own.terminal).await?;
        reading.desired().await
    }

    fn end_progress(&self) {
        drop(self.progress.take());
    }
}

fn warn(output: &Output, warning: &str) {
    output.terminal.note(Role::Note, &format!("warning: {warning}"));
}

/// The text about one context.
fn section(one: &ContextReport, text: Styled) -> Styled {
    let mut section = matrix::heading(&one.context, one.server.as_deref());
    section.append(if text.is_empty() { matrix::stopped(one) } else { text });
    section.line_end();
    section
}

/// A command that reports on the objects of the manifests, in one context or in several at the same time.
pub(crate) trait ContextCommand {
    /// The command, as reports name it.
    const NAME: Command;

    /// The reads with which the work begins. They may be sent while discovery is under way.
    fn early_reads(&self) -> Vec<EarlySubject> {
        Vec::new()
    }

    /// Does the work in one context.
    async fn pass(&self, run: &Run<'_>, desired: DesiredSet) -> Result<Report, Failure>;

    /// Shows the report of one context. A reader that went away ends the run quietly, with the verdict that was found.
    fn show(&self, report: &Report, output: &Output) -> Result<(), Closed>;
}

impl Invocation<'_> {
    /// Runs a command in each context that `--context` names, shows what it finds, and writes the reports. Returns the exit code.
    pub async fn in_contexts(&self, command: &impl ContextCommand) -> Result<u8, Failure> {
        match chosen(self.connection)? {
            Choice::Several(contexts) => Box::pin(in_several(command, self, &contexts)).await,
            Choice::One(connection) => {
                let (run, desired) = self.begin_in(&connection, command.early_reads()).await?;
                let hooks = desired.hooks_left_out();
                let report = Box::pin(command.pass(&run, desired)).await?;
                Ok(self.reported(command, run.concluded(report, hooks)))
            }
        }
    }

    /// Shows the only report of a command, and writes it. Returns the exit code.
    pub fn reported(&self, command: &impl ContextCommand, report: Report) -> u8 {
        let report = self.output.identified(report);
        let report = self.settings.described_in(report, self.input.selector.is_none());
        drop(command.show(&report, self.output));
        self.output.finish(&report)
    }
}
