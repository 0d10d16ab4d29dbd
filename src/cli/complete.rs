use clap::Args;

/// `__complete`
#[derive(Debug, Args)]
pub struct CompleteArgs {
    /// The words after `kubectl reconcile`, with the incomplete one last
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}
