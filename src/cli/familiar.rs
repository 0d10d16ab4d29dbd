//! Commands, flags and values of kubectl, Helm and Terraform that this program does not have, each with what to use here.

/// Flags of other tools, each with its hint.
pub(super) const FLAGS: &[(&str, &str)] = &[
    ("--server-side", "every apply is a server-side apply: leave the flag out"),
    (
        "--force",
        "`--force-conflicts` takes fields from other managers, `--replace=immutable` recreates what cannot be changed",
    ),
    ("--overwrite", "manual changes are undone without a flag; `--show-unmanaged` lists what others have added"),
    ("--record", "`metadata.managedFields` records who changed each field and when: leave the flag out"),
    ("--yes", CONFIRM),
    ("-y", CONFIRM),
    ("--auto-approve", CONFIRM),
    ("--exit-code", "drift has the exit code 1 without a flag"),
    ("--detailed-exitcode", "drift has the exit code 1 without a flag"),
    ("--field-validation", "the flag is `--validate`"),
    ("--prune-allowlist", PRUNE),
    ("--prune-whitelist", PRUNE),
    ("--all", PRUNE),
    ("--cascade", "objects are deleted in the background, which is the default of kubectl"),
    ("--grace-period", "objects are deleted with the grace period that they have themselves"),
    ("--concurrency", "the number of requests under way adapts to the server"),
    ("--parallelism", "the number of requests under way adapts to the server"),
    ("--no-color", COLOR),
    ("--no-colour", COLOR),
    ("--save-config", "`metadata.managedFields` records what was applied: leave the flag out"),
    ("--out", PLAN),
    ("-out", PLAN),
];

/// Flags that other tools have for a command that needs none here, each with its hint.
pub(super) const FLAGS_OF_COMMANDS: &[(&str, &str, &str)] =
    &[("diff", "--dry-run", "`diff` is the dry run of `apply`: leave the flag out")];

/// Values that kubectl has for a flag and this program does not, each with the value that means the same here.
pub(super) const VALUES: &[(&str, &str, &str)] = &[
    ("--validate", "true", "strict"),
    ("--validate", "false", "ignore"),
    ("--force-conflicts", "true", "all"),
    ("--force-conflicts", "false", "none"),
];

/// Commands of other tools, each with the one that does the same here.
pub(super) const COMMANDS: &[(&str, &str)] = &[
    ("plan", "diff"),
    ("check", "diff"),
    ("compare", "diff"),
    ("preview", "diff"),
    ("sync", "apply"),
    ("deploy", "apply"),
    ("install", "apply"),
    ("upgrade", "apply"),
    ("reconcile", "apply"),
    ("prune", "apply --prune"),
    ("wait", "status --wait"),
    ("health", "status"),
    ("export", "snapshot"),
    ("permissions", "access"),
    ("rbac", "access"),
    ("merge", "report merge"),
];

/// Commands of other tools without one that does the same, each with its hint.
pub(super) const OTHER_COMMANDS: &[(&str, &str)] = &[("delete", DELETE), ("destroy", DELETE), ("uninstall", DELETE)];

const COLOR: &str = "colours are switched off with `--color=never`, or with the environment variable `NO_COLOR`";
const CONFIRM: &str = "`apply` asks with `--confirm` only";
const DELETE: &str = "`kubectl delete -f` deletes the objects of manifests; `apply --prune --applyset=NAME` deletes those whose manifests are \
     gone";
const PLAN: &str = "`diff --save-plan=FILE` saves the plan, and `apply --plan=FILE` does what it says";
const PRUNE: &str = "members of an apply set are pruned: `--prune --applyset=NAME`";
