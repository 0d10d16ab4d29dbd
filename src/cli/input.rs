use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use reconcile_core::manifest::is_stdin;
use reconcile_core::object::Shard;
use reconcile_core::pull::kustomize::Allowed;
use reconcile_report::Failure;

/// Flags that select the manifests.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
#[expect(clippy::struct_excessive_bools, reason = "a flag is typed or not")]
pub struct InputArgs {
    /// File, directory, glob, URL, or `-` for standard input (repeatable)
    #[arg(short, long = "filename", value_name = "PATH", value_delimiter = ',', required_unless_present_any = ["kustomize", "from"], value_hint = ValueHint::AnyPath)]
    pub filename: Vec<OsString>,
    /// Kustomization directory to build with `kustomize` or `kubectl kustomize`
    #[arg(short = 'k', long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["filename", "recursive"])]
    pub kustomize: Option<OsString>,
    /// Use the manifests that the cluster keeps, without writing: `helm/RELEASE[@REVISION]` for those of a release of Helm in the namespace of `-n`, `helm` for those of all its releases, or `last-applied` for those of client-side `kubectl apply`
    #[arg(long, value_name = "SOURCE", value_parser = FromSource::parse, conflicts_with_all = ["filename", "kustomize", "recursive"])]
    pub from: Option<FromSource>,
    /// With `--from last-applied`: the kinds to search, such as `deployments,ingresses` (default: those of `kubectl get all`, ConfigMaps, Secrets and Ingresses)
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    pub kinds: Vec<String>,
    /// With `--from helm` or `--from last-applied`: search all namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Also read the subdirectories of directories
    #[arg(short = 'R', long)]
    pub recursive: bool,
    /// Decrypt manifests that SOPS has encrypted in memory, with `sops` from PATH
    #[arg(long, value_name = "PROGRAM")]
    pub decrypt: Option<DecryptChoice>,
    /// Use only manifests whose labels match, such as `app=web,tier in (a, b)`
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// Treatment of input that kubectl would silently change or drop: reject it, warn, or accept it
    #[arg(long, value_name = "LEVEL", default_value = "strict")]
    pub validate: ValidateLevel,
    /// Treatment of hooks of Helm and Argo CD: leave them out, or use them like other objects
    #[arg(long, value_name = "TREATMENT", default_value = "skip")]
    pub hooks: HooksChoice,
    /// Succeed even if no object is found or selected
    #[arg(long)]
    pub allow_empty: bool,
    /// Compare the fields that manifests name in the annotation `kubectl-reconcile/ignore` as well; part of `--no-config`
    #[arg(long, help_heading = "Configuration")]
    pub no_ignore_annotations: bool,
    /// Flags that choose the configuration
    #[command(flatten)]
    pub config: ConfigArgs,
}

impl InputArgs {
    /// Returns true if manifests come from standard input.
    pub fn reads_stdin(&self) -> bool {
        self.filename.iter().any(|path| is_stdin(path))
    }

    /// Returns true if the input has all manifests of a file that an earlier run has read.
    pub fn has_file(&self, file: &str) -> bool {
        let plain = |text: &str| text.trim_start_matches("./").trim_end_matches('/').to_owned();
        let file = plain(file);
        let own = |path: &OsString| plain(&path.to_string_lossy());
        let is_in = |path: &OsString| {
            let folder = own(path);
            let below = if folder == "." || folder.is_empty() {
                (!file.starts_with(['/', '.'])).then_some(file.as_str())
            } else {
                file.strip_prefix(&folder).and_then(|rest| rest.strip_prefix('/'))
            };
            // The files that a pattern matches change with the files.
            file == folder
                || folder.contains(['*', '?', '['])
                || below.is_some_and(|below| self.recursive || !below.contains('/'))
        };
        self.selector.is_none() && (self.from.is_some() || self.filename.iter().chain(&self.kustomize).any(is_in))
    }

    /// Returns true if manifests may name fields of their objects to ignore.
    pub fn respects_annotations(&self) -> bool {
        !self.no_ignore_annotations && !self.config.no_config
    }
}

/// `--decrypt`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DecryptChoice {
    /// SOPS
    Sops,
}

/// `--validate`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ValidateLevel {
    /// Reject it
    Strict,
    /// Accept it as kubectl reads it, with a warning
    Warn,
    /// Accept it as kubectl reads it
    Ignore,
}

/// `--hooks`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HooksChoice {
    /// Leave them out
    Skip,
    /// Use them like other objects
    Include,
}

/// `--from`
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromSource {
    /// The manifest of a release of Helm.
    Helm {
        /// The name of the release.
        release: String,
        /// The revision; `None` means the deployed one.
        revision: Option<u32>,
    },
    /// The manifests of all releases of Helm.
    Releases,
    /// The annotations of client-side `kubectl apply`.
    LastApplied,
}

impl FromSource {
    /// Longest name of a release (Helm `pkg/chart/common/util/validate_name.go`).
    const LONGEST: usize = 53;

    fn parse(text: &str) -> Result<Self, String> {
        if text == "last-applied" {
            return Ok(Self::LastApplied);
        }
        if text == "helm" {
            return Ok(Self::Releases);
        }
        let rest = text
            .strip_prefix("helm/")
            .ok_or("write `helm/RELEASE`, `helm/RELEASE@REVISION`, `helm` or `last-applied`")?;
        let (release, revision) = rest.split_once('@').map_or((rest, None), |(name, revision)| (name, Some(revision)));
        let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
        let has_edges = !release.starts_with(['-', '.']) && !release.ends_with(['-', '.']);
        if release.is_empty() || release.len() > Self::LONGEST || !release.bytes().all(is_inner) || !has_edges {
            return Err("a release has 1 to 53 lowercase letters, digits, `-` and `.`".to_owned());
        }
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
        let revision = revision.map(|text| number(text).ok_or("a revision is a number from 1 on")).transpose()?;
        Ok(Self::Helm { release: release.to_owned(), revision })
    }
}

/// Flags that choose the configuration.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Configuration")]
pub struct ConfigArgs {
    /// Configuration file to use instead of `.kubectl-reconcile.yaml` next to the manifests, above them in the same repository, or
    /// in the working directory
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    pub config: Option<PathBuf>,
    /// Use no configuration file, and ignore no fields that manifests name in annotations
    #[arg(long)]
    pub no_config: bool,
}

/// The flag for one of several runs that share the objects of the same manifests.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct ShardArgs {
    /// Take only shard I of N of the objects, with I from 0, such as `0/4`; all N runs read the same manifests, and `report merge`
    /// joins their reports
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
}

/// The places in a kustomization that live values may be written to, beside those that set them now.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct OverlayArgs {
    /// With `-k`: where nothing in the overlay sets a value, write it into a patch of the overlay, in one file for each kind
    #[arg(long, help_heading = "Kustomization")]
    pub add_patches: bool,
    /// With `-k`: where nothing in the overlay can set a value, edit files outside of its directory, and show what changes in the other overlays of the repository
    #[arg(long, help_heading = "Kustomization")]
    pub edit_bases: bool,
}

impl OverlayArgs {
    /// The places, for an input that may be a kustomization.
    pub fn allowed(self, kustomize: Option<&OsStr>) -> Result<Allowed, Failure> {
        let Self { add_patches, edit_bases } = self;
        if kustomize.is_none() && (add_patches || edit_bases) {
            let flag = if add_patches { "--add-patches" } else { "--edit-bases" };
            let message = format!("`{flag}` is about kustomizations, and the manifests are not built from one");
            return Err(Failure::refused(&message, "pass the directory of the kustomization with `-k`"));
        }
        Ok(Allowed { new_patches: add_patches, bases: edit_bases })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_an_input_are_known_by_their_names() {
        use clap::Parser as _;
        #[derive(clap::Parser)]
        struct Typed {
            #[command(flatten)]
            input: InputArgs,
        }
        let has =
            |flags: &[&str], file: &str| Typed::try_parse_from([&["x"], flags].concat()).unwrap().input.has_file(file);
        assert!(has(&["-f", "deploy"], "deploy/web.yaml") && has(&["-f", "./deploy/"], "deploy/web.yaml"));
        assert!(has(&["-f", "."], "./web.yaml") && has(&["-f", "web.yaml"], "./web.yaml") && has(&["-f", "-"], "-"));
        assert!(has(&["-f", "deploy/*.yaml"], "deploy/web.yaml") && has(&["-k", "prod"], "prod"));
        assert!(has(&["-R", "-f", "deploy"], "deploy/sub/web.yaml") && has(&["--from", "helm/pay"], "helm/pay@1"));
        for (flags, file) in [
            (&["-f", "deploy"][..], "deploy/sub/web.yaml"),
            (&["-f", "deploy"], "deployed/web.yaml"),
            (&["-f", "deploy/db.yaml"], "deploy/web.yaml"),
            (&["-f", "."], "../web.yaml"),
            (&["-f", "deploy", "-l", "app=web"], "deploy/web.yaml"),
        ] {
            assert!(!has(flags, file), "{flags:?} {file}");
        }
    }

    #[test]
    fn a_source_in_the_cluster_is_a_release_or_the_last_applied_configurations() {
        let helm = |release: &str, revision| Ok(FromSource::Helm { release: release.to_owned(), revision });
        assert_eq!(FromSource::parse("helm/pay"), helm("pay", None));
        assert_eq!(FromSource::parse("helm"), Ok(FromSource::Releases));
        assert_eq!(FromSource::parse("helm/pay.v2-a@12"), helm("pay.v2-a", Some(12)));
        assert_eq!(FromSource::parse("last-applied"), Ok(FromSource::LastApplied));
        let long = format!("helm/{}", "a".repeat(54));
        for wrong in [
            "",
            "pay",
            "helm/",
            "helm/Pay",
            "helm/../pay",
            "helm/pay,owner!=helm",
            "helm/-a",
            "helm/a@",
            "helm/a@0",
            "helm/a@-1",
            &long,
        ] {
            assert!(FromSource::parse(wrong).is_err(), "{wrong}");
        }
    }
}
