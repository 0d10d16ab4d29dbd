//! The base of a run: the manifests as they were applied last. They are read like the input, and never applied.

use std::ffi::OsString;

use reconcile_core::compare::Side;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::resolve::Namespaces;
use reconcile_core::live::{BaseObjects, Discovery, Target};
use reconcile_core::manifest::{BaseObject, DesiredSet, Manifest};
use reconcile_report::{BaseInfo, FailClass, Failure, Role};

use crate::cli::{CompareArgs, FromSource, InputArgs};
use crate::desired::since::{Paths, Since};
use crate::run::reading::Reading;
use crate::terminal::Terminal;

/// The manifests that were applied last.
pub(crate) struct Base {
    /// Its name in reports.
    pub info: BaseInfo,
    manifests: BaseManifests,
}

/// The manifests of a base.
enum BaseManifests {
    /// They were read.
    Read(DesiredSet),
    /// The input is its own base: it comes from what was applied last.
    Input,
}

impl Base {
    /// Reads the base that the flags name; `None` if they name none.
    pub async fn of(args: &CompareArgs, input: &InputArgs, terminal: &Terminal) -> Result<Option<Self>, Failure> {
        let base = &args.evidence.base;
        if let Some(source) = &input.from {
            let info = BaseInfo { from: from(source), revision: None };
            return Ok(Some(Self { info, manifests: BaseManifests::Input }));
        }
        if !base.is_given() {
            needed(args)?;
            return Ok(None);
        }
        if let Some(name) = &base.since {
            return Self::since(name, input, terminal).await.map(Some);
        }
        let reads_stdin = |paths: &[OsString]| paths.iter().any(|path| path == "-" || path == "/dev/stdin");
        if reads_stdin(&base.paths) && input.reads_stdin() {
            let message = "standard input can be read only once, and `-f` reads it as well as `--base`";
            return Err(Failure::refused(message, "write one of the two into a file"));
        }
        let manifests = Reading::base(&base.paths, input, terminal).await?.desired().await?;
        let names: Vec<_> = base.paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let info = BaseInfo { from: names.join(","), revision: None };
        Ok(Some(Self { info, manifests: BaseManifests::Read(manifests) }))
    }

    /// Reads the files of the input as they are in a revision.
    async fn since(name: &str, input: &InputArgs, terminal: &Terminal) -> Result<Self, Failure> {
        let paths =
            Paths { filename: &input.filename, kustomize: input.kustomize.as_deref(), recursive: input.recursive };
        let Since { revision, inputs, warnings } = Since::read(paths, name)?;
        for warning in warnings {
            terminal.note(Role::Note, &warning);
        }
        let manifests = Reading::revision(inputs, input, terminal)?.desired().await?;
        let info = BaseInfo { from: revision.name, revision: Some(revision.commit) };
        Ok(Self { info, manifests: BaseManifests::Read(manifests) })
    }

    /// Gives each target its object of the base.
    pub fn give_to(
        &self,
        targets: &[Target],
        discovery: &Discovery,
        namespaces: &Namespaces,
    ) -> Result<(), Vec<Diagnostic>> {
        match &self.manifests {
            BaseManifests::Input => {
                for target in targets {
                    let _ = target.base.set(BaseObject::Same);
                }
                Ok(())
            }
            BaseManifests::Read(read) => {
                let mut base = BaseObjects::of(read.manifests.clone(), discovery, namespaces)?;
                for target in targets {
                    base.give_to(target);
                }
                Ok(())
            }
        }
    }

    /// The definitions of custom kinds in the base.
    pub fn definitions(&self) -> impl Iterator<Item = &Manifest> {
        let read = match &self.manifests {
            BaseManifests::Read(read) => read.manifests.as_slice(),
            BaseManifests::Input => &[],
        };
        read.iter().filter(|manifest| manifest.gvk().is_crd())
    }
}

/// Refuses flags that only a base gives a meaning.
fn needed(args: &CompareArgs) -> Result<(), Failure> {
    let hint = "name what was applied last with `--base` or `--since`";
    if args.fail_on.contains(&FailClass::From(Side::Both)) {
        return Err(Failure::refused("`--fail-on both` needs a base", hint));
    }
    Ok(())
}

/// The source of `--from`, as it is typed.
fn from(source: &FromSource) -> String {
    match source {
        FromSource::Helm { release, revision: Some(revision) } => format!("helm/{release}@{revision}"),
        FromSource::Helm { release, revision: None } => format!("helm/{release}"),
        FromSource::LastApplied => "last-applied".to_owned(),
    }
}
