//! Runs a command in the contexts that `--context` names, of which one is the usual case. Each has its own connection, credentials,
//! requests, comparison and report; only the manifests are shared. A failure in one of them does not stop the others, and everything
//! is shown in their order.

use std::cell::{Cell, RefCell};

use futures::StreamExt as _;
use futures::stream::FuturesOrdered;
use reconcile_core::manifest::DesiredSet;
use reconcile_report::formats::text::matrix;
use reconcile_report::{Command, ContextReport, EXIT_SUCCESS, Failure, Report, Reports, Styled};
use tokio::sync::Semaphore;

use crate::cli::ConnectOptions;
use crate::client::Context;
use crate::engine::interrupt::Interrupt;
use crate::live::early::EarlySubject;
use crate::output::{Output, print_diagnostics};
use crate::run::agreement::{Agreement, Participant};
use crate::run::connection::named_cluster;
use crate::run::contexts::{ChosenContexts, Member, all_expected, all_in_expected_namespaces, same_targets};
use crate::run::interrupt::listen;
use crate::run::invocation::{Invocation, Run, RunContext};
use crate::run::reading::Manifests;
use crate::terminal::{Closed, Progress};

/// The most contexts that are worked on at the same time.
pub(crate) const AT_ONCE: usize = 8;

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

/// A command in its contexts.
struct Driver<'a, C> {
    command: &'a C,
    invocation: &'a Invocation<'a>,
    members: &'a [Member<'a>],
    /// The manifests that are being read for the only context.
    manifests: Cell<Option<Manifests>>,
    /// The manifests for all contexts, unless each cluster has its own.
    desired: Option<DesiredSet>,
    interrupt: Interrupt,
    agreement: Agreement,
    turns: Semaphore,
    progress: RefCell<Option<Progress>>,
    done: Cell<usize>,
}

impl Invocation<'_> {
    /// Runs a command in each of the contexts, shows what it finds, and writes the reports. Returns the exit code.
    pub async fn in_contexts<C: ContextCommand>(&self, contexts: ChosenContexts, command: &C) -> Result<u8, Failure> {
        match contexts {
            ChosenContexts::One(connection) => Box::pin(self.in_one(command, *connection)).await,
            ChosenContexts::Several(contexts) => Box::pin(self.in_several(command, &contexts)).await,
        }
    }

    /// Runs a command in the only context, which is connected while the manifests are read.
    async fn in_one<C: ContextCommand>(&self, command: &C, connection: ConnectOptions) -> Result<u8, Failure> {
        let manifests = self.begin_reading().await?;
        let interrupt = listen(&self.output.terminal);
        let members = [Member { context: None, connection, output: self.output }];
        let driver =
            Driver { manifests: Cell::new(Some(manifests)), ..Driver::new(command, self, &members, interrupt) };
        let mut code = EXIT_SUCCESS;
        driver.run(|_, report| code = self.output.finish(&report.into())).await;
        Ok(code)
    }

    /// Runs a command in each of these contexts, and reports everything together.
    async fn in_several<C: ContextCommand>(&self, command: &C, contexts: &[Context]) -> Result<u8, Failure> {
        let Self { connection, input, output, settings, .. } = self;
        all_expected(contexts, &settings.configuration.expect)?;
        let interrupt = listen(&output.terminal);
        let desired = self.desired().await?;
        let manifests = desired.as_ref().map(|desired| desired.manifests.as_slice()).unwrap_or_default();
        let namespace = connection.namespace.as_deref();
        all_in_expected_namespaces(manifests, contexts, namespace, &settings.configuration.expect)?;
        let mut warnings = settings.warnings().to_vec();
        warnings.extend(same_targets(contexts, namespace));
        output.terminal.warn(&warnings);

        let outputs: Vec<Output> = contexts.iter().map(|context| output.of_context(&context.name)).collect();
        let members: Vec<Member<'_>> =
            contexts.iter().zip(&outputs).map(|(context, own)| Member::of(context, connection, own)).collect();
        let progress = RefCell::new(Some(output.terminal.progress("contexts", contexts.len())));
        let driver = Driver { desired, progress, ..Driver::new(command, self, &members, interrupt) };
        let mut reports = Vec::new();
        let show = |member: &Member<'_>, report: Report| {
            let Some(context) = member.context else { return };
            let server = report.cluster.as_ref().map(|cluster| cluster.server.clone()).or(context.server.clone());
            let one = ContextReport { context: Some(context.name.clone()), server, report };
            // A reader that went away changes nothing about the run.
            let _ = output.text(&section(&one, member.output.take_text()));
            reports.push(one);
        };
        driver.run(show).await;
        driver.end_progress();

        let unmatched = settings
            .unmatched(reports.iter().map(|one| &one.report))
            .filter(|_| input.selector.is_none() && output.shard.is_none());
        if let Some(unmatched) = unmatched {
            output.terminal.warn([&unmatched]);
            warnings.push(unmatched);
        }
        let reports = Reports::of(C::NAME, reports, warnings);
        drop(output.text(&matrix::together(&reports, &output.view)));
        Ok(output.finish(&reports))
    }
}

impl Invocation<'_> {
    /// Shows the report of a run without a context, and writes it. Returns the exit code.
    pub fn reported(&self, command: &impl ContextCommand, report: Report) -> u8 {
        self.output.finish(&self.shown(command, self.output, true, report).into())
    }

    /// The report of one context, which it shows. If it is the only one, it has the warnings about the configuration.
    fn shown(&self, command: &impl ContextCommand, own: &Output, is_only: bool, report: Report) -> Report {
        let report = own.identified(report);
        let report = if is_only {
            self.settings.described_in(report, self.input.selector.is_none())
        } else {
            self.settings.named_in(report)
        };
        // A reader that went away changes nothing about the run.
        drop(command.show(&report, own));
        report
    }
}

impl<'a, C: ContextCommand> Driver<'a, C> {
    fn new(command: &'a C, invocation: &'a Invocation<'a>, members: &'a [Member<'a>], interrupt: Interrupt) -> Self {
        Self {
            command,
            invocation,
            members,
            manifests: Cell::new(None),
            desired: None,
            interrupt,
            agreement: Agreement::among(members.len()),
            turns: Semaphore::new(AT_ONCE),
            progress: RefCell::new(None),
            done: Cell::new(0),
        }
    }

    /// Runs the command everywhere. Each report is passed on as soon as it and those before it are there; they share one question.
    async fn run(&self, mut show: impl FnMut(&Member<'_>, Report)) {
        let mut runs: FuturesOrdered<_> =
            self.members.iter().enumerate().map(|(at, member)| self.report(at, member)).collect();
        let all = async {
            for member in self.members {
                let Some(report) = runs.next().await else { break };
                show(member, report);
            }
        };
        let asked = self.agreement.ask(self.members, self.invocation.output, &self.interrupt, || self.end_progress());
        futures::join!(all, asked);
    }

    /// The report of one context, which is shown on its output.
    async fn report(&self, at: usize, member: &Member<'a>) -> Report {
        let own = member.output;
        let report = match self.pass(at, member).await {
            Ok(report) => self.invocation.shown(self.command, own, member.context.is_none(), report),
            Err(Failure { verdict, diagnostics }) => {
                print_diagnostics(&own.terminal, &diagnostics);
                let mut report = Report::stopped(C::NAME, verdict, diagnostics);
                report.cluster = named_cluster(&member.connection);
                own.identified(report)
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
    async fn pass(&self, at: usize, member: &Member<'a>) -> Result<Report, Failure> {
        let participant = Participant::new(at, &self.agreement, &self.turns).await;
        // Contexts that waited for their turn are not begun any more.
        if self.interrupt.is_set() {
            return Err(Failure::interrupted("the run was interrupted before this context was started"));
        }
        let context = RunContext {
            connection: &member.connection,
            output: member.output,
            interrupt: self.interrupt.clone(),
            participant: Some(participant),
        };
        let (run, mut desired) =
            Box::pin(self.invocation.begin_in(context, self.manifests(), self.command.early_reads())).await?;
        let hooks = desired.hooks_left_out();
        let remarks = std::mem::take(&mut desired.remarks);
        let unreadable = std::mem::take(&mut desired.unreadable);
        let releases = desired.releases.clone();
        let mut report = Box::pin(self.command.pass(&run, desired)).await?;
        report.warnings.splice(..0, remarks);
        if let Some(releases) = releases {
            report = report.with_releases(releases);
        }
        Ok(run.concluded(report.with_errors(unreadable), hooks))
    }

    fn manifests(&self) -> Manifests {
        match (self.manifests.take(), &self.desired) {
            (Some(manifests), _) => manifests,
            (None, Some(desired)) => Manifests::Read(desired.clone()),
            (None, None) => Manifests::OfCluster,
        }
    }

    fn end_progress(&self) {
        drop(self.progress.take());
    }
}

/// The text about one context.
fn section(one: &ContextReport, text: Styled) -> Styled {
    let mut section = matrix::heading(one.name(), one.server.as_deref());
    section.append(if text.is_empty() { matrix::stopped(one) } else { text });
    section.line_end();
    section
}
