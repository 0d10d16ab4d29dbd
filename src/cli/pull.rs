use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use reconcile_core::compare::Class;
use reconcile_core::pull::ObjectName;
use reconcile_core::rules::{FieldPattern, Glob};
use reconcile_report::ClassInfo;

use super::compare::EvidenceArgs;
use super::connection::ConnectionArgs;
use super::input::InputArgs;
use super::output::ConsoleArgs;

pub(super) const AFTER_HELP: &str = "\
The files are edited in place: comments, order, quotes and indentation stay as they are. Each file is read again before it is \
written, and has to mean exactly the former objects with the accepted values. Values of Secrets are never written.

Exit codes:
  0    everything that was chosen is in the manifests, or there is nothing to pull
  1    with `--dry-run`: there is something to pull
  2    invalid flags, configuration or input; also if the whole input is standard input, URLs or a kustomization
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

  # Decide about each change on the terminal
  kubectl reconcile pull -f deploy/ --patch";

/// `pull`
#[derive(Debug, Args)]
pub struct PullArgs {
    /// Flags that select the manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// Only differences of these classes (repeatable) [default: changedByOther,conflict]
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
    pub connection: ConnectionArgs,
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
