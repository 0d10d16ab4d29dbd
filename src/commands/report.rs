//! `report merge`: reads reports, joins them, and renders the whole.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_report::formats::text;
use reconcile_report::{Failure, MergeInput, SharedObjects, merged};

use crate::cli::OutputArgs;
use crate::output::Output;
use crate::run::earlier_runs::{LARGEST, content};

pub(super) const AFTER_HELP: &str = "\
Exit codes (of several results the worst: 130, then 2, 4, 3, 5, 1 and 0):
  0    no merged report has another exit code
  1    a run found drift, or the answer to --confirm was no
  2    a run ended with 2, a file is no report, the reports do not belong together,
       or the merged report could not be written
  3    a run could not reach its cluster
  4    a run was incomplete, or the report of a shard is missing
  5    a run found an object that is not ready
  130  a run was interrupted

Examples:
  # Join the reports of four shards, and show the whole as text
  kubectl reconcile report merge shard-*.json

  # The same as one JSON report in a file, with the text on standard output
  kubectl reconcile report merge shard-*.json -o text -o json=report.json

  # Compare clusters whose reports were written one by one
  kubectl reconcile report merge eu.json us.json";

/// `report`
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The command
    #[command(subcommand)]
    pub command: ReportCommand,
}

/// The commands of `report`.
#[derive(Debug, Subcommand)]
pub enum ReportCommand {
    /// Join the JSON reports of shards into one, or show those of several clusters together
    #[command(after_long_help = AFTER_HELP)]
    Merge(MergeArgs),
}

/// `report merge`
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Report that a run wrote with `-o json` (repeatable)
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    pub files: Vec<PathBuf>,
    /// Flags for the output
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The most that is read of all reports together, in bytes.
const IN_ALL: u64 = 1 << 30;

/// Runs the command to its exit code.
pub(super) fn run(ReportArgs { command: ReportCommand::Merge(args) }: &ReportArgs) -> Result<u8, Failure> {
    if let Some(target) = args.output.output.iter().find(|target| target.format.needs_the_run()) {
        let message = format!("`-o {}` needs data that a report does not have", target.format.name);
        return Err(Failure::refused(message, "use it in the runs themselves, or choose another format"));
    }
    let output = Output::new(&args.output)?;
    let reports = merged(read(args)?).map_err(Failure::invalid)?;
    if let Some(report) = reports.only() {
        output.warn(report);
    } else {
        for one in &reports.contexts {
            output.of_context(one.name()).warn(&one.report);
        }
        output.terminal.warn(&reports.warnings);
    }
    drop(output.text(&text::render(&reports, &output.view)));
    Ok(output.finish(&reports))
}

/// Reads all files. The error has one diagnostic for each file that cannot be read.
fn read(args: &MergeArgs) -> Result<Vec<MergeInput>, Vec<Diagnostic>> {
    let mut parts = Vec::new();
    let mut diagnostics = Vec::new();
    let mut bytes = 0_u64;
    let mut shared = SharedObjects::default();
    for path in &args.files {
        let file = path.to_string_lossy();
        let read = content(path, LARGEST).and_then(|text| {
            bytes += text.len() as u64;
            if bytes > IN_ALL { Err("all reports together are larger than 1 GiB".to_owned()) } else { Ok(text) }
        });
        let read = read.map_err(|message| Diagnostic::of_file(&file, message));
        match read.and_then(|text| MergeInput::read(&file, &text)) {
            Ok(mut of_file) => {
                for report in &mut of_file {
                    shared.share(report);
                }
                parts.extend(of_file);
            }
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    if diagnostics.is_empty() { Ok(parts) } else { Err(diagnostics) }
}
