//! The flags of `diff` that cannot be combined, and those that choose the differences that make it fail.

use reconcile_report::FailOn;

use crate::cli::DiffArgs;
use crate::session::contexts::{Choice, chosen};
use crate::session::failure::Failure;
use crate::session::output::Output;

/// The differences that make the command fail.
pub(crate) fn gate(args: &DiffArgs) -> FailOn {
    FailOn {
        exit_zero: args.exit_zero,
        strict_ownership: args.compare.strict_ownership,
        classes: args.compare.fail_on.clone(),
        show_unmanaged: args.compare.show_unmanaged,
    }
}

/// Refuses flags that cannot be combined.
pub(crate) fn excluded(args: &DiffArgs, prunes: bool, output: &Output) -> Result<(), Failure> {
    if args.live.is_some() && prunes {
        let message = "`--prune` needs a cluster: a snapshot does not show the members of a set";
        return Err(Failure::refused(message, "leave `--live` out"));
    }
    // A snapshot is compared without any kubeconfig: one that cannot be read is no error here.
    if args.live.is_some() && matches!(chosen(&args.connection), Ok(Choice::Several(_))) {
        let message = "`--live` and several contexts cannot be combined: a snapshot is compared without a cluster";
        return Err(Failure::refused(message, "leave `--context` out, or `--live`"));
    }
    if args.live.is_some() && args.input.from.is_some() {
        let message = "`--from` reads the manifests from the cluster, and `--live` replaces the cluster";
        return Err(Failure::refused(message, "leave one of them out"));
    }
    if args.suggest_ignores {
        suggests_on_stdout(args, output)?;
    }
    Ok(())
}

/// One configuration goes to standard output, and nothing else does.
fn suggests_on_stdout(args: &DiffArgs, output: &Output) -> Result<(), Failure> {
    if !output.shows_text() {
        let message = "`--suggest-ignores` and a report cannot share standard output";
        return Err(Failure::refused(message, "send the report to a file, as in `-o json=report.json`"));
    }
    if matches!(chosen(&args.connection), Ok(Choice::Several(_))) {
        let message = "`--suggest-ignores` and several contexts cannot be combined";
        return Err(Failure::refused(message, "run it for one context after the other"));
    }
    Ok(())
}
