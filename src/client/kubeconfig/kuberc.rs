//! The policy for credential plugins in kubectl's preferences, the file `kuberc` (KEP-3104; `kubectl/pkg/kuberc` and
//! `plugin/pkg/client/auth/exec` of client-go). Nothing else of the file is used.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use kube_yaml::{Document, Step, Syntax, Validation};

use super::LARGEST;
use super::loader::clean;
use super::model::Field;
use crate::bounded::read_at_most;
use crate::client::options::{Environment, Log};
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

/// The reason why a policy does not allow a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginRefusal {
    /// It allows none.
    DenyAll,
    /// Its list does not have the plugin.
    NotListed,
}

impl fmt::Display for PluginRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::DenyAll => "its policy is `DenyAll`",
            Self::NotListed => "its `credentialPluginAllowlist` does not have it",
        })
    }
}

impl PluginPolicy {
    /// Reads the policy from `explicit` (`--kuberc`), else from the file of `KUBERC`, else from `~/.kube/kuberc`; `None` allows all plugins.
    ///
    /// # Errors
    ///
    /// A file that kubectl refuses is refused: one that was named and cannot be read, and mistakes in preferences that can. As for
    /// kubectl, a file in the home folder without preferences that can be read has no policy; `log` gets the reason.
    pub fn load(explicit: Option<&Path>, environment: &Environment, log: &Log) -> Result<Option<Self>, Diagnostic> {
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
        let bytes = match File::open(&file).and_then(|file| read_at_most(file, LARGEST)) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                let most = LARGEST >> 20;
                return Err(Diagnostic::general(format!("the kuberc `{}` is larger than {most} MiB", file.display())));
            }
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
        match Preferences::read(&bytes) {
            Ok(Some(preferences)) => match preferences.check().map_err(refused)? {
                Allowed::All => Ok(None),
                Allowed::None => Ok(Some(Self { file, allowlist: None })),
                Allowed::Listed(allowlist) => Ok(Some(Self { file, allowlist: Some(allowlist) })),
            },
            Ok(None) => Ok(None),
            Err(reason) if is_named => Err(refused(reason.to_owned())),
            Err(reason) => {
                log.note(&format!("the kuberc `{}` is not used, as kubectl does not use it: {reason}", file.display()));
                Ok(None)
            }
        }
    }

    /// The reason why a plugin must not run, if it must not: `command` as the kubeconfig has it, and the program that it leads to, if
    /// there is one (`checkAllowlistLocked`). As in kubectl, an entry that is a path is never completed, and allows only what has this
    /// very path.
    pub fn refusal(&self, command: &str, program: Option<&Path>) -> Option<PluginRefusal> {
        let Some(allowlist) = &self.allowlist else { return Some(PluginRefusal::DenyAll) };
        let is_listed = |path: &Path| allowlist.iter().any(|allowed| OsStr::new(allowed) == path.as_os_str());
        if is_listed(&clean(Path::new(command))) {
            return None;
        }
        let program = clean(program?);
        let leads_to_it = |allowed: &String| {
            let allowed = OsStr::new(allowed);
            !program::is_path(allowed)
                && Path::new(allowed).file_name() == program.file_name()
                && program::find_first(allowed).is_ok_and(|found| clean(&found) == program)
        };
        let is_allowed = is_listed(&program) || allowlist.iter().any(leads_to_it);
        (!is_allowed).then_some(PluginRefusal::NotListed)
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
    /// The first document that kubectl can use, `None` if all are empty; or the reason why it uses none (`decodePreference`).
    fn read(bytes: &[u8]) -> Result<Option<Self>, &'static str> {
        let mut is_empty = true;
        for text in texts(bytes) {
            let text = text?;
            if String::from_utf8_lossy(&text).trim().is_empty() {
                continue;
            }
            is_empty = false;
            if let Some(preferences) = document(&text).and_then(|document| Self::of_document(&document).ok()?) {
                return Ok(Some(preferences));
            }
        }
        // A file of comments alone is not empty to kubectl.
        if is_empty {
            return Ok(None);
        }
        Err("it has no `Preference` of `kubectl.config.k8s.io/v1beta1` or `v1alpha1` that can be read")
    }

    /// Reads a document; `None` if it is of another kind. After an error, kubectl does not use the document.
    fn of_document(document: &Document) -> Result<Option<Self>, String> {
        let (defaults, options) = match (&*type_field(document, "apiVersion")?, &*type_field(document, "kind")?) {
            ("kubectl.config.k8s.io/v1beta1", "Preference") => ("defaults", "options"),
            ("kubectl.config.k8s.io/v1alpha1", "Preference") => ("overrides", "flags"),
            _ => return Ok(None),
        };
        let document = &Field::root(&document.value);
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

/// The texts between lines that begin with `---`, as kubectl cuts a stream (`YAMLReader` of apimachinery). Other text in such a line is an
/// error, and ends it.
fn texts(bytes: &[u8]) -> impl Iterator<Item = Result<Vec<u8>, &'static str>> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        [line, b"\n"].concat()
    });
    let mut is_over = false;
    std::iter::from_fn(move || {
        let mut text = Vec::new();
        while !is_over {
            let Some(line) = lines.next() else {
                is_over = true;
                break;
            };
            if let Some(rest) = line.strip_prefix(b"---") {
                let rest = String::from_utf8_lossy(rest);
                if !matches!(rest.trim().chars().next(), None | Some('#')) {
                    is_over = true;
                    return Some(Err("a line that begins with `---` has other text as well"));
                }
                if !text.is_empty() {
                    return Some(Ok(text));
                }
            }
            text.extend(line);
        }
        (!text.is_empty()).then_some(Ok(text))
    })
}

/// The document of a text. What begins with a brace has to be JSON (`recognizer` of apimachinery).
fn document(text: &[u8]) -> Option<Document> {
    let is_json = String::from_utf8_lossy(text).trim_start().starts_with('{');
    if !is_json && !is_encoded(text) {
        return None;
    }
    let stream = kube_yaml::read(text, Validation::Ignore);
    let is_whole = stream.count == 1 && stream.diagnostics.is_empty();
    let document = stream.documents.into_iter().next()?;
    (is_whole && (!is_json || document.syntax == Syntax::Json)).then_some(document)
}

/// Returns true if a text has no bytes that go-yaml refuses. In manifests, kubectl replaces them before.
fn is_encoded(text: &[u8]) -> bool {
    let is_utf16 = text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff");
    if is_utf16 { text.len().is_multiple_of(2) } else { std::str::from_utf8(text).is_ok() }
}

/// `apiVersion` or `kind` of a document. Go's `encoding/json`, which reads them apart from the rest, takes a key in any case, and the last
/// one that is not null counts; YAML becomes JSON with sorted keys before.
fn type_field(document: &Document, name: &str) -> Result<String, String> {
    let root = Field::root(&document.value);
    let mut keys: Vec<String> = root.keys()?.filter(|key| is_same_key(key, name)).map(ToOwned::to_owned).collect();
    match document.syntax {
        Syntax::Yaml => keys.sort_unstable(),
        Syntax::Json => keys.sort_by_key(|key| document.positions.key_at(&[Step::Key(key)])),
    }
    let mut found = String::new();
    for key in keys {
        let field = root.get(&key)?;
        if !field.value.is_null() {
            found = field.string()?.unwrap_or_default();
        }
    }
    Ok(found)
}

/// Returns true if Go takes a key of JSON for this one: in any case, with the two letters outside of ASCII that have one in it (`foldName`).
fn is_same_key(key: &str, name: &str) -> bool {
    let fold = |letter: char| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        letter => letter.to_ascii_lowercase(),
    };
    key.chars().map(fold).eq(name.chars().map(fold))
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
