//! `__complete`: candidates for the word under the cursor, in the form that kubectl expects of a plugin: a line each with
//! a description behind a tab, and last a directive (cobra's `ShellCompDirective`).

use crate::cli::CompleteArgs;
use crate::cli::candidates::complete;
use crate::report::EXIT_SUCCESS;
use crate::terminal::{ColorChoice, Terminal};

/// Prints the candidates. A reader that went away ends the run quietly.
pub(super) fn run(args: &CompleteArgs) -> u8 {
    let (candidates, directive) = complete(&args.words);
    let directive = format!(":{directive}\n");
    let lines = candidates.join("\n") + if candidates.is_empty() { "" } else { "\n" };
    let _ = Terminal::new(ColorChoice::Never, false).data(&(lines + &directive));
    EXIT_SUCCESS
}
