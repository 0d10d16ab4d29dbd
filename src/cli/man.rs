use clap::Args;

/// `man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Command to print the page of, such as `diff`
    pub command: Option<String>,
}
