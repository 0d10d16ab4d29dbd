//! `--from helm`: all releases of a namespace, or of all of them. The records are listed once, without their content, and only those
//! of the deployed revisions are read.

use std::collections::BTreeMap;

use futures::StreamExt as _;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::Resource;
use reconcile_core::manifest::{ReleaseInfo, ReleaseName};
use reconcile_core::object::is_dns_label;
use serde_json::Value;
use structured_merge::ObjectMeta as _;

use super::{Records, Release, ReleaseError, Revision, config_maps, is_release_name, secrets};
use crate::client::{Cluster, IN_FLIGHT, RequestError};
use crate::live::list::{MEMORY, Pages};

/// Most releases that are read in one run.
const RELEASES: usize = 2_000;
/// The most text of all manifests together, in bytes.
pub(super) const TEXT: usize = 256 << 20;

/// The releases of a namespace, or of all of them.
#[derive(Debug, Default)]
pub(crate) struct AllReleases {
    /// Those that were read, by their namespaces and names.
    pub found: Vec<Release>,
    /// Number of releases without a deployed revision.
    pub not_deployed: usize,
    /// The reasons why others, or all those of a storage, could not be read.
    pub unreadable: Vec<Diagnostic>,
}

/// The revisions of a release in one storage.
struct Listed {
    storage: Resource,
    revisions: Vec<Revision>,
}

impl AllReleases {
    /// Reads the deployed revision of each release. The error is that of a request after which no other would succeed, or that of the
    /// storages, if none of them may be listed.
    pub async fn read(cluster: &Cluster, namespace: Option<&str>) -> Result<Self, ReleaseError> {
        let storages = [secrets(), config_maps()];
        let lists = storages.iter().map(async |storage| (storage, records(cluster, storage, namespace).await));
        let mut all = Self::default();
        let mut listed: BTreeMap<ReleaseName, Vec<Listed>> = BTreeMap::new();
        let mut failed = Vec::new();
        for (storage, records) in futures::future::join_all(lists).await {
            match records {
                Ok(records) => {
                    for (name, revisions) in by_release(&records) {
                        listed.entry(name).or_default().push(Listed { storage: storage.clone(), revisions });
                    }
                }
                Err(error) => {
                    let unreadable = unlisted(storage, namespace, error);
                    if unreadable.1.is_whole_run() {
                        return Err(ReleaseError::Request(Box::new(unreadable.0), Box::new(unreadable.1)));
                    }
                    failed.push(unreadable);
                }
            }
        }
        let has_none = failed.len() == storages.len();
        let mut failed = failed.into_iter();
        // The storage that Helm uses by default is the first one.
        if has_none && let Some((diagnostic, error)) = failed.next() {
            return Err(ReleaseError::Request(Box::new(diagnostic), Box::new(error)));
        }
        all.unreadable.extend(failed.map(|(diagnostic, _)| diagnostic));
        if listed.len() > RELEASES {
            let message = format!("there are {} releases, and {RELEASES} of them are read", listed.len());
            let hint = "read one namespace after the other, with `-n`";
            all.unreadable.push(Diagnostic::new(Code::Invalid, message).with_hint(hint));
        }
        let reads =
            listed.iter().take(RELEASES).map(async |(name, storages)| (name, deployed(cluster, name, storages).await));
        let mut reads = futures::stream::iter(reads).buffered(IN_FLIGHT);
        let mut text = 0_usize;
        while let Some((name, read)) = reads.next().await {
            match read {
                Ok(None) => all.not_deployed = all.not_deployed.saturating_add(1),
                Ok(Some(release)) => {
                    text = text.saturating_add(release.manifest.len());
                    if text > TEXT {
                        let message =
                            format!("release {name} is not read: the manifests of all releases have more than 256 MiB");
                        all.unreadable.push(Diagnostic::new(Code::Invalid, message));
                    } else {
                        all.found.push(release);
                    }
                }
                Err(ReleaseError::Request(_, error)) if error.is_whole_run() => return Err(whole_run(name, *error)),
                Err(ReleaseError::Request(diagnostic, _) | ReleaseError::Record(diagnostic)) => {
                    all.unreadable.push(*diagnostic);
                }
            }
        }
        Ok(all)
    }

    /// Returns true if nothing was found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && self.unreadable.is_empty()
    }
}

fn whole_run(name: &ReleaseName, error: RequestError) -> ReleaseError {
    let diagnostic = Diagnostic::from(&error);
    let message = format!("release {name} cannot be read: {}", diagnostic.message);
    ReleaseError::Request(Box::new(Diagnostic { message, ..diagnostic }), Box::new(error))
}

/// The metadata of all records in one storage, in pages as large as possible: those of a few hundred releases are in the first one.
async fn records(cluster: &Cluster, storage: &Resource, namespace: Option<&str>) -> Result<Vec<Value>, RequestError> {
    let pages = Pages::new(cluster, storage, namespace).metadata_only().with("labelSelector", "owner=helm");
    pages.collected(MEMORY).await.map(|(records, _)| records)
}

fn unlisted(storage: &Resource, namespace: Option<&str>, error: RequestError) -> (Diagnostic, RequestError) {
    let diagnostic = Diagnostic::about(&storage.gvk, &error);
    let place = namespace.map_or_else(|| "all namespaces".to_owned(), |namespace| format!("namespace `{namespace}`"));
    let kind = &storage.gvk.kind;
    let message = format!("the records of releases in the {kind}s of {place} cannot be listed: {}", diagnostic.message);
    (Diagnostic { message, ..diagnostic }, error)
}

/// The revisions of each release. A record counts if its labels, its name and its namespace say the same.
fn by_release(records: &[Value]) -> BTreeMap<ReleaseName, Vec<Revision>> {
    let mut releases: BTreeMap<ReleaseName, Vec<Revision>> = BTreeMap::new();
    for record in records {
        let text = |name: &str| record.metadata(name).and_then(Value::as_str);
        let Some(revision) = Revision::of(record) else { continue };
        let name = record.metadata("labels").and_then(|labels| labels.get("name")?.as_str());
        let Some(name) = name.filter(|name| is_release_name(name)) else { continue };
        let Some(namespace) = text("namespace").filter(|namespace| is_dns_label(namespace)) else { continue };
        if text("name") != Some(format!("sh.helm.release.v1.{name}.v{}", revision.number).as_str()) {
            continue;
        }
        let release = ReleaseName { name: name.to_owned(), namespace: namespace.to_owned() };
        releases.entry(release).or_default().push(revision);
    }
    releases
}

/// The deployed revision of a release, in the first storage that has one; `None` if none has.
async fn deployed(
    cluster: &Cluster,
    ReleaseName { name, namespace }: &ReleaseName,
    storages: &[Listed],
) -> Result<Option<Release>, ReleaseError> {
    let records = Records { cluster, namespace, release: name };
    let with_deployed = storages.iter().find_map(|one| Some((one, Revision::deployed(&one.revisions)?)));
    let Some((Listed { storage, revisions }, number)) = with_deployed else { return Ok(None) };
    let found = records.release(storage, number).await.map_err(|error| records.unreadable(&storage.gvk, error))?;
    let Some(release) = found.transpose()? else {
        let message = format!("revision {number} of release {namespace}/{name} is gone: Helm works on it");
        return Err(ReleaseError::Record(Box::new(Diagnostic::new(Code::Unknown, message))));
    };
    let info = ReleaseInfo { newer: Revision::newer_than(revisions, number), ..release.info };
    Ok(Some(Release { info, ..release }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_record_counts_if_its_labels_and_its_name_say_the_same() {
        let record = |name: &str, release: &str, version: &str| {
            let labels = json!({"owner": "helm", "name": release, "version": version, "status": "deployed"});
            json!({"metadata": {"namespace": "shop", "name": name, "labels": labels}})
        };
        let records = [
            record("sh.helm.release.v1.pay.v2", "pay", "2"),
            record("sh.helm.release.v1.pay.v10", "pay", "10"),
            record("sh.helm.release.v1.pay.v3", "other", "3"),
            record("sh.helm.release.v1.pay.v4", "pay", "5"),
            record("sh.helm.release.v1.pay.v6", "pay", "six"),
            record("sh.helm.release.v1.a,b.v1", "a,b", "1"),
            json!({"metadata": ["sh.helm.release.v1.pay.v7"]}),
        ];
        let releases = by_release(&records);
        let names: Vec<String> = releases.keys().map(ToString::to_string).collect();
        assert_eq!(names, ["shop/pay"]);
        let numbers: Vec<u32> = releases.values().flatten().map(|revision| revision.number).collect();
        assert_eq!(numbers, [2, 10]);
    }
}
