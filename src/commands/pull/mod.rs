//! `pull`: read desired, read current, compare, and write live values into the manifests.

mod questions;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Command as Program, ValueEnum};
use reconcile_core::compare::Class;
use reconcile_core::manifest::is_stdin;
use reconcile_core::pull::{ObjectName, Selection};
use reconcile_core::rules::{FieldPattern, Glob};
use reconcile_report::formats::json as as_json;
use reconcile_report::formats::text;
use reconcile_report::pull::PullReport;
use reconcile_report::{ClassInfo, Failure, Role};

use self::questions::ask;
use crate::cli::{
    CompareArgs, ConnectOptions, ConsoleArgs, EvidenceArgs, InputArgs, OverlayArgs, ShardArgs, WritingArgs, hint_for,
};
use crate::engine::event::{Event, EventSink as _};
use crate::engine::reconciliation::Reconciliation;
use crate::output::Output;
use crate::run::base::Base;
use crate::run::edits::overlay::OverlayTarget;
use crate::run::edits::pulling::{Collected, Pulling};
use crate::run::invocation::Invocation;
use crate::run::question::{can_ask, interrupted};
use crate::run::reading::stored::refuse_stored;
use crate::run::settings::{Configured, Settings};
use crate::run::setup::{early_reads, policy};
use crate::terminal::Terminal;

pub(super) const AFTER_HELP: &str = "\
The files are edited in place: comments, order, quotes and indentation stay as they are. Each file is read again before it is \
written, and has to mean exactly the former objects with the accepted values. Values of Secrets are never written.

Exit codes:
  0    everything that was chosen is in the manifests, or there is nothing to pull
  1    with `--dry-run`: there is something to pull
  2    invalid flags, configuration or input; also if the whole input is standard input or URLs
  3    the cluster cannot be reached, or rejected the credentials
  4    some of it could not be written or compared; the rest was
  130  interrupted; no file was written

Examples:
  # Show what somebody changed in the cluster, as a patch of the manifests
  kubectl reconcile pull -f deploy/ --dry-run

  # Take the changes that people made with `kubectl edit` into the manifests
  kubectl reconcile pull -f deploy/ --manager kubectl-edit

  # Take only the replicas of one Deployment
  kubectl reconcile pull -f deploy/ --object Deployment/web --field spec.replicas

  # Take the changes into the overlay: `images`, `replicas`, patches, generators and resources
  kubectl reconcile pull -k overlays/prod --dry-run

  # Patch in the overlay what only its base sets
  kubectl reconcile pull -k overlays/prod --add-patches

  # Decide about each change on the terminal
  kubectl reconcile pull -f deploy/ --patch";

/// `pull`
#[derive(Debug, Args)]
pub struct PullArgs {
    /// Flags that select the manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// Only differences of these classes (repeatable); `unmanaged` without `--manager` is what was added by hand
    /// [default: changedByOther,conflict]
    #[arg(long = "class", value_name = "CLASS,…", value_delimiter = ',', value_parser = classes(), help_heading = "Pull")]
    pub classes: Vec<Class>,
    /// Only fields of these field managers, such as `kubectl-*` (repeatable)
    #[arg(long = "manager", value_name = "MANAGER,…", value_delimiter = ',', value_parser = manager, help_heading = "Pull")]
    pub managers: Vec<Glob>,
    /// Only these fields, such as `spec.replicas,metadata.labels` (repeatable)
    #[arg(long = "field", value_name = "PATTERN,…", value_parser = fields, help_heading = "Pull")]
    pub fields: Vec<FieldList>,
    /// Only these objects, such as `deployment/web`, `deploy/web` or `ConfigMap/*` (repeatable)
    #[arg(long = "object", value_name = "KIND/NAME,…", value_delimiter = ',', value_parser = object, help_heading = "Pull")]
    pub objects: Vec<ObjectName>,
    /// Show the patch and write no file; exit with 1 if there is something to pull
    #[arg(long, help_heading = "Pull", conflicts_with = "patch")]
    pub dry_run: bool,
    /// Ask about each change on the terminal
    #[arg(short, long, help_heading = "Pull")]
    pub patch: bool,
    /// Flags that select places in a kustomization
    #[command(flatten)]
    pub overlay: OverlayArgs,
    /// Flags of the comparison
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    /// Format of the result
    #[arg(short, long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub output: PullFormat,
    /// Colours and verbosity
    #[command(flatten)]
    pub console: ConsoleArgs,
    /// Flags that select the cluster
    #[command(flatten)]
    pub connection: ConnectOptions,
}

/// The fields of one `--field`. The commas in brackets and in quotes are parts of their names.
#[derive(Clone, Debug)]
pub struct FieldList(pub Vec<FieldPattern>);

/// `-o`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PullFormat {
    /// For people: the patch of the files, and what was not pulled
    Text,
    /// For programs: each change, and whether it is in the manifest now
    Json,
}

/// Reads the name of a class, and offers all of them to the help and to completion.
fn classes() -> impl TypedValueParser<Value = Class> {
    let known = ClassInfo::pulled().map(|class| PossibleValue::new(class.id).help(class.fields));
    let named = |name: String| ClassInfo::pulled().find(|class| class.id == name).map(|class| class.class);
    PossibleValuesParser::new(known).try_map(move |name| named(name).ok_or("there is no such class"))
}

fn manager(text: &str) -> Result<Glob, String> {
    if text.is_empty() { Err("a field manager has a name".to_owned()) } else { Ok(Glob::new(text)) }
}

fn fields(text: &str) -> Result<FieldList, String> {
    FieldPattern::parse_list(text).map(FieldList).map_err(|error| error.to_string())
}

fn object(text: &str) -> Result<ObjectName, String> {
    ObjectName::parse(text).ok_or_else(|| "write it as `KIND/NAME`, as in `Deployment/web`".to_owned())
}

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) async fn run(
    args: &PullArgs,
    program: &Program,
    configured: Configured,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let output = &Output::of_console(terminal, &args.console);
    let report = match Box::pin(report(args, program, configured, output)).await {
        Err(failure) if args.output == PullFormat::Json => PullReport::stopped(failure, args.dry_run),
        other => other?,
    };
    output.print_report(&report.pulled.errors, |terminal| match args.output {
        PullFormat::Json => terminal.data(&as_json::document(&report)),
        PullFormat::Text => terminal.text(&report.patch()).and_then(|()| terminal.text(&report.summary())),
    });
    Ok(report.exit_code)
}

async fn report(
    args: &PullArgs,
    program: &Program,
    configured: Configured,
    output: &Output,
) -> Result<PullReport, Failure> {
    let settings = &Settings::of(configured?, output);
    refuse_stored(&args.input, "pull")?;
    has_files(&args.input)?;
    let allowed = args.overlay.allowed(args.input.kustomize.as_deref())?;
    if args.patch {
        let hint = "choose with `--class`, `--manager`, `--field` and `--object` instead";
        can_ask("`--patch` asks on a terminal, and there is none", &args.input, hint)?;
    }
    let selection = selection(args);
    let compare = compare_args(args);
    let policy = policy(&compare, settings)?;
    let base = Base::of(&compare, &args.input, &output.terminal).await?;
    let invocation = Invocation::new(&args.connection, &args.input, output, settings);
    let invocation = Invocation { base: base.as_ref(), ..invocation };
    let (run, desired) = Box::pin(invocation.begin("pull", early_reads(&compare, ShardArgs::default(), []))).await?;
    let selection = selection.with_types(&run.server.discovery);
    let collected = Collected::chosen_by(&selection);
    let mut warnings = settings.warnings().to_vec();
    let plan = run.plan_with(&compare, desired, None).await?;
    let keys: Vec<_> = plan.targets().map(|target| &target.key).collect();
    warnings.extend(selection.unmatched(&keys).map(|name| format!("no object of the manifests is `{name}`")));
    let mut comparison = run.comparison(&compare, &policy, &plan, &collected);
    comparison.warns_of_sets = false;
    let pass = Box::pin(Reconciliation::compare(comparison, plan, None)).await;
    // A kustomization gives a changed ConfigMap a new name, also one that was pulled in part.
    for (new, decision) in run.decide_about_formers(&pass).await {
        collected.receive(Event::Compared(new, &decision));
    }
    warnings.extend(pass.warnings().iter().cloned());
    let cluster = &run.server.cluster;
    let of_objects = collected.server_warnings(&selection, &cluster.warned_of_changes());
    let is_of_object = |text: &String| of_objects.iter().any(|(_, warning)| warning == text);
    warnings.extend(cluster.warned_of_reads().into_iter().filter(|text| !is_of_object(text)));
    warnings.extend(of_objects.iter().map(|(key, warning)| text::about(key, warning)));
    let target = args.input.kustomize.as_deref().map(|directory| OverlayTarget { directory, allowed });
    let mut pulling = Pulling::of(&collected, &selection, target);
    if let Some(own) = program.find_subcommand("pull") {
        let hints = pulling.errors.iter_mut().filter_map(|error| error.hint.as_mut());
        hints.for_each(|hint| *hint = hint_for(hint, own));
    }
    pulling.warnings.splice(..0, warnings);
    output.terminal.warn(&pulling.warnings);
    for missing in &pulling.missing {
        output.terminal.note(Role::Note, &missing.to_string());
    }
    if args.patch {
        ask(&mut pulling, output, &run.interrupt).await?;
    }
    pulling.try_on_server(&pass).await;
    pass.end();
    if run.interrupt.is_set() {
        return Err(interrupted());
    }
    Ok(PullReport::new(pulling.write(args.dry_run), args.dry_run, run.info))
}

/// Refuses an input in which no manifest is in a file.
fn has_files(input: &InputArgs) -> Result<(), Failure> {
    let message = "`pull` writes into the files of manifests, and this input has none";
    if let Some(folder) = &input.kustomize {
        // The build says best what is wrong with a path on this machine.
        let text = folder.to_string_lossy();
        let is_remote = ["://", "?ref=", "git@", "github.com"].iter().any(|part| text.contains(part));
        if !is_remote || Path::new(folder).is_dir() {
            return Ok(());
        }
        return Err(Failure::refused(message, "pass the directory of a kustomization on this machine with `-k`"));
    }
    if input.filename.iter().all(|path| is_stream(path)) {
        return Err(Failure::refused(message, "name the files or folders of the manifests with `-f`"));
    }
    Ok(())
}

/// Returns true for standard input, a URL and what the shell or somebody else opens: a pipe or a device.
fn is_stream(path: &OsStr) -> bool {
    let text = path.to_str().unwrap_or_default();
    let begins = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    is_stdin(path)
        || begins(&["http://", "https://", "/dev/fd/", "/proc/self/fd/"])
        || fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

fn selection(args: &PullArgs) -> Selection {
    let PullArgs { classes, managers, fields, objects, .. } = args;
    let classes = classes.clone();
    let managers = managers.clone();
    let fields = fields.iter().flat_map(|list| &list.0).cloned().collect();
    Selection { classes, managers, fields, objects: objects.clone() }
}

/// The flags of a comparison that takes no fields from others and writes nothing.
fn compare_args(args: &PullArgs) -> CompareArgs {
    let show_unmanaged = args.classes.contains(&Class::Unmanaged);
    CompareArgs { show_unmanaged, ..CompareArgs::only(&args.evidence, &WritingArgs::default()) }
}
