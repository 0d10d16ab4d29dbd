//! `.kubectl-reconcile.yaml`: the settings of a team for all its runs.
//!
//! ```text
//! --config, -f PATH… ─found─▶ file ─read─▶ Configuration { manualManagers, ignore, readiness, defaults, expect }
//!                                └─ trust: the owner of the file
//! ```

mod added_rules;
mod defaults;
mod expect;
mod file;
mod found;
mod ignore;
mod readiness;
mod settable;
mod suggestion;
#[cfg(test)]
mod tests;
mod view;
mod written;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use clap::Command;
use reconcile_report::Failure;

use crate::bounded::read_at_most;
use crate::cli::ConfigArgs;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::manifest::SourceText;
use reconcile_core::manifest::yaml::{self, SyntaxDiagnostic, Validation};
use reconcile_core::rules::{IgnoreRule, MAX_RULES, ReadinessRule};

pub(crate) use added_rules::{new_with_rules, with_rules};
pub(crate) use defaults::FlagDefault;
pub(crate) use expect::Expectation;
use file::{ConfigNode, File};
pub(crate) use found::{ConfigOrigin, new_configuration_path};
pub(crate) use suggestion::suggestion;
pub(crate) use view::View;
pub(crate) use written::schema;

/// Largest configuration that is read, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// The `apiVersion` and the `kind` of every configuration.
const API_VERSION: &str = "kubectl-reconcile/v1";
const KIND: &str = "Config";

/// The key of the ignore rules.
const IGNORE: &str = "ignore";

/// The settings of a configuration file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Configuration {
    /// The file, if there is one.
    pub source: Option<ConfigurationSource>,
    /// The places where the manifests belong.
    pub expect: Expectation,
    /// Field managers whose changes count as manual, in addition to those of kubectl.
    pub manual_managers: BTreeSet<String>,
    /// The fields to ignore.
    pub ignore: Vec<IgnoreRule>,
    /// The readiness rules of some kinds.
    pub readiness: Vec<ReadinessRule>,
    /// Flags that apply as if they were typed.
    pub defaults: Vec<FlagDefault>,
    /// Warnings about files that were found and are not used, with the reason.
    pub warnings: Vec<String>,
}

/// The source of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigurationSource {
    /// The file, as messages name it.
    pub file: Arc<str>,
    /// The way in which it was found.
    pub origin: ConfigOrigin,
    /// True if an input is not a file: nobody expects a configuration of the working directory to apply to a URL.
    pub is_for_streams: bool,
}

impl Configuration {
    /// Reads the file that is named, or else the one that belongs to the inputs. Having none is fine. `program` defines the flags.
    pub fn load(program: &Command, args: &ConfigArgs, inputs: &[&OsStr]) -> Result<Self, Failure> {
        if args.no_config {
            return Ok(Self::default());
        }
        let (found, warnings) = if let Some(path) = &args.config {
            (Some((path.clone(), ConfigOrigin::Named)), Vec::new())
        } else {
            let search = found::search(inputs)?;
            (search.found, search.warnings)
        };
        let Some((path, origin)) = found else { return Ok(Self { warnings, ..Self::default() }) };
        let is_for_streams = inputs.iter().any(|input| found::is_stream(input));
        let source = ConfigurationSource { file: path.to_string_lossy().into(), origin, is_for_streams };
        let settled = Self::parse(program, &source.file, read(&path)?)?;
        Ok(Self { source: Some(source), warnings, ..settled })
    }

    /// Reads the text of a configuration, which may set flags of a program.
    pub fn parse(program: &Command, name: &Arc<str>, bytes: Vec<u8>) -> Result<Self, Vec<Diagnostic>> {
        let text = SourceText::from(bytes);
        let stream = yaml::read(text.bytes(), Validation::Strict);
        // No key of a configuration is a boolean or a number: one that YAML reads as one means another text.
        let syntax: Vec<&SyntaxDiagnostic> = stream.diagnostics.iter().chain(&stream.changed_keys).collect();
        if !syntax.is_empty() {
            return Err(syntax.into_iter().map(|found| of_syntax(name, found).shown_in(&text, found.also)).collect());
        }
        let mut documents = stream.documents.iter();
        let Some(document) = documents.next() else {
            return Err(vec![Diagnostic::of_file(name, "the configuration is empty").with_hint(beginning())]);
        };
        let mut file = File { name, text: &text, positions: &document.positions, diagnostics: Vec::new() };
        let configuration = settings(program, &mut file, &ConfigNode::root(&document.value));
        if let Some(second) = documents.next() {
            let mut file = File { positions: &second.positions, diagnostics: Vec::new(), ..file };
            file.of_key(&ConfigNode::root(&second.value), "a configuration is one document", "take the `---` out");
            return Err(file.diagnostics);
        }
        if file.diagnostics.is_empty() {
            return Ok(configuration);
        }
        file.diagnostics.sort_by(|a, b| a.location.cmp(&b.location));
        Err(file.diagnostics)
    }
}

/// The diagnostic of a mistake in the YAML. kubectl, which some hints are about, does not read the file.
fn of_syntax(name: &Arc<str>, found: &SyntaxDiagnostic) -> Diagnostic {
    let diagnostic = Diagnostic::of_syntax(name, found);
    match &found.hint {
        Some(hint) if hint.starts_with("kubectl ") => diagnostic.with_hint("keep one of them"),
        _ => diagnostic,
    }
}

/// Reads the text of a configuration.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let name = path.to_string_lossy();
    let file = std::fs::File::open(path).map_err(|error| found::unreadable(&name, &error))?;
    read_at_most(file, MAX_SIZE).map_err(|error| found::unreadable(&name, &error))?.ok_or_else(|| {
        let message = format!("is larger than a configuration may be: {} MiB", MAX_SIZE >> 20);
        Failure::invalid(Diagnostic::of_file(&name, message))
    })
}

fn beginning() -> String {
    format!("a configuration begins with `apiVersion: {API_VERSION}` and `kind: {KIND}`")
}

fn settings(program: &Command, file: &mut File<'_>, root: &ConfigNode<'_>) -> Configuration {
    let mut configuration = Configuration::default();
    let Some(mut keys) = file.mapping(root, "the configuration") else { return configuration };
    let mut missing = Vec::new();
    for (key, expected) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        match keys.key(key) {
            None => missing.push(key),
            Some(node) if node.value != expected => {
                file.of_value(&node, format!("`{key}` of a configuration is `{expected}`"), beginning());
            }
            Some(_) => {}
        }
    }
    if !missing.is_empty() {
        let verb = if missing.len() == 1 { "is" } else { "are" };
        file.of_key(root, format!("`{}` {verb} missing", missing.join("` and `")), beginning());
    }
    if let Some(node) = keys.key("expect") {
        configuration.expect = expect::expectation(file, &node);
    }
    if let Some(node) = keys.key("manualManagers") {
        let items = file.items(&node, MAX_RULES, "manualManagers: [k9s]");
        let names = items.iter().filter_map(|item| ignore::manager(file, item).map(ToOwned::to_owned));
        configuration.manual_managers = names.collect();
    }
    if let Some(node) = keys.key(IGNORE) {
        configuration.ignore = ignore::rules(file, &node);
    }
    if let Some(node) = keys.key("readiness") {
        configuration.readiness = readiness::rules(file, &node);
    }
    if let Some(node) = keys.key("defaults") {
        configuration.defaults = defaults::flags(program, file, &node);
    }
    file.end(keys);
    configuration
}

/// The inputs of a command as they were typed, which decide where its configuration is searched for.
pub(crate) fn typed_inputs<'a>(filenames: &'a [OsString], kustomize: Option<&'a OsString>) -> Vec<&'a OsStr> {
    filenames.iter().chain(kustomize).map(OsString::as_os_str).collect()
}
