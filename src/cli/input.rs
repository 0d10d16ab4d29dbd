use std::ffi::OsString;

use clap::{Args, ValueEnum, ValueHint};

use super::config::ConfigArgs;

/// Flags that select the manifests.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// File, directory, glob, URL, or `-` for standard input (repeatable)
    #[arg(short, long = "filename", value_name = "PATH", value_delimiter = ',', required_unless_present = "kustomize", value_hint = ValueHint::AnyPath)]
    pub filename: Vec<OsString>,
    /// Kustomization directory to build with `kustomize` or `kubectl kustomize`
    #[arg(short = 'k', long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["filename", "recursive"])]
    pub kustomize: Option<OsString>,
    /// Also read the subdirectories of directories
    #[arg(short = 'R', long)]
    pub recursive: bool,
    /// Use only manifests whose labels match, such as `app=web,tier in (a, b)`
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// Treatment of input that kubectl would silently change or drop: reject it, warn, or accept it
    #[arg(long, value_name = "LEVEL", default_value = "strict")]
    pub validate: ValidateLevel,
    /// Treatment of hooks of Helm and Argo CD: leave them out, or use them like other objects
    #[arg(long, value_name = "TREATMENT", default_value = "skip")]
    pub hooks: HooksChoice,
    /// Succeed even if no object is found or selected
    #[arg(long)]
    pub allow_empty: bool,
    /// Compare the fields that manifests name in the annotation `kubectl-reconcile/ignore` as well; part of `--no-config`
    #[arg(long, help_heading = "Configuration")]
    pub no_ignore_annotations: bool,
    /// Flags that choose the configuration
    #[command(flatten)]
    pub config: ConfigArgs,
}

impl InputArgs {
    /// Returns true if manifests may name fields of their objects to ignore.
    #[must_use]
    pub fn respects_annotations(&self) -> bool {
        !self.no_ignore_annotations && !self.config.no_config
    }
}

/// `--validate`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ValidateLevel {
    /// Reject it
    Strict,
    /// Accept it as kubectl reads it, with a warning
    Warn,
    /// Accept it as kubectl reads it
    Ignore,
}

/// `--hooks`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HooksChoice {
    /// Leave them out
    Skip,
    /// Use them like other objects
    Include,
}
