//! The records that Helm keeps of its releases: a Secret or a ConfigMap for each revision, with the rendered manifest.

pub(crate) mod all_releases;
pub(crate) mod release_base;
mod stored;

use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey, ObjectMeta as _};

use crate::client::{Cluster, Request, RequestError};
use crate::live::answer::Asked;
use crate::live::list::Pages;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::Resource;
use reconcile_core::manifest::{ApplyMethod, NewerRevision, ReleaseInfo};
use reconcile_core::text::{listed, one_line};
use stored::{STATUS, unpack};

/// Most revisions that a hint names.
const NAMED: usize = 10;
/// The status of the revision that is in force.
const DEPLOYED: &str = "deployed";

/// A revision of a release, as Helm recorded it.
#[derive(Debug)]
pub(crate) struct Release {
    /// Its name, its chart and its status.
    pub info: ReleaseInfo,
    /// The rendered manifest, without hooks.
    pub manifest: String,
    /// The method by which Helm wrote its objects, if the record says so.
    pub method: Option<ApplyMethod>,
    /// The resource that has the record.
    pub storage: Resource,
}

/// The revision of a release that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The latest one that is deployed.
    Deployed,
    /// The one of this number. A user who may not list the records is not told about newer ones.
    Revision(u32),
    /// The deployed one, to be restored: no revision may be newer, unless it failed and this number is named.
    ToRestore(Option<u32>),
}

impl Wanted {
    /// The revision with this number, if one is named, or the deployed one; or what is restored of the release.
    pub fn of(revision: Option<u32>, restores: bool) -> Self {
        match revision {
            _ if restores => Self::ToRestore(revision),
            Some(revision) => Self::Revision(revision),
            None => Self::Deployed,
        }
    }
}

/// Returns true if Helm takes a text as the name of a release (`pkg/chart/common/util/validate_name.go`), so that it can be selected by.
pub(crate) fn is_release_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    let has_edges = !name.starts_with(['-', '.']) && !name.ends_with(['-', '.']);
    (1..=53).contains(&name.len()) && name.bytes().all(is_inner) && has_edges
}

/// The reason why no record was read.
#[derive(Debug)]
pub(crate) enum ReleaseError {
    /// A request failed.
    Request(Box<Diagnostic>, Box<RequestError>),
    /// There is no such record, or it cannot be used.
    Record(Box<Diagnostic>),
}

/// A revision of a release in the list of its records.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Revision {
    /// Its number.
    pub number: u32,
    /// Its status, by the label of its record.
    pub status: String,
}

impl Revision {
    /// The revision of a record, by its labels.
    pub fn of(record: &Value) -> Option<Self> {
        let label = |name: &str| record.metadata("labels")?.get(name)?.as_str();
        Some(Self { number: label("version")?.parse().ok()?, status: label("status")?.to_owned() })
    }

    /// The latest of these that is deployed. There should be one, and Helm takes the latest of several (`pkg/storage`, `Deployed`).
    pub fn deployed(revisions: &[Self]) -> Option<u32> {
        revisions.iter().filter(|one| one.status == DEPLOYED).map(|one| one.number).max()
    }

    /// The newest of these, if it is newer than this number.
    pub fn newer_than(revisions: &[Self], number: u32) -> Option<NewerRevision> {
        let newest = revisions.iter().max().filter(|newest| newest.number > number)?;
        Some(NewerRevision { revision: newest.number, status: one_line(&newest.status, STATUS) })
    }
}

/// The records of one release.
pub(crate) struct Records<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// The namespace of the release.
    pub namespace: &'a str,
    /// Its name.
    pub release: &'a str,
}

impl Records<'_> {
    /// Reads a revision.
    pub async fn read(&self, wanted: Wanted) -> Result<Release, ReleaseError> {
        let mut all = Vec::new();
        let mut failed = None;
        for storage in [secrets(), config_maps()] {
            match self.read_from(&storage, wanted, &mut all).await {
                Ok(Some(found)) => return found,
                Ok(None) => {}
                // The records may be in the other storage, if the user may not read this one.
                Err(error) if error.is_forbidden() => {
                    failed = failed.or(Some((storage.gvk, error)));
                }
                Err(error) => return Err(self.unreadable(&storage.gvk, error)),
            }
        }
        match failed {
            Some((gvk, error)) if all.is_empty() => Err(self.unreadable(&gvk, error)),
            _ => Err(ReleaseError::Record(Box::new(self.missing(wanted, all)))),
        }
    }

    /// Reads a revision from one storage. Adds the revisions that it lists to `all`.
    async fn read_from(
        &self,
        storage: &Resource,
        wanted: Wanted,
        all: &mut Vec<Revision>,
    ) -> Result<Option<Result<Release, ReleaseError>>, RequestError> {
        let mut revisions = match wanted {
            Wanted::Revision(_) => Vec::new(),
            Wanted::Deployed | Wanted::ToRestore(_) => self.revisions(storage).await?,
        };
        all.extend(revisions.iter().cloned());
        let number = match wanted {
            Wanted::Revision(number) => Some(number),
            Wanted::Deployed => Revision::deployed(&revisions),
            Wanted::ToRestore(_) if revisions.is_empty() => None,
            Wanted::ToRestore(named) => match self.to_restore(&revisions, named) {
                Ok(number) => Some(number),
                Err(refused) => return Ok(Some(Err(ReleaseError::Record(Box::new(refused))))),
            },
        };
        let Some(number) = number else { return Ok(None) };
        let Some(found) = self.release(storage, number).await? else { return Ok(None) };
        if found.is_ok() && matches!(wanted, Wanted::Revision(_)) {
            revisions = match self.revisions(storage).await {
                Err(error) if error.is_forbidden() => Vec::new(),
                listed => listed?,
            };
        }
        Ok(Some(found.and_then(|release| {
            let is_other = matches!(wanted, Wanted::ToRestore(_)) && release.info.status != DEPLOYED;
            if is_other {
                let message = format!("revision {number} of release `{}` is not deployed any more", self.release);
                return Err(ReleaseError::Record(Box::new(Diagnostic::new(Code::Invalid, message))));
            }
            let info = ReleaseInfo { newer: Revision::newer_than(&revisions, number), ..release.info };
            Ok(Release { info, ..release })
        })))
    }

    /// Reads the record of a revision; `None` if there is none in this storage.
    pub(crate) async fn release(
        &self,
        storage: &Resource,
        number: u32,
    ) -> Result<Option<Result<Release, ReleaseError>>, RequestError> {
        let record = self.get(storage, number).await?;
        Ok(record.map(|record| self.unpacked(storage, number, &record)))
    }

    /// The revision to restore: the deployed one, if Helm would go on from there as well.
    fn to_restore(&self, revisions: &[Revision], named: Option<u32>) -> Result<u32, Diagnostic> {
        let Self { namespace, release, .. } = self;
        let refused = |message: String, hint: String| Err(Diagnostic::new(Code::Invalid, message).with_hint(hint));
        let Some(newest) = revisions.iter().max() else { return Err(self.missing(Wanted::Deployed, Vec::new())) };
        let status = one_line(&newest.status, STATUS);
        let number = newest.number;
        if newest.status.starts_with("pending-") {
            return refused(
                format!(
                    "Helm is working on release `{release}` in namespace `{namespace}`: revision {number} is {status}"
                ),
                format!("wait until it is done; `helm rollback {release} -n {namespace}` ends what was interrupted"),
            );
        }
        let Some(deployed) = Revision::deployed(revisions) else {
            return Err(self.missing(Wanted::ToRestore(named), revisions.to_vec()));
        };
        let command = format!("kubectl reconcile apply --from helm/{release}@{deployed} -n {namespace}");
        if let Some(named) = named
            && named != deployed
        {
            let known = revisions.iter().find(|one| one.number == named);
            let Some(known) = known else {
                return Err(self.missing(Wanted::Revision(named), revisions.to_vec()));
            };
            let status = one_line(&known.status, STATUS);
            return refused(
                format!(
                    "revision {named} of release `{release}` is {status}, and only the deployed one, {deployed}, can be restored"
                ),
                format!(
                    "`helm rollback {release} {named} -n {namespace}` returns to a revision; `{command}` restores the deployed one"
                ),
            );
        }
        // A rollback that fails calls the failed upgrade before it superseded (Helm `pkg/action/rollback.go`, `performRollback`).
        let has_failed =
            |one: &Revision| one.status == "failed" || one.status == "superseded" && newest.status == "failed";
        let unknown = revisions.iter().filter(|one| one.number > deployed && !has_failed(one)).max();
        if let Some(Revision { number, status }) = unknown {
            let status = one_line(status, STATUS);
            return refused(
                format!("revision {deployed} of release `{release}` is not its newest: revision {number} is {status}"),
                format!("`helm rollback {release} {deployed} -n {namespace}` returns to it"),
            );
        }
        if number > deployed && named.is_none() {
            return refused(
                format!(
                    "revision {number} of release `{release}` failed, and revision {deployed} is deployed: name it to restore it"
                ),
                format!("run `{command}`"),
            );
        }
        Ok(deployed)
    }

    /// The revisions of the release that a storage has, by the labels of their records.
    async fn revisions(&self, storage: &Resource) -> Result<Vec<Revision>, RequestError> {
        let pages = Pages::new(self.cluster, storage, Some(self.namespace)).metadata_only();
        let selector = format!("owner=helm,name={}", self.release);
        let (records, _) = pages.with("labelSelector", selector).all().await?;
        let is_own = |revision: &Revision, record: &Value| {
            record.metadata("name").and_then(Value::as_str) == Some(&self.record(revision.number))
        };
        let revision = |record: &Value| Revision::of(record).filter(|revision| is_own(revision, record));
        Ok(records.iter().filter_map(revision).collect())
    }

    async fn get(&self, storage: &Resource, number: u32) -> Result<Option<Value>, RequestError> {
        let key = ObjectKey {
            gvk: storage.gvk.clone(),
            namespace: Some(self.namespace.to_owned()),
            name: self.record(number),
        };
        let address = storage.object_path(key.namespace.as_deref(), &key.name);
        match self.cluster.send(Request::get(address)).await {
            Ok(reply) => Asked::key(&key).read(self.cluster, reply.body()).map(Some),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The name of the record of a revision.
    pub fn record(&self, number: u32) -> String {
        format!("sh.helm.release.v1.{}.v{number}", self.release)
    }

    fn unpacked(&self, storage: &Resource, number: u32, record: &Value) -> Result<Release, ReleaseError> {
        let unpacked = unpack(record, storage.gvk.is_secret()).and_then(|stored| {
            let is_it = stored.name == self.release && stored.version == number;
            if is_it { Ok(stored) } else { Err("it is the record of another release or revision") }
        });
        match unpacked {
            Ok(stored) => {
                let method = stored.method();
                let info = stored.info(self.namespace);
                Ok(Release { info, manifest: stored.manifest, method, storage: storage.clone() })
            }
            Err(reason) => {
                let kind = &storage.gvk.kind;
                let name = self.record(number);
                let message = format!("{kind} {}/{name} cannot be read as a release: {reason}", self.namespace);
                Err(ReleaseError::Record(Box::new(Diagnostic::general(message))))
            }
        }
    }

    pub(crate) fn unreadable(&self, gvk: &GroupVersionKind, error: RequestError) -> ReleaseError {
        let diagnostic = Diagnostic::about(gvk, &error);
        let message = format!(
            "the records of release `{}` in namespace `{}` cannot be read: {}",
            self.release, self.namespace, diagnostic.message
        );
        ReleaseError::Request(Box::new(Diagnostic { message, ..diagnostic }), Box::new(error))
    }

    fn missing(&self, wanted: Wanted, mut all: Vec<Revision>) -> Diagnostic {
        let Self { namespace, release, .. } = self;
        all.sort_by(|a, b| b.cmp(a));
        let names: Vec<String> =
            all.iter().map(|one| format!("{} ({})", one.number, one_line(&one.status, STATUS))).collect();
        let names = listed(names.iter().map(String::as_str), NAMED);
        let (message, hint) = match (wanted, all.first()) {
            (Wanted::Revision(number), _) => (
                format!("release `{release}` in namespace `{namespace}` has no revision {number}"),
                format!("`helm history {release} -n {namespace}` lists the revisions; choose the namespace with `-n`"),
            ),
            (Wanted::ToRestore(_), Some(_)) => (
                format!("no revision of release `{release}` in namespace `{namespace}` is deployed: {names}"),
                format!(
                    "`helm history {release} -n {namespace}` lists the revisions, and `helm rollback` returns to one"
                ),
            ),
            (Wanted::Deployed, Some(latest)) => (
                format!("no revision of release `{release}` in namespace `{namespace}` is deployed: {names}"),
                format!("name a revision, as in `--from helm/{release}@{}`", latest.number),
            ),
            (_, None) => (
                format!("there is no release `{release}` in namespace `{namespace}`"),
                "`helm list -A` lists all releases; choose the namespace with `-n`".to_owned(),
            ),
        };
        Diagnostic::new(Code::Invalid, message).with_hint(hint)
    }
}

/// The storage of the driver `secret`.
pub(crate) fn secrets() -> Resource {
    storage("Secret", "secrets")
}

/// The storage of the driver `configmap`.
pub(crate) fn config_maps() -> Resource {
    storage("ConfigMap", "configmaps")
}

fn storage(kind: &str, plural: &str) -> Resource {
    let gvk = GroupVersionKind::new("v1", kind);
    let verbs = ["get", "list"].map(ToOwned::to_owned).into();
    Resource { gvk, plural: plural.to_owned(), namespaced: true, verbs, status: false, pending: false }
}
