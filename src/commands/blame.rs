//! `blame`: read current, and show who owns each field.

use std::cell::Cell;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, ValueHint};
use futures::{StreamExt as _, stream};
use reconcile_core::blame::Blame;
use reconcile_core::compare::{FIELD_MANAGER, Policy, Redactor};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::resolve::resolve;
use reconcile_core::live::{LiveState, Target};
use reconcile_core::manifest::DesiredSet;
use reconcile_core::owners::Owner;
use reconcile_core::plan::Plan;
use reconcile_core::rules::Glob;
use reconcile_report::blame::{BlamedObject, text, verdict};
use reconcile_report::formats::json as as_json;
use reconcile_report::formats::text::matrix::heading;
use reconcile_report::{Failure, Verdict};
use tokio_util::sync::CancellationToken;

use crate::cli::{ConnectOptions, InputArgs, TextArgs};
use crate::client::Context;
use crate::engine::interrupt::Interrupt;
use crate::live::early::EarlySubject;
use crate::live::fetch::fetch;
use crate::live::types::Types;
use crate::output::{Output, print_diagnostics, print_error_of};
use crate::run::audit_log::{AuditLogs, PluralNames, plural_names, usual_plural_names};
use crate::run::contexts::{ChosenContexts, all_expected};
use crate::run::driver::AT_ONCE;
use crate::run::interrupt::listen;
use crate::run::invocation::{Invocation, RunContext, cache_folder};
use crate::run::reading::Manifests;
use crate::run::reading::captured::{Captured, contexts};
use crate::run::reading::named::of_names;
use crate::run::settings::{Configured, Settings};
use crate::run::setup::resolved;
use crate::terminal::Terminal;

pub(super) const AFTER_HELP: &str = "\
Each line of the live object begins with the manager that owns its field, the operation or subresource, and the time, as \
`metadata.managedFields` records them; `-` is a field that nobody owns, such as a default. A field with several owners has a line for \
each. With `-f`, a sign comes first: `=` the manifest has it so, `~` it has another value, `+` only the live object has the field, \
`?` the snapshot withholds its value. Values of Secrets are never shown.

Exit codes:
  0    all objects were read
  2    invalid flags or input, or an unknown type
  3    the cluster cannot be reached, or rejected the credentials
  4    at least one object does not exist or could not be read
  130  interrupted

Examples:
  # Who set which field of the Deployment?
  kubectl reconcile blame deployment/web

  # Which fields come from the manifests, and who added the others?
  kubectl reconcile blame -f deploy/

  # What did people change by hand?
  kubectl reconcile blame deploy web --by-hand

  # Who were they?
  kubectl reconcile blame deploy web --by-hand --audit-log audit.log

  # Who owned the fields when the objects were saved? Without a cluster
  kubectl reconcile blame --live live.yaml";

/// `blame`
#[derive(Debug, Args)]
#[command(mut_arg("filename", |arg| arg.required_unless_present_any(["kustomize", "from", "objects", "live"])))]
pub struct BlameArgs {
    /// Objects as `TYPE/NAME…` or `TYPE NAME…`; or those of the manifests with `-f` or `-k`
    #[arg(value_name = "TYPE/NAME", conflicts_with_all = ["filename", "kustomize", "from", "recursive", "selector", "allow_empty"])]
    pub objects: Vec<String>,
    /// Flags that select the manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// Show `status` as well
    #[arg(long, help_heading = "Output")]
    pub status: bool,
    /// Show only fields of these managers, and their parents: globs such as `kubectl-set` or `helm*` (repeatable)
    #[arg(long = "manager", value_name = "GLOB", value_delimiter = ',', help_heading = "Output")]
    pub managers: Vec<String>,
    /// Show only fields that were changed by hand, and their parents: with kubectl, or by a manager listed in `manualManagers`
    #[arg(long, help_heading = "Output", conflicts_with = "managers")]
    pub by_hand: bool,
    /// Show the objects in this file instead of those of a cluster; without other objects, all of them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Input")]
    pub live: Option<String>,
    /// Name of the field manager that applies and owns the fields of the manifests; with `--audit-log`, writes since its last apply count
    #[arg(long, value_name = "NAME", default_value = FIELD_MANAGER, value_parser = NonEmptyStringValueParser::new(), help_heading = "Output")]
    pub field_manager: String,
    /// Name the users behind the managers from this audit log of the API server: JSON lines, also compressed with gzip (repeatable)
    #[arg(long = "audit-log", value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub audit_logs: Vec<PathBuf>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub output: BlameFormat,
    /// Flags for the text
    #[command(flatten)]
    pub text: TextArgs,
    /// Flags that select the cluster
    #[command(flatten)]
    pub connection: ConnectOptions,
}

impl BlameArgs {
    /// Returns true if the objects are those of manifests.
    pub fn reads_manifests(&self) -> bool {
        self.objects.is_empty() && !self.is_without_manifests()
    }

    /// Returns true if the objects are all those of a file, or those of a file that the command line names.
    fn is_without_manifests(&self) -> bool {
        self.live.is_some() && self.input.filename.is_empty() && self.input.kustomize.is_none()
    }
}

/// `blame --output`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BlameFormat {
    /// For people: the objects as YAML, with the managers at the left
    Text,
    /// For programs: an array of the objects with their fields
    Json,
}

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) async fn run(args: &BlameArgs, configured: Configured, terminal: &Terminal) -> Result<u8, Failure> {
    let contexts = contexts(args.live.is_some(), &args.connection, &args.input, "shown")?;
    let audit_logs = AuditLogs::open(&args.audit_logs, &contexts)?;
    let output = &Output::of_text(terminal, &args.text, args.output == BlameFormat::Text);
    let settings = &Settings::of(configured?, output);
    if let (ChosenContexts::Several(contexts), true) = (&contexts, args.reads_manifests()) {
        all_expected(contexts, &settings.configuration.expect)?;
    }
    let invocation = Invocation::new(&args.connection, &args.input, output, settings);
    let invocation = Invocation { objects: &args.objects, has_live: true, ..invocation };
    let desired = if args.is_without_manifests() { None } else { invocation.desired().await? };
    let interrupt = listen(terminal);
    let blaming =
        Blaming { args, invocation, desired, audit_logs, interrupt, owners: WantedOwners::of(args, settings) };
    let code = match contexts {
        ChosenContexts::One(connection) => {
            let blamed = match &args.live {
                Some(file) => Box::pin(blaming.in_snapshot(file, output)).await?,
                None => Box::pin(blaming.in_context(&connection, output)).await?,
            };
            let objects = &blamed.objects;
            let _ = match args.output {
                BlameFormat::Text => output.text(&text(objects, &output.view)),
                BlameFormat::Json => terminal.data(&as_json::document(&objects)),
            };
            blamed.verdict().exit_code(false)
        }
        ChosenContexts::Several(contexts) => Box::pin(in_several(&blaming, &contexts, output)).await,
    };
    terminal.warn(blaming.owners.warnings());
    Ok(code)
}

/// Shows the objects of several contexts, one context below the other. Returns the exit code of the worst result.
async fn in_several(blaming: &Blaming<'_>, contexts: &[Context], output: &Output) -> u8 {
    let args = blaming.args;
    let terminal = &output.terminal;
    let blamed = contexts.iter().map(|context| async move {
        let own = output.of_context(&context.name);
        let connection = ConnectOptions { context: Some(context.name.clone()), ..args.connection.clone() };
        (context, Box::pin(blaming.in_context(&connection, &own)).await, own)
    });
    let mut blamed = stream::iter(blamed).buffered(AT_ONCE);
    let mut worst = verdict(&[]);
    let mut all = Vec::new();
    while let Some((context, result, own)) = blamed.next().await {
        let of_context = match result {
            Ok(blamed) => {
                let mut shown = heading(&context.name, Some(&blamed.server));
                shown.append(text(&blamed.objects, &own.view));
                shown.line_end();
                let _ = output.text(&shown);
                let of_context = blamed.verdict();
                all.extend(blamed.objects.into_iter().map(|object| object.of_context(&context.name)));
                of_context
            }
            Err(Failure { verdict, diagnostics }) => {
                print_diagnostics(&own.terminal, &diagnostics);
                verdict
            }
        };
        worst = worst.max(of_context);
    }
    if args.output == BlameFormat::Json {
        let _ = terminal.data(&as_json::document(&all));
    }
    worst.exit_code(false)
}

/// The owners whose fields are shown, and those that were found.
struct WantedOwners {
    managers: Vec<(Glob, Cell<bool>)>,
    /// Decides who changed a field by hand, if nothing else is shown.
    by_hand: Option<Policy>,
    has_objects: Cell<bool>,
}

impl WantedOwners {
    fn of(args: &BlameArgs, settings: &Settings) -> Self {
        let managers = args.managers.iter().map(|text| (Glob::new(text), Cell::new(false))).collect();
        let manual_managers = settings.configuration.manual_managers.clone();
        let by_hand = args.by_hand.then(|| Policy { manual_managers, ..Policy::of(&args.field_manager) });
        Self { managers, by_hand, has_objects: Cell::new(false) }
    }

    /// An object with the fields of these owners alone; without a choice, with all fields.
    fn fields_of(&self, object: BlamedObject) -> BlamedObject {
        self.has_objects.set(true);
        match &self.by_hand {
            Some(policy) => object.of_owners(|owner| policy.is_by_hand(owner)),
            None if self.managers.is_empty() => object,
            None => object.of_owners(|owner| self.is_wanted(owner)),
        }
    }

    fn is_wanted(&self, owner: &Owner) -> bool {
        let matching = self.managers.iter().filter(|(glob, _)| glob.matches(&owner.manager));
        matching.map(|(_, is_found)| is_found.set(true)).count() > 0
    }

    /// A warning for each name that no owner has, if any object was read.
    fn warnings(&self) -> impl Iterator<Item = String> {
        let missed = self.managers.iter().filter(|(_, is_found)| self.has_objects.get() && !is_found.get());
        missed.map(|(glob, _)| format!("`--manager {glob}`: this manager owns no field of these objects"))
    }
}

/// The inputs of all contexts.
struct Blaming<'r> {
    /// The flags.
    pub args: &'r BlameArgs,
    /// The flags that choose the objects, and the configuration.
    pub invocation: Invocation<'r>,
    /// The manifests, unless the cluster has them.
    pub desired: Option<DesiredSet>,
    /// The logs that name users.
    pub audit_logs: AuditLogs,
    /// Ctrl-C.
    pub interrupt: Interrupt,
    /// The owners whose fields are shown.
    pub owners: WantedOwners,
}

/// The objects of one context.
struct BlamedContext {
    /// The URL of its server.
    pub server: String,
    /// The objects.
    pub objects: Vec<BlamedObject>,
    /// True if a release could not be read.
    pub is_incomplete: bool,
}

impl BlamedContext {
    /// The result of the context.
    fn verdict(&self) -> Verdict {
        let of_objects = verdict(&self.objects);
        if self.is_incomplete { of_objects.max(Verdict::Incomplete) } else { of_objects }
    }
}

impl Blaming<'_> {
    /// The objects of one context, with the owners of their fields: those of manifests in the order in which they are applied, others as
    /// they were named.
    pub async fn in_context(&self, connection: &ConnectOptions, output: &Output) -> Result<BlamedContext, Failure> {
        let manifests = match &self.desired {
            Some(desired) => Manifests::Read(desired.clone()),
            None => Manifests::OfCluster,
        };
        let context = RunContext { connection, output, interrupt: self.interrupt.clone(), participant: None };
        let (run, desired) =
            Box::pin(self.invocation.begin_in(context, manifests, vec![EarlySubject::Objects])).await?;
        output.remark_on(&desired);
        let unreadable = &desired.unreadable;
        print_diagnostics(&output.terminal, unreadable);
        let is_incomplete = !unreadable.is_empty();
        let targets: Vec<Target> = match self.args.objects.as_slice() {
            [] => run.plan(desired, None)?.targets().cloned().collect(),
            _ => resolve(desired.manifests, &run.server.discovery, &run.server.namespaces)?,
        };
        let cluster = run.server.cluster;
        let references: Vec<&Target> = targets.iter().collect();
        let mut types = Types::new(cache_folder(connection).as_deref());
        let resources = targets.iter().filter_map(|target| target.resource.as_deref().ok());
        let ((), states) = futures::join!(types.load(&cluster, resources), fetch(&cluster, &references));
        output.terminal.warn(cluster.warned_of_reads());
        let plurals = plural_names(targets.iter());
        let read = targets.iter().zip(states);
        let objects = self.objects(read, &types, &plurals, cluster.stop(), &output.terminal).await?;
        Ok(BlamedContext { server: cluster.server().to_owned(), objects, is_incomplete })
    }

    /// The objects of a file, with the owners of their fields: those of the manifests or of the command line, or else all of them.
    pub async fn in_snapshot(&self, file: &str, output: &Output) -> Result<BlamedContext, Failure> {
        let args = self.args;
        let captured = Captured::read(file, &args.connection)?;
        let desired = match &self.desired {
            Some(desired) => desired.clone(),
            None if args.objects.is_empty() => {
                of_names(&captured.snapshot.names(captured.namespaces.required.as_deref()))?
            }
            None => captured.named(&args.objects)?,
        };
        let Captured { snapshot, discovery, defined, namespaces, .. } = captured;
        output.remark_on(&desired);
        let expect = &self.invocation.settings.configuration.expect;
        let mut targets = resolved(desired, discovery, &namespaces, None, expect, None)?.targets;
        if self.args.objects.is_empty() {
            targets = Plan::of(targets)?.targets().cloned().collect();
        }
        let types = Types::defined(targets.iter().map(|target| &target.key.gvk), snapshot.definitions());
        let plurals = usual_plural_names(targets.iter(), &defined);
        let read = targets.iter().map(|target| (target, snapshot.state(&target.key)));
        let objects = self.objects(read, &types, &plurals, self.interrupt.token(), &output.terminal).await?;
        Ok(BlamedContext { server: String::new(), objects, is_incomplete: false })
    }

    /// The fields of objects that were read, with the users whom the logs name.
    async fn objects<'t>(
        &self,
        read: impl Iterator<Item = (&'t Target, LiveState)>,
        types: &Types,
        plurals: &PluralNames,
        stop: &CancellationToken,
        terminal: &Terminal,
    ) -> Result<Vec<BlamedObject>, Failure> {
        let redactor = Redactor::default();
        let mut objects = Vec::new();
        for (target, state) in read {
            objects.push(self.object(target, state, types, &redactor, terminal)?);
        }
        let ours = &self.args.field_manager;
        terminal.warn(self.audit_logs.name_users(&mut objects, plurals, ours, stop).await);
        Ok(objects)
    }

    /// The fields of an object. One that cannot be read is an error in the result and on standard error.
    fn object(
        &self,
        target: &Target,
        state: LiveState,
        types: &Types,
        redactor: &Redactor,
        terminal: &Terminal,
    ) -> Result<BlamedObject, Failure> {
        let error = match state {
            LiveState::Present(live) => {
                let kind = target.kind();
                let blame = Blame {
                    gvk: &target.key.gvk,
                    kind: kind.as_ref(),
                    live: &live,
                    schema: types.of(&target.key.gvk),
                    manifest: self.args.reads_manifests().then(|| target.desired.object()),
                    is_encrypted: target.desired.origin.is_encrypted,
                    with_status: self.args.status,
                };
                let object = BlamedObject::new(&target.key, Ok(blame.fields(redactor)));
                return Ok(self.owners.fields_of(object).with_times(&live, &self.args.field_manager));
            }
            LiveState::Absent => Diagnostic::new(Code::NotFound, "it does not exist"),
            LiveState::Unreadable(diagnostic) if diagnostic.code == Code::Interrupted => {
                return Err(Failure::interrupted("the run was interrupted"));
            }
            LiveState::Unreadable(diagnostic) => diagnostic,
        };
        print_error_of(&target.key, &error, terminal);
        Ok(BlamedObject::new(&target.key, Err(&error)))
    }
}
