//! The base of a run: the manifests as they were applied last. They are read like the input, and never applied.

use reconcile_core::compare::Side;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::resolve::Namespaces;
use reconcile_core::live::{BaseObjects, Discovery, Target};
use reconcile_core::manifest::{BaseObject, DesiredSet, Manifest, is_stdin};
use reconcile_core::object::Selector;
use reconcile_report::{BaseInfo, FailClass, Failure, Report, Role};

use crate::cli::{CompareArgs, FromSource, InputArgs};
use crate::desired::since::{Paths, Since};
use crate::run::reading::Reading;
use crate::terminal::Terminal;

/// The manifests that were applied last.
pub(crate) struct Base {
    /// Its name in reports.
    pub info: BaseInfo,
    /// A warning about a revision that has none of the manifests.
    warning: Option<String>,
    manifests: BaseManifests,
    /// True if only objects whose manifests differ from it are compared.
    is_changed_only: bool,
    /// The objects of the input, of which others are not told if they are gone.
    selector: Selector,
}

/// The manifests of a base.
enum BaseManifests {
    /// They were read.
    Read(DesiredSet),
    /// The input is its own base: it comes from what was applied last.
    Input,
    /// Those of the releases of Helm that the live objects name.
    Releases,
}

impl Base {
    /// Reads the base that the flags name; `None` if they name none.
    pub async fn of(args: &CompareArgs, input: &InputArgs, terminal: &Terminal) -> Result<Option<Self>, Failure> {
        let base = &args.evidence.base;
        if let Some(source) = &input.from {
            let info = BaseInfo { from: from(source), revision: None };
            return Ok(Some(Self::new(info, BaseManifests::Input, args, input)));
        }
        if !base.is_given() {
            needed(args)?;
            return Ok(None);
        }
        if let Some(name) = &base.since {
            return Self::since(name, args, input, terminal).await.map(Some);
        }
        if base.is_helm() {
            if base.paths.len() > 1 {
                let hint = "name the manifests, or `helm` alone; a folder of that name is `./helm`";
                return Err(Failure::refused("`--base helm` and other paths cannot be combined", hint));
            }
            let info = BaseInfo { from: "helm".to_owned(), revision: None };
            if base.changed_only {
                let hint = "pass what `helm get manifest` prints with `--base`";
                return Err(Failure::refused(
                    "`--changed-only` cannot be combined with `--base helm`, which is read last",
                    hint,
                ));
            }
            return Ok(Some(Self::new(info, BaseManifests::Releases, args, input)));
        }
        if base.paths.iter().any(|path| is_stdin(path)) && input.reads_stdin() {
            let message = "standard input can be read only once, and `-f` reads it as well as `--base`";
            return Err(Failure::refused(message, "write one of the two into a file"));
        }
        let manifests = Reading::base(&base.paths, input, terminal).await?.desired().await?;
        let names: Vec<_> = base.paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let info = BaseInfo { from: names.join(","), revision: None };
        Ok(Some(Self::new(info, BaseManifests::Read(manifests), args, input)))
    }

    /// Reads the files of the input as they are in a revision.
    async fn since(name: &str, args: &CompareArgs, input: &InputArgs, terminal: &Terminal) -> Result<Self, Failure> {
        let paths =
            Paths { filename: &input.filename, kustomize: input.kustomize.as_deref(), recursive: input.recursive };
        let Since { revision, inputs, warnings } = Since::read(paths, name)?;
        for warning in warnings {
            terminal.note(Role::Note, &warning);
        }
        let name = &revision.name;
        let warning = format!(
            "{name} has none of these files, so that every object counts as new: if they were moved, pass the former ones with `--base`"
        );
        let warning = Some(warning).filter(|_| inputs.is_empty());
        terminal.warn(&warning);
        let manifests = Reading::revision(inputs, input, terminal)?.desired().await?;
        let info = BaseInfo { from: revision.name, revision: Some(revision.commit) };
        Ok(Self { warning, ..Self::new(info, BaseManifests::Read(manifests), args, input) })
    }

    fn new(info: BaseInfo, manifests: BaseManifests, args: &CompareArgs, input: &InputArgs) -> Self {
        // A selector that is not valid is an error of the input, which is read next.
        let selector = input.selector.as_deref().and_then(|text| Selector::parse(text).ok()).unwrap_or_default();
        Self { info, warning: None, manifests, is_changed_only: args.evidence.base.changed_only, selector }
    }

    /// A report that names the base, with the warning about it.
    pub fn named_in(&self, mut report: Report) -> Report {
        report.base = Some(self.info.clone());
        report.warnings.extend(self.warning.clone());
        report
    }

    /// Gives each target its object of the base, which may make its values secret. Returns the objects that only the base has.
    pub fn give_to(
        &self,
        targets: &mut [Target],
        discovery: &Discovery,
        namespaces: &Namespaces,
    ) -> Result<Vec<Target>, Vec<Diagnostic>> {
        match &self.manifests {
            BaseManifests::Input => {
                for target in targets {
                    let _ = target.base.set(BaseObject::Same);
                }
                Ok(Vec::new())
            }
            BaseManifests::Releases => Ok(Vec::new()),
            BaseManifests::Read(read) => {
                let mut base = BaseObjects::of(read.manifests.clone(), discovery, namespaces)?;
                for target in targets {
                    base.give_to(target);
                }
                let mut rest = base.into_rest();
                rest.retain(|target| self.selects(target));
                for target in &rest {
                    let _ = target.base.set(BaseObject::Same);
                }
                Ok(rest)
            }
        }
    }

    /// Leaves out the targets that need no comparison. Returns their number, if any may be left out.
    pub fn leave_out(&self, targets: &mut Vec<Target>) -> Option<usize> {
        let all = targets.len();
        targets.retain(|target| !self.is_changed_only || !target.is_same_in_base());
        self.is_changed_only.then(|| all.saturating_sub(targets.len()))
    }

    /// Returns true if the base is read after the live objects, from the releases that they name.
    pub fn is_of_releases(&self) -> bool {
        matches!(self.manifests, BaseManifests::Releases)
    }

    /// Returns true if the input would have an object of the base.
    pub fn selects(&self, target: &Target) -> bool {
        self.selector.matches(target.desired.object())
    }

    /// Its manifests; `None` if they are those of the input, or are read from the cluster.
    pub fn manifests(&self) -> Option<&[Manifest]> {
        match &self.manifests {
            BaseManifests::Read(read) => Some(&read.manifests),
            BaseManifests::Input | BaseManifests::Releases => None,
        }
    }

    /// The definitions of custom kinds in the base.
    pub fn definitions(&self) -> impl Iterator<Item = &Manifest> {
        self.manifests().unwrap_or_default().iter().filter(|manifest| manifest.gvk().is_crd())
    }
}

/// Refuses to prune if objects are left out of a run: their set would no longer have them.
pub(crate) fn allows_pruning(args: &CompareArgs, prunes: bool) -> Result<(), Failure> {
    if !(prunes && args.evidence.base.changed_only) {
        return Ok(());
    }
    let hint = "objects that did not change would be deleted: apply the whole set";
    Err(Failure::refused("`--changed-only` and `--prune` cannot be combined", hint))
}

/// Refuses flags that only a base gives a meaning.
fn needed(args: &CompareArgs) -> Result<(), Failure> {
    let hint = "name what was applied last with `--base` or `--since`";
    if args.evidence.base.changed_only {
        return Err(Failure::refused("`--changed-only` needs a base", hint));
    }
    for (flag, classes) in [("--fail-on", &args.fail_on), ("--only", &args.only)] {
        if classes.contains(&FailClass::From(Side::Both)) {
            return Err(Failure::refused(format!("`{flag} both` needs a base"), hint));
        }
    }
    Ok(())
}

/// The source of `--from`, as it is typed.
fn from(source: &FromSource) -> String {
    match source {
        FromSource::Helm { release, revision: Some(revision) } => format!("helm/{release}@{revision}"),
        FromSource::Helm { release, revision: None } => format!("helm/{release}"),
        FromSource::Releases => "helm".to_owned(),
        FromSource::LastApplied => "last-applied".to_owned(),
    }
}
