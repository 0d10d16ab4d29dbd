//! Connects to a cluster as the flags say, and names it for reports.

use reconcile_report::{ClusterInfo, Failure, Role};

use crate::cli::ConnectionArgs;
use crate::client::{Cluster, ConnectOptions, Destination, Environment, Log, Request, RequestError, connect_if};
use crate::config::Expectation;
use crate::engine::interrupt::Interrupt;
use crate::live::json;
use crate::output::Output;
use crate::run::contexts::{not_connected, only_one};
use crate::run::interrupt::listen;
use crate::terminal::Terminal;

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
    Ok(cluster.stopped_by(interrupt.token().clone()))
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
        kuberc: args.kuberc.clone(),
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
