//! The flags that a configuration may set, and their values.
//!
//! The file may come with a change that somebody proposes, so a flag is settable only if it makes a run stricter, or changes details
//! of what is shown. It never hides drift, never widens what is deleted, taken from other managers or listed, and never decides where
//! that happens.

use reconcile_core::text::one_line;

/// The values that a configuration may give a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settable {
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
pub(super) const FLAGS: &[(&str, Settable)] = &[
    ("add-patches", Settable::Never(WRITES)),
    ("adopt", Settable::Never(TAKES)),
    ("all-namespaces", Settable::Never(INPUT)),
    ("allow-empty", Settable::Never("it would let a run without manifests pass, and prune everything")),
    ("apply", Settable::Never(COMMAND)),
    ("applyset", Settable::Never(DELETES)),
    ("applyset-recover", Settable::Never(DELETES)),
    ("as", Settable::Never(CLUSTER)),
    ("as-group", Settable::Never(CLUSTER)),
    ("as-uid", Settable::Never(CLUSTER)),
    ("as-user-extra", Settable::Never(CLUSTER)),
    ("audit-log", Settable::Never("a proposed change could name other users with a log of its own")),
    ("autoscalers", Settable::Any(STRICTER)),
    ("base", Settable::Never(PASSES)),
    ("baseline", Settable::Never(PASSES)),
    ("by-hand", Settable::Never(COMMAND)),
    ("by-name", Settable::Never(COMMAND)),
    ("cache-dir", Settable::Never(WRITES)),
    ("certificate-authority", Settable::Never(CLUSTER)),
    ("changed-only", Settable::Never(PASSES)),
    ("class", Settable::Never(COMMAND)),
    ("client-certificate", Settable::Never(CLUSTER)),
    ("client-key", Settable::Never(CLUSTER)),
    ("cluster", Settable::Never(CLUSTER)),
    ("color", Settable::Any(DETAILS)),
    ("config", Settable::Never(CONFIGURED)),
    ("confirm", Settable::Any(STRICTER)),
    ("context", Settable::Never(CLUSTER)),
    ("create-namespace", Settable::Any("it does no more than manifests with these Namespaces")),
    (
        "decrypt",
        Settable::Never("a proposed change could start a program, which contacts the key servers that manifests name"),
    ),
    ("disable-compression", Settable::Any(TIME)),
    ("dry-run", Settable::Never(COMMAND)),
    ("edit-bases", Settable::Never(WRITES)),
    ("evidence", Settable::Any("it changes how drift is determined, which each object of a report names")),
    ("exit-zero", Settable::Never(PASSES)),
    ("explain-ignores", Settable::Any(DETAILS)),
    ("fail-on", Settable::Including("drift", PASSES)),
    ("field", Settable::Never(COMMAND)),
    ("field-manager", Settable::Never("it decides whose fields an apply may change and remove")),
    ("file", Settable::Never(WRITES)),
    ("filename", Settable::Never(INPUT)),
    ("for", Settable::Never(COMMAND)),
    ("force-conflicts", Settable::Only(&["manual", "none"], TAKES)),
    ("from", Settable::Never(INPUT)),
    ("full", Settable::Any(DETAILS)),
    ("hooks", Settable::Only(&["skip"], "a proposed change could apply hooks with it")),
    ("include-secrets", Settable::Never("a proposed change could write Secrets with it")),
    ("insecure-skip-tls-verify", Settable::Never(CLUSTER)),
    ("kinds", Settable::Never(INPUT)),
    ("kubeconfig", Settable::Never(CLUSTER)),
    ("kuberc", Settable::Never(CLUSTER)),
    ("kustomize", Settable::Never(INPUT)),
    ("leave-applyset", Settable::Never("a proposed change could leave objects behind that nothing prunes")),
    ("live", Settable::Never("a proposed change could replace the cluster with a file")),
    ("manager", Settable::Never(COMMAND)),
    ("name", Settable::Never(COMMAND)),
    ("namespace", Settable::Never("it decides where objects are written, and which apply set is pruned")),
    ("no-config", Settable::Never(CONFIGURED)),
    ("no-effects", Settable::Never(PASSES)),
    ("no-expect-applyset", Settable::Never("a proposed change could apply without the set that is expected")),
    ("no-ignore-annotations", Settable::Any(STRICTER)),
    ("no-pager", Settable::Any(DETAILS)),
    ("object", Settable::Never(COMMAND)),
    ("only", Settable::Never(PASSES)),
    ("output", Settable::Never("a proposed change could write files with it, or leave out the differences")),
    ("patch", Settable::Never(COMMAND)),
    ("plan", Settable::Never(COMMAND)),
    ("prune", Settable::Never(DELETES)),
    ("prune-allow", Settable::Never(DELETES)),
    ("quiet", Settable::Never(PASSES)),
    ("recursive", Settable::Any("it reads more manifests of the folders that are named")),
    ("relative-time", Settable::Any(DETAILS)),
    ("release", Settable::Never(TAKES)),
    ("remove-added", Settable::Never("a proposed change could remove fields with it")),
    ("replace", Settable::Only(&["never"], "a replacement deletes the object")),
    ("report-unmanaged", Settable::Switch("a proposed change could list the objects of any namespace with it")),
    ("request-timeout", Settable::Any(TIME)),
    ("save-plan", Settable::Never(WRITES)),
    ("selector", Settable::Never(PASSES)),
    ("server", Settable::Never(CLUSTER)),
    ("shard", Settable::Never(PASSES)),
    ("show-known", Settable::Any(DETAILS)),
    ("show-unmanaged", Settable::Any("it shows more fields of the objects that the manifests name")),
    ("since", Settable::Never(PASSES)),
    ("sort", Settable::Any(DETAILS)),
    ("status", Settable::Any(DETAILS)),
    ("strict-ownership", Settable::Any(STRICTER)),
    ("subject", Settable::Never("it decides who gets permissions")),
    ("suggest-ignores", Settable::Never(COMMAND)),
    ("summary", Settable::Never(PASSES)),
    ("theme", Settable::Any(DETAILS)),
    ("timeout", Settable::Any(TIME)),
    ("tls-server-name", Settable::Never(CLUSTER)),
    ("token", Settable::Never(CLUSTER)),
    ("user", Settable::Never(CLUSTER)),
    ("v", Settable::Any(DETAILS)),
    ("validate", Settable::Only(&["strict"], "a proposed change could hide mistakes in manifests with it")),
    ("wait", Settable::Any(STRICTER)),
];

impl Settable {
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
                Settable::Any(reason) => (vec!["any value"], reason),
                Settable::Only(values, reason) => (values.to_vec(), reason),
                Settable::Including(value, reason) => (vec![value], reason),
                Settable::Switch(reason) => (vec!["`true` or `false`"], reason),
                Settable::Never(reason) => (vec!["nothing"], reason),
            };
            assert!(values.iter().all(|value| row[1].contains(value)), "{flag}: {row:?}");
            assert_eq!(row[2], reason, "{flag}");
        }
    }
}
