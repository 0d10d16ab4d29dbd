//! `version`: the program, the server, and whether they were tested together.

use anyhow::Context as _;

use crate::cli::{VersionArgs, VersionFormat};
use crate::client::{Environment, Request, connect};
use crate::live::json;
use crate::report::ClusterInfo;
use crate::report::Role;
use crate::report::formats::json as as_json;
use crate::report::version::VersionReport;
use crate::session::contexts::only_one;
use crate::session::failure::{Failure, not_connected};
use crate::session::output::tell;
use crate::session::setup::connect_options;
use crate::session::signals::listen;
use crate::terminal::Terminal;

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) async fn run(args: VersionArgs) -> u8 {
    let terminal = Terminal::new(args.console.color, false);
    let client = VersionReport::of_client();
    let report = if args.client {
        client
    } else {
        match server(&args, &terminal).await {
            Ok(cluster) => client.beside(cluster),
            Err(failure) => client.without_server(failure),
        }
    };
    tell(&terminal, report.errors());
    if let Err(failure) = show(&report, args.output, &terminal) {
        tell(&terminal, &failure.problems);
    }
    report.exit_code
}

fn show(report: &VersionReport, format: VersionFormat, terminal: &Terminal) -> Result<(), Failure> {
    let _ = match format {
        VersionFormat::Text => terminal.text(&report.text()),
        VersionFormat::Json => terminal.data(&as_json::document(report)),
        VersionFormat::Yaml => {
            terminal.document(&serde_saphyr::to_string(report).context("the versions cannot be written as YAML")?)
        }
    };
    Ok(())
}

/// Asks the server. Not being allowed to know its version is no error.
async fn server(args: &VersionArgs, terminal: &Terminal) -> Result<ClusterInfo, Failure> {
    let connection = only_one(&args.connection, "version")?;
    let options = connect_options(&connection, args.console.verbosity, true, terminal);
    let interrupt = listen(terminal);
    let cluster = connect(&options, &Environment::from_process()).await.map_err(not_connected)?;
    let cluster = cluster.stopped_by(interrupt.flag());
    let version = match json(&cluster, Request::read("/version")).await {
        Ok(version) => version.get("gitVersion").and_then(|version| version.as_str()).map(ToOwned::to_owned),
        Err(error) if error.status().is_some_and(|status| status.code == 403) => {
            terminal.note(Role::Note, "warning: the user may not read the version of the server");
            None
        }
        Err(error) => return Err(error.into()),
    };
    Ok(ClusterInfo { context: cluster.context().map(ToOwned::to_owned), server: cluster.server().to_owned(), version })
}
