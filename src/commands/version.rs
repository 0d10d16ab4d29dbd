//! `version`: the versions of the program and the server, and whether they were tested together.

use reconcile_report::ClusterInfo;
use reconcile_report::Role;
use reconcile_report::formats::json as as_json;
use reconcile_report::version::VersionReport;

use crate::cli::{VersionArgs, VersionFormat};
use crate::session::failure::Failure;
use crate::session::output::{Output, print_diagnostics};
use crate::session::setup::{cluster_info, connected_alone, server_version};
use crate::terminal::Terminal;
use reconcile_core::text::yaml_in_order;

/// The commit that the program was built from, where the build names it: a release does, so that it can be built again.
const COMMIT: Option<&str> = option_env!("KUBECTL_RECONCILE_COMMIT");

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) async fn run(args: &VersionArgs, terminal: &Terminal) -> Result<u8, Failure> {
    let client = VersionReport::of_client(COMMIT);
    let report = match server(args, terminal).await {
        None => client,
        Some(Ok(cluster)) => client.beside(cluster),
        Some(Err(failure)) => client.without_server(failure),
    };
    print_diagnostics(terminal, report.errors());
    let _ = match args.output {
        VersionFormat::Text => terminal.text(&report.text()),
        VersionFormat::Json => terminal.data(&as_json::document(&report)),
        VersionFormat::Yaml => terminal.document(&yaml_in_order(&report)),
    };
    Ok(report.exit_code)
}

/// Asks the server, unless only the version of the program is wanted. A user who may not read its version gets a warning.
async fn server(args: &VersionArgs, terminal: &Terminal) -> Option<Result<ClusterInfo, Failure>> {
    let asked = async {
        let output = Output::of_console(terminal, &args.console);
        let cluster = connected_alone(&args.connection, "version", &output).await?;
        let version = match server_version(&cluster).await {
            Err(error) if error.status().is_some_and(|status| status.code == 403) => {
                terminal.note(Role::Note, "warning: the user may not read the version of the server");
                None
            }
            version => version?,
        };
        Ok(cluster_info(&cluster, version))
    };
    if args.client { None } else { Some(asked.await) }
}
