//! The policy for credential plugins in kubectl's preferences, the file `kuberc` (KEP-3104; `kubectl/pkg/kuberc` and
//! `plugin/pkg/client/auth/exec` of client-go). Nothing else of the file is used.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use kube_yaml::Validation;
use serde_json::Value;

use super::loader::clean;
use super::model::Field;
use crate::client::options::Environment;
use crate::program;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::{io_reason, one_line};

/// The plugins that may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginPolicy {
    /// The file that says so.
    pub file: PathBuf,
    /// Names and paths of the plugins that may run; `None` allows none (`DenyAll`).
    allowlist: Option<Vec<String>>,
}

impl PluginPolicy {
    /// Reads the policy from `explicit` (`--kuberc`), else from the file of `KUBERC`, else from `~/.kube/kuberc`; `None` allows all plugins.
    ///
    /// # Errors
    ///
    /// A file that kubectl refuses is refused: one that was named and cannot be read, and mistakes in preferences that can. As for
    /// kubectl, a file in the home folder without preferences that can be read has no policy.
    pub fn load(explicit: Option<&Path>, environment: &Environment) -> Result<Option<Self>, Diagnostic> {
        let named = environment.kuberc.as_deref();
        let off = match named {
            _ if environment.kuberc_is_disabled => Some("KUBECTL_KUBERC=false"),
            Some(named) if named == "off" => Some("KUBERC=off"),
            _ => None,
        };
        if let Some(off) = off {
            return match explicit {
                Some(_) => Err(Diagnostic::general(format!("`--kuberc` cannot be used with `{off}`"))),
                None => Ok(None),
            };
        }
        if explicit.is_some_and(|path| path.as_os_str().is_empty()) {
            return Err(Diagnostic::general("`--kuberc` names no file"));
        }
        let usual = environment.home.as_ref().map(|home| home.join(".kube").join("kuberc"));
        // As in kubectl (`LoadKuberc`), the variable also replaces the usual file where the flag names it.
        let named_by_flag = explicit.filter(|path| named.is_none() || usual.as_deref() != Some(*path));
        let (file, is_named) = match (named_by_flag, named, usual) {
            (Some(path), _, _) => (path.to_owned(), true),
            (None, Some(path), _) => (PathBuf::from(path), true),
            (None, None, Some(path)) => (path, explicit.is_some()),
            (None, None, None) => return Ok(None),
        };
        let bytes = match std::fs::read(&file) {
            Ok(bytes) => bytes,
            Err(_) if !is_named => return Ok(None),
            Err(error) => {
                let reason = if error.kind() == io::ErrorKind::NotFound {
                    "it does not exist".to_owned()
                } else {
                    io_reason(&error)
                };
                return Err(Diagnostic::general(format!("cannot read the kuberc `{}`: {reason}", file.display())));
            }
        };
        let refused = |reason: String| {
            let hint = "kubectl refuses it as well; `KUBERC=off` runs without it";
            Diagnostic::general(format!("the kuberc `{}` is invalid: {reason}", file.display())).with_hint(hint)
        };
        // A file of comments alone is not empty to kubectl.
        let is_empty = bytes.trim_ascii().is_empty();
        match Preferences::read(&bytes) {
            Some(preferences) => match preferences.check().map_err(refused)? {
                Allowed::All => Ok(None),
                Allowed::None => Ok(Some(Self { file, allowlist: None })),
                Allowed::Listed(allowlist) => Ok(Some(Self { file, allowlist: Some(allowlist) })),
            },
            None if is_named && !is_empty => Err(refused(
                "it has no `Preference` of `kubectl.config.k8s.io/v1beta1` or `v1alpha1` that can be read".to_owned(),
            )),
            None => Ok(None),
        }
    }

    /// The reason why a plugin must not run, if it must not: `command` as the kubeconfig has it, and the program that it leads to
    /// (`checkAllowlistLocked`).
    pub fn refusal(&self, command: &str, find: impl FnOnce() -> Option<PathBuf>) -> Option<&'static str> {
        let Some(allowlist) = &self.allowlist else { return Some("its policy is `DenyAll`") };
        if allowlist.iter().any(|allowed| allowed == command) {
            return None;
        }
        let program = clean(&find()?);
        let is_program = |allowed: &String| {
            Path::new(allowed).file_name() == program.file_name()
                && program::find(OsStr::new(allowed)).is_ok_and(|found| clean(&found) == program)
        };
        (!allowlist.iter().any(is_program)).then_some("its `credentialPluginAllowlist` does not have it")
    }
}

/// The preferences of the first document that kubectl can use, as far as it checks them.
#[derive(Default)]
struct Preferences {
    policy: String,
    allowlist: Option<Vec<String>>,
    aliases: Vec<String>,
    options: Vec<String>,
}

enum Allowed {
    All,
    None,
    Listed(Vec<String>),
}

impl Preferences {
    /// The first document that kubectl can use (`decodePreference`).
    fn read(bytes: &[u8]) -> Option<Self> {
        let stream = kube_yaml::read(bytes, Validation::Ignore);
        stream.documents.into_iter().find_map(|document| Self::of_document(&document.value).ok()?)
    }

    /// Reads a document; `None` if it is of another kind. After an error, kubectl does not use the document.
    fn of_document(document: &Value) -> Result<Option<Self>, String> {
        let document = &Field::root(document);
        let (defaults, options) = match (&*text(document, "apiVersion")?, &*text(document, "kind")?) {
            ("kubectl.config.k8s.io/v1beta1", "Preference") => ("defaults", "options"),
            ("kubectl.config.k8s.io/v1alpha1", "Preference") => ("overrides", "flags"),
            _ => return Ok(None),
        };
        let mut preferences = Self::default();
        for entry in document.get(defaults)?.items()? {
            text(&entry, "command")?;
            preferences.add_options(&entry, options)?;
        }
        for entry in document.get("aliases")?.items()? {
            text(&entry, "command")?;
            preferences.aliases.push(text(&entry, "name")?);
            preferences.add_options(&entry, options)?;
            for arguments in ["prependArgs", "appendArgs"] {
                entry.get(arguments)?.strings()?;
            }
        }
        // The older version has no policy.
        if defaults == "defaults" {
            preferences.policy = text(document, "credentialPluginPolicy")?;
            let entries = document.get("credentialPluginAllowlist")?;
            if !entries.value.is_null() {
                let commands: Result<_, _> = entries.items()?.iter().map(allowlist_entry).collect();
                preferences.allowlist = Some(commands?);
            }
        }
        Ok(Some(preferences))
    }

    fn add_options(&mut self, entry: &Field<'_>, key: &str) -> Result<(), String> {
        for option in entry.get(key)?.items()? {
            text(&option, "default")?;
            self.options.push(text(&option, "name")?);
        }
        Ok(())
    }

    /// Checks what kubectl checks before any command (`validate`, `ValidatePluginPolicy`).
    fn check(self) -> Result<Allowed, String> {
        let mut names = BTreeSet::new();
        for alias in &self.aliases {
            if alias.is_empty() || !alias.chars().all(|letter| letter.is_ascii_alphabetic()) {
                return Err(format!(
                    "the name of an alias has letters only, and `{}` has others",
                    one_line(alias, 100)
                ));
            }
            if !names.insert(alias) {
                return Err(format!("two aliases have the name `{alias}`"));
            }
        }
        if let Some(option) = self.options.iter().find(|option| option.starts_with('-')) {
            return Err(format!("the name of the option `{}` has no dashes at its start", one_line(option, 100)));
        }
        match (self.policy.as_str(), self.allowlist) {
            ("" | "AllowAll", None) => Ok(Allowed::All),
            ("DenyAll", None) => Ok(Allowed::None),
            ("" | "AllowAll" | "DenyAll", Some(_)) => {
                Err("`credentialPluginAllowlist` needs `credentialPluginPolicy: Allowlist`".to_owned())
            }
            ("Allowlist", None) => Err("`credentialPluginPolicy` is `Allowlist`, and there is no list".to_owned()),
            ("Allowlist", Some(list)) => {
                if list.is_empty() {
                    return Err("`credentialPluginAllowlist` is empty: `DenyAll` says so".to_owned());
                }
                match list.iter().find(|entry| !is_clean(entry)) {
                    Some(entry) if entry.is_empty() => {
                        Err("an entry of `credentialPluginAllowlist` has no `command`".to_owned())
                    }
                    Some(entry) => Err(format!("`{}` is not the shortest form of its path", one_line(entry, 200))),
                    None => Ok(Allowed::Listed(list)),
                }
            }
            (other, _) => Err(format!(
                "`credentialPluginPolicy` is `{}`, and not `AllowAll`, `DenyAll` or `Allowlist`",
                one_line(other, 100)
            )),
        }
    }
}

/// The program of an entry; `name` is its older spelling.
fn allowlist_entry(entry: &Field<'_>) -> Result<String, String> {
    match (text(entry, "name")?, text(entry, "command")?) {
        (name, command) if command.is_empty() => Ok(name),
        (name, command) if name.is_empty() || name == command => Ok(command),
        _ => Err(entry.error("has two names")),
    }
}

/// A text; empty if it is missing or null.
fn text(object: &Field<'_>, key: &str) -> Result<String, String> {
    Ok(object.get(key)?.string()?.unwrap_or_default())
}

/// Returns true if Go's `filepath.Clean` leaves a path as it is. It makes `.` of an empty one.
fn is_clean(path: &str) -> bool {
    let below = path.strip_prefix('/');
    if path == "." || below == Some("") {
        return true;
    }
    let mut is_upward = below.is_none();
    below.unwrap_or(path).split('/').all(|part| {
        let is_parent = part == "..";
        let fits = !part.is_empty() && part != "." && (!is_parent || is_upward);
        is_upward &= is_parent;
        fits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_clean_if_go_leaves_it_as_it_is() {
        for path in ["a", "/a", "/", ".", "..", "../..", "../a", "/usr/bin/aws", "a..b", "..a"] {
            assert!(is_clean(path), "{path}");
        }
        for path in ["", "./a", "a/", "a//b", "/..", "a/..", "a/./b", "../a/..", "//a", "/a/"] {
            assert!(!is_clean(path), "{path}");
        }
    }
}
