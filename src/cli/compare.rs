use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::builder::{NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use reconcile_core::compare::FIELD_MANAGER;
use reconcile_report::{FAIL_CLASSES, FailClass};

/// Flags of `diff` and `apply` that define what counts as drift, and which fields to take from other managers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Compare")]
#[expect(clippy::struct_excessive_bools, reason = "a flag is typed or not")]
pub struct CompareArgs {
    /// Flags that all comparisons have
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    /// Also show fields that other managers added
    #[arg(long)]
    pub show_unmanaged: bool,
    /// Also list the differences that each ignore rule hides
    #[arg(long)]
    pub explain_ignores: bool,
    /// Also report drift when values match but some fields are not yet owned by our field manager
    #[arg(long)]
    pub strict_ownership: bool,
    /// Exit with 1 only for these differences (repeatable) [default: drift]
    #[arg(long, value_name = "CLASS,…", value_delimiter = ',', value_parser = fail_classes(), hide_default_value = true)]
    pub fail_on: Vec<FailClass>,
    /// Leave out what an apply sets off beyond the fields that it writes, such as Pods that restart
    #[arg(long)]
    pub no_effects: bool,
    /// Resolve only these differences, and leave the others as they are in the cluster: `apply --only cluster` heals what changed in the
    /// cluster, and leaves what is new in the manifests for a release (repeatable) [default: all]
    #[arg(long, value_name = "CLASS,…", value_delimiter = ',', value_parser = only_classes(), hide_default_value = true)]
    pub only: Vec<FailClass>,
    /// Flags that decide what an apply writes
    #[command(flatten)]
    pub writing: WritingArgs,
    /// Also remove fields and list items that only these field managers own, and that neither the manifests nor an ignore rule have;
    /// without a value, those that were added by hand
    #[arg(long, value_name = "GLOB,…", num_args = 0..=1, require_equals = true, value_delimiter = ',', value_parser = NonEmptyStringValueParser::new(), help_heading = "Apply")]
    pub remove_added: Option<Vec<String>>,
    /// Field managers to take over from, such as `helm,kubectl`: their fields in the manifests become ours, and their apply
    /// sets are continued
    #[arg(long, value_name = "MANAGER,…", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new(), help_heading = "Apply")]
    pub adopt: Vec<String>,
    /// Take the objects out of the apply set that they belong to; without this flag and `--applyset`, they stay in it
    #[arg(long, help_heading = "Apply", conflicts_with_all = ["prune", "applyset", "applyset_recover"])]
    pub leave_applyset: bool,
    /// Do not check that `--applyset` names the set that the configuration expects
    #[arg(long, help_heading = "Apply")]
    pub no_expect_applyset: bool,
}

impl CompareArgs {
    /// The names of the differences that the run resolves, if they were chosen.
    pub fn chosen(&self) -> Vec<&'static str> {
        self.only.iter().map(|class| class.name()).collect()
    }

    /// The field managers whose additions the run removes, as they were named; empty for those of manual changes, `None` without the flag.
    pub fn removed_managers(&self) -> Option<BTreeSet<String>> {
        self.remove_added.as_ref().map(|names| names.iter().cloned().collect())
    }

    /// The flags of a command that has only these: everything else is as without a flag.
    pub fn only(evidence: &EvidenceArgs, writing: &WritingArgs) -> Self {
        Self {
            evidence: evidence.clone(),
            writing: writing.clone(),
            show_unmanaged: false,
            explain_ignores: false,
            strict_ownership: false,
            fail_on: Vec::new(),
            no_effects: true,
            only: Vec::new(),
            remove_added: None,
            adopt: Vec::new(),
            leave_applyset: false,
            no_expect_applyset: true,
        }
    }
}

/// Flags of all commands that compare.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Compare")]
pub struct EvidenceArgs {
    /// Name of the field manager that applies and owns the fields of the manifests
    #[arg(long, value_name = "NAME", default_value = FIELD_MANAGER, value_parser = NonEmptyStringValueParser::new())]
    pub field_manager: String,
    /// Method to determine drift: prove it from the live object and ask the server only when needed (auto), always ask (server),
    /// or never send a PATCH and compare locally (read-only)
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub evidence: EvidenceChoice,
    /// Treatment of fields that an autoscaler changes: leave them alone (respect), or treat them like all other fields (ignore)
    #[arg(long, value_name = "MODE", default_value = "respect")]
    pub autoscalers: AutoscalerChoice,
    /// Flags that name what was applied last
    #[command(flatten)]
    pub base: BaseArgs,
}

/// Flags of commands that write objects.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Apply")]
pub struct WritingArgs {
    /// Which fields to take from other managers: manual changes (`manual`), all, or none; without a value, all
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_value = "manual",
          default_missing_value = "all")]
    pub force_conflicts: ForceChoice,
    /// Action when an immutable field differs: report it, or delete and recreate the object
    #[arg(long, value_name = "WHEN", default_value = "never")]
    pub replace: ReplaceChoice,
    /// Create the namespaces of `--namespace` and of the manifests that do not exist
    #[arg(long)]
    pub create_namespace: bool,
}

/// As without a flag.
impl Default for WritingArgs {
    fn default() -> Self {
        Self { force_conflicts: ForceChoice::Manual, replace: ReplaceChoice::Never, create_namespace: false }
    }
}

/// Reads the name of a class, and offers all of them to the help and to completion.
fn fail_classes() -> impl TypedValueParser<Value = FailClass> {
    classes(|_| true)
}

/// Reads the name of a class that is known before it is decided what is applied: not that of an effect, and not a warning of the server.
fn only_classes() -> impl TypedValueParser<Value = FailClass> {
    classes(|class| !matches!(class, FailClass::Restart | FailClass::Warnings))
}

fn classes(is_offered: impl Fn(FailClass) -> bool) -> impl TypedValueParser<Value = FailClass> {
    let known = FAIL_CLASSES.iter().filter(|class| is_offered(**class));
    let known: Vec<_> = known.map(|class| PossibleValue::new(class.name()).help(class.help())).collect();
    PossibleValuesParser::new(known).try_map(|name| FailClass::named(&name).ok_or("there is no such class"))
}

/// `--evidence`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EvidenceChoice {
    /// Prove it from the live object, or else ask the server, or else compare locally
    Auto,
    /// Ask the server about every object
    Server,
    /// Prove it from the live object, or else compare locally; never send a PATCH
    ReadOnly,
}

/// `--autoscalers`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AutoscalerChoice {
    /// Neither report nor reset the replicas of a workload that has a horizontal autoscaler (also of KEDA), and the resources that
    /// a vertical one sets
    Respect,
    /// Do not look for autoscalers
    Ignore,
}

/// `--force-conflicts`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ForceChoice {
    /// Fields changed with kubectl or by a manager listed in `manualManagers` of the configuration file
    Manual,
    /// Also fields of other appliers and of controllers
    All,
    /// No fields
    None,
}

/// `--replace`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReplaceChoice {
    /// Report the difference and leave the object unchanged
    Never,
    /// Delete and recreate the object
    Immutable,
}

/// Flags that name what was applied last, which tells on which side a difference changed.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Base")]
pub struct BaseArgs {
    /// Manifests that were applied last, to tell changes of the manifests from changes in the cluster: file, directory, glob or URL, or
    /// `helm` for the deployed releases of the objects (repeatable)
    #[arg(id = "base", long = "base", value_name = "PATH", value_delimiter = ',', value_hint = ValueHint::AnyPath, conflicts_with = "from")]
    pub paths: Vec<OsString>,
    /// The revision of the git repository of the manifests in which they were applied last: the same files as they are there. `auto` is
    /// where the branch began: its merge base with its upstream, or with the default branch of the remote
    #[arg(long, value_name = "REF", value_parser = NonEmptyStringValueParser::new(), conflicts_with_all = ["base", "from"])]
    pub since: Option<String>,
    /// Compare only the objects whose manifests differ from those of the base
    #[arg(long, conflicts_with = "from")]
    pub changed_only: bool,
}

impl BaseArgs {
    /// Returns true if a base is named.
    pub fn is_given(&self) -> bool {
        !self.paths.is_empty() || self.since.is_some()
    }

    /// Returns true if the base is what Helm keeps of the releases of the objects.
    pub fn is_helm(&self) -> bool {
        self.paths.iter().any(|path| path == "helm")
    }
}
