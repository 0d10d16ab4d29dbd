//! `blame`: read current, and show who owns each field.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, ValueHint};
use futures::{StreamExt as _, stream};
use reconcile_core::blame::Blame;
use reconcile_core::compare::Redactor;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::named::{NamedObject, named_objects};
use reconcile_core::live::resolve::{Namespaces, resolve};
use reconcile_core::live::{Discovery, LiveState, Resource, Target};
use reconcile_core::manifest::yaml::Validation;
use reconcile_core::manifest::{DesiredSet, Hooks, Input, ReadOptions, read};
use reconcile_core::object::Selector;
use reconcile_core::rules::Glob;
use reconcile_report::blame::{BlamedObject, json as as_json, text, verdict};
use reconcile_report::formats::text::matrix::heading;
use reconcile_report::{Failure, Role, hooks_left_out};
use serde_json::json;

use crate::cli::{ConnectionArgs, InputArgs, TextArgs};
use crate::client::{Cluster, Context};
use crate::config::Expectation;
use crate::engine::interrupt::Interrupt;
use crate::live::discover;
use crate::live::early::EarlySubject;
use crate::live::fetch::fetch;
use crate::live::types::Types;
use crate::output::{Output, print_diagnostics};
use crate::run::audit_log::{AuditLogs, plural_names};
use crate::run::connection::connected;
use crate::run::contexts::{Choice, all_expected, chosen};
use crate::run::driver::AT_ONCE;
use crate::run::interrupt::listen;
use crate::run::invocation::{Invocation, RunContext, cache_folder};
use crate::run::reading::Manifests;
use crate::run::settings::{Configured, Settings};
use crate::terminal::Terminal;

pub(super) const AFTER_HELP: &str = "\
Each line of the live object begins with the manager that owns its field, the operation or subresource, and the time, as \
`metadata.managedFields` records them; `-` is a field that nobody owns, such as a default. A field with several owners has a line for \
each. With `-f`, a sign comes first: `=` the manifest has it so, `~` it has another value, `+` only the live object has the field. Values \
of Secrets are never shown.

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

  # What did people change with kubectl?
  kubectl reconcile blame deploy web --manager kubectl-*

  # Who were they?
  kubectl reconcile blame deploy web --manager kubectl-* --audit-log audit.log";

/// `blame`
#[derive(Debug, Args)]
#[command(mut_arg("filename", |arg| arg.required_unless_present_any(["kustomize", "from", "objects"])))]
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
    /// Show only fields of these managers, and their parents: globs such as `kubectl*` (repeatable)
    #[arg(long = "manager", value_name = "GLOB", value_delimiter = ',', help_heading = "Output")]
    pub managers: Vec<String>,
    /// Name of the field manager that applies and owns the fields of the manifests; with `--audit-log`, writes since its last apply count
    #[arg(long, value_name = "NAME", default_value = "kubectl-reconcile", value_parser = NonEmptyStringValueParser::new(), help_heading = "Output")]
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
    pub connection: ConnectionArgs,
}

impl BlameArgs {
    /// Returns true if the objects are those of manifests.
    pub fn reads_manifests(&self) -> bool {
        self.objects.is_empty()
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
    let audit_logs = AuditLogs::open(&args.audit_logs, &args.connection)?;
    let output = &Output::of_text(terminal, &args.text, args.output == BlameFormat::Text);
    let choice = chosen(&args.connection)?;
    let settings;
    let (mut manifests, mut desired) = (None, None);
    if args.reads_manifests() {
        settings = Settings::of(configured?, output);
        if let Choice::Several(contexts) = &choice {
            all_expected(contexts, &settings.configuration.expect)?;
        }
        let invocation = Invocation { connection: &args.connection, input: &args.input, output, settings: &settings };
        desired = invocation.desired().await?;
        manifests = Some(invocation);
    }
    let blaming = Blaming { args, manifests, desired, audit_logs, interrupt: listen(terminal) };
    match choice {
        Choice::One(connection) => {
            let BlamedContext { objects, .. } = Box::pin(blaming.in_context(&connection, output)).await?;
            let _ = match args.output {
                BlameFormat::Text => output.text(&text(&objects, &output.view)),
                BlameFormat::Json => terminal.data(&as_json(&objects)),
            };
            Ok(verdict(&objects).exit_code(false))
        }
        Choice::Several(contexts) => Ok(Box::pin(in_several(&blaming, &contexts, output)).await),
    }
}

/// Shows the objects of several contexts, one context below the other. Returns the exit code of the worst result.
async fn in_several(blaming: &Blaming<'_>, contexts: &[Context], output: &Output) -> u8 {
    let (args, terminal) = (blaming.args, &output.terminal);
    let blamed = contexts.iter().map(|context| async move {
        let own = output.of_context(&context.name);
        let connection = ConnectionArgs { context: Some(context.name.clone()), ..args.connection.clone() };
        (context, Box::pin(blaming.in_context(&connection, &own)).await, own)
    });
    let mut blamed = stream::iter(blamed).buffered(AT_ONCE);
    let (mut worst, mut all) = (verdict(&[]), Vec::new());
    while let Some((context, result, own)) = blamed.next().await {
        let of_context = match result {
            Ok(BlamedContext { server, objects }) => {
                let mut shown = heading(&context.name, Some(&server));
                shown.append(text(&objects, &own.view));
                shown.line_end();
                let _ = output.text(&shown);
                let of_context = verdict(&objects);
                all.extend(objects.into_iter().map(|object| object.of_context(&context.name)));
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
        let _ = terminal.data(&as_json(&all));
    }
    worst.exit_code(false)
}

/// The inputs of all contexts.
struct Blaming<'r> {
    /// The flags.
    pub args: &'r BlameArgs,
    /// The flags that choose the manifests, and the configuration; none for objects of the command line.
    pub manifests: Option<Invocation<'r>>,
    /// The manifests, unless the cluster keeps them.
    pub desired: Option<DesiredSet>,
    /// The logs that name users.
    pub audit_logs: AuditLogs,
    /// Ctrl-C.
    pub interrupt: Interrupt,
}

/// The objects of one context.
struct BlamedContext {
    /// The URL of its server.
    pub server: String,
    /// The objects.
    pub objects: Vec<BlamedObject>,
}

impl Blaming<'_> {
    /// The objects of one context, with the owners of their fields.
    pub async fn in_context(&self, connection: &ConnectionArgs, output: &Output) -> Result<BlamedContext, Failure> {
        let (cluster, targets) = match &self.manifests {
            Some(invocation) => self.of_manifests(invocation, connection, output).await?,
            None => self.of_words(connection, output).await?,
        };
        let terminal = &output.terminal;
        let references: Vec<&Target> = targets.iter().collect();
        let mut types = Types::new(cache_folder(connection).as_deref());
        let resources = targets.iter().filter_map(|target| target.resource.as_ref().ok());
        let ((), states) = futures::join!(types.load(&cluster, resources), fetch(&cluster, &references));
        let redactor = Redactor::default();
        let mut objects = Vec::with_capacity(targets.len());
        for (target, state) in targets.iter().zip(states) {
            objects.push(self.object(target, state, &types, &redactor, terminal)?);
        }
        let plurals = plural_names(targets.iter());
        let ours = &self.args.field_manager;
        for warning in self.audit_logs.name_users(&mut objects, &plurals, ours, cluster.stop()).await {
            terminal.note(Role::Note, &format!("warning: {warning}"));
        }
        Ok(BlamedContext { server: cluster.server().to_owned(), objects })
    }

    /// The objects of the manifests, in the order in which they are applied.
    async fn of_manifests(
        &self,
        invocation: &Invocation<'_>,
        connection: &ConnectionArgs,
        output: &Output,
    ) -> Result<(Cluster, Vec<Target>), Failure> {
        let manifests = match &self.desired {
            Some(desired) => Manifests::Read(desired.clone()),
            None => Manifests::Stored,
        };
        let context = RunContext { connection, output, interrupt: self.interrupt.clone(), participant: None };
        let (run, desired) = Box::pin(invocation.begin_in(context, manifests, vec![EarlySubject::Objects])).await?;
        if let Some(left_out) = hooks_left_out(desired.hooks_left_out()) {
            output.terminal.note(Role::Note, &left_out);
        }
        let targets = run.plan(desired, None)?.targets().cloned().collect();
        Ok((run.server.cluster, targets))
    }

    /// The objects that the command line names.
    async fn of_words(&self, connection: &ConnectionArgs, output: &Output) -> Result<(Cluster, Vec<Target>), Failure> {
        let named = named_objects(&self.args.objects).map_err(Failure::invalid)?;
        let cluster = connected(connection, output, true, &self.interrupt, &Expectation::default()).await?;
        let discovery = discover(&cluster).await?;
        let namespaces = Namespaces { required: None, default: cluster.default_namespace().to_owned() };
        let (mut inputs, mut unknown) = (Vec::new(), Vec::new());
        for object in &named {
            match discovery.named(&object.resource) {
                Ok(resource) => inputs.push(input(object, resource)),
                Err(diagnostic) => unknown.push(diagnostic),
            }
        }
        if !unknown.is_empty() {
            return Err(unknown.into());
        }
        Ok((cluster, targets(&inputs, &discovery, &namespaces)?))
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
                    with_status: self.args.status,
                };
                let managers: Vec<Glob> = self.args.managers.iter().map(|text| Glob::new(text)).collect();
                return Ok(BlamedObject::new(&target.key, Ok(blame.fields(redactor)))
                    .of_managers(&managers)
                    .with_times(&live, &self.args.field_manager));
            }
            LiveState::Absent => Diagnostic::new(Code::NotFound, "it does not exist"),
            LiveState::Unreadable(diagnostic) if diagnostic.code == Code::Interrupted => {
                return Err(Failure::interrupted("the run was interrupted"));
            }
            LiveState::Unreadable(diagnostic) => diagnostic,
        };
        terminal.note(Role::Error, &format!("error: {}: {}", target.key, error.message));
        if let Some(hint) = &error.hint {
            terminal.note(Role::Hint, &format!("  hint: {hint}"));
        }
        Ok(BlamedObject::new(&target.key, Err(&error)))
    }
}

/// An object as the input of a manifest with nothing but its name.
fn input(object: &NamedObject, resource: &Resource) -> Input {
    let NamedObject { resource: typed, name } = object;
    let manifest =
        json!({"apiVersion": resource.gvk.api_version(), "kind": resource.gvk.kind, "metadata": {"name": name}});
    Input { name: format!("{typed}/{name}").into(), text: manifest.to_string().into_bytes().into() }
}

fn targets(inputs: &[Input], discovery: &Discovery, namespaces: &Namespaces) -> Result<Vec<Target>, Failure> {
    let options = ReadOptions {
        validation: Validation::Strict,
        selector: Selector::default(),
        allow_empty: true,
        hooks: Hooks::Include,
    };
    Ok(resolve(read(inputs, &options)?.manifests, discovery, namespaces)?)
}
