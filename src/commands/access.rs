//! `access`: read desired, derive the permissions, ask the server which ones the user has, report.

use std::collections::{BTreeMap, BTreeSet};

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use futures::StreamExt as _;
use k8s_openapi::Resource as _;
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec};
use reconcile_core::compare::FIELD_MANAGER;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::{Discovery, Resource, Target};
use reconcile_core::manifest::{ReleaseInfo, ReleaseName, Releases};
use reconcile_core::object::Permission;
use reconcile_core::plan::access::{Access, Needs, Pruned, Purpose, Subject};
use reconcile_report::Failure;
use reconcile_report::access::{AccessReport, Reviewed};
use reconcile_report::formats::json as as_json;
use serde_json::{Value, json};

use crate::cli::{ConnectOptions, ConsoleArgs, EvidenceChoice, FromSource, InputArgs, PruneArgs, ReplaceChoice};
use crate::client::{Address, Cluster, IN_FLIGHT, RequestError, Warnings, WriteRequest, is_path_segment};
use crate::engine::namespaces::needed_namespaces;
use crate::engine::prune::{places, reach};
use crate::engine::unmanaged::searched;
use crate::live::answer::unexpected;
use crate::live::autoscalers::AutoscalerSource;
use crate::live::discovery::Server;
use crate::live::parse;
use crate::output::Output;
use crate::run::invocation::Invocation;
use crate::run::reading::stored::{reads_of_releases, reads_of_stored};
use crate::run::settings::{Configured, Settings};
use crate::run::setup::requested;
use crate::run::unmanaged::namespaces_of;
use crate::terminal::Terminal;

pub(super) const AFTER_HELP: &str = "\
The roles grant exactly the permissions that the commands of `--for` need for these manifests and flags. Discovery is left out: the \
cluster role `system:discovery` allows it to every user. `--subject` adds the bindings of the roles. With `--from`, the roles are for \
reading alone, because others may write what the cluster keeps; those for objects outside of the namespace of a release are comments. So are those that \
`--prune` needs only for kinds and namespaces that no manifest has, because the apply set's parent lists them, and others may write it.

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
#[command(mut_arg("applyset_recover", |arg| arg.hide(true)))]
pub struct AccessArgs {
    /// Flags that select the manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// Commands to print roles for [default: diff,apply; with --from: diff]
    #[arg(long = "for", value_name = "COMMAND,…", value_delimiter = ',', help_heading = "Access")]
    pub purposes: Vec<PurposeChoice>,
    /// Prefix of the names of the roles
    #[arg(long, value_name = "PREFIX", default_value = "kubectl-reconcile", value_parser = NonEmptyStringValueParser::new(), help_heading = "Access")]
    pub name: String,
    /// Somebody to bind the roles to: `User:NAME`, `Group:NAME` or `ServiceAccount:NAMESPACE/NAME` (repeatable)
    #[arg(long = "subject", value_name = "KIND:NAME", help_heading = "Access")]
    pub subjects: Vec<Subject>,
    /// Method by which `diff` determines drift: with `read-only`, and always with `--from`, it needs no permission to write
    #[arg(long, value_name = "MODE", default_value = "auto", help_heading = "Access")]
    pub evidence: EvidenceChoice,
    /// Action of `apply` when an immutable field differs: report it, or delete and recreate the object
    #[arg(long, value_name = "WHEN", default_value = "never", help_heading = "Access")]
    pub replace: ReplaceChoice,
    /// Restrict the roles to the objects of the manifests by their names, except creation, which RBAC cannot restrict, and what `--prune`
    /// searches
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
    /// Include what `--base helm` needs: to read the records of the releases in the namespace
    #[arg(long, value_name = "BASE", value_parser = ["helm"], conflicts_with = "from", help_heading = "Access")]
    pub base: Option<String>,
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
    pub connection: ConnectOptions,
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
    /// Permissions that `own` needs
    Own,
    /// Permissions that `apply --from helm/RELEASE` needs
    Restore,
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

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) async fn run(args: &AccessArgs, configured: Configured, terminal: &Terminal) -> Result<u8, Failure> {
    let output = &Output::of_console(terminal, &args.console);
    let report = match report(args, configured, output).await {
        Err(failure) if args.output == AccessFormat::Json => AccessReport::stopped(failure),
        other => other?,
    };
    output.print_report(&report.errors, |terminal| match args.output {
        AccessFormat::Text => terminal.text(&report.text()),
        AccessFormat::Json => terminal.data(&as_json::document(&report)),
        AccessFormat::Yaml => {
            let printed = terminal.document(&report.yaml());
            terminal.message(&report.missing());
            printed
        }
    });
    Ok(report.exit_code)
}

async fn report(args: &AccessArgs, configured: Configured, output: &Output) -> Result<AccessReport, Failure> {
    let settings = &Settings::of(configured?, output);
    let set = requested(&args.prune, &args.input, None, &settings.configuration.expect)?;
    excluded(args)?;
    let invocation = Invocation::new(&args.connection, &args.input, output, settings);
    let (run, desired) = invocation.begin("access", Vec::new()).await?;
    let Server { cluster, discovery, .. } = &run.server;
    let places = places(&desired, &run.server);
    let unread = desired.unreadable.clone();
    let releases = desired.releases.iter().filter(|_| args.evidence != EvidenceChoice::ReadOnly);
    let upgraded: BTreeSet<ReleaseName> = releases.flat_map(Releases::server_side).map(ReleaseInfo::named).collect();
    let plan = run.plan(desired, None)?;
    let (prunes, unreadable) = match &set {
        Some(set) => {
            let reached = reach(set, &run.server, &places).await;
            reached.map(|(pruned, unreadable)| (Some(pruned), unreadable))?
        }
        None => (None, None),
    };
    let (outside, mut targets): (Vec<&Target>, Vec<&Target>) = plan.targets().partition(|target| is_outside(target));
    let namespaces = if args.create_namespace { created(&run.server, &targets, prunes.as_ref()) } else { Vec::new() };
    targets.extend(&namespaces);
    let mut errors: Vec<Diagnostic> = unreadable
        .into_iter()
        .chain(unread)
        .chain(targets.iter().chain(&outside).filter_map(|target| unknown(target)))
        .collect();
    let parent = prunes.as_ref().map(Pruned::parent_key);
    let needs = Needs { prunes, upgraded, ..needs(args, &run.server, &targets).await? };
    let purposes = purposes(args);
    let Access { roles, listed, mut permissions, optional } =
        Access::of(&targets, &purposes, &needs, &args.name, discovery);
    let needs = Needs {
        prunes: None,
        autoscalers: autoscalers(discovery, &outside),
        unmanaged: Default::default(),
        stored: BTreeSet::new(),
        upgraded: BTreeSet::new(),
        ..needs
    };
    let more = Access::of(&outside, &purposes, &needs, &args.name, discovery);
    for (permission, purposes) in more.permissions {
        permissions.entry(permission).or_insert(purposes);
    }
    let reviewed = reviewed(cluster, permissions, &mut errors).await?;
    let report = AccessReport::new(roles, reviewed, optional.into_iter().collect(), errors).binding(&args.subjects);
    let record = outside.first().and_then(|target| target.desired.origin.record.as_ref());
    let report = match record {
        Some(record) => report.withholding(record.to_string(), more.roles),
        None => report,
    };
    let report = match parent {
        Some(parent) => report.withholding_list(&parent, listed),
        None => report,
    };
    Ok(report.of(run.info))
}

/// The Namespaces that `--create-namespace` may create.
fn created(server: &Server, targets: &[&Target], prunes: Option<&Pruned>) -> Vec<Target> {
    let required = server.namespaces.required.as_deref();
    let of_set = prunes.and_then(|pruned| pruned.namespace.as_deref());
    needed_namespaces(server, targets, required.into_iter().chain(of_set))
}

/// The needs that the flags add for these objects, without an apply set and without releases.
async fn needs(args: &AccessArgs, server: &Server, targets: &[&Target]) -> Result<Needs, Failure> {
    let Server { discovery, .. } = server;
    let unmanaged = match &args.report_unmanaged {
        Some(named) => (searched(discovery), namespaces_of(named, targets.iter().map(|target| &target.key))?),
        None => Default::default(),
    };
    Ok(Needs {
        asks: args.evidence != EvidenceChoice::ReadOnly && args.input.from.is_none(),
        replaces: args.replace == ReplaceChoice::Immutable,
        by_name: args.by_name,
        waits: args.wait,
        prunes: None,
        autoscalers: autoscalers(discovery, targets),
        unmanaged,
        stored: match &args.base {
            Some(_) => reads_of_releases(server),
            None => reads_of_stored(&args.input, server, restores(args)).await?,
        },
        upgraded: BTreeSet::new(),
    })
}

/// The kinds of autoscalers that are listed for these objects, and their namespaces.
fn autoscalers(discovery: &Discovery, targets: &[&Target]) -> Vec<(Resource, BTreeSet<String>)> {
    AutoscalerSource::new(discovery, targets.iter().copied()).searched(targets)
}

/// Returns true if a record that the cluster keeps names an object that is elsewhere: others may have written the record, so that it gives
/// nobody any rights to that.
fn is_outside(target: &Target) -> bool {
    target.desired.origin.record.as_ref().is_some_and(|record| record.is_outside(&target.key))
}

/// Refuses flags for which no roles can be made.
fn excluded(args: &AccessArgs) -> Result<(), Failure> {
    if args.prune.applyset_recover {
        let hint = "it may delete objects of any kind in any namespace: leave that to an administrator";
        return Err(Failure::refused("the permissions for `--applyset-recover` cannot be listed", hint));
    }
    if args.input.from.is_some() {
        if args.prune.prune {
            let message =
                "`access --from` prints no roles for pruning, because others may write what the cluster keeps";
            return Err(Failure::refused(message, "leave out `--prune`, or pass the manifests with `-f`"));
        }
        let is_restored = matches!(args.input.from, Some(FromSource::Helm { .. }));
        let is_of_helm = is_restored || matches!(args.input.from, Some(FromSource::Releases));
        let writes = |purpose: &&PurposeChoice| match purpose {
            PurposeChoice::Diff | PurposeChoice::Blame => false,
            PurposeChoice::Restore => !is_restored,
            PurposeChoice::Own => !is_of_helm,
            PurposeChoice::Apply | PurposeChoice::Pull | PurposeChoice::Resolve => true,
        };
        if let Some(purpose) = args.purposes.iter().find(writes) {
            let name = purpose.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
            let message = format!(
                "`access --from` prints no roles for `{name}`, because others may write what the cluster keeps"
            );
            return Err(Failure::refused(message, "pass `--for diff`, `--for blame`, or the manifests with `-f`"));
        }
        if args.evidence == EvidenceChoice::Server {
            let message = "`access --from` prints no roles with permissions to write, which `--evidence=server` needs";
            return Err(Failure::refused(message, "leave out `--evidence`, or pass the manifests with `-f`"));
        }
    }
    if args.input.from.is_none() && restores(args) {
        let hint = "name the release, as in `access --from helm/RELEASE --for restore`";
        return Err(Failure::refused("`--for restore` needs `--from helm/RELEASE`", hint));
    }
    if !args.subjects.is_empty() && args.output == AccessFormat::Text {
        return Err(Failure::refused(
            "`--subject` prints bindings, which `-o text` does not",
            "use `-o yaml` or `-o json`",
        ));
    }
    if !is_path_segment(&args.name) {
        return Err(Failure::refused("`--name` cannot be part of the name of a role", "leave out `/` and `%`"));
    }
    Ok(())
}

/// Returns true if the roles are to restore a release.
fn restores(args: &AccessArgs) -> bool {
    args.purposes.contains(&PurposeChoice::Restore)
}

fn purposes(args: &AccessArgs) -> BTreeSet<Purpose> {
    let purpose = |choice: &PurposeChoice| match choice {
        PurposeChoice::Diff | PurposeChoice::Pull => Purpose::Diff,
        PurposeChoice::Apply | PurposeChoice::Resolve => Purpose::Apply,
        PurposeChoice::Blame => Purpose::Blame,
        PurposeChoice::Own => Purpose::Own,
        PurposeChoice::Restore => Purpose::Restore,
    };
    match args.purposes.as_slice() {
        [] if args.input.from.is_some() => BTreeSet::from([Purpose::Diff]),
        [] => BTreeSet::from([Purpose::Diff, Purpose::Apply]),
        chosen => chosen.iter().map(purpose).collect(),
    }
}

/// An error if the permissions for a target are not known.
fn unknown(target: &Target) -> Option<Diagnostic> {
    let diagnostic: &Diagnostic = target.resource.as_deref().err()?;
    let message = format!("the permissions for {} are not known: {}", target.key, diagnostic.message);
    // A mistake in the manifest has its own location.
    let Diagnostic { location, excerpt, .. } = diagnostic.details.first().unwrap_or(diagnostic).clone();
    Some(Diagnostic { message, location, excerpt, ..diagnostic.clone() })
}

/// Asks the server for each permission. A permission that it cannot review is an error of the report; a lost connection ends the run.
pub(crate) async fn reviewed(
    cluster: &Cluster,
    needed: BTreeMap<Permission, Vec<Purpose>>,
    errors: &mut Vec<Diagnostic>,
) -> Result<Vec<Reviewed>, RequestError> {
    let reviews = needed.keys().map(|permission| is_allowed(cluster, permission));
    let answers: Vec<_> = futures::stream::iter(reviews).buffered(IN_FLIGHT).collect().await;
    let mut reviewed = Vec::with_capacity(needed.len());
    for ((permission, purposes), answer) in needed.into_iter().zip(answers) {
        let allowed = match answer {
            Ok(is_allowed) => Some(is_allowed),
            Err(error) if error.is_whole_run() => return Err(error),
            Err(error) => {
                let diagnostic = Diagnostic::from(&error);
                let message = format!("whether {permission} is allowed is not known: {}", diagnostic.message);
                errors.push(Diagnostic { message, ..diagnostic });
                None
            }
        };
        reviewed.push(Reviewed { purposes, permission, allowed });
    }
    Ok(reviewed)
}

/// Sends one review. A review is created but never stored, so it is sent as a dry run.
async fn is_allowed(cluster: &Cluster, permission: &Permission) -> Result<bool, RequestError> {
    let Permission { namespace, group, resource, name, verb } = permission;
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let attributes = ResourceAttributes {
        namespace: Some(namespace.clone().unwrap_or_default()),
        verb: Some(verb.clone()),
        group: Some(group.clone()),
        resource: Some(resource.to_owned()),
        subresource: Some(subresource.to_owned()),
        name: Some(name.clone().unwrap_or_default()),
        ..ResourceAttributes::default()
    };
    let spec = SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), non_resource_attributes: None };
    let api_version = SelfSubjectAccessReview::API_VERSION;
    let kind = SelfSubjectAccessReview::KIND;
    let question = json!({"apiVersion": api_version, "kind": kind, "spec": spec});
    let collection = Address::from("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    let review = WriteRequest::create(collection, FIELD_MANAGER, &question).dry_run();
    // A review is no object of the user, so that a warning would be about this program alone.
    let reply = cluster.change(review, &Warnings::default()).await?;
    let answer: Value = parse(cluster, reply.body())?;
    let is_review = answer.get("kind").is_some_and(|kind| kind == SelfSubjectAccessReview::KIND);
    match answer.pointer("/status/allowed").and_then(Value::as_bool).filter(|_| is_review) {
        Some(is_allowed) => Ok(is_allowed),
        None => Err(unexpected(cluster, "it is not an access review")),
    }
}
