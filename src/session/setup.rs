//! Turns flags into settings of the stages: the connection, the plan, and which fields to take from other managers.

use std::sync::Arc;

use apply_set::ApplySet;
use reconcile_report::Role;
use reconcile_report::{ClusterInfo, FailClass};

use crate::cli::{
    ApplyArgs, AutoscalerChoice, CompareArgs, ConnectionArgs, EvidenceChoice, ForceChoice, ReplaceChoice, ShardArgs,
};
use crate::client::{Cluster, ConnectOptions, Destination, Environment, Log, Request, RequestError, connect_if};
use crate::config::Expectation;
use crate::engine::interrupt::Interrupt;
use crate::live::autoscalers::AutoscalerSource;
use crate::live::early::EarlySubject;
use crate::live::json;
use crate::session::configured::Settings;
use crate::session::confirm::can_confirm;
use crate::session::contexts::only_one;
use crate::session::failure::{Failure, not_connected};
use crate::session::output::Output;
use crate::session::signals::listen;
use crate::terminal::Terminal;
use reconcile_core::compare::{EvidenceMode, ForceConflicts, Policy, Replace, UnnamedSet};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::resolve::{Namespaces, resolve};
use reconcile_core::live::{Discovery, Target};
use reconcile_core::manifest::DesiredSet;
use reconcile_core::plan::Plan;
use reconcile_core::rules::Autoscalers;

/// Connects to a cluster, without a request, if it is expected.
pub(crate) async fn connected(
    args: &ConnectionArgs,
    output: &Output,
    stdin_is_free: bool,
    interrupt: &Interrupt,
    expect: &Expectation,
) -> Result<Cluster, Failure> {
    expect.allows_flags(args).map_err(Failure::invalid)?;
    let is_expected = |Destination { context, server }: Destination<'_>| expect.allows_cluster(context, Some(server));
    let options = connect_options(args, output.view.verbosity, stdin_is_free, &output.terminal);
    let cluster = connect_if(&options, &Environment::from_process(), is_expected).await.map_err(not_connected)?;
    Ok(cluster.stopped_by(interrupt.flag()))
}

/// Connects a command that takes a single context and reads no manifests, without a request.
pub(crate) async fn connected_alone(args: &ConnectionArgs, command: &str, output: &Output) -> Result<Cluster, Failure> {
    connected(&only_one(args, command)?, output, true, &listen(&output.terminal), &Expectation::default()).await
}

/// A cluster as reports name it.
pub(crate) fn cluster_info(cluster: &Cluster, version: Option<String>) -> ClusterInfo {
    ClusterInfo {
        context: cluster.context().map(ToOwned::to_owned),
        server: cluster.server().to_owned(),
        version,
        uid: None,
    }
}

/// The uid of the Namespace `kube-system`, which identifies a cluster; `None` if it cannot be read.
pub(crate) async fn cluster_uid(cluster: &Cluster) -> Option<String> {
    let namespace = json(cluster, Request::read("/api/v1/namespaces/kube-system")).await.ok()?;
    Some(namespace.pointer("/metadata/uid")?.as_str()?.to_owned())
}

/// The server's version; `None` if it does not say one.
pub(crate) async fn server_version(cluster: &Cluster) -> Result<Option<String>, RequestError> {
    let version = json(cluster, Request::read("/version")).await?;
    Ok(version.get("gitVersion").and_then(|version| version.as_str()).map(ToOwned::to_owned))
}

/// Asks a server for its version, for a command that does nothing else. A user who may not read it gets a warning.
pub(crate) async fn asked_version(args: &ConnectionArgs, output: &Output) -> Result<ClusterInfo, Failure> {
    let cluster = connected_alone(args, "version", output).await?;
    let version = match server_version(&cluster).await {
        Err(error) if error.status().is_some_and(|status| status.code == 403) => {
            output.terminal.note(Role::Note, "warning: the user may not read the version of the server");
            None
        }
        version => version?,
    };
    Ok(cluster_info(&cluster, version))
}

/// The options of the connection.
pub(crate) fn connect_options(
    args: &ConnectionArgs,
    verbosity: u8,
    stdin_is_free: bool,
    terminal: &Terminal,
) -> ConnectOptions {
    let terminal = terminal.clone();
    ConnectOptions {
        kubeconfig: args.kubeconfig.clone(),
        context: args.context.clone(),
        cluster: args.cluster.clone(),
        user: args.user.clone(),
        server: args.server.clone(),
        token: args.token.clone().map(Into::into),
        as_user: args.as_user.clone(),
        as_uid: args.as_uid.clone(),
        as_groups: args.as_group.clone(),
        as_user_extra: args.as_user_extra.clone(),
        certificate_authority: args.certificate_authority.clone(),
        client_certificate: args.client_certificate.clone(),
        client_key: args.client_key.clone(),
        insecure_skip_tls_verify: args.insecure_skip_tls_verify,
        tls_server_name: args.tls_server_name.clone(),
        disable_compression: args.disable_compression,
        request_timeout: args.request_timeout,
        namespace: args.namespace.clone(),
        verbose: verbosity,
        stdin_is_free,
        log: Log::to(move |line| terminal.note(Role::Note, line)),
    }
}

/// The reads with which a comparison begins, and `others`. A run over one shard reads a part of the objects, which is not known before
/// discovery.
pub(crate) fn early_reads(
    args: &CompareArgs,
    shard: ShardArgs,
    others: impl IntoIterator<Item = EarlySubject>,
) -> Vec<EarlySubject> {
    if shard.shard.is_some() {
        return Vec::new();
    }
    let autoscalers = (args.evidence.autoscalers == AutoscalerChoice::Respect).then_some(EarlySubject::Autoscalers);
    [EarlySubject::Objects, EarlySubject::Types].into_iter().chain(autoscalers).chain(others).collect()
}

/// The source of the autoscalers of a run; `None` if their changes count as drift.
pub(crate) fn autoscalers(args: &CompareArgs, discovery: &Discovery, plan: &Plan) -> Option<AutoscalerSource> {
    (args.evidence.autoscalers == AutoscalerChoice::Respect).then(|| AutoscalerSource::new(discovery, plan.targets()))
}

/// Resolves the manifests, with the kinds that the input itself defines, and makes them members of the apply set. Objects in namespaces
/// that are not expected are errors.
pub(crate) fn resolved(
    desired: DesiredSet,
    mut discovery: Discovery,
    namespaces: &Namespaces,
    set: Option<&ApplySet>,
    expect: &Expectation,
) -> Result<Vec<Target>, Failure> {
    for manifest in desired.manifests.iter().filter(|manifest| manifest.gvk().is_crd()) {
        discovery.expect(manifest.object());
    }
    let mut targets = resolve(desired.manifests, &discovery, namespaces)?;
    expect.allows_targets(&targets)?;
    for Target { key, desired, .. } in &mut targets {
        let namespace = key.namespace.as_deref().unwrap_or(&namespaces.default);
        if let Some(set) = set.filter(|set| !set.is_parent(&key.gvk, namespace, &key.name)) {
            desired.join_apply_set(&set.id);
        }
    }
    Ok(targets)
}

/// The field manager, and which fields to take from other managers.
pub(crate) fn policy(args: &CompareArgs, settings: &Settings) -> Result<Policy, Failure> {
    let manual_managers = settings.configuration.manual_managers.clone();
    let ignore = settings.ignore.clone();
    let manager = args.evidence.field_manager.clone();
    if manager.is_empty() || manager.len() > 128 || manager.chars().any(|c| !c.is_ascii_graphic() && c != ' ') {
        let message = "`--field-manager` takes 1 to 128 printable characters";
        return Err(Failure::invalid(Diagnostic::general(message)));
    }
    if manager == "kubectl" {
        let message = "`--field-manager=kubectl` would share the fields of `kubectl apply --server-side`";
        let hint = "the API server treats this name specially: choose another";
        return Err(Failure::invalid(Diagnostic::general(message).with_hint(hint)));
    }
    let force = match args.writing.force_conflicts {
        ForceChoice::Manual => ForceConflicts::Manual,
        ForceChoice::All => ForceConflicts::All,
        ForceChoice::None => ForceConflicts::None,
    };
    let evidence = match args.evidence.evidence {
        EvidenceChoice::Auto => EvidenceMode::Auto,
        EvidenceChoice::Server => EvidenceMode::Server,
        EvidenceChoice::ReadOnly => EvidenceMode::ReadOnly,
    };
    let replace = match args.writing.replace {
        ReplaceChoice::Never => Replace::Never,
        ReplaceChoice::Immutable => Replace::Immutable,
    };
    let unnamed_set = if args.leave_applyset { UnnamedSet::Leave } else { UnnamedSet::Stay };
    let adopt = args.adopt.iter().cloned().collect();
    let show_unmanaged = args.show_unmanaged || args.fail_on.iter().any(FailClass::needs_unmanaged);
    let autoscalers = Arc::new(Autoscalers::with_people(&manual_managers));
    Ok(Policy {
        force,
        show_unmanaged,
        evidence,
        manual_managers,
        adopt,
        replace,
        unnamed_set,
        ignore,
        autoscalers,
        ..Policy::of(&manager)
    })
}

/// The policy of a run that writes. With `--confirm`, there has to be a terminal to ask on.
pub(crate) fn writing_policy(args: &ApplyArgs, settings: &Settings) -> Result<Policy, Failure> {
    let mut policy = policy(&args.compare, settings)?;
    if policy.evidence == EvidenceMode::ReadOnly {
        let message = "`apply` writes, which `--evidence=read-only` forbids";
        return Err(Failure::refused(message, "compare with `diff --evidence=read-only`"));
    }
    if args.confirm {
        can_confirm(&args.input)?;
    }
    // Skip the dry run of a creation: the write reports the same errors, unless `--confirm` has to show them first, or `--plan` has
    // to find what `diff` has found.
    policy.tries_creations = args.confirm || args.plan.is_some() || policy.evidence == EvidenceMode::Server;
    Ok(policy)
}
