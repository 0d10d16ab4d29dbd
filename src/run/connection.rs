//! Connects to a cluster as the flags say, and names it for reports.

use std::time::Duration;

use reconcile_report::{ClusterInfo, Failure, Role, Verdict};

use crate::client::{Cluster, ConnectOptions, Environment, Log, Request, RequestError, connect_if, target_of};
use crate::config::Expectation;
use crate::engine::interrupt::Interrupt;
use crate::live::json;
use crate::output::Output;
use crate::run::contexts::{ChosenContexts, not_connected};
use crate::run::interrupt::listen;
use crate::terminal::Terminal;

/// The time in which Ctrl-C, which ends a credential plugin as well, has reached this process.
const SIGNALLED: Duration = Duration::from_millis(100);

/// Connects to a cluster, without a request, if it is expected. An interrupt ends a credential plugin.
pub(crate) async fn connected(
    args: &ConnectOptions,
    output: &Output,
    stdin_is_free: bool,
    interrupt: &Interrupt,
    expect: &Expectation,
) -> Result<Cluster, Failure> {
    expect.allows_flags(args).map_err(Failure::invalid)?;
    let is_expected = |context: Option<&str>, server: &str| expect.allows_cluster(context, Some(server));
    let options = connect_options(args, output.view.verbosity, stdin_is_free, &output.terminal);
    let environment = Environment::from_process();
    let interrupted = || Failure::interrupted("the run was interrupted before it had credentials");
    let cluster = tokio::select! {
        cluster = connect_if(&options, &environment, is_expected) => cluster.map_err(not_connected),
        () = interrupt.token().cancelled() => return Err(interrupted()),
    };
    if cluster.as_ref().is_err_and(|failure| failure.verdict == Verdict::Unreachable)
        && tokio::time::timeout(SIGNALLED, interrupt.token().cancelled()).await.is_ok()
    {
        return Err(interrupted());
    }
    Ok(cluster?.stopped_by(interrupt.token().clone()))
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

/// A cluster that was not reached, as reports name it; `None` if the flags and the kubeconfig describe none.
pub(crate) fn named_cluster(args: &ConnectOptions) -> Option<ClusterInfo> {
    let (context, server) = target_of(args, &Environment::from_process())?;
    Some(ClusterInfo { context, server, version: None, uid: None })
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
pub(crate) async fn asked_version(args: &ConnectOptions, output: &Output) -> Result<ClusterInfo, Failure> {
    let contexts = ChosenContexts::of(args)?;
    let args = contexts.only("version")?;
    let cluster = connected(args, output, true, &listen(&output.terminal), &Expectation::default()).await?;
    let version = match server_version(&cluster).await {
        Err(error) if error.is_forbidden() => {
            output.terminal.note(Role::Note, "warning: the user may not read the version of the server");
            None
        }
        version => version.map_err(|error| Failure::unanswered(cluster.server(), &error))?,
    };
    Ok(cluster_info(&cluster, version))
}

/// The options of the connection.
pub(crate) fn connect_options(
    args: &ConnectOptions,
    verbose: u8,
    stdin_is_free: bool,
    terminal: &Terminal,
) -> ConnectOptions {
    let terminal = terminal.clone();
    let log = Log::to(move |line| terminal.note(Role::Note, line));
    ConnectOptions { verbose, stdin_is_free, log, ..args.clone() }
}
