use std::path::PathBuf;

use clap::{Args, ValueHint};

pub(super) const AFTER_HELP: &str = "\
Exit codes:
  0    the pages were printed or written
  2    there is no such command, or a page cannot be written

Examples:
  # Read the page of a command
  kubectl reconcile man diff | man -l -

  # Write all pages, one for each command, to where `man` finds them
  kubectl reconcile man --dir ~/.local/share/man/man1";

/// `man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Command whose page to print, such as `diff` or `config view`; without one, the page of the program
    #[arg(conflicts_with = "dir", num_args = 0..)]
    pub command: Vec<String>,
    /// Write the pages of the program and of all its commands to this directory, which is created if needed
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub dir: Option<PathBuf>,
}
