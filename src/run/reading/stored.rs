//! `--from`: the manifests that the cluster itself keeps, of a release of Helm or of client-side `kubectl apply`.

use std::collections::{BTreeMap, BTreeSet};

use reconcile_report::Verdict;
use structured_merge::LAST_APPLIED;

use crate::cli::{CompareArgs, FromSource, HooksChoice, InputArgs};
use crate::client::RequestError;
use crate::desired::files::Inputs;
use crate::live::discovery::Server;
use crate::live::last_applied::last_applied;
use crate::live::release::all_releases::AllReleases;
use crate::live::release::{Records, Release, ReleaseError, Wanted, config_maps, secrets};
use reconcile_core::compare::{FIELD_MANAGER, Policy, WriteAs};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::{Discovery, Resource};
use reconcile_core::manifest::{ApplyMethod, Input, LAST_APPLIED_NAME, Record, Releases, stored_name};
use reconcile_core::object::Permission;
use reconcile_core::upgrade::HELM;
use reconcile_report::Failure;

/// The kinds of configuration, which are searched without `--kinds`, and those of `kubectl get all` (the category `all`).
const CONFIGURATION: [(&str, &str); 3] = [("", "ConfigMap"), ("", "Secret"), ("networking.k8s.io", "Ingress")];
/// The built-in kinds of the category `all`, for servers whose discovery names no categories.
const ALL: [(&str, &str); 10] = [
    ("", "Pod"),
    ("", "ReplicationController"),
    ("", "Service"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("batch", "CronJob"),
    ("batch", "Job"),
];

/// Refuses the flags that choose what is stored, where they mean nothing.
pub(crate) fn excluded(input: &InputArgs) -> Result<(), Failure> {
    let searches = input.from == Some(FromSource::LastApplied);
    if input.all_namespaces && !searches && input.from != Some(FromSource::Releases) {
        let hint = "each manifest names its namespace, and `-n` the namespace of those that do not, or of a release";
        return Err(Failure::refused("`--all-namespaces` needs `--from helm` or `--from last-applied`", hint));
    }
    if input.hooks == HooksChoice::Include && input.from.is_some() && !searches {
        let hint = "`helm get hooks RELEASE` prints them, and `-f -` reads them; leave out `--hooks`";
        return Err(Failure::refused(
            "`--from helm` has no hooks: Helm keeps them apart from the manifest of a release",
            hint,
        ));
    }
    if !input.kinds.is_empty() && !searches {
        let hint = "`--selector` chooses among manifests by their labels";
        return Err(Failure::refused("`--kinds` needs `--from last-applied`", hint));
    }
    Ok(())
}

/// Refuses `--from` for a command that writes.
pub(crate) fn refuse_stored(input: &InputArgs, command: &str) -> Result<(), Failure> {
    let hint = match &input.from {
        None => return Ok(()),
        Some(FromSource::Helm { release, revision }) => {
            let revision = revision.map_or_else(|| "REVISION".to_owned(), |revision| revision.to_string());
            format!("`helm rollback {release} {revision}` returns to a revision, and `helm upgrade` applies a chart")
        }
        Some(FromSource::Releases) => "`helm upgrade` applies a chart".to_owned(),
        Some(FromSource::LastApplied) => "pass the manifests with `-f`".to_owned(),
    };
    Err(Failure::refused(format!("`{command}` cannot take its manifests from the cluster (`--from`)"), hint))
}

/// Returns true if `apply` restores a release of Helm, and refuses what it cannot restore, and flags that mean nothing for it.
pub(crate) fn restores(input: &InputArgs, compare: &CompareArgs, prunes: bool) -> Result<bool, Failure> {
    let release = match &input.from {
        None => return Ok(false),
        Some(FromSource::Helm { release, .. }) => release,
        Some(FromSource::Releases) => {
            let hint = "name it, as in `--from helm/RELEASE`";
            return Err(Failure::refused("`apply --from` restores one release at a time", hint));
        }
        Some(FromSource::LastApplied) => return refuse_stored(input, "apply").map(|()| false),
    };
    if prunes {
        let hint = "`helm upgrade` deletes what a chart no longer has; leave out `--prune` and `--applyset`";
        return Err(Failure::refused("`apply --from` deletes nothing, and does not join an apply set", hint));
    }
    if input.hooks == HooksChoice::Include {
        let hint = "`helm upgrade` and `helm rollback` run them; leave out `--hooks`";
        return Err(Failure::refused("`apply --from` runs no hooks", hint));
    }
    let manager = &compare.evidence.field_manager;
    if manager != FIELD_MANAGER && manager != HELM {
        let hint = format!(
            "leave out `--field-manager`; `kubectl reconcile own --from helm/{release}` gives fields to another"
        );
        return Err(Failure::refused("`apply --from` restores fields as those of Helm (`helm`)", hint));
    }
    Ok(true)
}

/// The policy by which a release is restored: the fields are those of Helm, and are written as Helm has written them. Without a word about
/// that in the record, each object shows it.
pub(crate) fn restoring(policy: &Policy, releases: &Releases) -> Policy {
    let method = releases.methods.values().next();
    let writes = match method.filter(|_| !releases.is_all) {
        Some(ApplyMethod::ServerSide) => WriteAs::Apply,
        Some(ApplyMethod::ClientSide) => WriteAs::Update,
        None => WriteAs::Before,
    };
    Policy { manager: HELM.to_owned(), writes, ..policy.clone() }
}

/// The manifests that the cluster keeps.
pub(crate) enum Stored {
    /// A text, which is the manifest of one release or has all annotations of client-side apply.
    Text(StoredText),
    /// The manifests of all releases, each a text of its own: they may define the same objects.
    Releases { texts: Vec<StoredText>, releases: Releases, unreadable: Vec<Diagnostic> },
}

/// A text of manifests that the cluster keeps.
pub(crate) struct StoredText {
    /// The text.
    pub inputs: Vec<Input>,
    /// The record that it was taken from.
    pub record: Record,
    /// The release of the record, if it is one.
    pub releases: Option<Releases>,
    /// The lines of records that cannot be read, with the reason.
    pub unreadable: BTreeMap<u32, String>,
    /// The kinds that could not be listed, each with the reason.
    pub unlisted: Vec<Diagnostic>,
    /// Warnings for the report.
    pub remarks: Vec<String>,
}

impl StoredText {
    /// The manifest of a release.
    fn of(Release { info, manifest, method, .. }: Release, is_among_others: bool) -> Result<Self, Failure> {
        let mut inputs = Inputs::new(true);
        inputs.content(&stored_name(&info.name, info.revision), Ok(manifest.into_bytes()));
        let record = Record::Release { namespace: info.namespace.clone(), name: info.name.clone(), is_among_others };
        let methods = method.map(|method| (info.named(), method)).into_iter().collect();
        let releases = Releases { found: vec![info], methods, ..Releases::default() };
        Ok(Self {
            inputs: inputs.finish()?,
            record,
            releases: Some(releases),
            unreadable: BTreeMap::new(),
            unlisted: Vec::new(),
            remarks: Vec::new(),
        })
    }
}

/// Reads the manifests that the cluster keeps. A release that is to be restored has to be in a state from which Helm would go on.
pub(crate) async fn stored(
    source: &FromSource,
    input: &InputArgs,
    server: &Server,
    restores: bool,
) -> Result<Stored, Failure> {
    let namespace = &server.namespaces.default;
    match source {
        FromSource::Helm { release, revision } => {
            let records = Records { cluster: &server.cluster, namespace, release };
            let found = records.read(Wanted::of(*revision, restores)).await.map_err(Failure::from)?;
            Ok(Stored::Text(StoredText::of(found, false)?))
        }
        FromSource::Releases => {
            let namespace = Some(namespace.as_str()).filter(|_| !input.all_namespaces);
            let all = AllReleases::read(&server.cluster, namespace).await.map_err(Failure::from)?;
            if all.is_empty() && !input.allow_empty {
                return Err(no_releases(namespace, all.not_deployed));
            }
            let AllReleases { found, not_deployed, unreadable } = all;
            let found: Vec<StoredText> =
                found.into_iter().map(|release| StoredText::of(release, true)).collect::<Result<_, _>>()?;
            let releases = Releases { is_all: true, not_deployed, ..Releases::default() };
            Ok(Stored::Releases { texts: found, releases, unreadable })
        }
        FromSource::LastApplied => {
            let resources = resources(&input.kinds, &server.discovery)?;
            let namespace = Some(namespace.as_str()).filter(|_| !input.all_namespaces);
            let mut found = last_applied(&server.cluster, &resources, namespace).await;
            let failed = std::mem::take(&mut found.unlisted);
            let is_whole_run = failed.iter().any(|(_, error)| error.is_whole_run());
            if is_whole_run || found.text.is_empty() && !failed.is_empty() {
                return Err(unlisted(failed));
            }
            if found.text.is_empty() && !input.allow_empty {
                let place = place(namespace);
                let message = match found.warnings.first() {
                    // The annotations of all others are about other objects.
                    Some(warning) => {
                        format!("no object of these kinds in {place} has an annotation of its own: {warning}")
                    }
                    None => format!("no object of these kinds in {place} has the annotation `{LAST_APPLIED}`"),
                };
                let hint = "choose the namespace with `-n`, the kinds with `--kinds`, or pass `--allow-empty`";
                return Err(Failure::refused(message, hint));
            }
            let mut inputs = Inputs::new(true);
            inputs.content(LAST_APPLIED_NAME, Ok(found.text));
            Ok(Stored::Text(StoredText {
                inputs: inputs.finish()?,
                record: Record::LastApplied,
                releases: None,
                unreadable: found.unreadable,
                unlisted: unlisted(failed).diagnostics,
                remarks: found.warnings,
            }))
        }
    }
}

/// The failure of a run over all releases where none is deployed.
fn no_releases(namespace: Option<&str>, not_deployed: usize) -> Failure {
    let place = place(namespace);
    let others = match not_deployed {
        0 => String::new(),
        1 => ", and 1 release is not deployed".to_owned(),
        more => format!(", and {more} releases are not deployed"),
    };
    let message = format!("there is no deployed release in {place}{others}");
    let hint = match namespace {
        Some(_) => "choose the namespace with `-n`, all of them with `-A`, or pass `--allow-empty`",
        None => "`helm list -A --all` lists all releases; pass `--allow-empty` if that is intended",
    };
    Failure::refused(message, hint)
}

fn place(namespace: Option<&str>) -> String {
    namespace.map_or_else(|| "any namespace".to_owned(), |name| format!("namespace `{name}`"))
}

/// The permissions to read the manifests that the cluster keeps.
pub(crate) async fn reads_of_stored(
    input: &InputArgs,
    server: &Server,
    restores: bool,
) -> Result<BTreeSet<Permission>, Failure> {
    let own = &server.namespaces.default;
    Ok(match &input.from {
        None => BTreeSet::new(),
        Some(FromSource::Helm { release, revision }) => {
            let records = Records { cluster: &server.cluster, namespace: own, release };
            let found = records.read(Wanted::of(*revision, restores)).await.map_err(Failure::from)?;
            let get = read(&found.storage, Some(own), "get");
            match revision.filter(|_| !restores) {
                // The record of a revision always has the same name.
                Some(number) => BTreeSet::from([Permission { name: Some(records.record(number)), ..get }]),
                None => BTreeSet::from([get, read(&found.storage, Some(own), "list")]),
            }
        }
        Some(FromSource::Releases) => {
            let namespace = Some(own).filter(|_| !input.all_namespaces);
            let storages = [secrets(), config_maps()];
            let verbs = |storage: &Resource| ["get", "list"].map(|verb| read(storage, namespace, verb));
            storages.iter().flat_map(verbs).collect()
        }
        Some(FromSource::LastApplied) => {
            let namespace = Some(own).filter(|_| !input.all_namespaces);
            let resources = resources(&input.kinds, &server.discovery)?;
            resources.iter().map(|resource| read(resource, namespace, "list")).collect()
        }
    })
}

/// The permissions to read the records of the releases of a namespace, whatever they are called.
pub(crate) fn reads_of_releases(server: &Server) -> BTreeSet<Permission> {
    ["get", "list"].map(|verb| read(&secrets(), Some(&server.namespaces.default), verb)).into()
}

/// The permission to read a resource in a namespace, or in all of them.
fn read(resource: &Resource, namespace: Option<&String>, verb: &str) -> Permission {
    Permission {
        namespace: namespace.filter(|_| resource.namespaced).cloned(),
        group: resource.gvk.group.clone(),
        resource: resource.plural.clone(),
        name: None,
        verb: verb.to_owned(),
    }
}

impl From<ReleaseError> for Failure {
    fn from(error: ReleaseError) -> Self {
        match error {
            ReleaseError::Record(diagnostic) => Self::invalid(*diagnostic),
            ReleaseError::Request(diagnostic, error) => {
                Self { verdict: verdict(&error), diagnostics: vec![*diagnostic] }
            }
        }
    }
}

fn unlisted(unlisted: Vec<(Diagnostic, RequestError)>) -> Failure {
    let worst = unlisted.iter().map(|(_, error)| verdict(error)).max();
    let hint = "name kinds that may be listed with `--kinds`";
    let diagnostics = unlisted.into_iter().map(|(diagnostic, _)| {
        let hint = diagnostic.hint.clone().unwrap_or_else(|| hint.to_owned());
        diagnostic.with_hint(hint)
    });
    Failure { verdict: worst.unwrap_or(Verdict::Incomplete), diagnostics: diagnostics.collect() }
}

/// The verdict where manifests cannot be read from the cluster: the cluster refuses them, or does not answer.
fn verdict(error: &RequestError) -> Verdict {
    match error {
        RequestError::Stopped => Verdict::Interrupted,
        RequestError::Status(_) => Verdict::Incomplete,
        _ => Verdict::Unreachable,
    }
}

/// The resources of these kinds, each in its preferred version.
fn resources(names: &[String], discovery: &Discovery) -> Result<Vec<Resource>, Vec<Diagnostic>> {
    if names.is_empty() {
        let of_category = discovery.category_all().map(|kind| (kind.group.as_str(), kind.kind.as_str()));
        let mut kinds: BTreeSet<(&str, &str)> = of_category.collect();
        if kinds.is_empty() {
            kinds.extend(ALL);
        }
        kinds.extend(CONFIGURATION);
        return Ok(kinds.into_iter().filter_map(|kind| preferred(kind, discovery)).collect());
    }
    let mut resources = Vec::new();
    let mut unknown = Vec::new();
    for name in names {
        match discovery.named(name) {
            Ok(resource) if !resource.verbs.contains("list") => {
                unknown.push(Diagnostic::general(format!("objects of kind `{}` cannot be listed", resource.gvk.kind)));
            }
            Ok(resource) if resources.contains(resource) => {}
            Ok(resource) => resources.push(resource.clone()),
            Err(diagnostic) => unknown.push(diagnostic),
        }
    }
    if unknown.is_empty() { Ok(resources) } else { Err(unknown) }
}

fn preferred((group, kind): (&str, &str), discovery: &Discovery) -> Option<Resource> {
    let is_it = |resource: &&Resource| resource.gvk.group == group && resource.gvk.kind == kind;
    let served = discovery.resources().filter(is_it).filter(|resource| resource.verbs.contains("list"));
    served.max_by_key(|resource| resource.gvk.version_priority()).cloned()
}
