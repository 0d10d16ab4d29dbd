//! The records that Helm keeps of its releases: a Secret or a ConfigMap for each revision, with the rendered manifest.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey, ObjectMeta as _};

use super::answer::Asked;
use super::list::Pages;
use crate::client::{Cluster, Request, RequestError};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::Resource;
use reconcile_core::text::{listed, one_line};

/// Largest record that is read, in bytes, once it is unpacked.
const LARGEST: u64 = 32 << 20;
/// The type of the Secrets of releases.
const TYPE: &str = "helm.sh/release.v1";
/// Most revisions that a hint names.
const NAMED: usize = 10;
/// Longest status that a message has, in characters.
const STATUS: usize = 40;

/// A revision of a release, as Helm recorded it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Release {
    /// Its number.
    pub revision: u32,
    /// The rendered manifest, without hooks.
    pub manifest: String,
    /// The resource that has the record.
    pub storage: Resource,
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
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Revision {
    number: u32,
    status: String,
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
    /// Reads a revision, or the deployed one. Of several that are deployed, which Helm does not mean to have, it is the latest, as for
    /// Helm (`pkg/storage`, `Deployed`).
    pub async fn read(&self, revision: Option<u32>) -> Result<Release, ReleaseError> {
        let mut all = Vec::new();
        let mut failed = None;
        for storage in [secrets(), config_maps()] {
            let found = match revision {
                Some(number) => self.get(&storage, number).await,
                None => match self.revisions(&storage).await {
                    Ok(revisions) => {
                        let deployed = revisions.iter().filter(|one| one.status == "deployed").max();
                        let number = deployed.map(|one| one.number);
                        all.extend(revisions);
                        match number {
                            Some(number) => self.get(&storage, number).await,
                            None => Ok(None),
                        }
                    }
                    Err(error) => Err(error),
                },
            };
            match found {
                Ok(Some((number, record))) => return self.unpacked(&storage, number, &record),
                Ok(None) => {}
                // The records may be in the other storage, if the user may not read this one.
                Err(error) if error.status().is_some_and(|status| status.code == 403) => {
                    failed = failed.or(Some((storage.gvk, error)));
                }
                Err(error) => return Err(self.unreadable(&storage.gvk, error)),
            }
        }
        match failed {
            Some((gvk, error)) if all.is_empty() => Err(self.unreadable(&gvk, error)),
            _ => Err(ReleaseError::Record(Box::new(self.missing(revision, all)))),
        }
    }

    /// The revisions of the release that a storage has, by the labels of their records.
    async fn revisions(&self, storage: &Resource) -> Result<Vec<Revision>, RequestError> {
        let pages = Pages::new(self.cluster, storage, Some(self.namespace)).metadata_only();
        let selector = format!("owner=helm,name={}", self.release);
        let (records, _) = pages.with("labelSelector", selector).all().await?;
        let label = |record: &Value, name: &str| record.metadata("labels")?.get(name)?.as_str().map(ToOwned::to_owned);
        let revision = |record: &Value| {
            let number = label(record, "version")?.parse().ok()?;
            Some(Revision { number, status: label(record, "status")? })
        };
        Ok(records.iter().filter_map(revision).collect())
    }

    async fn get(&self, storage: &Resource, number: u32) -> Result<Option<(u32, Value)>, RequestError> {
        let key = ObjectKey {
            gvk: storage.gvk.clone(),
            namespace: Some(self.namespace.to_owned()),
            name: self.record(number),
        };
        let address = storage.object_path(key.namespace.as_deref(), &key.name);
        match self.cluster.send(Request::get(address)).await {
            Ok(reply) => Ok(Some((number, Asked::key(&key).read(self.cluster, &reply.body)?))),
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
            Ok(stored) => Ok(Release { revision: number, manifest: stored.manifest, storage: storage.clone() }),
            Err(reason) => {
                let kind = &storage.gvk.kind;
                let name = self.record(number);
                let message = format!("{kind} {}/{name} cannot be read as a release: {reason}", self.namespace);
                Err(ReleaseError::Record(Box::new(Diagnostic::general(message))))
            }
        }
    }

    fn unreadable(&self, gvk: &GroupVersionKind, error: RequestError) -> ReleaseError {
        let diagnostic = Diagnostic::about(gvk, &error);
        let message = format!(
            "the records of release `{}` in namespace `{}` cannot be read: {}",
            self.release, self.namespace, diagnostic.message
        );
        ReleaseError::Request(Box::new(Diagnostic { message, ..diagnostic }), Box::new(error))
    }

    fn missing(&self, revision: Option<u32>, mut all: Vec<Revision>) -> Diagnostic {
        let Self { namespace, release, .. } = self;
        all.sort_by(|a, b| b.cmp(a));
        let names: Vec<String> =
            all.iter().map(|one| format!("{} ({})", one.number, one_line(&one.status, STATUS))).collect();
        let names = listed(names.iter().map(String::as_str), NAMED);
        let (message, hint) = match (revision, all.first()) {
            (Some(number), _) => (
                format!("release `{release}` in namespace `{namespace}` has no revision {number}"),
                format!("`helm history {release} -n {namespace}` lists the revisions; choose the namespace with `-n`"),
            ),
            (None, Some(latest)) => (
                format!("no revision of release `{release}` in namespace `{namespace}` is deployed: {names}"),
                format!("name a revision, as in `--from helm/{release}@{}`", latest.number),
            ),
            (None, None) => (
                format!("there is no release `{release}` in namespace `{namespace}`"),
                "`helm list -A` lists all releases; choose the namespace with `-n`".to_owned(),
            ),
        };
        Diagnostic::new(Code::Invalid, message).with_hint(hint)
    }
}

fn secrets() -> Resource {
    storage("Secret", "secrets")
}

fn config_maps() -> Resource {
    storage("ConfigMap", "configmaps")
}

fn storage(kind: &str, plural: &str) -> Resource {
    let gvk = GroupVersionKind::new("v1", kind);
    let verbs = ["get", "list"].map(ToOwned::to_owned).into();
    Resource { gvk, plural: plural.to_owned(), namespaced: true, verbs, status: false, pending: false }
}

/// The parts of a record that are read. The chart and its values are skipped.
#[derive(Debug, Deserialize)]
struct Stored {
    name: String,
    version: u32,
    manifest: String,
}

/// Unpacks a record (Helm `pkg/storage/driver/util.go`): JSON, compressed since Helm 2, in base64, and in that of a Secret. The reasons
/// quote nothing of it, as the values of a chart are in it.
fn unpack(record: &Value, is_secret: bool) -> Result<Stored, &'static str> {
    if is_secret && record.get("type").and_then(Value::as_str) != Some(TYPE) {
        return Err("its type is not `helm.sh/release.v1`");
    }
    let text = record.pointer("/data/release").and_then(Value::as_str).ok_or("it has no `data.release`")?;
    let decoded = |text: &[u8]| BASE64.decode(text).map_err(|_| "its `data.release` is not base64");
    let mut bytes = decoded(text.trim().as_bytes())?;
    if is_secret {
        bytes = decoded(bytes.trim_ascii())?;
    }
    if bytes.starts_with(&[0x1f, 0x8b, 0x08]) {
        let mut unpacked = Vec::new();
        let mut reader = MultiGzDecoder::new(bytes.as_slice()).take(LARGEST.saturating_add(1));
        reader.read_to_end(&mut unpacked).map_err(|_| "its compressed content is broken")?;
        bytes = unpacked;
    }
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LARGEST) {
        return Err("it has more than 32 MiB");
    }
    serde_json::from_slice(&bytes).map_err(|_| "it has no release in JSON")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use test_control_plane::gzip;

    use super::*;

    fn secret(content: &[u8]) -> Value {
        json!({"type": TYPE, "data": {"release": BASE64.encode(BASE64.encode(content))}})
    }

    fn manifest(record: &Value, is_secret: bool) -> Result<String, &'static str> {
        unpack(record, is_secret).map(|stored| stored.manifest)
    }

    #[test]
    fn records_are_unpacked_as_helm_packs_them() {
        let release = json!({"name": "pay", "version": 3, "manifest": "a: 1", "config": {"password": "x"}, "chart": {"values": [1]}});
        let release = release.to_string().into_bytes();
        assert_eq!(manifest(&secret(&gzip(&release)), true).as_deref(), Ok("a: 1"));
        assert_eq!(manifest(&secret(&release), true).as_deref(), Ok("a: 1"), "Helm 2 did not always compress");
        let map = json!({"data": {"release": BASE64.encode(gzip(&release))}});
        assert_eq!(manifest(&map, false).as_deref(), Ok("a: 1"));
    }

    #[test]
    fn a_broken_record_is_refused_and_not_quoted() {
        let bomb = gzip(&vec![b' '; 40 << 20]);
        assert!(bomb.len() < 1 << 20);
        let mut cut = gzip(br#"{"name": "pay", "version": 3, "manifest": "a: 1"}"#);
        cut.truncate(30);
        let other = json!({"type": "Opaque", "data": {"release": ""}});
        for (record, reason) in [
            (secret(&bomb), "it has more than 32 MiB"),
            (secret(&cut), "its compressed content is broken"),
            (secret(br#"{"name": "hunter2"}"#), "it has no release in JSON"),
            (secret("[".repeat(200_000).as_bytes()), "it has no release in JSON"),
            (json!({"type": TYPE, "data": {"release": "%"}}), "its `data.release` is not base64"),
            (json!({"type": TYPE, "data": {"release": "JSU="}}), "its `data.release` is not base64"),
            (json!({"type": TYPE, "data": {}}), "it has no `data.release`"),
            (other, "its type is not `helm.sh/release.v1`"),
        ] {
            assert_eq!(manifest(&record, true), Err(reason));
        }
    }
}
