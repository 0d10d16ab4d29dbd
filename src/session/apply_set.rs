//! `--prune --applyset`: parses the name of the apply set.

use apply_set::ParentReference;
use reconcile_report::Failure;

use crate::cli::{InputArgs, PruneArgs};
use crate::engine::prune::Requested;
use reconcile_core::object::Shard;

/// The apply set that the flags name, if they do.
pub(crate) fn requested(
    args: &PruneArgs,
    input: &InputArgs,
    shard: Option<Shard>,
) -> Result<Option<Requested>, Failure> {
    if args.applyset_recover && !(args.prune && args.applyset.is_some()) {
        let hint = "name the set whose lost members may be deleted, as in `--prune --applyset=NAME --applyset-recover`";
        return Err(Failure::refused("`--applyset-recover` needs `--prune` and `--applyset`", hint));
    }
    let set = match (args.prune, &args.applyset) {
        (false, None) => return Ok(None),
        (true, Some(set)) => set,
        (true, None) => {
            let hint = "name the set whose members may be deleted, as in `--prune --applyset=NAME`";
            return Err(Failure::refused("`--prune` needs `--applyset`", hint));
        }
        (false, Some(set)) => {
            let hint = format!(
                "pass `--prune --applyset={set}`: without pruning, the set would no longer match its manifests"
            );
            return Err(Failure::refused("`--applyset` needs `--prune`", hint));
        }
    };
    if input.selector.is_some() {
        let hint = "objects that the selector leaves out would be deleted: apply the whole set";
        return Err(Failure::refused("`--prune` and `--selector` cannot be combined", hint));
    }
    match ParentReference::parse(set) {
        Ok(reference) => Ok(Some(Requested { reference, recovers: args.applyset_recover, shard })),
        Err(message) => Err(Failure::refused(message, "write `NAME` for a Secret, or `RESOURCE[.GROUP]/NAME`")),
    }
}
