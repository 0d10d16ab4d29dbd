use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};

use super::compare::{EvidenceChoice, ReplaceChoice};
use super::connection::ConnectionArgs;
use super::input::InputArgs;
use super::output::ConsoleArgs;
use super::prune::PruneArgs;
use reconcile_core::plan::access::Subject;

pub(super) const AFTER_HELP: &str = "\
The roles grant exactly the permissions that the commands of `--for` need for these manifests and flags. Discovery is left out: the \
cluster role `system:discovery` allows it to every user. `--subject` adds the bindings of the roles.

Exit codes:
  0    the user has all these permissions
  1    at least one permission is missing
  2    invalid flags or input
  3    the cluster cannot be reached, or rejected the credentials
  4    not all permissions are known: a kind is unknown, or a review failed
  130  interrupted

Examples:
  # Let the ServiceAccount of a pipeline compare and apply
  kubectl reconcile access -f deploy/ --subject ServiceAccount:shop/ci | kubectl apply -f -

  # Check in a pipeline whether `apply` would be allowed
  kubectl reconcile access -f deploy/ --for apply -o text

  # Print the role for a drift check that never sends a PATCH
  kubectl reconcile access -f deploy/ --for diff --evidence read-only";

/// `access`
#[derive(Debug, Args)]
pub struct AccessArgs {
    /// Flags that select the manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// Commands to print roles for
    #[arg(
        long = "for",
        value_name = "COMMAND,…",
        value_delimiter = ',',
        default_value = "diff,apply",
        help_heading = "Access"
    )]
    pub purposes: Vec<PurposeChoice>,
    /// Prefix of the names of the roles
    #[arg(long, value_name = "PREFIX", default_value = "kubectl-reconcile", value_parser = NonEmptyStringValueParser::new(), help_heading = "Access")]
    pub name: String,
    /// Somebody to bind the roles to: `User:NAME`, `Group:NAME` or `ServiceAccount:NAMESPACE/NAME` (repeatable)
    #[arg(long = "subject", value_name = "KIND:NAME", help_heading = "Access")]
    pub subjects: Vec<Subject>,
    /// Method by which `diff` determines drift: with `read-only`, it needs no permission to write
    #[arg(long, value_name = "MODE", default_value = "auto", help_heading = "Access")]
    pub evidence: EvidenceChoice,
    /// Action of `apply` when an immutable field differs: report it, or delete and recreate the object
    #[arg(long, value_name = "WHEN", default_value = "never", help_heading = "Access")]
    pub replace: ReplaceChoice,
    /// Restrict the roles to the objects of the manifests by their names, except creation, which RBAC cannot restrict
    #[arg(long, help_heading = "Access")]
    pub by_name: bool,
    /// Include what `apply --wait` needs
    #[arg(long, help_heading = "Access")]
    pub wait: bool,
    /// Include what `--create-namespace` needs
    #[arg(long, help_heading = "Access")]
    pub create_namespace: bool,
    /// Include what `diff --report-unmanaged` needs: to list all kinds, in these namespaces or in those of the manifests
    #[arg(
        long,
        value_name = "NAMESPACE,…",
        num_args = 0..=1,
        require_equals = true,
        value_delimiter = ',',
        default_missing_value = "",
        help_heading = "Access"
    )]
    pub report_unmanaged: Option<Vec<String>>,
    /// Flags for pruning
    #[command(flatten)]
    pub prune: PruneArgs,
    /// Format of the roles and of the permissions that the user has
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml", help_heading = "Output")]
    pub output: AccessFormat,
    /// Colours and verbosity
    #[command(flatten)]
    pub console: ConsoleArgs,
    /// Flags that select the cluster
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// `--for`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PurposeChoice {
    /// Permissions that `diff` needs
    Diff,
    /// Permissions that `apply` needs
    Apply,
    /// Permissions that `blame` needs
    Blame,
    /// Permissions that `pull` needs: those of `diff`
    Pull,
    /// Permissions that `resolve` needs: those of `apply`
    Resolve,
}

/// `-o`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AccessFormat {
    /// For kubectl: the roles; what is missing is printed on standard error
    Yaml,
    /// For people: what is allowed and what is missing
    Text,
    /// For programs: the roles, and whether the user has each permission
    Json,
}
