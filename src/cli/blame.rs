use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, ValueHint};

use super::connection::ConnectionArgs;
use super::input::InputArgs;
use super::output::TextArgs;

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
