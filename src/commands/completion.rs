//! `completion`: scripts that ask the program for candidates, or that are generated from the definition of the command line.

use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;
use reconcile_report::EXIT_SUCCESS;

use crate::terminal::Terminal;

pub(super) const AFTER_HELP: &str = "\
For `kubectl reconcile <TAB>`, kubectl runs the executable `kubectl_complete-reconcile` from PATH; completion of kubectl itself has to \
be enabled (`kubectl completion --help`). The scripts for shells complete `kubectl-reconcile <TAB>`. Contexts, namespaces, apply sets and \
field managers are looked up when they are completed; a cluster that does not answer within two seconds is left out, and so are names \
with other characters than letters, digits and `._:/@=,+-`.

Exit codes:
  0    the script was printed
  2    there is no such shell

Examples:
  # Enable completion of `kubectl reconcile <TAB>`
  kubectl reconcile completion kubectl > ~/.local/bin/kubectl_complete-reconcile
  chmod +x ~/.local/bin/kubectl_complete-reconcile

  # Enable completion of `kubectl-reconcile` in the current Bash
  source <(kubectl reconcile completion bash)

  # In zsh, in a folder of $fpath
  kubectl reconcile completion zsh > ~/.zsh/completions/_kubectl-reconcile

  # In fish
  kubectl reconcile completion fish > ~/.config/fish/completions/kubectl-reconcile.fish";

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

/// Prints the script. A reader that went away ends the run quietly.
pub(super) fn run(args: &CompletionArgs, program: Command, terminal: &Terminal) -> u8 {
    let script = match args.shell {
        CompletionShell::Bash => include_str!("../../completions/kubectl-reconcile.bash").to_owned(),
        CompletionShell::Fish => include_str!("../../completions/kubectl-reconcile.fish").to_owned(),
        CompletionShell::Zsh => include_str!("../../completions/_kubectl-reconcile").to_owned(),
        CompletionShell::Kubectl => include_str!("../../completions/kubectl_complete-reconcile").to_owned(),
        CompletionShell::Elvish => generated(Shell::Elvish, program),
        CompletionShell::PowerShell => generated(Shell::PowerShell, program),
    };
    let _ = terminal.data(&script);
    EXIT_SUCCESS
}

/// A script from the definition of the command line, which knows no values from outside. The others ask the program.
fn generated(shell: Shell, program: Command) -> String {
    let mut script = Vec::new();
    let mut command = program.bin_name("kubectl-reconcile");
    clap_complete::generate(shell, &mut command, "kubectl-reconcile", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
