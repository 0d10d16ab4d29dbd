//! `version`: the versions of the program and the server, and whether they were tested together.

use reconcile_report::formats::json as as_json;
use reconcile_report::version::VersionReport;

use crate::cli::{VersionArgs, VersionFormat};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::setup::asked_version;
use crate::terminal::Terminal;
use reconcile_core::text::yaml_in_order;

/// The commit that the program was built from, where the build names it: a release does, so that it can be built again.
const COMMIT: Option<&str> = option_env!("KUBECTL_RECONCILE_COMMIT");

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) async fn run(args: &VersionArgs, terminal: &Terminal) -> Result<u8, Failure> {
    let output = &Output::of_console(terminal, &args.console);
    let client = VersionReport::of_client(COMMIT);
    let report = if args.client {
        client
    } else {
        match asked_version(&args.connection, output).await {
            Ok(cluster) => client.beside(cluster),
            Err(failure) => client.without_server(failure),
        }
    };
    output.print_report(Ok(report), None::<fn(Failure) -> VersionReport>, |report, terminal| match args.output {
        VersionFormat::Text => terminal.text(&report.text()),
        VersionFormat::Json => terminal.data(&as_json::document(report)),
        VersionFormat::Yaml => terminal.document(&yaml_in_order(report)),
    })
}
