use std::ffi::OsString;

use clap::{Args, ValueEnum};

/// Which manifests.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// File, directory, glob, URL, or `-` for standard input (repeatable)
    #[arg(short, long = "filename", value_name = "PATH", required_unless_present = "kustomize")]
    pub filename: Vec<OsString>,
    /// Directory with a kustomization, built with `kustomize` or `kubectl kustomize`
    #[arg(short = 'k', long, value_name = "DIR", conflicts_with_all = ["filename", "recursive"])]
    pub kustomize: Option<OsString>,
    /// Read the subdirectories of directories, too
    #[arg(short = 'R', long)]
    pub recursive: bool,
    /// Only manifests whose labels match, such as `app=web,tier in (a, b)`
    #[arg(short = 'l', long, value_name = "QUERY")]
    pub selector: Option<String>,
    /// What is refused: input that kubectl would read with a loss (strict), or only what can't be read at all
    #[arg(long, value_name = "LEVEL", default_value = "strict")]
    pub validate: ValidateLevel,
    /// Having nothing to do is fine
    #[arg(long)]
    pub allow_empty: bool,
}

/// `--validate`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ValidateLevel {
    /// Refuse it
    Strict,
    /// Read it as kubectl does, and warn
    Warn,
    /// Read it as kubectl does
    Ignore,
}
