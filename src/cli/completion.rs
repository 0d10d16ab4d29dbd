use clap::{Args, ValueEnum};
use clap_complete::Shell;

pub(super) const AFTER_HELP: &str = "\
Examples:
  # Enable completion of `kubectl-reconcile` in the current Bash
  source <(kubectl reconcile completion bash)

  # Enable completion of `kubectl reconcile <TAB>`: kubectl runs this file from PATH
  kubectl reconcile completion kubectl > ~/.local/bin/kubectl_complete-reconcile
  chmod +x ~/.local/bin/kubectl_complete-reconcile";

/// `completion`
#[derive(Debug, Args)]
pub struct CompletionArgs {
    /// Shell to print the script for; `kubectl` prints the executable that kubectl runs for `kubectl reconcile <TAB>`
    pub shell: CompletionShell,
}

/// Targets of a completion script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompletionShell {
    /// Bash
    Bash,
    /// Elvish
    Elvish,
    /// Fish
    Fish,
    /// `PowerShell`
    #[value(name = "powershell")]
    PowerShell,
    /// Zsh
    Zsh,
    /// The executable `kubectl_complete-reconcile`
    Kubectl,
}

impl CompletionShell {
    /// Returns the generator of the script, or `None` for kubectl, whose script is fixed.
    #[must_use]
    pub fn generator(self) -> Option<Shell> {
        match self {
            Self::Bash => Some(Shell::Bash),
            Self::Elvish => Some(Shell::Elvish),
            Self::Fish => Some(Shell::Fish),
            Self::PowerShell => Some(Shell::PowerShell),
            Self::Zsh => Some(Shell::Zsh),
            Self::Kubectl => None,
        }
    }
}
