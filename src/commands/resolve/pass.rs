//! The passes of `resolve`: one that finds the differences, and one that applies those that were chosen.

use std::cell::RefCell;
use std::sync::Arc;

use reconcile_core::compare::{Action, Policy, Redactor, UnmanagedCount};
use reconcile_core::manifest::DesiredSet;
use reconcile_core::pull::Selection;
use reconcile_core::resolve::Decisions;
use reconcile_report::{ClassInfo, Command, FailOn, Report};

use crate::cli::CompareArgs;
use crate::engine::event::{Event, EventSink};
use crate::engine::reconciliation::Reconciliation;
use crate::output::Output;
use crate::output::events::Events;
use crate::run::edits::overlay::OverlayTarget;
use crate::run::edits::pulling::{Collected, Pulling};
use crate::run::invocation::Run;
use reconcile_report::Failure;

/// The inputs that both passes share.
pub(crate) struct ResolvePass<'r, 'a> {
    /// The connected run.
    pub run: &'r Run<'a>,
    /// The manifests.
    pub desired: DesiredSet,
    /// The flags of the comparison.
    pub compare: &'r CompareArgs,
    /// The policy without the decisions.
    pub policy: Policy,
    /// The kustomization that values are pulled into.
    pub target: Option<OverlayTarget<'r>>,
    /// Gives equal secret values the same number in both passes.
    pub redactor: Arc<Redactor>,
}

/// Passes events on to the report, and to the edits of manifests.
pub(crate) struct Both<'a>(Events<'a>, RefCell<Collected>);

impl<'a> Both<'a> {
    /// Nothing yet.
    pub fn new(output: &'a Output) -> Self {
        Self(Events::new(output, false), RefCell::default())
    }
}

impl EventSink for Both<'_> {
    fn receive(&self, event: Event<'_>) {
        self.0.receive(event);
        self.1.borrow().receive(event);
    }
}

impl ResolvePass<'_, '_> {
    /// Finds the differences, and changes nothing. Returns the report about them, the edits that would take them into the manifests, and
    /// the objects as they were compared.
    pub async fn found<'b>(&'b self, both: &'b Both<'_>) -> Result<(Report, Pulling, Reconciliation<'b>), Failure> {
        let Self { run, desired, compare, policy, redactor, .. } = self;
        let plan = run.plan_with(compare, desired.clone(), None).await?;
        let mut comparison = run.comparison(compare, policy, &plan, both);
        comparison.redactor = Arc::clone(redactor);
        comparison.warns_of_sets = false;
        let pass = Box::pin(Reconciliation::compare(comparison, plan, None)).await;
        run.output.details(pass.unproven());
        for (new, decision) in run.report_formers(&both.0.builder, &pass).await {
            if decision.diff.action != Action::Unknown {
                both.1.borrow().receive(Event::Compared(new, &decision));
            }
        }
        let report = both.0.builder.last_report(Command::Diff, &FailOn::default(), &pass);
        let classes = ClassInfo::pulled().map(|row| row.class).collect();
        let selection = Selection { classes, ..Selection::default() };
        let pulling = Pulling::of(&both.1.borrow(), &selection, self.target);
        Ok((report, pulling, pass))
    }

    /// Applies what was chosen, as far as it is still what was shown. The report is about the objects of which something was to be
    /// applied, and those that could not be compared.
    pub async fn apply(&self, decisions: &Decisions) -> Result<Report, Failure> {
        let Self { run, desired, compare, policy, redactor, .. } = self;
        let ignore = Arc::new(policy.ignore.followed_by(decisions.rules_of_pass()));
        let policy = Policy { ignore, ..policy.clone() };
        let plan = run.plan_with(compare, desired.clone(), None).await?;
        let events = Events::new(run.output, false);
        let mut comparison = run.comparison(compare, &policy, &plan, &events);
        comparison.redactor = Arc::clone(redactor);
        comparison.warns_of_sets = false;
        let mut pass = Box::pin(Reconciliation::compare(comparison, plan, None)).await;
        pass.keep_to_consent(&|target, decision| decisions.consent(&target.key, &decision.diff));
        pass.act(None).await;
        let Report { mut objects, .. } = events.builder.last_report(Command::Apply, &FailOn::default(), &pass);
        pass.end();
        objects.retain(|object| decisions.applies(&object.key) || object.diff.action == Action::Unknown);
        for object in &mut objects {
            // The rules are those of the decisions, which were shown before.
            object.diff.ignored.clear();
            object.diff.notes.unmanaged = UnmanagedCount::default();
        }
        let cluster = &run.server.cluster;
        let report = Report::compared(Command::Apply, objects, &FailOn::default())
            .with_server_warnings(&cluster.warned_of_changes(), cluster.warned_of_reads());
        Ok(if run.interrupt.is_set() { report.interrupted() } else { report })
    }
}
