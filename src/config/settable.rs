//! The flags that a configuration may set, and their values.
//!
//! The file may come with a change that somebody proposes, so a flag is settable only if it makes a run stricter, or changes details
//! of what is shown. It never hides drift, never widens what is deleted, taken from other managers or listed, and never decides where
//! that happens.

use reconcile_core::text::one_line;

/// The values that a configuration may give a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Default {
    /// Any value of the flag: the effect that all of them have.
    Any(&'static str),
    /// Only these values, for this reason.
    Only(&'static [&'static str], &'static str),
    /// Only lists with this value, for this reason.
    Including(&'static str, &'static str),
    /// Only `true` and `false`, and no values of the flag, for this reason.
    Switch(&'static str),
    /// No value, for this reason.
    Never(&'static str),
}

const DETAILS: &str = "it changes details of what is shown";
const STRICTER: &str = "a run finds the same drift or more";
const TIME: &str = "it changes how long a run takes";

const CLUSTER: &str = "the cluster and the credentials belong to the person who runs the command";
const CONFIGURED: &str = "a configuration cannot choose the configuration";
const COMMAND: &str = "a configuration cannot choose what a command does";
const DELETES: &str = "a proposed change could delete objects with it";
const INPUT: &str = "a configuration cannot choose the input";
const PASSES: &str = "a proposed change could hide drift with it";
const TAKES: &str = "it takes fields from other managers";
const WRITES: &str = "a proposed change could write files with it";

/// Every flag of the commands that read a configuration.
pub(super) const FLAGS: &[(&str, Default)] = &[
    ("add-patches", Default::Never(WRITES)),
    ("adopt", Default::Never(TAKES)),
    ("all-namespaces", Default::Never(INPUT)),
    ("allow-empty", Default::Never("it would let a run without manifests pass, and prune everything")),
    ("apply", Default::Never(COMMAND)),
    ("applyset", Default::Never(DELETES)),
    ("applyset-recover", Default::Never(DELETES)),
    ("as", Default::Never(CLUSTER)),
    ("as-group", Default::Never(CLUSTER)),
    ("as-uid", Default::Never(CLUSTER)),
    ("as-user-extra", Default::Never(CLUSTER)),
    ("audit-log", Default::Never("a proposed change could name other users with a log of its own")),
    ("autoscalers", Default::Any(STRICTER)),
    ("base", Default::Never(PASSES)),
    ("baseline", Default::Never(PASSES)),
    ("by-hand", Default::Never(COMMAND)),
    ("by-name", Default::Never(COMMAND)),
    ("cache-dir", Default::Never(WRITES)),
    ("certificate-authority", Default::Never(CLUSTER)),
    ("changed-only", Default::Never(PASSES)),
    ("class", Default::Never(COMMAND)),
    ("client-certificate", Default::Never(CLUSTER)),
    ("client-key", Default::Never(CLUSTER)),
    ("cluster", Default::Never(CLUSTER)),
    ("color", Default::Any(DETAILS)),
    ("config", Default::Never(CONFIGURED)),
    ("confirm", Default::Any(STRICTER)),
    ("context", Default::Never(CLUSTER)),
    ("create-namespace", Default::Any("the manifests could name the namespaces as well")),
    (
        "decrypt",
        Default::Never("a proposed change could start a program, which contacts the key servers that manifests name"),
    ),
    ("disable-compression", Default::Any(TIME)),
    ("dry-run", Default::Never(COMMAND)),
    ("edit-bases", Default::Never(WRITES)),
    ("evidence", Default::Any("it changes how drift is determined, which each object of a report names")),
    ("exit-zero", Default::Never(PASSES)),
    ("explain-ignores", Default::Any(DETAILS)),
    ("fail-on", Default::Including("drift", PASSES)),
    ("field", Default::Never(COMMAND)),
    ("field-manager", Default::Never("it decides whose fields an apply may change and remove")),
    ("file", Default::Never(WRITES)),
    ("filename", Default::Never(INPUT)),
    ("for", Default::Never(COMMAND)),
    ("force-conflicts", Default::Only(&["manual", "none"], TAKES)),
    ("from", Default::Never(INPUT)),
    ("full", Default::Any(DETAILS)),
    ("hooks", Default::Only(&["skip"], "a proposed change could apply hooks with it")),
    ("include-secrets", Default::Never("a proposed change could write Secrets with it")),
    ("insecure-skip-tls-verify", Default::Never(CLUSTER)),
    ("kinds", Default::Never(INPUT)),
    ("kubeconfig", Default::Never(CLUSTER)),
    ("kuberc", Default::Never(CLUSTER)),
    ("kustomize", Default::Never(INPUT)),
    ("leave-applyset", Default::Never("a proposed change could leave objects behind that nothing prunes")),
    ("live", Default::Never("a proposed change could replace the cluster with a file")),
    ("manager", Default::Never(COMMAND)),
    ("name", Default::Never(COMMAND)),
    ("namespace", Default::Never("it decides where objects are written, and which apply set is pruned")),
    ("no-config", Default::Never(CONFIGURED)),
    ("no-effects", Default::Never(PASSES)),
    ("no-expect-applyset", Default::Never("a proposed change could apply without the set that is expected")),
    ("no-ignore-annotations", Default::Any(STRICTER)),
    ("no-pager", Default::Any(DETAILS)),
    ("object", Default::Never(COMMAND)),
    ("only", Default::Never(PASSES)),
    ("output", Default::Never("a proposed change could write files with it, or leave out the differences")),
    ("patch", Default::Never(COMMAND)),
    ("plan", Default::Never(COMMAND)),
    ("prune", Default::Never(DELETES)),
    ("prune-allow", Default::Never(DELETES)),
    ("quiet", Default::Never(PASSES)),
    ("recursive", Default::Any("it reads more manifests of the folders that are named")),
    ("relative-time", Default::Any(DETAILS)),
    ("release", Default::Never(TAKES)),
    ("remove-added", Default::Never("a proposed change could remove fields with it")),
    ("replace", Default::Only(&["never"], "a replacement deletes the object")),
    ("report-unmanaged", Default::Switch("a proposed change could list the objects of any namespace with it")),
    ("request-timeout", Default::Any(TIME)),
    ("save-plan", Default::Never(WRITES)),
    ("selector", Default::Never(PASSES)),
    ("server", Default::Never(CLUSTER)),
    ("shard", Default::Never(PASSES)),
    ("show-known", Default::Any(DETAILS)),
    ("show-unmanaged", Default::Any("it shows more fields of the objects that the manifests name")),
    ("since", Default::Never(PASSES)),
    ("sort", Default::Any(DETAILS)),
    ("status", Default::Any(DETAILS)),
    ("strict-ownership", Default::Any(STRICTER)),
    ("subject", Default::Never("it decides who gets permissions")),
    ("suggest-ignores", Default::Never(COMMAND)),
    ("summary", Default::Never(PASSES)),
    ("theme", Default::Any(DETAILS)),
    ("timeout", Default::Any(TIME)),
    ("tls-server-name", Default::Never(CLUSTER)),
    ("token", Default::Never(CLUSTER)),
    ("user", Default::Never(CLUSTER)),
    ("v", Default::Any(DETAILS)),
    ("validate", Default::Only(&["strict"], "a proposed change could hide mistakes in manifests with it")),
    ("wait", Default::Any(STRICTER)),
];

impl Default {
    /// Returns why a value is refused, and which values are not. `None` stands for a flag without a value.
    pub(super) fn refusal(self, flag: &str, values: &[Option<String>]) -> Option<(String, String)> {
        let refused = |reason: &str, hint: String| {
            let value = values.iter().flatten().find(|value| !self.allows(value)).map(|value| one_line(value, 100));
            let to = value.map(|value| format!(" to `{value}`")).unwrap_or_default();
            Some((format!("`defaults` cannot set `--{flag}`{to}: {reason}"), hint))
        };
        match self {
            Self::Only(allowed, reason) if values.iter().flatten().any(|value| !self.allows(value)) => {
                let allowed = allowed.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or ");
                refused(reason, format!("only {allowed} can be set here"))
            }
            Self::Switch(reason) if values != [None] && !values.is_empty() => {
                refused(reason, format!("write `{flag}: true`, or type the values on the command line"))
            }
            Self::Including(needed, reason) => {
                let mut named = values.iter().flatten().flat_map(|value| value.split(','));
                if named.any(|value| value == needed) {
                    return None;
                }
                let message = format!("`defaults` cannot set `--{flag}` without `{needed}`: {reason}");
                Some((message, format!("add `{needed}`, as in `{flag}: [{needed}, unmanagedObjects]`")))
            }
            _ => None,
        }
    }

    fn allows(self, value: &str) -> bool {
        match self {
            Self::Only(allowed, _) => allowed.contains(&value),
            Self::Switch(_) | Self::Never(_) => false,
            Self::Any(_) | Self::Including(..) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command, CommandFactory as _};

    use super::*;
    use crate::commands::Cli;

    /// A new flag is a decision: what may a configuration do with it?
    #[test]
    fn every_flag_is_decided_about() {
        let program = Cli::command();
        let readers = program
            .get_subcommands()
            .filter(|command| command.get_arguments().any(|arg| arg.get_long() == Some("filename")));
        let mut flags: Vec<&str> =
            readers.flat_map(Command::get_arguments).filter_map(Arg::get_long).filter(|long| *long != "help").collect();
        flags.sort_unstable();
        flags.dedup();
        let decided: Vec<&str> = FLAGS.iter().map(|(flag, _)| *flag).collect();
        assert_eq!(flags, decided);
        assert!(FLAGS.is_sorted_by(|a, b| a.0 < b.0));
    }

    /// The table in `docs/security.md` has a row for each flag, with the values and the reason.
    #[test]
    fn the_documentation_has_the_decision_about_every_flag() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/security.md");
        let text = std::fs::read_to_string(file).unwrap();
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(" | ").collect()).collect();
        for (flag, default) in FLAGS.iter().copied() {
            let name = format!("`{flag}`");
            let is_its =
                |row: &&Vec<&str>| row.len() == 4 && row[0].split(", ").any(|key| key.trim_start_matches("| ") == name);
            let [row] = rows.iter().filter(is_its).collect::<Vec<_>>()[..] else {
                panic!("no row, or several: {flag}")
            };
            let (values, reason) = match default {
                Default::Any(reason) => (vec!["any value"], reason),
                Default::Only(values, reason) => (values.to_vec(), reason),
                Default::Including(value, reason) => (vec![value], reason),
                Default::Switch(reason) => (vec!["`true` or `false`"], reason),
                Default::Never(reason) => (vec!["nothing"], reason),
            };
            assert!(values.iter().all(|value| row[1].contains(value)), "{flag}: {row:?}");
            assert_eq!(row[2], reason, "{flag}");
        }
    }
}
