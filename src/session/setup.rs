//! What was typed → what it means: the connection, the plan, and whose fields are whose.

use std::path::PathBuf;
use std::sync::Arc;

use apply_set::ApplySet;

use crate::cli::{
    ApplyArgs, AutoscalerChoice, CompareArgs, ConnectionArgs, EvidenceChoice, ForceChoice, InputArgs, ReplaceChoice,
};
use crate::client::{Cluster, ConnectOptions, Environment, Log, Request, connect};
use crate::compare::{EvidenceMode, ForceConflicts, Policy, Replace};
use crate::desired::DesiredSet;
use crate::diagnostic::Diagnostic;
use crate::engine::interrupt::Interrupt;
use crate::live::autoscalers::AutoscalerSource;
use crate::live::resolve::{Namespaces, resolve};
use crate::live::{Discovery, Target, discover, json};
use crate::plan::Plan;
use crate::report::Role;
use crate::report::{ClusterInfo, FailClass, Report};
use crate::rules::Autoscalers;
use crate::session::configured::Settings;
use crate::session::confirm::somebody_to_ask;
use crate::session::failure::{Failure, not_connected};
use crate::terminal::Terminal;

/// A connected cluster with its catalog.
pub(crate) struct Connected {
    /// The connection.
    pub cluster: Cluster,
    /// What it serves.
    pub catalog: Discovery,
    /// What the report says of it.
    pub info: ClusterInfo,
    /// Which namespaces apply.
    pub namespaces: Namespaces,
    /// Where things are kept between runs.
    pub cache: Option<PathBuf>,
}

/// Connects, and asks for the catalog and the version at once. `input` tells whether standard input is taken.
pub(crate) async fn connected(
    args: &ConnectionArgs,
    verbosity: u8,
    input: &InputArgs,
    terminal: &Terminal,
    interrupt: &Interrupt,
) -> Result<Connected, Failure> {
    let stdin_is_free = !input.filename.iter().any(|path| path == "-");
    let options = connect_options(args, verbosity, stdin_is_free, terminal);
    let environment = Environment::from_process();
    let home = environment.home.as_ref().map(|home| home.join(".kube").join("cache"));
    let cache = args.cache_dir.clone().or(home);
    let cluster = connect(&options, &environment).await.map_err(not_connected)?.stopped_by(interrupt.flag());
    let (catalog, version) = futures::join!(discover(&cluster), version(&cluster));
    let info =
        ClusterInfo { context: cluster.context().map(ToOwned::to_owned), server: cluster.server().to_owned(), version };
    let default = cluster.default_namespace().to_owned();
    let required = args.namespace.as_ref().filter(|name| !name.is_empty()).map(|_| default.clone());
    let namespaces = Namespaces { required, default };
    Ok(Connected { catalog: catalog?, info, namespaces, cache, cluster })
}

/// The report of a run that was connected to a cluster.
pub(crate) fn concluded(report: Report, info: ClusterInfo, cluster: &Cluster, interrupt: &Interrupt) -> Report {
    let report = Report { cluster: Some(info), requests: cluster.counts(), ..report };
    if interrupt.is_set() { report.interrupted() } else { report }
}

/// The server's version; not being allowed to know it is no error.
async fn version(cluster: &Cluster) -> Option<String> {
    let version = json(cluster, Request::read("/version")).await.ok()?;
    version.get("gitVersion")?.as_str().map(ToOwned::to_owned)
}

/// What the flags say about the connection.
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

/// Where the autoscalers of a run are found, unless their changes count as drift.
pub(crate) fn autoscalers(args: &CompareArgs, catalog: &Discovery, plan: &Plan) -> Option<AutoscalerSource> {
    (args.autoscalers == AutoscalerChoice::Respect).then(|| AutoscalerSource::new(catalog, plan.targets()))
}

/// Resolves the manifests, with the kinds that the input itself defines, makes them members of the apply set, and orders them.
pub(crate) fn planned(
    desired: DesiredSet,
    mut catalog: Discovery,
    namespaces: &Namespaces,
    set: Option<&ApplySet>,
) -> Result<Plan, Failure> {
    for manifest in desired.manifests.iter().filter(|manifest| manifest.gvk().is_crd()) {
        catalog.expect(manifest.object());
    }
    let mut targets = resolve(desired.manifests, &catalog, namespaces)?;
    for Target { key, desired, .. } in &mut targets {
        let namespace = key.namespace.as_deref().unwrap_or(&namespaces.default);
        if let Some(set) = set.filter(|set| !set.is_parent(&key.gvk, namespace, &key.name)) {
            desired.join_apply_set(&set.id);
        }
    }
    Ok(Plan::of(targets)?)
}

/// Whose manager we are, and what we take.
pub(crate) fn policy(args: &CompareArgs, settings: &Settings) -> Result<Policy, Failure> {
    let manual_managers = settings.configuration.manual_managers.clone();
    let ignore = settings.ignore.clone();
    let manager = args.field_manager.clone();
    if manager.is_empty() || manager.len() > 128 || manager.chars().any(|c| !c.is_ascii_graphic() && c != ' ') {
        let message = "`--field-manager` takes 1 to 128 printable characters";
        return Err(Failure::invalid(Diagnostic::general(message)));
    }
    if manager == "kubectl" {
        let message = "`--field-manager=kubectl` would share the fields of `kubectl apply --server-side`";
        let hint = "the API server treats this name in a way of its own: choose another";
        return Err(Failure::invalid(Diagnostic::general(message).with_hint(hint)));
    }
    let force = match args.force_conflicts {
        ForceChoice::Manual => ForceConflicts::Manual,
        ForceChoice::All => ForceConflicts::All,
        ForceChoice::None => ForceConflicts::None,
    };
    let evidence = match args.evidence {
        EvidenceChoice::Auto => EvidenceMode::Auto,
        EvidenceChoice::Server => EvidenceMode::Server,
        EvidenceChoice::ReadOnly => EvidenceMode::ReadOnly,
    };
    let replace = match args.replace {
        ReplaceChoice::Never => Replace::Never,
        ReplaceChoice::Immutable => Replace::Immutable,
    };
    let adopt = args.adopt.iter().cloned().collect();
    let show_unmanaged = args.show_unmanaged || args.fail_on.iter().any(FailClass::needs_unmanaged);
    let autoscalers = Arc::new(Autoscalers::beside(&manual_managers));
    Ok(Policy {
        force,
        show_unmanaged,
        evidence,
        manual_managers,
        adopt,
        replace,
        ignore,
        autoscalers,
        ..Policy::of(&manager)
    })
}

/// The policy of a run that writes, and somebody to ask where that is wanted.
pub(crate) fn writing_policy(args: &ApplyArgs, settings: &Settings) -> Result<Policy, Failure> {
    let mut policy = policy(&args.compare, settings)?;
    if policy.evidence == EvidenceMode::ReadOnly {
        let message = "`apply` writes, which `--evidence=read-only` forbids";
        return Err(Failure::refused(message, "compare with `diff --evidence=read-only`"));
    }
    if args.confirm {
        somebody_to_ask(&args.input)?;
    }
    // The creation itself tells as much, unless somebody is to see beforehand what comes of it.
    policy.tries_creations = args.confirm || policy.evidence == EvidenceMode::Server;
    Ok(policy)
}
