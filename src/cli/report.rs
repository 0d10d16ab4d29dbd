use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::output::OutputArgs;

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
