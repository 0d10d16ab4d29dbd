//! The configuration file that ignore rules are added to: the one in force, or a new one where it will be found.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Command;
use reconcile_core::rules::IgnoreRule;
use reconcile_report::pull::FileContent;

use crate::cli::InputArgs;
use crate::config::{Configuration, new_configuration_path, new_with_rules, read, typed_inputs, with_rules};
use crate::run::edits::draft::Draft;
use crate::run::edits::manifest_file::{ManifestFile, stays_in_its_tree};

/// The file that takes new rules.
pub(crate) struct RuleFile {
    /// The program whose flags a configuration may set.
    program: Command,
    place: Place,
}

enum Place {
    /// The configuration in force.
    Existing {
        /// The file as messages name it.
        name: Arc<str>,
        /// Its text as it was read.
        text: Vec<u8>,
    },
    /// A file that does not exist.
    New(PathBuf),
}

impl RuleFile {
    /// Finds the file. The error is the reason why there is none.
    pub fn of(program: &Command, configuration: &Configuration, input: &InputArgs) -> Result<Self, String> {
        if input.config.no_config {
            return Err("`--no-config` leaves the configuration out, and rules with it".to_owned());
        }
        if let Some(source) = &configuration.source {
            let text = read(Path::new(&*source.file)).map_err(|_| format!("{} cannot be read", source.file))?;
            let place = Place::Existing { name: Arc::clone(&source.file), text };
            return Ok(Self { program: program.clone(), place });
        }
        let inputs: Vec<&OsStr> = typed_inputs(&input.filename, input.kustomize.as_ref());
        let path = new_configuration_path(&inputs);
        if fs::symlink_metadata(&path).is_ok() {
            return Err(format!("{} exists and is not used as the configuration", path.display()));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        stays_in_its_tree(folder.unwrap_or(Path::new(".")))?;
        Ok(Self { program: program.clone(), place: Place::New(path) })
    }

    /// The file as messages name it.
    pub fn name(&self) -> String {
        match &self.place {
            Place::Existing { name, .. } => name.to_string(),
            Place::New(path) => format!("{} (a new file)", path.display()),
        }
    }

    /// The file with these rules. The error is the reason why they cannot be added.
    pub fn draft(&self, rules: &[IgnoreRule]) -> Result<Draft, String> {
        match &self.place {
            Place::New(path) => {
                let new = new_with_rules(&self.program, &path.to_string_lossy().into(), rules)?;
                Ok(Draft::of_new_file(&path.to_string_lossy(), path.clone(), new, FileContent::Configuration))
            }
            Place::Existing { name, text } => {
                let refused = |reason: String| format!("{name} cannot take the rule: {reason}");
                let new = with_rules(&self.program, name, text, rules).map_err(refused)?;
                let file = ManifestFile::open(Path::new(&**name)).map_err(refused)?;
                Ok(Draft::of_file(name, file, text.clone(), new, FileContent::Configuration))
            }
        }
    }
}
